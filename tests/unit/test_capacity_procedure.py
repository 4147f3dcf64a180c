"""The capacity that is found of a gateway that is arithmetic, and what is said beside it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError, TesterLimit, TrialRefused
from natxy.model.remark import Remark, Topic
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.capacity import CAPACITY, capacity
from natxy.report.measurement_notes import measurement_notes
from natxy.search.capacity_goal import CapacityGoal
from natxy.tester.tester import OnProgress, ignore_progress
from tests.remarks import about, topics
from tests.unit.capacity import PLAN, WIDE, Bench, Mortal, more_than_4000, often_away, values
from tests.unit.clauses import texts
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import LATE
from tests.unit.stateful_gateway import StatefulGateway


@pytest.mark.parametrize("entries", [1000, 1001, 10_000, 63_999])
def test_the_number_of_entries_exactly(entries: int) -> None:
    result = Bench(gateway=StatefulGateway(entries=entries, new_cps=50_000)).measure()
    assert values(result)[CAPACITY] == entries
    assert values(result)["CS"] <= entries < values(result)["CT"] == 2 * values(result)["CS"]
    assert values(result)["R0"] == pytest.approx(50_000, rel=0.05)
    assert not any(any(figure.lower_bound) for figure in result.figures)
    assert result.reference == "RFC 9693"


COARSE = "a search error of 1,000 connections, not the capacity itself (RFC 9693 section 4.9)"
BOUND = "a lower bound, not the capacity itself (RFC 9693 section 4.9)"


@pytest.mark.parametrize(
    ("changes", "said"), [({}, ()), ({"error": 1000}, (COARSE,)), ({"most": 8000}, (BOUND,))]
)
def test_a_capacity_that_is_not_the_capacity_itself_is_said_to_be_none(
    changes: dict[str, Any], said: tuple[str, ...]
) -> None:
    """A coarse search, and a table that takes the highest number that is tried."""
    plan = replace(PLAN, goal=replace(PLAN.goal, **changes))
    result = Bench(gateway=StatefulGateway(entries=10_000)).measure(plan)
    assert [each for each in texts(result.deviations) if "4.9" in each] == list(said)


def test_what_is_said_beside_it_is_of_phase_1_and_its_validation() -> None:
    """The testbed's rate has no part in it, nor has the direction of a phase 2."""
    result = Bench(gateway=StatefulGateway(entries=1000)).measure()
    notes = measurement_notes([result])
    assert notes[0].startswith("→ left (IPv4) to right (IPv4), then ← right to left in validation.")
    assert any(note.startswith("Phase 1: 1,000 connections, initiated") for note in notes)
    assert not any(note.startswith("Phase 2:") for note in notes)


def test_connections_live_as_long_as_each_trial_and_phase_1_is_validated() -> None:
    bench = Bench(gateway=StatefulGateway(entries=3000))
    bench.measure(replace(PLAN, alpha=Fraction(1, 4)))
    spec = max(bench.engine.specs, key=lambda each: each.duration_ns)
    assert max(bench.dut.told_s) >= spec.duration_ns / 10**9
    phases = {phase.name: phase.streams[0] for phase in bench.engine.specs[-1].phases}
    made, validated = phases["establish"], phases["validate"]
    assert validated.segments[0].rate_fps == made.segments[0].rate_fps // 4
    assert validated.segments[0].frames == made.segments[0].frames


def test_connections_that_the_gateway_throws_out_for_new_ones_do_not_count() -> None:
    """All of phase 1 arrives, but not all are there afterwards."""

    @dataclass(kw_only=True)
    class Evicts(StatefulGateway):
        def makes(self, asked: int, rate_cps: int) -> int:
            self.absent = max(0, asked - 4321)
            return asked

    assert values(Bench(gateway=Evicts()).measure())[CAPACITY] == 4321


def test_a_collapse_is_a_failed_step_after_which_it_is_brought_back() -> None:
    bench = Bench(gateway=Mortal(bears=5000))
    result = bench.measure()
    assert values(result)[CAPACITY] == 5000
    assert bench.dut.recoveries > 1
    said = f"collapsed {bench.dut.recoveries} times and was started again (The gateway's process"
    assert said in str(about(Topic.COLLAPSED, result.remarks))


@pytest.mark.parametrize("reset", [2, 5, 9, 20])
def test_a_command_that_failed_is_no_collapse_and_ends_the_measurement(reset: int) -> None:
    bench = Bench(gateway=StatefulGateway(entries=3000), loses_its_way_at=reset)
    with pytest.raises(DutError, match=r"^dut\.reset: .* refused$"):
        bench.measure()
    assert not bench.dut.recoveries


def test_a_device_that_was_there_and_does_not_answer_for_its_addresses_has_collapsed() -> None:
    bench = Bench(gateway=StatefulGateway(entries=3000), refuses=13)
    result = bench.measure()
    assert bench.dut.recoveries == 1
    assert "does not answer for 198.18.0.1" in str(about(Topic.COLLAPSED, result.remarks))


def test_a_device_that_never_answered_is_not_there() -> None:
    with pytest.raises(TrialRefused, match="does not answer"):
        Bench(gateway=StatefulGateway(entries=3000), refuses=2).measure()


def test_a_c0_that_is_not_safe_is_said_with_how_it_collapsed() -> None:
    with pytest.raises(DutError, match=r"not hold C0 = 1,000 .* use a smaller c0$"):
        Bench(gateway=StatefulGateway(entries=999)).measure()
    with pytest.raises(DutError, match=r"C0 = 1,000 .*\(The gateway's process has ended\.\)"):
        Bench(gateway=Mortal(bears=999)).measure()


@pytest.mark.parametrize(("most_cps", "limit_fps"), [(8000, 10**12), (10**9, 8000)])
def test_rates_that_are_not_the_devices_limit_are_lower_bounds(
    most_cps: int, limit_fps: int
) -> None:
    gateway = StatefulGateway(entries=1500)
    plan = replace(PLAN, goal=CapacityGoal(c0=1000, max_cps=most_cps), alpha=Fraction(1))
    result = Bench(gateway=gateway, limit_fps=limit_fps).measure(plan)
    assert result.figure("R0").lower_bound == result.figure("RS").lower_bound == (True,)
    assert result.figure(CAPACITY).lower_bound == (False,)
    assert values(result)[CAPACITY] == 1500


def test_a_weak_tester_is_not_taken_for_a_full_table() -> None:
    with pytest.raises(TesterLimit, match=r"1,000 connections at .* stay invalid"):
        Bench(gateway=StatefulGateway(), limit_fps=0).measure()


def test_a_tester_that_is_away_now_and_then_is_waited_for() -> None:
    bench = Bench(gateway=StatefulGateway(entries=2500, new_cps=50_000))
    bench.engine.invalid = lambda _: LATE if len(bench.engine.specs) % 3 else None
    result = bench.measure(replace(PLAN, goal=CapacityGoal(c0=1000, first_cps=20_000)))
    assert values(result)[CAPACITY] == 2500
    assert values(result)["R0"] == pytest.approx(50_000, rel=0.05)
    assert not any(any(figure.lower_bound) for figure in result.figures)


@pytest.mark.parametrize("entries", [10_000, 12_345])
def test_what_is_lost_while_the_gateway_is_away_is_made_and_asked_again(entries: int) -> None:
    """No trial is without losses, and the table's last entry is found all the same."""
    bench = Bench(gateway=StatefulGateway(entries=entries, new_cps=50_000))
    often_away(bench)
    result = bench.measure(replace(PLAN, goal=CapacityGoal(c0=2000, first_cps=32_000)))
    assert values(result)[CAPACITY] == entries
    assert values(result)["R0"] == pytest.approx(50_000, rel=0.05)
    assert Topic.REPAIRED in topics(result.remarks)
    assert not result.counts.invalid_trials


def test_what_is_lost_and_no_absence_explains_is_lost() -> None:
    """The absence is too short for so many frames, with as long again, and so for C0 at every
    rate."""
    bench = Bench(gateway=StatefulGateway())
    often_away(bench)
    bench.engine.away_ns = lambda phase: 30e9 / phase.streams[0].segments[0].rate_fps
    with pytest.raises(DutError, match=r"does not hold C0 = 2,000"):
        bench.measure(replace(PLAN, goal=CapacityGoal(c0=2000)))


def test_a_trial_without_losses_says_nothing_of_repairs() -> None:
    result = Bench(gateway=StatefulGateway(entries=3000)).measure()
    assert Topic.REPAIRED not in topics(result.remarks)


def test_a_tester_that_is_always_away_is_told() -> None:
    bench = Bench(gateway=StatefulGateway())
    bench.engine.invalid = lambda _: LATE
    with pytest.raises(TesterLimit, match=r"1,000 .* stay invalid: forward: a frame left"):
        bench.measure()


def test_a_search_that_trials_stay_invalid_in_ends_with_a_lower_bound() -> None:
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    bench.engine.invalid = more_than_4000
    result = bench.measure()
    assert result.figure(CAPACITY).lower_bound == (True,)
    assert values(result)[CAPACITY] == values(result)["CS"]
    assert result.figure("CT").lower_bound == (True,)
    assert Topic.BOUND_OF_CAPACITY in topics(result.remarks)


def test_when_the_time_is_over_no_trial_of_the_search_is_repeated() -> None:
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    bench.engine.invalid = more_than_4000
    timing = replace(PLAN.timing, retry_s=Fraction(1, 100))
    result = bench.measure(replace(PLAN, timing=timing))
    assert result.figure(CAPACITY).lower_bound == (True,)
    assert result.counts.invalid_trials == 1


def test_what_cannot_be_counted_is_refused_before_anything_is_sent() -> None:
    bench = Bench(gateway=StatefulGateway())
    with pytest.raises(ConfigurationError, match=r"c0: 100001 .*100000 combinations"):
        bench.measure(replace(PLAN, goal=CapacityGoal(c0=100_001)))
    with pytest.raises(ConfigurationError, match=r"connections\.order: \"repeating\""):
        bench.measure(connections={"order": "repeating"})
    with pytest.raises(ConfigurationError, match=r"traffic\.m: is less than n, but background"):
        bench.measure(n=10, m=9)
    with pytest.raises(DutError, match="no connection table"):
        capacity(PLAN, bench.engine.session(traffic_plan({}), NoDut()))
    assert not bench.engine.specs


def test_a_repetition_is_a_search_of_its_own() -> None:
    bench = Bench(gateway=StatefulGateway(entries=2500))
    result = bench.measure(replace(PLAN, repetitions=2))
    assert result.figure(CAPACITY).values == (2500.0, 2500.0)
    assert len({spec.nonce for spec in bench.engine.specs}) == len(bench.engine.specs)
    assert result.counts.trials == len(bench.engine.specs) - 1  # but the warm-up


def seen(bench: Bench, **changes: Any) -> tuple[Kept, tuple[Remark, ...]]:
    observer = Kept()
    session = bench.engine.session(
        traffic_plan({}, forward=WIDE, reverse=WIDE), bench.dut, observer
    )
    result = capacity(replace(PLAN, **changes), session)
    return observer, result.remarks


def test_the_parameters_of_the_search_are_stated() -> None:
    goal = CapacityGoal(c0=1000, error=1500, beta=Fraction(1, 4), gamma=Fraction(3, 8))
    asked = replace(PLAN, goal=goal, alpha=Fraction(3, 4))
    result = Bench(gateway=StatefulGateway(entries=9000)).measure(asked)
    said = "alpha 0.75, beta 0.25, gamma 0.375, E 1,500; error of the rates 5 %."
    assert str(about(Topic.CAPACITY, result.remarks)).startswith(said)
    connections = result.conditions.connections
    assert connections
    assert (connections.count, connections.validated) == (1000, True)
    assert [figure.name for figure in result.figures if figure.primary] == [CAPACITY]


def test_the_capacity_of_each_repetition_is_shown_as_soon_as_it_is_found() -> None:
    observer, _ = seen(Bench(gateway=StatefulGateway(entries=2500)), repetitions=2)
    assert [(each.name, each.values) for each in observer.figures] == [(CAPACITY, (2500,))] * 2


def test_the_trials_that_passed_in_spite_of_losses_are_counted() -> None:
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    often_away(bench)
    goal = CapacityGoal(c0=2000, first_cps=32_000)
    observer, remarks = seen(bench, goal=goal)
    passed = [t for t in observer.trials if t.verdict is Verdict.PASS and t.result.lost]
    assert about(Topic.REPAIRED, remarks).facts == {"trials": len(passed)}


def test_as_many_connections_as_the_ranges_have_can_be_safe() -> None:
    """1,000 x 100; the table may hold more."""
    every = replace(PLAN, goal=CapacityGoal(c0=100_000))
    result = Bench(gateway=StatefulGateway(new_cps=50_000)).measure(every)
    assert values(result)[CAPACITY] == 100_000
    assert result.figure(CAPACITY).lower_bound == (True,)


def test_a_lower_bound_names_the_trials_that_stayed_invalid() -> None:
    """Above 4,000 connections; that of the last repetition, of those that count."""
    bench = Bench(gateway=StatefulGateway(entries=10_000, new_cps=50_000))
    bench.engine.invalid = more_than_4000
    result = bench.measure(replace(PLAN, repetitions=2))
    said = str(about(Topic.BOUND_OF_CAPACITY, result.remarks))
    assert said.startswith("≥ marks a lower bound: trials of 8,000 connections at ")
    assert f"a second stay invalid: {LATE}; " in said
    exact = Bench(gateway=StatefulGateway(entries=3000)).measure()
    assert not {Topic.BOUND_OF_CAPACITY, Topic.COLLAPSED} & set(topics(exact.remarks))


@pytest.mark.parametrize("alpha", [Fraction(1, 1000), Fraction(1000)])
def test_validation_may_be_a_thousand_times_slower_or_faster(alpha: Fraction) -> None:
    assert replace(PLAN, alpha=alpha).alpha == alpha
    beyond = alpha * (Fraction(1000, 1001) if alpha < 1 else Fraction(1001, 1000))
    with pytest.raises(ConfigurationError, match=r"^alpha: .* \(expected 0\.001 to 1000\)"):
        replace(PLAN, alpha=beyond)


def pausing(share: Fraction) -> FakeEngine:
    def paused_ns(stream: Stream) -> float:
        return float(frames_in(stream) * share * 10**9 / rate_of(stream))

    return FakeEngine(gateway=StatefulGateway(entries=1500), paused_ns=paused_ns)


def test_a_table_may_be_filled_with_long_pauses() -> None:
    """Of at most a quarter: what it holds does not depend on how evenly it was filled."""
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    engine = pausing(Fraction(24, 100))
    result = capacity(PLAN, engine.session(traffic))
    assert values(result)[CAPACITY] == 1500
    assert result.counts.invalid_trials == 0
    engine = pausing(Fraction(27, 100))
    with pytest.raises(TesterLimit, match=r"1,000 connections at .* stay invalid: .* paused for"):
        capacity(PLAN, engine.session(traffic))


@dataclass(kw_only=True)
class Refusing(FakeEngine):
    """Refuses its fifth trial for another reason than that the gateway is gone."""

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        result = super().run(spec, on_progress)
        if len(self.specs) == 5:
            raise TrialRefused("memory", "The tester has no memory for so many connections.")
        return result


def test_a_tester_that_refuses_a_trial_is_no_collapse_of_the_gateway() -> None:
    engine = Refusing(gateway=StatefulGateway(entries=3000))
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    with pytest.raises(TrialRefused, match="no memory for so many"):
        capacity(PLAN, engine.session(traffic))
