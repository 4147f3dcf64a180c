"""CPUs that a host placed badly: what that excuses, what is known of it, and how long it lasts."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from natxy.errors import TesterLimit
from natxy.model.reason import Code
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Segment, Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import noise_notes
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import rfc2544_goal
from natxy.tester.placements import FILE_NAME, KEPT_S, Placements
from natxy.trial.repeats import (
    INVALID_REPEATS,
    MEASUREMENT_S,
    SHARE,
    VALID_FACTOR,
    Repeats,
    RetryTime,
)
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.trial.trials import Trials
from natxy.verdict.placement import bad_placement, by_the_best, is_badly_placed
from tests.remarks import topics
from tests.unit.fake_engine import FakeEngine, beyond, frames_in, rate_of
from tests.unit.results import result_of, stream_of

SENT, SENDING_S = 30_000, 0.1
TIMING = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 20))
PLAN = ThroughputPlan(
    timing=TIMING, repetitions=1, seed=1, error=SearchError(fraction=Fraction(1, 100))
)


def lost(frames: int, *, round_trip_ns: float = 300.0, away_s: float = 0.0) -> TrialResult:
    return result_of(
        stream_of(sent=SENT, missing=frames, sending_s=SENDING_S),
        round_trip_ns=round_trip_ns,
        nearest_ns=51.0,
        away_s=away_s,
    )


def test_cores_that_are_far_apart_excuse_a_third_of_the_frames() -> None:
    said = bad_placement(lost(9_999))
    assert said is not None
    assert said.code is Code.CORES_APART
    assert said.facts == {"took_ns": 300, "possible_ns": 51}
    assert bad_placement(lost(10_001)) is None


def test_an_absence_is_added_to_the_distance() -> None:
    """In 30 ms of 100 the gateway forwards nothing, in the others two thirds at least."""
    assert bad_placement(lost(15_900, away_s=0.03)) is not None
    assert bad_placement(lost(16_100, away_s=0.03)) is None


def spec_of(nat64: TrafficPlan, segment: Segment) -> TrialSpec:
    """A trial of one direction."""
    spec = TrialPlan(traffic=nat64, timing=TIMING).spec(load=1000, seed=1, nonce=1)
    (phase,) = spec.phases
    stream = phase.streams[0].model_copy(update={"segments": (segment,)})
    test = phase.model_copy(update={"streams": (stream,)})
    return spec.model_copy(update={"phases": (test,)})


def far(frames: int, busy_samples: int | None, away_s: float = 0.0) -> TrialResult:
    stream = stream_of(sent=SENT, missing=frames, sending_s=SENDING_S)
    near: Any = {"round_trip_ns": 300.0, "nearest_ns": 51.0}
    return result_of(stream, away_s=away_s, busy_samples=busy_samples, **near)


@pytest.mark.parametrize(("busy_samples", "excused"), [(None, True), (675, True), (674, False)])
def test_a_gateway_that_had_a_rest_lost_nothing_by_being_slow(
    busy_samples: int | None, excused: bool, nat64: TrafficPlan
) -> None:
    """It lost what comes in 30 ms, so it was busy for 90 ms at least; three quarters are 67 ms."""
    steady = spec_of(nat64, Segment(frames=SENT, rate_fps=300_000, pause_ns=0))
    result = far(SENT * 3 // 10, busy_samples)
    assert (bad_placement(result, spec=steady) is not None) == excused


@pytest.mark.parametrize(("busy_samples", "excused"), [(563, True), (562, False)])
def test_frames_that_came_in_an_absence_need_no_work(
    busy_samples: int, excused: bool, nat64: TrafficPlan
) -> None:
    """What comes in 25 ms was lost while the gateway was there: three quarters of 75 ms of work."""
    steady = spec_of(nat64, Segment(frames=SENT, rate_fps=300_000, pause_ns=0))
    result = far(SENT * 3 // 10, busy_samples, away_s=0.005)
    assert (bad_placement(result, spec=steady) is not None) == excused


@pytest.mark.parametrize(("busy_samples", "excused"), [(45, True), (44, False)])
def test_frames_of_bursts_come_in_less_time(
    busy_samples: int, excused: bool, nat64: TrafficPlan
) -> None:
    """At ten times the rate, they come in a tenth of the time."""
    segment = Segment(
        frames=SENT, rate_fps=300_000, pause_ns=0, burst_frames=100, burst_rate_fps=3_000_000
    )
    result = far(SENT // 5, busy_samples)
    assert (bad_placement(result, spec=spec_of(nat64, segment)) is not None) == excused


@pytest.mark.parametrize(("busy_samples", "excused"), [(501, True), (499, False)])
def test_who_has_a_rest_in_steady_traffic_lost_little_by_being_slow(
    busy_samples: int, excused: bool, nat64: TrafficPlan
) -> None:
    """Well placed, its core works for two thirds of 100 ms, if it is full when badly placed."""
    steady = spec_of(nat64, Segment(frames=SENT, rate_fps=300_000, pause_ns=0))
    assert (bad_placement(far(16, busy_samples), spec=steady) is not None) == excused


@pytest.mark.parametrize("round_trip_ns", [0.0, 51.0, 149.0])
def test_cores_that_are_near_excuse_nothing(round_trip_ns: float) -> None:
    assert bad_placement(lost(1, round_trip_ns=round_trip_ns)) is None


def test_threads_of_one_core_do_not_make_all_others_far() -> None:
    """The two threads of a core take 20 ns, two cores with one cache 51 ns."""
    near = result_of(stream_of(sent=SENT), round_trip_ns=51.0, nearest_ns=20.0)
    assert not is_badly_placed(near)


def test_a_machine_whose_cores_are_always_far_apart_has_no_excuse() -> None:
    always = result_of(stream_of(sent=SENT, missing=1), round_trip_ns=310.0, nearest_ns=300.0)
    assert bad_placement(always) is None


def test_a_frame_that_came_wrong_is_not_excused() -> None:
    wrong = stream_of(sent=SENT, wrong=1, sending_s=SENDING_S)
    assert bad_placement(result_of(wrong, round_trip_ns=300.0, nearest_ns=51.0)) is None


def shared(work_ns: float, *, missing: int = 1_000) -> TrialResult:
    stream = stream_of(sent=SENT, missing=missing, sending_s=SENDING_S)
    return result_of(stream, work_ns=work_ns, fastest_ns=2_300.0)


def test_a_core_that_does_other_work_as_well_excuses_half_of_the_frames() -> None:
    said = bad_placement(shared(4_600.0))
    assert said is not None
    assert said.code is Code.CORE_SHARED
    assert said.facts == {"took_ns": 4600, "possible_ns": 2300}
    assert bad_placement(shared(4_600.0, missing=15_000)) is not None
    assert bad_placement(shared(4_600.0, missing=15_001)) is None


def test_a_little_more_time_is_no_other_work() -> None:
    assert bad_placement(shared(2_600.0)) is None
    assert bad_placement(shared(2_700.0)) is not None


def test_both_together_excuse_two_thirds_of_the_frames() -> None:
    def both(missing: int) -> TrialResult:
        stream = stream_of(sent=SENT, missing=missing, sending_s=SENDING_S)
        near: Any = {"round_trip_ns": 300.0, "nearest_ns": 51.0}
        return result_of(stream, work_ns=4_600.0, fastest_ns=2_300.0, **near)

    assert bad_placement(both(19_900)) is not None
    assert bad_placement(both(20_100)) is None


def paced(work_ns: float, chain_ns: float, round_trip_ns: float = 60.0) -> TrialResult:
    stream = stream_of(sent=SENT, missing=1_000)
    times: Any = {"work_ns": work_ns, "chain_ns": chain_ns, "round_trip_ns": round_trip_ns}
    return result_of(stream, **times)


def test_the_fastest_work_is_remembered_beside_the_round_trip(tmp_path: Path) -> None:
    Placements(0, tmp_path).noted(paced(2_300.0, 1_000.0, 300.0))
    (watch,) = Placements(0, tmp_path).noted(paced(4_600.0, 1_000.0)).watched
    assert watch.nearest_ns == 60.0
    assert watch.fastest_ns == pytest.approx(2_300.0)


def test_the_clock_of_a_processor_may_change(tmp_path: Path) -> None:
    """A laptop's clock falls by half when it is warm: the chain then takes twice as long."""
    machine = Placements(0, tmp_path)
    machine.noted(paced(2_300.0, 1_000.0))
    assert bad_placement(machine.noted(paced(4_600.0, 2_000.0))) is None
    assert bad_placement(machine.noted(paced(4_600.0, 1_000.0))) is not None


def nearest_of(noted: TrialResult) -> float:
    return noted.watched[0].nearest_ns


def test_the_shortest_round_trip_is_remembered_across_processes(tmp_path: Path) -> None:
    first = Placements(0, tmp_path)
    assert nearest_of(first.noted(lost(0, round_trip_ns=300.0))) == 300.0
    assert nearest_of(first.noted(lost(0, round_trip_ns=52.0))) == 52.0
    assert nearest_of(Placements(0, tmp_path).noted(lost(0, round_trip_ns=310.0))) == 52.0
    assert nearest_of(Placements(2, tmp_path).noted(lost(0, round_trip_ns=310.0))) == 310.0


def test_what_was_not_seen_for_long_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that has moved to another host may never have its cores as near again."""
    now_s = [1_000_000.0]
    monkeypatch.setattr("natxy.tester.placements.time.time", lambda: now_s[0])
    machine = Placements(0, tmp_path)
    machine.noted(lost(0, round_trip_ns=50.0))
    now_s[0] += KEPT_S - 1
    machine.noted(lost(0, round_trip_ns=55.0))  # as near as ever
    now_s[0] += KEPT_S - 1
    assert nearest_of(machine.noted(lost(0, round_trip_ns=300.0))) == 50.0
    now_s[0] += 2
    assert nearest_of(machine.noted(lost(0, round_trip_ns=300.0))) == 300.0


@pytest.mark.parametrize(
    "text", ["", "[]", '{"work_ns 0-1": 3}', '{"work_ns 0-1": [null, 1]}', "\x00"]
)
def test_a_damaged_file_is_replaced(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    assert nearest_of(Placements(0, tmp_path).noted(lost(0, round_trip_ns=60.0))) == 60.0
    assert json.loads((tmp_path / FILE_NAME).read_text())["round_trip_ns 0-1"][0] == 60.0


def test_a_trial_without_a_round_trip_changes_nothing(tmp_path: Path) -> None:
    unknown = lost(0, round_trip_ns=0.0)
    assert Placements(0, tmp_path).noted(unknown) is unknown
    assert not list(tmp_path.iterdir())


def phases(*, lossy: str) -> TrialResult:
    """Two phases, of which one lost a tenth; the CPUs were far apart in the first one."""
    streams = tuple(
        stream_of(sent=SENT, missing=3_000 if name == lossy else 0, sending_s=SENDING_S).model_copy(
            update={"phase": name}
        )
        for name in ("establish", "test")
    )
    near = result_of(*streams, round_trip_ns=51.0, nearest_ns=51.0)
    (watch,) = near.watched
    far = watch.model_copy(update={"phase": "establish", "round_trip_ns": 300.0})
    return near.model_copy(update={"watched": (far, watch)})


def test_a_phase_that_was_placed_well_is_not_excused_by_another_one() -> None:
    assert bad_placement(phases(lossy="test")) is None
    assert bad_placement(phases(lossy="establish")) is not None


def test_a_trial_that_took_too_long_is_excused_as_far_as_the_placement_slows_down() -> None:
    assert bad_placement(lost(0), forwarded=0.7) is not None
    assert bad_placement(lost(0), forwarded=0.6) is None
    assert bad_placement(lost(0, round_trip_ns=60.0), forwarded=0.9) is None


def test_a_trial_is_judged_by_the_best_that_any_trial_has_shown() -> None:
    """The first trials of a machine may all have been placed badly."""
    first = lost(3_000).model_copy(
        update={
            "watched": tuple(
                watch.model_copy(update={"nearest_ns": 300.0}) for watch in lost(1).watched
            )
        }
    )
    assert bad_placement(first) is None
    assert bad_placement(by_the_best(first, lost(0, round_trip_ns=51.0).watched)) is not None
    assert bad_placement(by_the_best(first, first.watched)) is None
    unknown = paced(2_300.0, 0.0, 0.0)
    assert by_the_best(unknown, unknown.watched) == unknown


def first_seen_far(far: int) -> FakeEngine:
    """Forwards 60,000 fps if the cores are near, 40,000 if they are far apart, as in the first
    `far` trials; until the first near one, nobody knows that nearer ones are possible."""
    engine = FakeEngine(
        lose=lambda stream: beyond(60_000 if is_near() else 40_000, stream),
        round_trip_ns=lambda _: 50.0 if is_near() else 300.0,
        nearest_ns=lambda _: 50.0 if is_near() else 300.0,
    )

    def is_near() -> bool:
        return len(engine.specs) > far

    return engine


@pytest.mark.parametrize("verifications", [0, 1])
def test_a_search_goes_on_above_failures_that_turn_out_to_tell_nothing(
    verifications: int, nat64: TrafficPlan
) -> None:
    plan = replace(PLAN, loss_verifications=verifications)
    never = throughput(plan, first_seen_far(10_000).session(nat64))
    assert never.figures[0].values[0] == pytest.approx(40_000, rel=0.011)
    assert never.counts.revoked == 0
    assert any("300 ns or more" in note for note in noise_notes(never.counts))
    late = throughput(plan, first_seen_far(never.counts.trials - 1).session(nat64))
    assert late.figures[0].values[0] == pytest.approx(60_000, rel=0.011)
    assert late.figures[0].lower_bound == (False,)
    assert late.counts.revoked
    notes = list(noise_notes(late.counts))
    assert any("placed their CPUs badly" in note for note in notes)
    assert not any("or more" in note for note in notes)


def test_a_later_repetition_disproves_an_earlier_one(nat64: TrafficPlan) -> None:
    """The first one knew far cores alone; the others see near ones, and a faster gateway."""
    alone = throughput(PLAN, first_seen_far(10_000).session(nat64))
    engine = first_seen_far(alone.counts.trials)
    result = throughput(replace(PLAN, repetitions=3), engine.session(nat64))
    (figure,) = result.figures
    assert figure.values == pytest.approx((40_000, 60_000, 60_000), rel=0.011)
    assert figure.lower_bound == (True, False, False)
    assert Topic.BOUND_BY_NOISE in topics(result.remarks)


def test_a_failure_that_is_revoked_no_more_makes_a_lower_bound(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = throughput(PLAN, first_seen_far(10_000).session(nat64))
    monkeypatch.setattr("natxy.trial.valid_trials.MOST_REVOCATIONS", 0)
    result = throughput(PLAN, first_seen_far(alone.counts.trials - 1).session(nat64))
    (figure,) = result.figures
    assert figure.values == pytest.approx((40_000,), rel=0.011)
    assert figure.lower_bound == (True,)


def paused_at(counted_fps: int, far_above: bool, near_from: int = 10_000) -> FakeEngine:
    """Passes at 64,000 fps with pauses, which counts as less, and fails above what counts.

    Failures at rates above 64,000 fps, or those below it, had far cores: nobody knew nearer ones.
    The gateway forwards 64,000 fps if the cores are near, as they are from trial `near_from` on.
    """

    def is_far(rate_fps: int) -> bool:
        return len(engine.specs) < near_from and (rate_fps > 64_000) == far_above

    def lose(stream: Stream) -> Sequence[int]:
        rate_fps = rate_of(stream)
        limit_fps = 64_000 if len(engine.specs) >= near_from else counted_fps
        fails = rate_fps > limit_fps and rate_fps != 64_000
        return beyond(limit_fps, stream) if fails else ()

    def paused_ns(stream: Stream) -> float:
        share = 64_000 / counted_fps - 1
        return share * frames_in(stream) * 1e9 / 64_000 if rate_of(stream) == 64_000 else 0.0

    def placed_ns(spec: TrialSpec) -> float:
        rate_fps = rate_of(spec.phases[0].streams[0])
        failed = rate_fps > counted_fps and rate_fps != 64_000
        return 300.0 if failed and is_far(rate_fps) else 50.0

    engine = FakeEngine(
        lose=lose, paused_ns=paused_ns, round_trip_ns=placed_ns, nearest_ns=placed_ns
    )
    return engine


def test_failures_between_the_rate_that_counts_and_its_own_bound_the_result(
    nat64: TrafficPlan,
) -> None:
    """64,000 fps counted 61,000: the failures at less than 64,000 tell nothing."""
    opened = throughput(PLAN, paused_at(61_000, far_above=False).session(nat64))
    assert opened.figures[0].values[0] == pytest.approx(61_000, rel=0.011)
    assert opened.figures[0].lower_bound == (True,)
    near_from = opened.counts.trials
    engine = paused_at(61_000, far_above=False, near_from=near_from)
    revoked = throughput(PLAN, engine.session(nat64))
    assert revoked.figures[0].values[0] == pytest.approx(64_000, rel=0.011)
    assert revoked.figures[0].lower_bound == (False,)
    assert revoked.counts.revoked


def test_failures_above_others_do_not_bound_a_rate_that_counts_less(nat64: TrafficPlan) -> None:
    """Those above 64,000 fps tell nothing, and those between 61,000 and 64,000 tell enough."""
    result = throughput(PLAN, paused_at(61_000, far_above=True).session(nat64))
    assert result.figures[0].values[0] == pytest.approx(61_000, rel=0.011)
    assert result.figures[0].lower_bound == (False,)
    assert result.counts.revoked == 0


def test_a_failure_that_was_overturned_does_not_bound_the_rate_that_counts_then(
    nat64: TrafficPlan,
) -> None:
    """63,698 fps failed with far cores, then passed and counted 63,600."""
    tried: list[int] = []

    def first_at_overturned() -> bool:
        return tried[-1] == 63_698 and tried.count(63_698) == 1

    def placed_ns(spec: TrialSpec) -> float:
        del spec
        return 300.0 if first_at_overturned() else 50.0

    def lose(stream: Stream) -> Sequence[int]:
        if stream.direction == "forward":
            tried.append(rate_of(stream))
        if first_at_overturned():
            return range(frames_in(stream) // 10)
        return range(0, frames_in(stream), 10) if rate_of(stream) > 64_000 else ()

    def paused_ns(stream: Stream) -> float:
        share = 63_698 / 63_600 - 1 if rate_of(stream) == 63_698 else 0.0
        return share * frames_in(stream) * 1e9 / 63_698

    engine = FakeEngine(
        lose=lose, paused_ns=paused_ns, round_trip_ns=placed_ns, nearest_ns=placed_ns
    )
    plan = replace(PLAN, max_rate_fps=64_200, loss_verifications=1)
    result = throughput(plan, engine.session(nat64))
    assert result.figures[0].values == pytest.approx((63_600,), abs=1)
    assert result.figures[0].lower_bound == (False,)
    assert (result.counts.overturned, result.counts.revoked) == (1, 0)


def test_a_search_ends_where_near_cores_were_seen_once_and_never_again(nat64: TrafficPlan) -> None:
    """The best is forgotten after ten minutes: the machine may have moved to another host."""
    engine = first_seen_far(0)
    engine.round_trip_ns = lambda _: 50.0 if len(engine.specs) == 1 else 300.0
    engine.nearest_ns = lambda _: 50.0 if len(engine.specs) == 1 else 300.0
    result = throughput(PLAN, engine.session(nat64))
    assert result.figures[0].values[0] == pytest.approx(60_000, rel=0.011)
    assert result.counts.revoked == 0


def test_what_was_known_to_be_badly_placed_is_not_judged_again(nat64: TrafficPlan) -> None:
    """It lost more than the placement explains, and does so again."""
    engine = FakeEngine(
        lose=lambda stream: range(frames_in(stream) if rate_of(stream) > 40_000 else 0),
        round_trip_ns=lambda _: 300.0,
    )
    result = throughput(PLAN, engine.session(nat64))
    assert result.figures[0].values[0] == pytest.approx(40_000, rel=0.011)
    assert result.counts.revoked == 0


def test_mlrsearch_searches_again_where_failures_turn_out_to_tell_nothing(
    nat64: TrafficPlan,
) -> None:
    plan = MlrThroughputPlan(
        timing=TIMING,
        goals=(rfc2544_goal(final_duration_s=Fraction(1, 20), width=Fraction(1, 50)),),
        seed=1,
        max_rate_fps=100_000,
    )
    never = mlr_throughput(plan, first_seen_far(10_000).session(nat64))
    late = mlr_throughput(plan, first_seen_far(never.counts.trials - 1).session(nat64))
    assert never.figures[0].values[0] == pytest.approx(40_000, rel=0.03)
    assert late.figures[0].values[0] == pytest.approx(60_000, rel=0.03)
    assert late.counts.revoked
    engine = first_seen_far(never.counts.trials)
    twice = mlr_throughput(replace(plan, repetitions=2), engine.session(nat64))
    assert twice.figures[0].values == pytest.approx((40_000, 60_000), rel=0.03)
    assert twice.figures[0].lower_bound == (True, False)


def far_until(number: int) -> FakeEngine:
    """Loses a tenth of each trial while the cores are far apart: in the first `number` trials."""

    def round_trip_ns(spec: TrialSpec) -> float:
        del spec
        return 300.0 if len(engine.specs) <= number else 50.0

    def lose(stream: Stream) -> range:
        far = len(engine.specs) <= number
        return range(stream.segments[0].frames // 10) if far else range(0)

    engine = FakeEngine(lose=lose, round_trip_ns=round_trip_ns)
    return engine


def trials_of(engine: FakeEngine, traffic: TrafficPlan, retry_s: Fraction | None = None) -> Trials:
    return Trials(
        session=engine.session(traffic), timing=replace(TIMING, retry_s=retry_s), campaign_seed=1
    )


def test_a_trial_is_repeated_until_the_cores_are_near(nat64: TrafficPlan) -> None:
    trials = trials_of(far_until(150), nat64)
    trial = trials.run_valid(load=10_000, repetition=1, invalid_repeats=0)
    assert trial.verdict is Verdict.PASS
    assert len(trials.discarded) == 150
    assert all(
        each.badly_placed and each.excused and not each.too_slow for each in trials.discarded
    )


def test_a_gateway_that_loses_near_and_far_fails(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: (0,), round_trip_ns=lambda _: 50.0)
    trials = trials_of(engine, nat64)
    trial = trials.run_valid(load=10_000, repetition=1, invalid_repeats=0)
    assert trial.verdict is Verdict.FAIL


@pytest.mark.parametrize(("is_far", "share"), [(True, Fraction(1)), (False, SHARE)])
@pytest.mark.parametrize("given_s", [None, Fraction(20)])
def test_one_rate_has_a_share_of_the_time_but_far_trials_may_take_all(
    is_far: bool, share: Fraction, given_s: Fraction | None, nat64: TrafficPlan
) -> None:
    trial = trials_of(far_until(10_000), nat64).run(load=10_000, repetition=1, seed=1)
    trial = trial.model_copy(update={"badly_placed": is_far})
    time, each_s = RetryTime(given_s=given_s), Fraction(1, 10)
    repeats = Repeats(time=time, each_s=each_s, least=0, share=SHARE)
    ran = 1
    time.count(each_s, valid=False)
    while not repeats.are_over(trial, too_slow=trial.too_slow):
        time.count(each_s, valid=False)
        ran += 1
    assert ran * each_s == (given_s or MEASUREMENT_S) * share


@pytest.mark.parametrize(("given_s", "trials"), [(None, 4), (Fraction(1), 1)])
def test_some_repeats_need_no_time_unless_the_user_gave_it(
    given_s: Fraction | None, trials: int, nat64: TrafficPlan
) -> None:
    trial = trials_of(far_until(10_000), nat64).run(load=10_000, repetition=1, seed=1)
    time = RetryTime(given_s=given_s, used_s=Fraction(50))
    repeats = Repeats(time=time, each_s=Fraction(1, 10), least=INVALID_REPEATS)
    assert (
        next(ran for ran in count(1) if repeats.are_over(trial, too_slow=trial.too_slow)) == trials
    )


def ran_in_vain(trials: Trials) -> list[int]:
    """How many trials ran in each of three repetitions that never had a valid one."""
    ran = []
    for repetition in (1, 2, 3):
        with pytest.raises(TesterLimit, match=r"(was|were) invalid"):
            trials.run_valid(load=10_000, repetition=repetition, invalid_repeats=3)
        ran.append(len(trials.discarded))
    assert trials.discarded[-1].badly_placed
    return ran


def test_the_invalid_trials_of_a_measurement_have_a_budget_together(nat64: TrafficPlan) -> None:
    """Else a search in an hour of noise would spend as much time at each rate."""
    trials = trials_of(far_until(10_000), nat64)
    ran = ran_in_vain(trials)
    each_s = trials.retry_time.used_s / sum(ran)
    # The whole time at the first rate, and then the least.
    assert ran == [math.ceil(MEASUREMENT_S / each_s), 4, 4]


@pytest.mark.parametrize("retry_s", [Fraction(0), Fraction(1, 10), Fraction(2), Fraction(5)])
def test_no_trial_is_repeated_after_the_time_that_the_user_gave(
    nat64: TrafficPlan, retry_s: Fraction
) -> None:
    trials = trials_of(far_until(10_000), nat64, retry_s)
    ran = ran_in_vain(trials)
    each_s = trials.retry_time.used_s / sum(ran)
    assert ran == [max(1, math.ceil(retry_s / each_s)), 1, 1]
    with pytest.raises(TesterLimit) as limit:
        trials.run_valid(load=10_000, repetition=4, invalid_repeats=3)
    said = "1 trial at 10000 frames a second was invalid, and the retry time is used up: "
    assert str(limit.value).startswith(said)


def test_valid_trials_earn_time_for_invalid_ones(nat64: TrafficPlan) -> None:
    trials = trials_of(far_until(1), nat64)
    verdicts = [trials.run(load=10_000, repetition=1, seed=1).verdict]
    each_s = trials.retry_time.used_s
    verdicts.append(trials.run(load=10_000, repetition=1, seed=1).verdict)
    assert verdicts == [Verdict.INVALID, Verdict.PASS]
    assert trials.retry_time.left_s == MEASUREMENT_S + (VALID_FACTOR - 1) * each_s


def test_valid_trials_add_nothing_to_the_time_that_the_user_gave(nat64: TrafficPlan) -> None:
    trials = trials_of(far_until(1), nat64, Fraction(5))
    verdicts = [trials.run(load=10_000, repetition=1, seed=1).verdict]
    left_s = trials.retry_time.left_s
    verdicts.append(trials.run(load=10_000, repetition=1, seed=1).verdict)
    assert verdicts == [Verdict.INVALID, Verdict.PASS]
    assert trials.retry_time.left_s == left_s < 5
