"""The comparison of two campaigns: what is worse, what is lost, and the exit status."""

import dataclasses
import json
import math
import shutil
from pathlib import Path

import pytest

from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.cli import run_command
from natxy.cli.campaigns import start
from natxy.cli.compare import share_of
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError
from natxy.model.measurement import Figure, SearchConditions, Unit
from natxy.model.remark import Remark, Topic
from natxy.procedure.back_to_back import BURST, CORRECTED
from natxy.procedure.delay_variation import MAXIMUM_IPDV, MEDIAN_IPDV, MINIMUM_IPDV
from natxy.procedure.frame_loss import LOSS
from natxy.procedure.overload import DEGRADATION
from natxy.procedure.recovery import RECOVERY
from natxy.procedure.scale_up import RELATIVE
from natxy.report.cell_figures import CellResult
from natxy.report.comparison import (
    LEVEL,
    Difference,
    compared,
    lacking,
    lost,
    missing,
    worse,
)
from tests.unit.campaign_report import cell, measurement
from tests.unit.campaigns import planned, run
from tests.unit.cli import complaint
from tests.unit.measurement_report import measurement as some_measurement

Captured = pytest.CaptureFixture[str]


def judged(before: CellResult, after: CellResult) -> list[Difference]:
    """One campaign of each gateway."""
    return compared([[before]], [[after]])


def test_a_slower_gateway_is_worse_and_a_faster_one_is_not() -> None:
    slow = cell("a", 90, 90.1, 90.2, 90.3)
    fast = cell("a", 100, 100.1, 100.2, 100.3)
    (found,) = judged(fast, slow)
    assert (found.figure, found.verdict) == ("throughput", "worse")
    assert found.interval[0] < -0.1 < found.interval[1] < -0.05
    assert worse([found], 0.05)
    assert not worse([found], 0.15), "it is worse by 10 %"
    assert [each.verdict for each in judged(slow, fast)] == ["better"]
    assert not worse(judged(slow, fast), 0.05)
    assert [each.verdict for each in judged(slow, slow)] == ["no change shown"]


def test_one_repetition_and_bounds_prove_nothing() -> None:
    (few,) = judged(cell("a", 100, 101), cell("a", 1))
    assert few.verdict == "cannot be told"
    assert few.reason == "too few repetitions of the second (expected 2)"
    (bound,) = judged(cell("a", 9, 9, 9, 9), cell("a", 5, 5, 5, 5, lower=True))
    assert bound.verdict == "cannot be told"
    assert bound.reason == "the second value is a lower bound"
    assert bound.interval[1] == math.inf, "the true value may be any higher one"
    assert not worse([few, bound], 0)


def test_the_repetitions_of_one_run_are_one_sample() -> None:
    """However many there are, they do not show how much runs differ."""
    few = judged(cell("a", 100, 101), cell("a", 97, 98))
    many = judged(cell("a", *([100, 101] * 20)), cell("a", *([97, 98] * 20)))
    assert [each.verdict for each in (*few, *many)] == ["no change shown"] * 2


def test_campaigns_that_differ_more_than_repetitions_widen_the_interval() -> None:
    def campaigns(*levels: float) -> list[list[CellResult]]:
        return [[cell("a", level, level + 0.1)] for level in levels]

    (near,) = compared(campaigns(100, 100.1, 99.9), campaigns(93, 93.1, 92.9))
    (far,) = compared(campaigns(100, 92, 108), campaigns(93, 86, 101))
    assert (near.verdict, far.verdict) == ("worse", "no change shown")
    assert near.campaigns == (3, 3)
    assert near.before == pytest.approx(100.05)
    assert far.interval[0] < near.interval[0] < near.interval[1] < far.interval[1]


def test_many_figures_need_a_larger_change() -> None:
    """The level of each figure is that of Holm's method."""
    alone = judged(cell("0", 100, 100), cell("0", 95, 95))
    assert [each.verdict for each in alone] == ["worse"]
    names = [str(number) for number in range(20)]
    before = [cell(name, 100, 100) for name in names]
    after = [cell(name, 95 if name == "0" else 100, 95 if name == "0" else 100) for name in names]
    found = compared([before], [after])
    assert [each.verdict for each in found] == ["no change shown"] * len(names)
    assert found[0].interval[0] < alone[0].interval[0] < alone[0].interval[1] < found[0].interval[1]


def test_the_error_of_a_search_widens_the_interval() -> None:
    def searched(error_fps: int) -> CellResult:
        of = cell("a", 95_000, 95_000)
        search = SearchConditions(error="1%", error_fps=error_fps)
        conditions = of.results[0].conditions.model_copy(update={"search": search})
        result = of.results[0].model_copy(update={"conditions": conditions})
        return dataclasses.replace(of, results=(result,))

    before = cell("a", 100_000, 100_000)
    verdicts = [judged(before, searched(error))[0].verdict for error in (0, 4000)]
    assert verdicts == ["worse", "no change shown"]


@pytest.mark.parametrize("noise", [Topic.BOUND_BY_NOISE, Topic.LOST_AT_MOST])
def test_a_run_that_noise_left_with_a_bound_does_not_count_beside_others(noise: Topic) -> None:
    def runs(*bounds: Topic | None) -> list[list[CellResult]]:
        return [
            [left_with(cell("a", 100 + n, 101 + n, lower=bool(bound)), bound)]
            for n, bound in enumerate(bounds)
        ]

    def left_with(of: CellResult, code: Topic | None) -> CellResult:
        remarks = () if code is None else (Remark.of(code),)
        result = of.results[0].model_copy(update={"remarks": remarks})
        return dataclasses.replace(of, results=(result,))

    exact = runs(None, None, None)
    (found,) = compared(runs(None, noise, None), exact, None)
    assert (found.bounds, found.campaigns, found.left_out) == (("exact", "exact"), (2, 3), 1)
    assert found.verdict == "no change shown"
    gateways_own = runs(None, Topic.BOUND_UNEXPLAINED, None)
    for few in (runs(None, noise, noise), runs(noise, None), gateways_own):
        (found,) = compared(few, exact, None)
        assert (found.reason, found.left_out) == ("the first value is a lower bound", 0)


def test_without_a_known_variation_one_run_tells_nothing() -> None:
    (found,) = compared([[cell("a", 100, 101)]], [[cell("a", 50, 51)]], None)
    assert found.reason == "a gateway has too few runs (expected 2)"
    (known,) = judged(cell("a", 100, 101), cell("a", 50, 51))
    assert known.verdict == "worse"


def bounded(value: float, *, lower: bool = False, upper: bool = False) -> CellResult:
    """A cell whose values are about the same, and are all such bounds."""
    figure = Figure(
        name=CORRECTED,
        unit="s",
        values=tuple(value + n / 1000 for n in range(4)),
        lower_bound=(lower,) * 4,
        upper_bound=(upper,) * 4,
    )
    result = some_measurement(figures=(figure,))
    return CellResult(column="a", measure="some", round=1, results=(result,))


@pytest.mark.parametrize(
    ("before", "after", "worse_by"),
    [
        (bounded(10, lower=True), bounded(5), 0.5),
        (bounded(10), bounded(5, upper=True), 0.5),
        (bounded(10, lower=True), bounded(5, upper=True), 0.5),
        (bounded(5), bounded(10, lower=True), -1),
        (bounded(5, upper=True), bounded(10), -1),
    ],
)
def test_a_bound_is_judged_if_the_true_values_are_even_farther_apart(
    before: CellResult, after: CellResult, worse_by: float
) -> None:
    (found,) = judged(before, after)
    assert found.verdict in ("worse", "better")
    assert found.worse_by == pytest.approx(worse_by, rel=1e-3)
    assert bool(worse([found], 0.4)) is (worse_by > 0)


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        (bounded(10, upper=True), bounded(5), "the first value is an upper bound"),
        (bounded(5, lower=True), bounded(10), "the first value is a lower bound"),
        (bounded(5), bounded(10, upper=True), "the second value is an upper bound"),
        (bounded(10, lower=True), bounded(5, lower=True), "the second value is a lower bound"),
        (bounded(10, lower=True), bounded(10), "the first value is a lower bound"),
    ],
)
def test_a_bound_is_not_judged_if_the_true_values_may_be_equal(
    before: CellResult, after: CellResult, doubt: str
) -> None:
    (found,) = judged(before, after)
    assert (found.verdict, found.reason) == ("cannot be told", doubt)
    assert not worse([found], 0)


def with_figures(*figures: Figure) -> CellResult:
    return CellResult(
        column="", measure="some", round=1, results=(some_measurement(figures=figures),)
    )


def points(name: str, *ats: str, value: float = 0.0) -> list[Figure]:
    return [Figure(name=name, unit="%", at=at, values=(value,)) for at in ats]


def test_a_main_figure_that_the_second_campaign_lacks_is_named() -> None:
    rates = points("throughput", "1 core", "2 cores")
    assert lacking([with_figures(*rates)], [with_figures(*rates)]) == []
    assert lacking([with_figures(*rates)], [with_figures(*rates[1:])]) == [
        "some throughput 1 core 84 B 90 % foreground"
    ]
    assert lacking([with_figures(*rates[:1])], [with_figures(*rates)]) == [], "it has more"
    assert lacking([with_figures(*rates)], []) == [], "the cell is lost as a whole"


def test_what_follows_from_other_figures_or_is_not_judged_may_be_absent() -> None:
    """A better gateway can lack them: its throughput may be the tester's bound."""
    others = points("throughput", "1 core")
    of_a_buffer = (BURST, CORRECTED)  # no burst fills a buffer behind a fast gateway
    for name in (DEGRADATION, f"{DEGRADATION} of throughput", RELATIVE, MEDIAN_IPDV, *of_a_buffer):
        before = with_figures(*others, *points(name, "2 cores"))
        assert lacking([before], [with_figures(*others)]) == []


def test_a_series_of_losses_that_ended_earlier_lacks_nothing() -> None:
    """A series ends at two rates without loss, but a rate in the middle must not be left out."""
    for of in ("", "10 flows, "):
        other = points(LOSS, "1 flow, 100 %", "20 flows, 100 %")
        series = points(LOSS, f"{of}100 %", f"{of}90 %", f"{of}80 %", f"{of}70 %")
        before = with_figures(other[0], *series, other[1])
        assert lacking([before], [with_figures(other[0], *series[:2], other[1])]) == []
        (lacks,) = lacking([before], [with_figures(*other, *series[:1], *series[2:])])
        assert f"{of}90 %" in lacks
        assert len(lacking([before], [with_figures(*other)])) == 4, "no rate at all"


def test_a_series_of_losses_that_has_not_ended_lacks_its_low_rates() -> None:
    """All trials at the low rates were INVALID."""
    series = points(LOSS, "100 %", "90 %", "80 %", "70 %", value=50.0)
    assert len(lacking([with_figures(*series)], [with_figures(*series[:2])])) == 2
    end = points(LOSS, "100 %", "90 %")
    assert len(lacking([with_figures(*series)], [with_figures(*end[:1])])) == 3, "one rate"
    assert lacking([with_figures(*series)], [with_figures(*end)]) == []


def test_what_is_worse_than_a_bound_is_so_by_an_unknown_share() -> None:
    bound = cell("a", 100, 100, 100, 100, lower=True)
    (found,) = judged(bound, cell("a", 93, 93, 93, 93))
    assert found.verdict == "worse"
    assert found.interval[0] == -1, "nobody knows by how much"
    assert not found.decides(0.1), "it may be worse by half"
    assert found.decides(0.01), "it is worse by more than that"
    (better,) = judged(cell("a", 93, 93, 93, 93), bound)
    assert better.decides(0.1)


def test_an_uncertain_value_is_not_judged() -> None:
    rate = Figure(name="tear-down rate", unit="cps", values=(9.0, 9.1, 9.2, 9.3))
    none = Figure(name="tear-down rate", unit="cps", values=(0.0,) * 4, uncertain=True)
    for pair, which in (((rate, none), "second"), ((none, rate), "first")):
        (found,) = judged(*map(with_figures, pair))
        assert found.reason == f"the {which} value is uncertain"


def test_what_one_campaign_lacks_is_named() -> None:
    assert list(missing([cell("a", 1)], [cell("b", 1)])) == [
        "throughput a throughput 84 B 90 % foreground: only in the first folder",
        "throughput b throughput 84 B 90 % foreground: only in the second folder",
    ]


def differing(name: str, unit: Unit, before: float, after: float) -> Difference:
    """Returns the difference of a figure whose repetitions vary little."""

    def of(value: float) -> CellResult:
        figure = Figure(name=name, unit=unit, values=tuple(value + n / 1000 for n in range(4)))
        result = some_measurement(figures=(figure,))
        return CellResult(column="a", measure="some", round=1, results=(result,))

    (found,) = judged(of(before), of(after))
    return found


def test_a_longer_buffer_time_is_better() -> None:
    longer = differing(CORRECTED, "s", 1.0, 2.0)
    assert (longer.better, longer.verdict) == ("higher", "better")
    assert not worse([longer], 0)
    assert worse([differing(CORRECTED, "s", 2.0, 1.0)], 0.4)
    assert worse([differing(RECOVERY, "s", 1.0, 2.0)], 0.9), "other times are better if shorter"
    assert worse([differing(f"{DEGRADATION} of {CORRECTED}", "%", 10.0, 20.0)], 0.9)


def test_the_change_of_a_figure_below_0_has_its_sign() -> None:
    """One flow was slower than ten: the degradation is below 0, and lower is better."""
    more = differing(DEGRADATION, "%", -4.0, 2.0)
    assert more.change == pytest.approx(1.5, rel=1e-3)
    assert worse([more], 1.4)
    less = differing(DEGRADATION, "%", -4.0, -6.0)
    assert less.change == pytest.approx(-0.5, rel=1e-3)
    assert not worse([less], 0)
    change = dataclasses.replace(less.of, before=0.0)
    from_nothing = dataclasses.replace(less, of=change)
    assert from_nothing.change == -math.inf
    assert not worse([from_nothing], 0)


@pytest.mark.parametrize("name", [MINIMUM_IPDV, MEDIAN_IPDV, f"{DEGRADATION} of {MEDIAN_IPDV}"])
def test_ipdv_has_no_better_direction_except_its_maximum(name: str) -> None:
    for before, after in ((-1000.0, 2000.0), (2000.0, -1000.0)):
        found = differing(name, "ns", before, after)
        assert found.reason == "neither more nor less is better"
        assert not worse([found], 0)
    assert worse([differing(MAXIMUM_IPDV, "ns", 1000.0, 2000.0)], 0.5)


@pytest.mark.parametrize(
    ("usual", "other", "words"),
    [
        ({"n": 1, "m": 1}, {"n": 10, "m": 9}, ("100 % foreground", "90 % foreground")),
        (
            {"n": 1, "m": 1, "left_networks": 1},
            {"n": 1, "m": 1, "left_networks": 256, "right_networks": 256},
            ("networks 1", "networks 256"),
        ),
    ],
)
def test_the_mixes_of_one_cell_are_figures_of_their_own(
    usual: dict[str, int], other: dict[str, int], words: tuple[str, str]
) -> None:
    """The median of both would hide that one of them has become worse."""

    def both(*rates_fps: float) -> CellResult:
        of = cell("a", 100, 101, 102, 103)
        results = [
            each.model_copy(update={"conditions": each.conditions.model_copy(update=mix)})
            for mix, each in ((usual, of.results[0]), (other, measurement(*rates_fps)))
        ]
        return dataclasses.replace(of, results=tuple(results))

    before, after = [both(50, 51, 52, 53)], [both(40, 41, 42, 43)]
    found = compared([before], [after])
    assert [(each.before, each.after) for each in found] == [(101.5, 101.5), (51.5, 41.5)]
    assert [each.figure for each in found] == [f"throughput {each}" for each in words]
    assert worse(found, 0.05) == found[1:]
    alone = dataclasses.replace(after[0], results=after[0].results[:1])
    assert list(missing(before, [alone])) == [
        f"throughput a throughput 84 B {words[1]}: only in the first folder"
    ]


def test_the_share_of_fail_if() -> None:
    assert share_of("worse-by=5%") == 0.05
    assert share_of(None) is None
    with pytest.raises(ConfigurationError, match="expected worse-by=5%"):
        share_of("5")


def test_a_cell_without_a_result_is_lost() -> None:
    before = [cell("a", 1), cell("b", 1), cell("b", 2), cell("c", error="it died")]
    assert lost(before, [cell("a", 1), cell("b", error="it died")]) == ["throughput b"]
    assert lost(before, [*before, cell("d", 1)]) == []


@pytest.fixture
def before(experiment: Path, tmp_path: Path) -> Path:
    """A campaign of two columns, with four values of each figure."""
    run(experiment, tmp_path / "before")
    return tmp_path / "before"


def status(before: Path, after: Path, *more: str) -> int:
    return run_command(["compare", str(before), str(after), *more])


FAIL_IF = ("--fail-if", "worse-by=5%")


def test_an_equal_campaign_passes(before: Path, tmp_path: Path) -> None:
    after = tmp_path / "after"
    shutil.copytree(before, after)
    assert status(before, after, *FAIL_IF) == 0


def test_a_slower_gateway_fails_the_job(
    before: Path,
    experiment: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "30000")
    after = tmp_path / "after"
    run(experiment, after)
    assert status(before, after, *FAIL_IF) == 1
    (said,) = (line for line in capsys.readouterr().out.splitlines() if "Worse by more" in line)
    assert sorted(said.removeprefix("Worse by more than 5 %: ").split(", ")) == [
        "throughput 512 B",
        "throughput 84 B",
    ]
    assert status(before, after, "--fail-if", "worse-by=50%") == 0
    assert status(before, after) == 0, "it only shows"
    assert status(after, before, *FAIL_IF) == 0


def test_a_cell_that_is_lost_fails_the_job(
    before: Path, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    """A campaign that leaves out what is worse must not pass."""
    experiment.write_text(experiment.read_text().replace("[84, 512]", "[84]"))
    after = tmp_path / "after"
    run(experiment, after)
    assert status(before, after, *FAIL_IF) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "throughput 512 B throughput 512 B: only in the first folder" in said
    assert f"Without a result in {after}: throughput 512 B" in said
    assert status(before, after) == 0
    assert status(after, before, *FAIL_IF) == 0, "it measured more, and nothing is worse"


def test_a_figure_that_is_lacking_fails_the_job(
    before: Path, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    experiment.write_text(
        experiment.read_text().replace("rate = 1000 }", 'rate = 1000, direction = "forward" }')
    )
    after = tmp_path / "after"
    run(experiment, after)
    assert status(before, after, *FAIL_IF) == 1
    said = " ".join(capsys.readouterr().out.split())
    _, names = said.split(f"Not among the figures of {after}: ")
    assert sorted(names.split(", ")) == ["pdv 512 B PDV ← 512 B", "pdv 84 B PDV ← 84 B"]
    assert status(before, after) == 0


def test_a_job_without_a_judgement_fails(
    before: Path, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    """Such a job would always pass, whatever the gateway does."""
    experiment.write_text(
        experiment.read_text()
        .replace("rounds = 2", "rounds = 1")
        .replace("repetitions = 2", "repetitions = 1")
    )
    after = tmp_path / "after"
    run(experiment, after)
    assert status(after, after, *FAIL_IF) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "No figure could be judged: a note says why" in said
    assert status(after, after) == 0


def test_json_has_the_interval_and_the_verdict_of_each_figure(
    before: Path,
    experiment: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "30000")
    after = tmp_path / "after"
    run(experiment, after)
    capsys.readouterr()
    assert status(before, after, "--json", "--run-variation", "1%") == 0
    (document,) = json.loads(capsys.readouterr().out)["comparisons"]
    (rate, *_) = (each for each in document["figures"] if each["figure"] == "throughput")
    assert (rate["verdict"], rate["campaigns"], rate["values"]) == ("worse", [1, 1], [4, 4])
    assert rate["interval"][0] < rate["change"] < rate["interval"][1] < 0
    assert any("A standard deviation of 1 % is assumed" in note for note in document["notes"])


def test_several_campaigns_of_a_gateway(before: Path, tmp_path: Path, capsys: Captured) -> None:
    copies = [tmp_path / name for name in ("one", "two", "three")]
    for copy in copies:
        shutil.copytree(before, copy)
    more = ("--before", str(copies[0]), "--after", str(copies[2]))
    capsys.readouterr()
    assert status(before, copies[1], *more, "--json") == 0
    (document,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert {tuple(each["campaigns"]) for each in document["figures"]} == {(2, 2)}
    assert not any("is assumed" in note for note in document["notes"])


def test_each_of_several_gateways_is_compared_with_the_first(
    before: Path,
    experiment: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = shutil.copytree(before, tmp_path / "same")
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "30000")
    slow = tmp_path / "slow"
    run(experiment, slow)
    capsys.readouterr()
    assert status(before, same, str(slow), "--json", *FAIL_IF) == 1
    document = json.loads(capsys.readouterr().out)
    verdicts = [
        {each["verdict"] for each in one["figures"] if each["figure"] == "throughput"}
        for one in document["comparisons"]
    ]
    assert verdicts == [{"no change shown"}, {"worse"}]
    assert {one["base"] for one in document["comparisons"]} == {str(before)}
    assert status(before, same, str(slow)) == 0
    shown = capsys.readouterr().out
    assert all(f"{each} beside {before}" in shown for each in (same, slow))
    assert "Worse by more" not in shown


def test_several_gateways_share_the_level() -> None:
    """The intervals of all tables together have 0 in them as often as those of one."""
    pair = [[cell("a", 100, 100.1)]], [[cell("a", 95, 95.1)]]
    (alone,), (one_of_ten,) = compared(*pair), compared(*pair, level=LEVEL / 10)
    assert one_of_ten.interval[0] < alone.interval[0] < alone.interval[1] < one_of_ten.interval[1]


def test_more_runs_of_one_of_several_gateways_are_refused(tmp_path: Path, capsys: Captured) -> None:
    words = ("compare", tmp_path / "a", tmp_path / "b", tmp_path / "c", "--after", tmp_path / "d")
    assert complaint(capsys, *words).startswith("--after: is possible with one OTHER")


def test_single_measurements_are_compared(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = [tmp_path / "fast", tmp_path / "slow"]
    for folder, rate_fps in zip(folders, ("50000", "30000"), strict=True):
        monkeypatch.setenv("FAKE_CAPACITY_FPS", rate_fps)
        options = ["--profile", "quick", "--error", "1%", "-o", str(folder)]
        assert run_command(["throughput", str(testbed_file), *options]) == 0
    assert status(folders[0], folders[1], *FAIL_IF) == 1
    assert "Worse by more than 5 %: throughput" in capsys.readouterr().out
    assert status(folders[0], folders[0], *FAIL_IF) == 0
    assert run_command(["latency", str(testbed_file), "--rate", "1k", "--profile", "quick",
                        "-o", str(tmp_path / "latency")]) == 0  # fmt: skip
    capsys.readouterr()
    said = complaint(capsys, "compare", folders[0], tmp_path / "latency")
    assert "have no figure in common" in said


def test_a_campaign_that_was_scaled_down_is_named(
    before: Path, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    after = tmp_path / "after"
    quick = planned(experiment, quick=True)
    start(read_asked(experiment), quick, CampaignFolder(path=after), "natxy run")
    for folders, sentence in (
        ((before, after), f"Only {after} was scaled down by --quick"),
        ((after, after), "Both campaigns were scaled down by --quick"),
        ((before, before), ""),
    ):
        status(*folders)
        said = " ".join(capsys.readouterr().out.split())
        assert sentence in said
        assert ("--quick" in said) is bool(sentence)


def test_a_cell_that_failed_fails_the_job(
    before: Path,
    experiment: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deaths = iter([True])

    def dies_once(_: NoDut) -> str | None:
        if next(deaths, False):
            raise DutError("the gateway has ended")
        return None

    monkeypatch.setattr(NoDut, "trial_fault", dies_once)
    after = tmp_path / "after"
    run(experiment, after)
    assert status(before, after, *FAIL_IF) == 1
    assert "failed: the gateway has ended" in capsys.readouterr().out
