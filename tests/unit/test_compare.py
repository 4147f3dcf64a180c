"""The comparison of two campaigns: what is worse, what is lost, and the exit status."""

import dataclasses
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
from natxy.model.measurement import Figure, Unit
from natxy.procedure.back_to_back import BURST, CORRECTED
from natxy.procedure.delay_variation import MAXIMUM_IPDV, MEDIAN_IPDV, MINIMUM_IPDV
from natxy.procedure.frame_loss import LOSS
from natxy.procedure.overload import DEGRADATION
from natxy.procedure.recovery import RECOVERY
from natxy.procedure.scale_up import RELATIVE
from natxy.report.cell_figures import CellResult
from natxy.report.comparison import (
    Difference,
    compared,
    lacking,
    lost,
    mann_whitney_p,
    missing,
    smallest_p,
    worse,
)
from tests.unit.campaigns import planned, run
from tests.unit.test_campaign_report import cell, measurement
from tests.unit.test_measurement_report import measurement as some_measurement

Captured = pytest.CaptureFixture[str]


def test_equal_gateways_do_not_differ() -> None:
    assert mann_whitney_p([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]) == 1


def test_what_differs_in_all_values_differs() -> None:
    assert mann_whitney_p([1, 2, 3, 4], [11, 12, 13, 14]) == pytest.approx(2 / 70)
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(3, 3) == pytest.approx(0.1)


def test_many_values_are_drawn_and_the_draw_is_always_the_same() -> None:
    one, other = [float(n) for n in range(15)], [n + 1.5 for n in range(15)]
    assert mann_whitney_p(one, other) == mann_whitney_p(one, other)
    assert 0.2 < mann_whitney_p(one, other) <= 1


def test_a_slower_gateway_is_worse_and_a_faster_one_is_not() -> None:
    slow = [cell("a", 90, 91, 92, 93)]
    fast = [cell("a", 100, 101, 102, 103)]
    assert [each.figure for each in worse(compared(fast, slow), 0.05)] == ["throughput"]
    assert not worse(compared(slow, fast), 0.05)
    assert not worse(compared(fast, slow), 0.15), "it is worse by 10 %"


def test_too_few_repetitions_and_bounds_prove_nothing() -> None:
    few = compared([cell("a", 100, 101, 102)], [cell("a", 1, 2, 3)])
    assert "too few" in few[0].doubt
    bound = compared([cell("a", 9, 9, 9, 9)], [cell("a", 5, 5, 5, 5, lower=True)])
    assert bound[0].doubt == "the second value is a lower bound"
    assert not worse(few, 0)
    assert not worse(bound, 0)


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
    (found,) = compared([before], [after])
    assert not found.doubt
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
    (found,) = compared([before], [after])
    assert found.doubt == doubt
    assert not worse([found], 0)


def test_so_many_repetitions_are_enough_that_p_can_be_below_the_level() -> None:
    """3 and 5 give p = 0.036; 3 and 4 give 0.057."""
    five, four, three = (100, 101, 102, 103, 104), (100, 101, 102, 103), (1, 2, 3)
    assert worse(compared([cell("a", *five)], [cell("a", *three)]), 0.05)
    (found,) = compared([cell("a", *four)], [cell("a", *three)])
    assert found.doubt == "too few repetitions for p < 0.05"


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


def test_a_bound_that_may_change_its_rank_proves_nothing() -> None:
    """The true values of two repetitions may be above all of the other campaign's."""
    values = (5.0, 5.1, 5.2, 7.0, 7.1)
    low = Figure(name="throughput", unit="fps", values=values)
    part = low.model_copy(update={"lower_bound": (False, False, False, True, True)})
    high = [with_figures(low.model_copy(update={"values": (10.0, 10.1, 10.2, 10.3, 10.4)}))]
    for after, significant in ((low, True), (part, False)):
        (found,) = compared(high, [with_figures(after)])
        assert (found.doubt, found.significant) == ("", significant)
    (other,) = compared([with_figures(part)], high)
    assert not other.significant, "the same in the other order"


def test_what_is_worse_than_a_bound_is_so_by_an_unknown_share() -> None:
    bound = [cell("a", 100, 101, 102, 103, lower=True)]
    (found,) = compared(bound, [cell("a", 97, 97, 97, 97)])
    assert found.significant
    assert not found.decides(0.1), "it may be worse by half"
    assert found.decides(0.01), "it is worse by more than that"
    (better,) = compared([cell("a", 97, 97, 97, 97)], bound)
    assert better.decides(0.1)


def test_an_uncertain_value_is_not_judged() -> None:
    rate = Figure(name="tear-down rate", unit="cps", values=(9.0, 9.1, 9.2, 9.3))
    none = Figure(name="tear-down rate", unit="cps", values=(0.0,) * 4, uncertain=True)
    for pair, which in (((rate, none), "second"), ((none, rate), "first")):
        (found,) = compared(*([with_figures(figure)] for figure in pair))
        assert found.doubt == f"the {which} value is uncertain"


def test_what_one_campaign_lacks_is_named() -> None:
    assert list(missing([cell("a", 1)], [cell("b", 1)])) == [
        "throughput a throughput 84 B 90 % foreground: only in the first campaign",
        "throughput b throughput 84 B 90 % foreground: only in the second campaign",
    ]


def differing(name: str, unit: Unit, before: float, after: float) -> Difference:
    """Returns the difference of a figure whose repetitions vary little."""

    def of(value: float) -> CellResult:
        figure = Figure(name=name, unit=unit, values=tuple(value + n / 1000 for n in range(4)))
        result = some_measurement(figures=(figure,))
        return CellResult(column="a", measure="some", round=1, results=(result,))

    (found,) = compared([of(before)], [of(after)])
    return found


def test_a_longer_buffer_time_is_better() -> None:
    longer = differing(CORRECTED, "s", 1.0, 2.0)
    assert (longer.better, longer.doubt) == ("higher", "")
    assert not worse([longer], 0)
    assert worse([differing(CORRECTED, "s", 2.0, 1.0)], 0.4)
    assert worse([differing(RECOVERY, "s", 1.0, 2.0)], 0.9), "other times are better if shorter"
    assert worse([differing(f"{DEGRADATION} of {CORRECTED}", "%", 1.0, 2.0)], 0.9)


def test_the_change_of_a_figure_below_0_has_its_sign() -> None:
    """One flow was slower than ten: the degradation is below 0, and lower is better."""
    more = differing(DEGRADATION, "%", -4.0, 2.0)
    assert more.change == pytest.approx(1.5, rel=1e-3)
    assert worse([more], 1.4)
    less = differing(DEGRADATION, "%", -4.0, -6.0)
    assert less.change == pytest.approx(-0.5, rel=1e-3)
    assert not worse([less], 0)
    from_nothing = dataclasses.replace(less, before=0.0)
    assert from_nothing.change == -math.inf
    assert not worse([from_nothing], 0)


@pytest.mark.parametrize("name", [MINIMUM_IPDV, MEDIAN_IPDV, f"{DEGRADATION} of {MEDIAN_IPDV}"])
def test_ipdv_has_no_better_direction_except_its_maximum(name: str) -> None:
    for before, after in ((-1000.0, 2000.0), (2000.0, -1000.0)):
        found = differing(name, "ns", before, after)
        assert found.doubt == "neither more nor less is better"
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
    found = compared(before, after)
    assert [(each.before, each.after) for each in found] == [(101.5, 101.5), (51.5, 41.5)]
    assert [each.figure for each in found] == [f"throughput {each}" for each in words]
    assert worse(found, 0.05) == found[1:]
    alone = dataclasses.replace(after[0], results=after[0].results[:1])
    assert list(missing(before, [alone])) == [
        f"throughput a throughput 84 B {words[1]}: only in the first campaign"
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
    assert "throughput 512 B throughput 512 B: only in the first campaign" in said
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
    assert sorted(names.split(", ")) == ["pdv 512 B PDV reverse 512 B", "pdv 84 B PDV reverse 84 B"]
    assert status(before, after) == 0


def test_a_job_without_a_judgement_fails(
    before: Path, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    """Such a job would always pass, whatever the gateway does."""
    experiment.write_text(experiment.read_text().replace("rounds = 2", "rounds = 1"))
    after = tmp_path / "after"
    run(experiment, after)
    assert status(after, after, *FAIL_IF) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "No figure could be judged: the last column of the table says why" in said
    assert status(after, after) == 0


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
