"""Tests of what `natxy run` says of a long cell in a file or a pipe, on a fake clock."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from natxy.cli.narrator import Narrator
from natxy.cli.now_and_then import EVERY_S
from natxy.model.event import ByDirection, Progress
from natxy.model.measurement import Measurement
from natxy.model.reason import Reason
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.unit.campaigns import planned
from tests.unit.fake_engine import FakeEngine, first_above
from tests.unit.reasons import LATE

PLAN = ThroughputPlan(
    timing=Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 20)),
    seed=1,
    repetitions=2,
    error=SearchError(fraction=Fraction(1, 100)),
    max_rate_fps=60_000,
)
NOTHING = ByDirection(forward=0, reverse=0)
LINE = re.compile(
    r"  repetition [12] of 2, trial \d+( \(\d+ invalid so far\))?: [\d,]+ fps, "
    r"(PASS|FAIL \(lost → 1, ← 1\)|INVALID \(forward: a frame left .*\)(; lost → 1, ← 1)?\))"
    r"(; found: throughput (≥ )?[\d,]+ fps per direction)?; about .* left"
)


@dataclass
class Clock:
    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("natxy.cli.now_and_then.time.monotonic", clock)
    return clock


class Cell:
    """A cell of a campaign that somebody watches in a file."""

    def __init__(self, experiment: Path) -> None:
        self._file = StringIO()
        self.narrator = Narrator(console=Console(file=self._file, width=80))
        self._cell, *_ = planned(experiment).cells
        self.narrator.cell_started([self._cell], 1, 1)

    def measure(self, traffic: TrafficPlan, during: Callable[[], None]) -> Measurement:
        seen = 0

        def invalid(spec: TrialSpec) -> Reason | None:
            nonlocal seen
            del spec
            seen += 1
            return LATE if seen % 3 == 0 else None

        engine = FakeEngine(
            lose=first_above(40_000),
            invalid=invalid,
            too_slow=False,
            during=during,
        )
        with self.narrator.measuring("throughput") as observer:
            return throughput(PLAN, engine.session(traffic, observer=observer))

    def end(self, result: Measurement) -> list[str]:
        self.narrator.cell_ended(self._cell, [result], "")
        return self.lines

    @property
    def lines(self) -> list[str]:
        return self._file.getvalue().splitlines()


def test_a_long_cell_has_a_line_every_ten_seconds(
    experiment: Path, nat64: TrafficPlan, clock: Clock
) -> None:
    cell, said_at_s = Cell(experiment), []
    say = cell.narrator.console.print

    def noted(*words: object, **style: object) -> None:
        said_at_s.append(clock())
        say(*words, **style)  # type: ignore[arg-type]

    cell.narrator.console.print = noted  # type: ignore[method-assign]
    result = cell.measure(nat64, lambda: clock.pass_s(3))
    assert len(said_at_s) == (clock() - 1000) // 12, "at the first trial that ends after 10 s"
    assert said_at_s[0] == 1000 + 12
    assert min(b - a for a, b in itertools.pairwise(said_at_s)) >= EVERY_S
    begin, *lines, end = cell.end(result)
    assert begin.startswith("[1/1] throughput, ")
    assert re.fullmatch(r"  throughput ≥ (39|40),\d\d\d fps per direction \(0\.03\d+ Gbit/s\)", end)
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert "found: throughput" in lines[-1]


def test_a_short_cell_has_its_first_and_its_last_line_alone(
    experiment: Path, nat64: TrafficPlan, clock: Clock
) -> None:
    cell = Cell(experiment)
    result = cell.measure(nat64, lambda: clock.pass_s(0.1))
    assert len(cell.end(result)) == 2


def test_several_short_measurements_of_a_cell_are_a_long_cell(
    experiment: Path, nat64: TrafficPlan, clock: Clock
) -> None:
    """One at each frame size, for example."""
    cell = Cell(experiment)
    for _ in range(10):
        before_s = clock()
        result = cell.measure(nat64, lambda: clock.pass_s(0.3))
        assert clock() - before_s < EVERY_S
    assert len(cell.end(result)) > 3


def test_a_long_trial_says_how_far_it_is(experiment: Path, clock: Clock) -> None:
    cell = Cell(experiment)
    with cell.narrator.measuring("latency") as observer:
        observer.repetition_started(3, 20)
        observer.trial_started(20_000, (20_000, 20_000))
        for second in range(1, 61):
            clock.pass_s(1)
            observer.trial_progressed(
                Progress(
                    event="progress",
                    id=1,
                    stage="sending",
                    elapsed_ns=second * 10**9,
                    duration_ns=60 * 10**9,
                    sent=NOTHING,
                    received=NOTHING,
                )
            )
    shares = (17, 33, 50, 67, 83, 100)
    assert cell.lines[1:] == [
        f"  repetition 3 of 20, trial 1: 20,000 fps, sending {share}%" for share in shares
    ]
