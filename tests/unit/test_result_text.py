"""What a measuring command prints: the figure first, in at most 12 lines of 80 characters."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from natxy.cli import run_command
from natxy.cli.help import GROUPS
from natxy.measure.table_size import Size
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Direction, Stream
from natxy.procedure.back_to_back import back_to_back
from natxy.procedure.capacity import CapacityPlan, capacity
from natxy.procedure.degradation import Column, DegradationPlan, degradation
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.overload import overload
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.reset import ResetPlan, reset
from natxy.procedure.scale_up import ScaleUpPlan, scale_up
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.procedure.throughput import throughput
from natxy.report.brief_notes import MOST, SHORT
from natxy.report.result_text import MOST_LINES, _ends, brief_text, headline, verbose_text
from natxy.search.capacity_goal import CapacityGoal
from natxy.trial.timing import Timing
from tests.unit import back_to_back as bursts
from tests.unit import churn, establishment
from tests.unit import overload as flows
from tests.unit import reset as resets
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.connections import plan as traffic_plan
from tests.unit.degradation import ESTABLISHMENT, THROUGHPUT
from tests.unit.fake_engine import FakeEngine, beyond
from tests.unit.measurement_report import measurement
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway
from tests.unit.tear_down import Deleting

WIDTH = 80
FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))
GIVEN: dict[str, Any] = {"timing": FAST, "seed": 7, "repetitions": 3}
AT_RATE = GIVEN | {"rate_fps": 10_000}
SEARCH = replace(THROUGHPUT, repetitions=3, max_rate_fps=60_000)
Measure = Callable[[TrafficPlan], Measurement]


def slow(stream: Stream) -> Any:
    return beyond(12_345, stream)


LOSSY = FakeEngine(lose=slow)
PLAIN = FakeEngine()


def stateful(**connections: Any) -> Any:
    gateway = StatefulGateway(new_cps=40_000)
    dut = StatefulDut(gateway=gateway)
    return FakeEngine(gateway=gateway).session(traffic_plan(connections), dut)


@dataclass(kw_only=True)
class Cores(StatefulDut):
    """A gateway whose rate does not grow with its cores."""

    def set_cores(self, cores: int) -> None:
        del cores


def of_delays(procedure: str, *names: str) -> Measurement:
    figures = [
        Figure(name=name, unit="ns", direction=way, values=(12e3, 15e3, 888e3), errors=(9e3,))
        for way in ("forward", "reverse")
        for name in names
    ]
    return measurement(procedure=procedure, figures=tuple(figures), deviations=(SHORT_TRIALS,))


def _scale_up(_: TrafficPlan) -> Measurement:
    gateway = StatefulGateway(new_cps=40_000)
    session = FakeEngine(gateway=gateway).session(traffic_plan({}), Cores(gateway=gateway))
    return scale_up(ScaleUpPlan(search=ESTABLISHMENT, cores=(1, 2, 4)), session)


def _capacity(_: TrafficPlan) -> Measurement:
    goal = CapacityGoal(c0=500, first_cps=10_000, max_cps=100_000)
    gateway = StatefulGateway(entries=1234)
    wide = {
        "source_port": {"mode": "increasing", "min": 1000, "max": 1999},
        "destination_port": {"mode": "increasing", "min": 1, "max": 10},
    }
    session = FakeEngine(gateway=gateway).session(traffic_plan({"count": 500}, forward=wide))
    return capacity(CapacityPlan(**GIVEN | {"goal": goal}), session)


def _tear_down(_: TrafficPlan) -> Measurement:
    gateway = StatefulGateway()
    session = FakeEngine(gateway=gateway).session(traffic_plan({}), Deleting(gateway=gateway))
    sizes = (Size(connections=500), Size(connections=1000))
    return tear_down(TearDownPlan(**GIVEN | {"sizes": sizes}), session)


OVERLOADED = FakeEngine(lose=lambda _: range(5))
MEASURED: dict[str, Measure] = {
    "throughput": lambda traffic: throughput(SEARCH, LOSSY.session(traffic)),
    "latency": lambda _: of_delays("latency", "typical latency", "worst-case latency"),
    "pdv": lambda traffic: pdv(PdvPlan(**AT_RATE), PLAIN.session(traffic)),
    "ipdv": lambda _: of_delays("ipdv", "minimum IPDV", "median IPDV", "maximum IPDV"),
    "frame-loss": lambda traffic: frame_loss(
        FrameLossPlan(**GIVEN, rates_fps=tuple(range(30_000, 0, -2000))), LOSSY.session(traffic)
    ),
    "back-to-back": lambda traffic: back_to_back(
        bursts.plan(), bursts.longer_than(1234).session(traffic)
    ),
    "recovery": lambda traffic: recovery(RecoveryPlan(**AT_RATE), OVERLOADED.session(traffic)),
    "reset": lambda traffic: reset(
        ResetPlan(**AT_RATE, reset_after_s=Fraction(1, 100)),
        FakeEngine(lose=lambda _: resets.GONE, during=resets.pause).session(
            traffic, resets.Switch()
        ),
    ),
    "overload": lambda traffic: overload(
        flows.plan((10, 100, 1000)),
        flows.slower_with({1: 15_000, 10: 12_000, 100: 9000, 1000: 5000}).session(traffic),
    ),
    "scale-up": _scale_up,
    "establishment": lambda _: establishment.measure(StatefulGateway(new_cps=40_000)),
    "capacity": _capacity,
    "tear-down": _tear_down,
    "degradation": lambda _: degradation(
        DegradationPlan(
            search=ESTABLISHMENT,
            columns=tuple(Column(connections=n) for n in (100, 500, 1000)),
        ),
        stateful(),
    ),
    "churn": lambda _: churn.measure(churn.PLAN, StatefulGateway(new_cps=40_000)),
}


@pytest.fixture(params=MEASURED)
def result(request: pytest.FixtureRequest, nat64: TrafficPlan) -> Measurement:
    return MEASURED[request.param](nat64)


def test_each_measuring_command_is_tried() -> None:
    assert {*MEASURED, "trial"} == {*GROUPS["Measure"], *GROUPS["Stateful"]}


def test_twelve_lines_of_eighty_characters_with_the_figure_first(result: Measurement) -> None:
    lines = brief_text([result], WIDTH)
    assert len(lines) < MOST_LINES, "the place of the files is one more"
    assert [line for line in lines if cell_len(line) > WIDTH] == []
    main = next(figure for figure in result.figures if figure.primary and figure.values)
    assert lines[0].lower().startswith(main.name.lower())
    assert any(sign.isdigit() for sign in lines[0])
    assert lines[0] == headline([result], WIDTH)


def test_a_recovery_without_an_overload_has_no_figure(nat64: TrafficPlan) -> None:
    none = recovery(RecoveryPlan(**AT_RATE), PLAIN.session(nat64))
    assert brief_text([none], WIDTH)[0].startswith("System recovery time  no overload")


def test_repetitions_that_are_lacking_stand_beside_the_figure() -> None:
    figure = Figure(name="throughput", unit="fps", values=(900.0,))
    lacking = Remark.of(Topic.LACKING_BY_RETRY_TIME, lacking=4, asked=5)
    result = measurement(procedure="throughput", figures=(figure,), remarks=(lacking,))
    assert "(1 of 5 repetitions" in brief_text([result], WIDTH)[0]


def test_all_figures_are_shown_with_v(result: Measurement) -> None:
    text = "\n".join(verbose_text([result], 200))
    for figure in result.figures:
        assert figure.name in text or figure.name.capitalize() in text
    assert all(str(each) in text for each in result.deviations)


def places(*, sizes: tuple[int, ...], **changes: Any) -> list[Measurement]:
    plain = measurement(deviations=(SHORT_TRIALS,), **changes)
    return [
        plain.model_copy(
            update={"conditions": plain.conditions.model_copy(update={"frame_size_bytes": size})}
        )
        for size in sizes
    ]


RATE = Figure(name="throughput", unit="fps", values=(400_000.0, 398_000.0, 402_000.0))


def test_a_rate_has_gbit_s_and_its_searches() -> None:
    (one,) = places(sizes=(84,), procedure="throughput", figures=(RATE,))
    first = "Throughput  400,000 fps per direction, 0.333 Gbit/s"
    assert headline([one], 120) == f"{first}  (3 repetitions: 398,000 … 402,000)"
    assert headline([one], 80) == f"{first}  (n = 3: 398,000 … 402,000)"
    assert headline([one], 60) == first
    assert "[398,000 … 402,000]" in brief_text([one], 60)[1], "what the first line has no room for"
    assert "…" not in brief_text([one], 80)[1]


def test_a_series_has_the_first_and_the_last_place_and_a_row_for_each() -> None:
    results = places(sizes=(84, 512, 1518), procedure="throughput", figures=(RATE,))
    first, _, *rows = brief_text(results, WIDTH)
    assert first == "Throughput  400,000 fps per direction (84 … 1,518 B)"
    assert [row.split()[:3] for row in rows[:3]] == [
        ["84", "B", "400,000"],
        ["512", "B", "400,000"],
        ["1,518", "B", "400,000"],
    ]


def test_a_series_over_numbers_names_their_unit_once() -> None:
    flows = [RATE.model_copy(update={"at": at}) for at in ("1 flow", "10 flows", "100 flows")]
    (one,) = places(sizes=(84,), procedure="overload", figures=tuple(flows))
    assert headline([one], WIDTH) == "Throughput  400,000 fps per direction (1 … 100 flows)"
    assert headline([one], 50) == "Throughput  400,000 fps per direction (1 … 100)"


def test_rows_that_are_too_many_are_counted() -> None:
    results = places(sizes=tuple(range(100, 1300, 100)), figures=(RATE,))
    lines = brief_text(results, WIDTH)
    assert len(lines) == MOST_LINES - 1
    shown = [line for line in lines if " B " in line and "400,000 fps" in line]
    (more,) = (line for line in lines if line.endswith(" more: -v"))
    assert int(more.split()[1]) + len(shown) == len(results)
    assert sum("400,000 fps" in line for line in verbose_text(results, WIDTH)) == 1 + len(results)


def test_several_figures_of_a_series_stand_beside_their_place() -> None:
    share = Figure(name="degradation", unit="%", values=(20.0,), at="10 flows")
    figures = (
        RATE.model_copy(update={"at": "1 flow"}),
        RATE.model_copy(update={"at": "10 flows", "values": (320_000.0,)}),
        share,
    )
    (one,) = places(sizes=(84,), procedure="overload", figures=figures)
    conditions = one.conditions.model_copy(update={"rate_fps": None})
    one = one.model_copy(update={"conditions": conditions})
    _, head, first, second, *_ = brief_text([one], WIDTH)
    assert head.split() == ["throughput", "degradation"]
    assert first.split() == ["1", "flow", "400,000", "fps"]
    assert second.split() == ["10", "flows", "320,000", "fps", "20", "%"]


def test_directions_stand_side_by_side_if_the_rows_are_too_many() -> None:
    ways = (
        Figure(name="PDV", unit="ns", direction="forward", values=(1000.0,)),
        Figure(name="PDV", unit="ns", direction="reverse", values=(2000.0,)),
    )
    two = brief_text(places(sizes=(84, 512), figures=ways), WIDTH)
    assert [line.split()[:3] for line in two[2:6]] == [
        ["→", "84", "B"],
        ["←", "84", "B"],
        ["→", "512", "B"],
        ["←", "512", "B"],
    ]
    assert two[0].startswith("PDV  → 1 µs, ← 2 µs"), "each with its unit"
    other = tuple(each.model_copy(update={"values": (9000.0,)}) for each in ways[:1])
    (first, last) = places(sizes=(84, 512), figures=ways)
    last = last.model_copy(update={"figures": (*other, ways[1])})
    assert headline([first, last], WIDTH).startswith("PDV  → 1 µs, ← 2 µs … → 9 µs, ← 2 µs (")
    six = brief_text(places(sizes=(84, 128, 256, 512, 1024, 1518), figures=ways), WIDTH)
    assert "84 B     → 1 µs, ← 2 µs" in six


@pytest.mark.parametrize(
    ("percents", "said"),
    [
        ({1000: (0, 0), 2000: (0, 5)}, "0 % up to 1,000 fps, 5 % at 2,000 fps"),
        ({1000: (0, 3), 2000: (0, 0)}, "3 % at 1,000 fps"),
        ({1000: (0, 0), 2000: (0, 0)}, "0 % up to 2,000 fps"),
        ({1000: (0, 0), 2000: ()}, "0 % up to 1,000 fps"),
        ({1000: (), 2000: ()}, "no valid trial (1,000 … 2,000 fps)"),
    ],
)
def test_frame_loss_says_where_it_begins(percents: dict[int, tuple[float, ...]], said: str) -> None:
    """A loss below a rate without one is no rate up to which nothing is lost."""
    ways: tuple[Direction, ...] = ("forward", "reverse")
    figures = tuple(
        Figure(
            name="frame loss rate",
            unit="%",
            direction=way,
            at=f"{rate_fps:,} fps",
            rate_fps=rate_fps,
            values=lost[number : number + 1],
            missing="" if lost else "no valid trial",
        )
        for rate_fps, lost in percents.items()
        for number, way in enumerate(ways)
    )
    (one,) = places(sizes=(84,), procedure="frame-loss", figures=figures)
    assert headline([one], WIDTH) == f"Frame loss rate  {said}"


def test_short_trials_are_one_line() -> None:
    other = Deviation.of(Differs.GIVEN_RATE)
    (one,) = places(sizes=(84,), figures=(RATE,))
    one = one.model_copy(update={"deviations": (other, SHORT_TRIALS)})
    last = brief_text([one], WIDTH)[-1]
    assert last.startswith("Does not conform: trials of 0.2 s, not ")
    assert last.endswith("; -v lists 1 more")
    assert "RFC 2544 section 24" not in last, "a clause is for who looks it up"


def test_a_bound_says_in_one_line_what_it_is() -> None:
    bound = RATE.model_copy(update={"lower_bound": (True, True, True)})
    (one,) = places(sizes=(84,), figures=(bound,))
    assert any(line.startswith("≥ is a lower bound: ") for line in brief_text([one], WIDTH))
    said = one.model_copy(update={"remarks": (Remark.of(Topic.BOUND_UNEXPLAINED),)})
    lines = brief_text([said], WIDTH)
    assert lines[0].startswith("Throughput  ≥ 400,000 fps")
    assert SHORT[Topic.BOUND_UNEXPLAINED] in lines


def test_at_most_two_notes_are_shown_and_the_others_counted() -> None:
    remarks = tuple(map(Remark.of, (Topic.LOST_TO_END, Topic.MEDIA, Topic.NOTHING_LOST)))
    (one,) = places(sizes=(84,), figures=(RATE,), remarks=remarks)
    lines = brief_text([one], WIDTH)
    assert str(remarks[1]) in lines, "the most important one"
    assert [line for line in lines if line.startswith("3 more notes")], "two, and misdelivered"
    assert len(lines) == 1 + 1 + MOST + 1


def test_the_notes_that_are_shortened_are_short() -> None:
    longest = max(SHORT.values(), key=len)
    assert len(longest) <= WIDTH


def test_a_bound_by_an_error_is_explained() -> None:
    vague = Figure(name="PDV", unit="ns", values=(1000.0,), errors=(2000.0,))
    (one,) = places(sizes=(84,), figures=(vague,))
    lines = brief_text([one], WIDTH)
    assert lines[0].startswith("PDV  ≤ 3 µs")
    assert any(line.startswith("≤ is an upper bound: ") for line in lines)


# --- the commands --------------------------------------------------------------------------------

QUICK = ["--profile", "quick", "--repetitions", "2", "--duration", "0.01", "--rate", "1000"]


def printed(
    testbed: Path, capsys: pytest.CaptureFixture[str], *words: str, status: int = 0
) -> tuple[list[str], str]:
    output = testbed.parent / f"out{len(list(testbed.parent.iterdir()))}"
    command = ["pdv", str(testbed), *QUICK, "--output", str(output), *words]
    assert run_command(command) == status
    said = capsys.readouterr()
    return said.out.splitlines(), said.err


def test_q_prints_one_line_and_no_progress(
    engine: list[str], testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for word in ("-q", "--quiet"):
        (line,), progress = printed(testbed_file, capsys, word)
        assert line.startswith("PDV  ")
        assert progress == ""


def test_a_command_prints_twelve_lines_and_with_v_all(
    engine: list[str], testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, progress = printed(testbed_file, capsys)
    assert len(lines) <= MOST_LINES
    assert len(progress.splitlines()) == 1, "no trial of so short a measurement has a line"
    assert not any(line.startswith("Repeat it: ") for line in lines)
    more, _ = printed(testbed_file, capsys, "-v")
    assert len(more) > MOST_LINES
    assert more[0].split("(")[0] == lines[0].split("(")[0]
    assert any(line.startswith("Repeat it: natxy ") for line in more)


def test_less_and_more_at_once_is_refused(
    engine: list[str], testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, said = printed(testbed_file, capsys, "-q", "-v", status=2)
    assert not lines
    assert "--quiet: is not possible with --verbose (expected one of them)" in said


@pytest.mark.parametrize(("word", "most"), [("-q", 1), ("--json", 10**6), ("-v", 10**6)])
def test_a_trial_prints_as_much_as_it_is_asked_for(
    engine: list[str],
    testbed_file: Path,
    capsys: pytest.CaptureFixture[str],
    word: str,
    most: int,
) -> None:
    command = ["trial", str(testbed_file), "--rate", "1000", "--duration", "0.1"]
    assert run_command([*command, "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if cell_len(line) > WIDTH] == []
    assert lines[0] == "PASS: all 200 frames were received"
    assert run_command([*command, "--seed", "1", word]) == 0
    others = capsys.readouterr().out.splitlines()
    assert len(others) <= most
    if word != "--json":
        assert others[0] == lines[0]
    if most > 1:
        assert len(others) > MOST_LINES


def test_the_ends_of_a_series_share_a_unit_and_no_figure() -> None:
    assert _ends(["84 B", "512 B"]) == "84 … 512 B"
    assert _ends(["≥ 100,000", "100,000"]) == "≥ 100,000 … 100,000"


def test_a_gateway_may_have_any_name() -> None:
    result = measurement()
    named = result.conditions.model_copy(update={"dut": "no1-nat"})
    lines = brief_text([result.model_copy(update={"conditions": named})], WIDTH)
    assert any("no1-nat" in line for line in lines)
