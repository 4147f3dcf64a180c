"""Phase 1's rate where nobody gives one, and what measurements of phase 2 say of it."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.errors import DutError
from natxy.model.deviation import Differs
from natxy.procedure.establishment import phase_1_search, with_phase_1_rate
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_json import result_entry
from natxy.search.settings import LossTolerance
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.clauses import codes
from tests.unit.connections import plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.reasons import LATE
from tests.unit.stateful_gateway import StatefulGateway

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))


def ready(gateway: StatefulGateway, rate_fps: int | None = None) -> Session:
    session = FakeEngine(gateway=gateway).session(plan({"rate_fps": rate_fps}))
    return with_phase_1_rate(session, TIMING, seed=1)


def test_half_of_the_rate_that_is_found_first() -> None:
    session = ready(StatefulGateway(new_cps=30_000))
    asked = session.traffic.required_connections
    assert asked.rate_fps is not None
    assert asked.rate_fps == pytest.approx(15_000, rel=0.05)
    assert asked.rate_fps <= 15_000
    assert session.phase_1_origin.startswith("half of the establishment rate, ")


def test_the_invalid_trials_of_that_search_are_told() -> None:
    disturbed = iter([True, True])
    engine = FakeEngine(
        gateway=StatefulGateway(new_cps=30_000),
        invalid=lambda _: LATE if next(disturbed, False) else None,
        too_slow=False,
    )
    found = with_phase_1_rate(engine.session(plan({"rate_fps": None})), TIMING, seed=1)
    assert re.search(
        r", found first; \d+ of \d+ trials \(\d+ %\) were invalid$", found.phase_1_origin
    )


def test_a_rate_that_is_given_is_taken() -> None:
    session = ready(StatefulGateway(new_cps=30_000), rate_fps=29_000)
    assert session.traffic.required_connections.rate_fps == 29_000
    assert session.phase_1_origin == "as given"


def test_a_device_that_loses_connections_at_every_rate_has_no_phase_2() -> None:
    """Fewer than 1000 in a minute; its table is nobody's to look at."""
    engine = FakeEngine(gateway=StatefulGateway(new_cps=10))
    dut = CommandDut(CommandConfig(kind="command"))
    session = engine.session(plan({"rate_fps": None}), dut)
    with pytest.raises(DutError, match=r"at every rate.*set connections.rate_fps"):
        with_phase_1_rate(session, TIMING, seed=1)


def test_the_search_for_it_is_coarse_and_has_no_frame_timeout() -> None:
    """A late frame has made its connection."""
    asked = phase_1_search(replace(TIMING, frame_timeout_s=Fraction(1, 100)), seed=1)
    assert asked.timing == TIMING
    assert (asked.repetitions, str(asked.error)) == (1, "5 %")
    assert asked.seed not in {repetition_seed(1, number) for number in range(10)}


def test_throughput_in_phase_2_says_what_phase_1_was() -> None:
    gateway = StatefulGateway(new_cps=30_000, frames_fps=20_000)
    search = ThroughputPlan(timing=TIMING, seed=1, repetitions=1, max_rate_fps=100_000)
    result = throughput(search, ready(gateway))
    assert result.figures[0].values[0] == pytest.approx(20_000, rel=0.001)
    connections = result.conditions.connections
    assert connections
    assert (connections.count, connections.ranges) == (1000, "1,000 x 1")
    assert result.counts.needed_timeout_s > 2
    assert any("half of the establishment rate" in note for note in measurement_notes([result]))


def test_throughput_with_accepted_loss_is_shown_with_it() -> None:
    gateway = StatefulGateway(frames_fps=20_000)
    search = ThroughputPlan(timing=TIMING, seed=1, repetitions=1, max_rate_fps=100_000)
    accepts = replace(search, loss=LossTolerance(fraction=Fraction(1, 10)))
    result = throughput(accepts, ready(gateway, 10_000))
    assert result.figures[0].values[0] == pytest.approx(20_000 / 0.9, rel=0.002)
    assert result.figures[0].name == "throughput, 10 % loss accepted"
    assert result_entry(result)["loss_accepted"] == "10 % loss"
    assert Differs.LOSS_ACCEPTED in codes(result.deviations)


def test_no_loss_is_accepted_of_mappings() -> None:
    gateway = StatefulGateway(collided=1)
    search = ThroughputPlan(timing=TIMING, seed=1, repetitions=1, max_rate_fps=1000)
    accepts = replace(search, loss=LossTolerance(fraction=Fraction(1, 2)))
    result = throughput(accepts, ready(gateway, 10_000))
    assert result.figures[0].values == (0,)
    assert result.counts.collided > 0
