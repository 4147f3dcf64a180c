"""Reset: both methods' times, and what happens when the gateway cannot be reset."""

import os
import time
from fractions import Fraction
from threading import Event, get_native_id
from typing import Any

import pytest

from natxy.errors import ConfigurationError, DutError, TesterLimit, TrialCancelled
from natxy.model.deviation import Differs
from natxy.model.disturbance import Absence
from natxy.model.event import Progress
from natxy.model.reason import Reason
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec, WatchedCpu
from natxy.procedure.reset import BY_LOSS, BY_TIMESTAMPS, LOST, ResetPlan, Resetter, reset
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes, text
from tests.unit.demo_journal import Gateway
from tests.unit.fake_engine import FakeEngine, distribution, frames_in, rate_of
from tests.unit.reasons import LATE
from tests.unit.reset import GONE, Switch, pause

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))
RATE_FPS = 10_000
FRAMES = 1_000


def plan(**changes: Any) -> ResetPlan:
    given: dict[str, Any] = {
        "timing": FAST,
        "seed": 7,
        "repetitions": 2,
        "rate_fps": RATE_FPS,
        "reset_after_s": Fraction(1, 100),
    }
    return ResetPlan(**given | changes)


class StartedAgain(Switch):
    """A gateway whose program has another number after a reset."""

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return (WatchedCpu(cpu=1, threads=(1000 + self.resets,)),)


class Restarted(Switch):
    """Whose programs are others after a reset: to who watches them it is away from then on."""

    def absence(self) -> Absence | None:
        return Absence(where="the gateway's CPU 1", total_s=0.09, longest_s=0.09)


class OnOneCpu(Switch):
    @property
    def cpus(self) -> tuple[int, ...]:
        return (max(os.sched_getaffinity(os.getpid())),)


def test_the_commands_of_a_reset_stay_off_the_testers_cores(nat64: TrafficPlan) -> None:
    allowed: list[set[int]] = []
    dut = OnOneCpu(lambda: allowed.append(os.sched_getaffinity(get_native_id())))
    before = os.sched_getaffinity(get_native_id())
    reset(plan(repetitions=1), FakeEngine(lose=lambda _: GONE, during=pause).session(nat64, dut))
    assert allowed == [set(dut.cpus)]
    assert os.sched_getaffinity(get_native_id()) == before


def test_both_methods(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    dut = Switch()
    result = reset(plan(), engine.session(nat64, dut))
    assert dut.resets == 2
    for direction in ("forward", "reverse"):
        assert result.figure(BY_LOSS, direction).values == (0.025, 0.025)
        # One interval longer: from the last frame before the gap to the first after it.
        assert result.figure(BY_TIMESTAMPS, direction).values == pytest.approx((0.0251, 0.0251))
        assert result.figure(LOST, direction).values == (250, 250)
        assert not any(result.figure(BY_LOSS, direction).lower_bound)
    assert Remark.of(Topic.RESET, way="power interruption: a switch") in result.remarks
    assert Topic.USED_AGAIN not in topics(result.remarks)


def test_what_a_reset_loses_is_no_noise(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    result = reset(plan(), engine.session(nat64, Restarted()))
    assert result.figure(BY_LOSS, "forward").values == (0.025, 0.025)
    assert result.counts.invalid_trials == 0


@pytest.mark.parametrize(
    ("away_ns", "by_loss_s", "by_timestamps_s"),
    [
        (0, (), (0, 0)),
        (1e6, (0.002, 0.002), (0.002, 0.002)),  # however short
        (8e6, (0.016, 0.016), (0.016, 0.016)),  # of two directions; before and after the silence
        (15e6, (0.025, 0.025), (0.0251, 0.0251)),  # no more than was measured
    ],
)
def test_absences_lengthen_a_reset(
    away_ns: float,
    by_loss_s: tuple[float, ...],
    by_timestamps_s: tuple[float, ...],
    nat64: TrafficPlan,
) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause, away_ns=lambda _: away_ns)
    result = reset(plan(), engine.session(nat64, Switch()))
    assert result.figure(BY_LOSS, "forward").errors == pytest.approx(by_loss_s)
    # The polls of the engine are 1 ns apart.
    assert result.figure(BY_TIMESTAMPS, "forward").errors == pytest.approx(
        by_timestamps_s, abs=2e-9
    )


def test_new_programs_are_not_watched(nat64: TrafficPlan) -> None:
    """The CPU of the programs that are gone is always away after the reset."""
    engine = FakeEngine(lose=lambda _: GONE, during=pause, away_ns=lambda _: 90e6)
    result = reset(plan(), engine.session(nat64, StartedAgain()))
    assert result.figure(BY_LOSS, "forward").errors == ()
    assert result.figure(BY_TIMESTAMPS, "forward").errors == pytest.approx((0, 0), abs=2e-9)
    assert Topic.RESET_UNWATCHED in topics(result.remarks)


@pytest.mark.parametrize("late_ms", [22, 23])
def test_a_silence_that_may_be_the_testers_makes_no_figure(
    late_ms: float, nat64: TrafficPlan
) -> None:
    """The silence of 25.1 ms may be the tester's by at most 90 %, 22.6 ms."""
    late = {"lateness": distribution(1000, 0.0, late_ms * 1e6)}
    engine = FakeEngine(lose=lambda _: GONE, during=pause, members=lambda _: late)
    if late_ms == 22:
        result = reset(plan(), engine.session(nat64, Switch()))
        assert result.figure(BY_TIMESTAMPS, "forward").errors == pytest.approx((0.022, 0.022))
        return
    session = engine.session(nat64, Switch()).with_retry_time(Fraction(0))
    with pytest.raises(TesterLimit, match=r"silent for 25\.1 ms, of which the tester may have"):
        reset(plan(), session)


def test_loss_elsewhere_counts_by_one_method_alone(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: [3, 5, 7, *GONE], during=pause)
    result = reset(plan(), engine.session(nat64, Switch()))
    assert result.figure(BY_LOSS, "forward").values == pytest.approx((0.0253,) * 2)
    assert result.figure(BY_TIMESTAMPS, "forward").values == pytest.approx((0.0251,) * 2)


def test_a_device_that_stays_away_is_a_lower_bound(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: range(400, frames_in(stream)), during=pause)
    result = reset(plan(), engine.session(nat64, Switch()))
    for method in (BY_LOSS, BY_TIMESTAMPS):
        assert all(result.figure(method, "forward").lower_bound)
        assert result.figure(method, "forward").values == pytest.approx((0.06, 0.06))
    assert Topic.LOST_TO_END in topics(result.remarks)


def test_no_loss_is_said(nat64: TrafficPlan) -> None:
    result = reset(plan(), FakeEngine(during=pause).session(nat64, Switch()))
    assert result.figure(BY_TIMESTAMPS, "forward").values == (0, 0)
    assert Topic.NOTHING_LOST in topics(result.remarks)


def test_when_it_happened_is_what_was_seen_and_not_what_was_asked_for(nat64: TrafficPlan) -> None:
    engine = FakeEngine(during=pause)
    engine.lose = lambda _: GONE if len(engine.specs) == 1 else range(500, 750)
    result = reset(plan(), engine.session(nat64, Switch()))
    assert str(about(Topic.RESETS_SEEN, result.remarks)) == (
        "The reset was requested 10 ms after sending began; the longest loss began after 40 ms to "
        "50 ms."
    )
    assert "0.04 s of traffic before the reset, not 15 s" in text(result.deviations)
    unseen = reset(plan(), FakeEngine(during=pause).session(nat64, Switch()))
    assert about(Topic.RESET_AT, unseen.remarks).facts == {"asked_ns": 10_000_000}
    assert "0.01 s of traffic before the reset, not 15 s" in text(unseen.deviations)


def test_where_its_rate_comes_from_is_said(nat64: TrafficPlan) -> None:
    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if rate_of(spec.phases[0].streams[0]) > RATE_FPS else None

    engine = FakeEngine(invalid=invalid, during=pause)
    given = reset(plan(), engine.session(nat64, Switch()))
    assert given.remarks[0].code is Topic.RATE_GIVEN
    assert Differs.GIVEN_RATE in codes(given.deviations)
    found = reset(plan(rate_fps=None), engine.session(nat64, Switch()))
    assert about(Topic.RATE_FOUND, found.remarks).facts["searches"] == 1
    assert Topic.RATE_IS_BOUND in topics(found.remarks)
    assert Differs.OF_A_BOUND in codes(found.deviations)


def test_each_trial_has_a_reset_the_invalid_ones_too(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    engine.invalid = lambda _: LATE if len(engine.specs) == 1 else None
    dut = Switch()
    result = reset(plan(), engine.session(nat64, dut))
    assert dut.resets == 3
    assert len(result.figure(BY_LOSS, "forward").values) == 2


def test_a_reset_that_fails_ends_the_trial_and_is_told(nat64: TrafficPlan) -> None:
    """The trial is cancelled at once: it would go on for a minute for nothing."""
    engine = Cancellable()

    def refuse() -> None:
        raise DutError("The switch is broken.")

    with pytest.raises(DutError, match="The switch is broken"):
        reset(plan(), engine.session(nat64, Switch(refuse)))
    assert engine.cancelled
    assert len(engine.specs) == 1


class Cancellable(FakeEngine):
    """An engine whose trials last until they are cancelled."""

    cancelled = False

    def run(self, spec: TrialSpec, *arguments: Any) -> Any:
        super().run(spec, *arguments)
        deadline_s = time.monotonic() + 10
        while time.monotonic() < deadline_s:
            if self.cancelled:
                raise TrialCancelled("cancelled", "cancelled")
            time.sleep(0.001)
        raise AssertionError("nobody cancelled the trial")

    def cancel(self) -> None:
        self.cancelled = True


def test_a_reset_that_does_not_end_is_told(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("natxy.procedure.reset.ENDS_WITHIN_S", 0.1)
    engine = FakeEngine(during=pause)
    slow = Switch(lambda: time.sleep(0.5))
    with pytest.raises(DutError, match=r"^The reset did not end within 0\.1 s after the trial"):
        reset(plan(), engine.session(nat64, slow))


def test_a_device_without_a_reset_is_refused(nat64: TrafficPlan) -> None:
    with pytest.raises(DutError, match="cannot reset a gateway of kind"):
        reset(plan(), Cancellable().session(nat64))


def test_a_reset_that_has_begun_is_waited_for(nat64: TrafficPlan) -> None:
    """Nothing is left half done: the engine fails in the middle of it."""
    begun, ended = Event(), list[bool]()

    def slowly() -> None:
        begun.set()
        time.sleep(0.1)
        ended.append(True)

    def die() -> None:
        assert begun.wait(10)
        raise DutError("the cable was pulled")

    with pytest.raises(DutError, match="cable"):
        reset(plan(), FakeEngine(during=die).session(nat64, Switch(slowly)))
    assert ended == [True]


@pytest.mark.parametrize("after_s", [Fraction(-1), Fraction(91, 1000), Fraction(1)])
def test_a_reset_outside_the_trial_is_refused(after_s: Fraction) -> None:
    with pytest.raises(ConfigurationError, match=r"reset_after_s: .* \(expected 0 to 0.09\)"):
        plan(reset_after_s=after_s)
    assert plan(reset_after_s=None).after_s == FAST.duration_s / 3


@pytest.mark.parametrize(("first", "said"), [(149, True), (150, False)])
def test_fifteen_seconds_of_traffic_before_the_reset_are_enough(
    first: int, said: bool, nat64: TrafficPlan
) -> None:
    """The 150th frame is due after 15 s at 10 frames a second."""
    engine = FakeEngine(lose=lambda _: range(first, first + 10), during=pause)
    timing = Timing(duration_s=Fraction(60), drain_s=Fraction(2), settle_s=Fraction(5))
    asked = plan(timing=timing, rate_fps=10, repetitions=10)
    deviations = text(reset(asked, engine.session(nat64, Switch())).deviations)
    assert ("14.9 s of traffic before the reset, not 15 s" in deviations) is said
    assert ("traffic before the reset" in deviations) is said


def test_a_single_frame_lost_at_the_end_is_no_device_that_stays_away(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda stream: [*GONE, frames_in(stream) - 1], during=pause)
    result = reset(plan(), engine.session(nat64, Switch()))
    for method in (BY_LOSS, BY_TIMESTAMPS):
        assert not any(result.figure(method, "forward").lower_bound)
    assert Topic.LOST_TO_END not in topics(result.remarks)
    # The last frame is one loss more, but no part of the longest gap.
    assert result.figure(BY_LOSS, "forward").values == pytest.approx((0.0251,) * 2)
    assert result.figure(BY_TIMESTAMPS, "forward").values == pytest.approx((0.0251,) * 2)


def test_a_trial_that_ends_before_the_device_is_reset_is_told(nat64: TrafficPlan) -> None:
    class Silent(FakeEngine):
        def run(self, spec: TrialSpec, *_: Any) -> Any:
            return super().run(spec)

    with pytest.raises(DutError, match=r"ended before the gateway could be reset; use a longer"):
        reset(plan(), Silent().session(nat64, Switch()))


def progress(stage: str) -> Progress:
    counts = {"forward": 0, "reverse": 0}
    said = {"event": "progress", "id": 1, "stage": stage, "elapsed_ns": 0, "duration_ns": 10**9}
    return Progress.model_validate({**said, "sent": counts, "received": counts})


def test_the_device_is_reset_once_in_a_trial_and_not_before_its_frames() -> None:
    dut = Switch()
    with Resetter(dut, 0.0, lambda: None) as resetter:
        for stage in ("table", "neighbours", "warm-up"):
            resetter.trial_progressed(progress(stage))
        pause()
        before = dut.resets
        for _ in range(3):
            resetter.trial_progressed(progress("sending"))
            pause()
        done = resetter.after(next(Gateway(0).trials()))
    assert (before, dut.resets) == (0, 1)
    assert done["reset"] == "power interruption: a switch"


def test_a_reset_that_has_not_begun_when_the_measurement_ends_does_not_happen() -> None:
    dut = Switch()
    begin_s = time.monotonic()
    with Resetter(dut, 30.0, lambda: None) as resetter:
        resetter.trial_progressed(progress("sending"))
    assert not dut.resets
    assert time.monotonic() - begin_s < 10


def test_a_links_fall_is_a_part_of_a_reset(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    reset(plan(), engine.session(nat64, Switch()))
    assert all(spec.link_may_fall for spec in engine.specs)
    assert {spec.burst_limit_frames for spec in engine.specs} == {0}, "no sender pauses"


def test_what_departs_from_rfc_6201_is_said(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    said = text(reset(plan(), engine.session(nat64, Switch())).deviations)
    assert "0.04 s of traffic before the reset, not 15 s" in said
    assert "one kind of reset, not those of the hardware, of the software and of the power" in said
    assert "repetitions" not in said
    once = text(reset(plan(repetitions=1), engine.session(nat64, Switch())).deviations)
    assert "1 repetition, not several (RFC 6201 section 1.4)" in once


def test_a_reset_needs_only_the_smallest_frames_to_networks_nearby(nat64: TrafficPlan) -> None:
    """RFC 6201 section 4, RFC 2544 section 26.6: not all sizes, and not 256 networks."""
    session = FakeEngine(lose=lambda _: GONE, during=pause).session(nat64, Switch())
    smallest = set(codes(reset(plan(), session).deviations))
    assert not smallest & {Differs.FRAME_SIZES, Differs.LARGER_FRAMES}
    assert not smallest & {Differs.NETWORKS, Differs.BEHIND_NEXT_HOPS}
    larger = session.with_traffic(frame_size_bytes=512, left_networks=2, right_networks=2)
    said = text(reset(plan(), larger).deviations)
    assert "frames of 512 bytes, not of 84 (RFC 6201 section 4)" in said
    assert "2 destination networks behind next hops" in said
