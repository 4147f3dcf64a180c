"""What an exact rate needs: a failure that the rate explains, and a pass that nothing helped."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from random import Random

import numpy as np
import pytest

from natxy.errors import ConfigurationError
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Code, Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import CountedLoss
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_csv import rows
from natxy.report.results_json import result_entry
from natxy.search.bisection import SearchError
from natxy.search.confirmation import lost_share
from natxy.search.loss_verification import MOST_UNEXPLAINED
from natxy.search.settings import LossTolerance
from natxy.trial.bound import worst_loss
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.campaign_notes import report_notes
from tests.unit.clauses import codes
from tests.unit.fake_engine import FakeEngine, beyond, frames_in, rate_of
from tests.unit.kept import Kept

CAPACITY_FPS = 10_000
SHORT = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))
PLAN = ThroughputPlan(
    timing=SHORT,
    seed=1,
    repetitions=1,
    error=SearchError(fraction=Fraction(1, 100)),
    loss_verifications=1,
)


def found(
    lose: Callable[[Stream], Sequence[int]],
    nat64: TrafficPlan,
    kept: Kept | None = None,
    plan: ThroughputPlan = PLAN,
) -> Measurement:
    return throughput(plan, FakeEngine(lose=lose).session(nat64, observer=kept))


def bucket(tokens: int) -> Callable[[Stream], Sequence[int]]:
    """A policer of CAPACITY_FPS: what is beyond it is lost once its tokens are used up."""

    def lose(stream: Stream) -> Sequence[int]:
        return beyond(CAPACITY_FPS, stream)[tokens:]

    return lose


@dataclass
class Bucket:
    """A policer of CAPACITY_FPS whose bucket begins a trial as the one before has left it."""

    depth: float
    left: dict[str, float] = field(default_factory=dict)  # by direction

    def wait(self, seconds: float) -> None:
        for direction, tokens in self.left.items():
            self.left[direction] = min(self.depth, tokens + seconds * CAPACITY_FPS)

    def lose(self, stream: Stream) -> Sequence[int]:
        tokens = self.left.get(stream.direction, self.depth)
        too_many = 1 - CAPACITY_FPS / rate_of(stream)  # a frame, of the bucket
        left = tokens - too_many * frames_in(stream)
        self.left[stream.direction] = max(0.0, min(self.depth, left))
        if left >= 0:
            return ()
        return [number for number in beyond(CAPACITY_FPS, stream) if number * too_many >= tokens]


@pytest.mark.parametrize("depth", [500, 2_000, 6_000])
def test_a_bucket_that_was_emptied_before_is_not_taken_for_an_overload(
    depth: int, nat64: TrafficPlan
) -> None:
    """Between two trials, 0.1 s of tokens come back; a bucket of 2,000 is full after 0.2 s."""
    of = Bucket(depth)
    engine = FakeEngine(lose=of.lose, during=lambda: of.wait(0.1))
    result = throughput(PLAN, engine.session(nat64))
    (figure,) = result.figures
    (value,) = figure.values
    assert 0.98 * CAPACITY_FPS <= value <= 1.02 * CAPACITY_FPS
    told = {Topic.OVERLOAD_SLOWS, Topic.TOO_LOW} & set(topics(result.remarks))
    assert told or figure.lower_bound == (True,)


@pytest.mark.parametrize("tokens", [10, 100, 300])
def test_what_a_bucket_holds_is_no_rate(tokens: int, nat64: TrafficPlan) -> None:
    """A trial of 0.2 s has 2,000 frames, so that 100 tokens help it to 5 % more."""
    kept = Kept()
    result = found(bucket(tokens), nat64, kept)
    (figure,) = result.figures
    assert Topic.PASSED_ABOVE not in topics(result.remarks), "it is exact"
    (value,) = figure.values
    error_fps = max((*figure.errors, value * 0.01))
    assert figure.lower_bound == (False,)
    assert value - error_fps <= CAPACITY_FPS <= value + error_fps
    longest_s = max(t.result.streams[0].due / t.rate_fps for t in kept.trials)
    assert (longest_s > 0.5) == (tokens > 10), "only who was helped is tried for longer"


def test_noise_in_a_failed_trial_does_not_hide_what_a_bucket_holds(nat64: TrafficPlan) -> None:
    """Each second failure loses a tenth of its frames to something else as well."""
    failures = count()

    def lose(stream: Stream) -> Sequence[int]:
        own = bucket(100)(stream)
        if not own or stream.direction == "reverse" or next(failures) % 2:
            return own
        return sorted({*own, *range(0, frames_in(stream), 10)})

    (figure,) = found(lose, nat64).figures
    (value,) = figure.values
    assert figure.lower_bound == (False,)
    assert value - max((*figure.errors, value * 0.01)) <= CAPACITY_FPS


def test_a_longer_trial_that_noise_slows_does_not_confirm_what_a_bucket_helped(
    nat64: TrafficPlan,
) -> None:
    """Longer trials pass, since the bucket fills while the tester pauses for a tenth of them."""

    def is_longer(stream: Stream) -> bool:
        return frames_in(stream) > 1.5 * rate_of(stream) * float(SHORT.duration_s)

    engine = FakeEngine(
        lose=lambda s: () if is_longer(s) and rate_of(s) < 10_600 else bucket(100)(s),
        paused_ns=lambda s: 1e8 * frames_in(s) / rate_of(s) if is_longer(s) else 0.0,
    )
    result = throughput(PLAN, engine.session(nat64))
    (figure,) = result.figures
    assert figure.lower_bound == (True,)
    assert about(Topic.PASSED_ABOVE, result.remarks).facts["rate"] == pytest.approx(
        10_500, rel=0.02
    )
    (value,) = figure.values
    assert 0.97 * CAPACITY_FPS <= value <= CAPACITY_FPS, "not the 5 % more of a bucket"


def test_a_gateway_that_overload_makes_slower_has_the_rate_that_passes(nat64: TrafficPlan) -> None:
    """Above 10,000 it forwards 7,000: each trial at 10,000 passes, however long it is."""
    kept = Kept()
    result = found(lambda s: beyond(7_000, s) if rate_of(s) > CAPACITY_FPS else (), nat64, kept)
    (figure,) = result.figures
    assert figure.lower_bound == (False,)
    assert figure.values == pytest.approx((CAPACITY_FPS,), rel=0.011)
    slower = about(Topic.OVERLOAD_SLOWS, result.remarks)
    longest = max(stream.due for trial in kept.trials for stream in trial.result.streams)
    assert longest < 5_000, "a bucket would have let more through"
    assert "forwarded only 7," in str(slower)


def test_who_forwards_more_in_a_failed_trial_has_a_bound(nat64: TrafficPlan) -> None:
    """It loses one frame in fifty at each rate above 2,000. A bucket may let 2 % more pass."""

    def lose(stream: Stream) -> Sequence[int]:
        return range(7, frames_in(stream), 50) if rate_of(stream) > 2_000 else ()

    result = found(lose, nat64)
    (figure,) = result.figures
    (value,) = figure.values
    assert 0.98 * 2_000 <= value <= 1.011 * 2_000
    assert figure.lower_bound == (True,)
    assert Topic.BOUND_VARIES in topics(result.remarks)


def test_small_losses_of_several_trials_fill_a_time_together(nat64: TrafficPlan) -> None:
    """Of 2,000 frames, 4 are lost at 10,020 fps, and each time at other moments."""
    kept, drawn = Kept(), iter(range(1, 10**6, 271))

    def lose(stream: Stream) -> Sequence[int]:
        rate_fps, frames = rate_of(stream), frames_in(stream)
        if rate_fps <= CAPACITY_FPS:
            return ()
        lost = frames - frames * CAPACITY_FPS // rate_fps
        shift = next(drawn)
        return sorted({(place * frames // lost + shift) % frames for place in range(lost)})

    plan = replace(PLAN, error=SearchError(rate_fps=20))
    (figure,) = found(lose, nat64, kept, plan).figures
    assert figure.lower_bound == (False,)
    assert figure.values == pytest.approx((CAPACITY_FPS,), abs=21)
    told = [rate for rate, verdict in kept.told if verdict is Verdict.FAIL]
    assert 1 < max(map(told.count, told)) < 10


def test_the_figure_has_the_error_of_the_failure_that_bounds_it(nat64: TrafficPlan) -> None:
    """Up to 3 % above 10,000 it loses a frame in each trial, at any moment."""

    def lose(stream: Stream) -> Sequence[int]:
        if rate_of(stream) > CAPACITY_FPS * 1.03:
            return beyond(CAPACITY_FPS, stream)
        return (3,) if rate_of(stream) > CAPACITY_FPS else ()

    result = found(lose, nat64)
    (figure,) = result.figures
    assert figure.lower_bound == (False,)
    assert figure.values == pytest.approx((CAPACITY_FPS,), rel=0.011)
    (error_fps,) = figure.errors
    assert CAPACITY_FPS * 1.03 < figure.values[0] + error_fps < CAPACITY_FPS * 1.05
    assert about(Topic.TOO_LOW, result.remarks).facts["error_percent"] == pytest.approx(4, abs=1)


@pytest.mark.parametrize(
    ("lose", "topic"),
    [(lambda _: range(500, 540), Topic.PAUSES), (lambda _: range(7, 8), Topic.CHANCE)],
)
def test_losses_that_the_rate_does_not_explain_have_a_name(
    lose: Callable[[Stream], Sequence[int]], topic: Topic, nat64: TrafficPlan
) -> None:
    """Above 8,000 it pauses, or loses frames by chance, up to the highest rate of the search."""
    plan = replace(PLAN, max_rate_fps=11_000)
    result = found(lambda s: lose(s) if rate_of(s) > 8000 else (), nat64, plan=plan)
    assert result.figures[0].lower_bound == (True,)
    assert topic in topics(result.remarks), result.remarks


def test_an_explained_failure_far_above_the_result_is_its_error(nat64: TrafficPlan) -> None:
    """Up to 20 % above 10,000 it loses a frame in each trial, at any moment."""

    def lose(stream: Stream) -> Sequence[int]:
        if rate_of(stream) > CAPACITY_FPS * 1.2:
            return beyond(CAPACITY_FPS, stream)
        return (3,) if rate_of(stream) > CAPACITY_FPS else ()

    (figure,) = found(lose, nat64).figures
    assert figure.lower_bound == (False,)
    (error_fps,) = figure.errors
    assert CAPACITY_FPS * 1.2 < figure.values[0] + error_fps < CAPACITY_FPS * 1.34


def test_a_failure_bounds_nothing_if_more_came_through_in_another(nat64: TrafficPlan) -> None:
    """From 10,000 to 10,500 it loses one frame in fifty, and up to 13,000 one in a thousand."""

    def lose(stream: Stream) -> Sequence[int]:
        if rate_of(stream) > 13_000:
            return beyond(13_000, stream)
        each = 50 if rate_of(stream) < 10_500 else 1_000
        return range(7, frames_in(stream), each) if rate_of(stream) > CAPACITY_FPS else ()

    (figure,) = found(lose, nat64).figures
    (value,) = figure.values
    assert 0.98 * CAPACITY_FPS <= value <= 1.011 * CAPACITY_FPS, "or what a full gateway does"
    assert figure.lower_bound == (False,)
    assert value + figure.errors[0] > 13_000


def test_an_accepted_loss_helps_no_pass(nat64: TrafficPlan) -> None:
    """At 5 % of loss, 10,000 frames come through at 10,526 a second, full as the gateway is."""
    kept = Kept()
    plan = replace(PLAN, loss=LossTolerance(fraction=Fraction(1, 20)))
    result = found(lambda stream: beyond(CAPACITY_FPS, stream), nat64, kept, plan)
    assert result.figures[0].values == pytest.approx((CAPACITY_FPS / 0.95,), rel=0.011)
    assert result.figures[0].lower_bound == (False,)
    longest = max(
        stream.due / trial.rate_fps for trial in kept.trials for stream in trial.result.streams
    )
    assert longest == pytest.approx(0.2, rel=0.01)


@pytest.mark.parametrize("duration_s", [Fraction(1, 50), Fraction(5)])
def test_a_single_frame_that_is_missing_is_believed_and_bounds_a_result(
    duration_s: Fraction, nat64: TrafficPlan
) -> None:
    """RFC 2544 believes each loss; but all other frames came through at a higher rate."""
    kept = Kept()
    timing = replace(SHORT, duration_s=duration_s)
    plan = replace(PLAN, timing=timing, loss_verifications=0)
    (figure,) = found(lambda s: (5,) if rate_of(s) > 4000 else (), nat64, kept, plan).figures
    assert figure.values == pytest.approx((4000,), rel=0.011)
    assert figure.lower_bound == (True,)
    assert len(kept.told) == len(set(kept.told)), "no trial is repeated"


def test_a_port_that_refuses_at_the_same_rate_each_time_is_a_limit(nat64: TrafficPlan) -> None:
    """What is behind it takes 10,000 frames a second; the others wait, and none is lost."""

    def paused_ns(stream: Stream) -> float:
        frames = frames_in(stream)
        return max(0.0, frames * 1e9 / CAPACITY_FPS - frames * 1e9 / rate_of(stream))

    engine = FakeEngine(paused_ns=paused_ns, paused_by="port")
    result = throughput(PLAN, engine.session(nat64))
    (figure,) = result.figures
    assert figure.values == pytest.approx((CAPACITY_FPS,), rel=0.011)
    assert figure.lower_bound == (False,)
    assert Topic.PORT_REFUSED in topics(result.remarks)
    own = FakeEngine(paused_ns=paused_ns, paused_by="core", too_slow=False)
    (figure,) = throughput(PLAN, own.session(nat64)).figures
    assert figure.lower_bound == (True,), "its own core limits the tester, not the gateway"


def test_a_search_that_does_not_come_to_an_end_has_a_bound(nat64: TrafficPlan) -> None:
    """A bucket helps its trials to 15,000; of each longer one nine in ten lose single frames."""
    kept, drawn = Kept(), Random(3)

    def lose(stream: Stream) -> Sequence[int]:
        lasts_s = frames_in(stream) / rate_of(stream)
        if lasts_s < 0.3 or rate_of(stream) > 1.4 * CAPACITY_FPS:
            return bucket(1_000)(stream)
        return () if drawn.random() < 0.1 else (drawn.randrange(frames_in(stream)),)

    result = found(lose, nat64, kept)
    assert result.figures[0].lower_bound == (True,)
    assert Topic.BOUND_VARIES in topics(result.remarks)
    streams = [trial.result.streams[0] for trial in kept.trials]
    assert sum(stream.sending_ns for stream in streams) < 120e9


def test_what_noise_lets_nobody_try_again_is_no_bound(nat64: TrafficPlan) -> None:
    """A bucket helps its trials to 10,500; noise lets no rate be tried twice."""
    tried: Counter[int] = Counter()

    def noise(spec: TrialSpec) -> Reason | None:
        rate_fps = rate_of(spec.phases[0].streams[0])
        tried[rate_fps] += 1
        return Reason(code=Code.TESTER_AWAY) if tried[rate_fps] > 1 else None

    engine = FakeEngine(
        lose=lambda s: beyond(CAPACITY_FPS, s)[50:] if rate_of(s) > 1.05 * CAPACITY_FPS else (),
        invalid=noise,
        too_slow=False,
    )
    (figure,) = throughput(PLAN, engine.session(nat64)).figures
    assert figure.lower_bound == (True,)
    assert figure.values[0] <= CAPACITY_FPS


def test_pauses_that_only_several_trials_fill_bound_nothing(nat64: TrafficPlan) -> None:
    """It forwards 10,000 and holds 4 frames, but is away for 5 ms in each 100, as nobody sees."""
    drawn = Random(1)

    def lose(stream: Stream) -> Sequence[int]:
        rate_fps, frames = rate_of(stream), frames_in(stream)
        lost = set(beyond(CAPACITY_FPS, stream))
        first = drawn.randrange(rate_fps // 10 + 1)
        for begin in range(first, frames, max(1, rate_fps // 10)):
            lost |= set(range(begin + 4, min(frames, begin + rate_fps // 200)))
        return sorted(lost)

    engine = FakeEngine(lose=lose, watches=False)
    (figure,) = throughput(PLAN, engine.session(nat64)).figures
    assert figure.values[0] < 1_000
    assert figure.lower_bound == (True,)


@pytest.mark.parametrize("seed", range(3))
def test_pauses_that_fill_a_trial_bound_nothing(seed: int, nat64: TrafficPlan) -> None:
    """It forwards 20,000 and holds 8 frames, but other programs have its core for a third of the
    time, for some milliseconds each, as nobody sees."""
    drawn = Random(seed)

    def lose(stream: Stream) -> Sequence[int]:
        rate_fps, frames = rate_of(stream), frames_in(stream)
        lost = set(beyond(2 * CAPACITY_FPS, stream))
        at_s = 0.0
        while at_s * rate_fps < frames:
            at_s += drawn.uniform(0.003, 0.015)
            away_s = drawn.uniform(0.004, 0.0054)
            end = min(frames, int((at_s + away_s) * rate_fps))
            lost |= set(range(int(at_s * rate_fps) + 8, end))
            at_s += away_s
        return sorted(lost)

    engine = FakeEngine(lose=lose, watches=False)
    (figure,) = throughput(PLAN, engine.session(nat64)).figures
    assert figure.values[0] < 3_000
    assert figure.lower_bound == (True,)


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_a_gateway_that_collapses_when_overloaded_needs_few_trials(
    share: float, nat64: TrafficPlan
) -> None:
    kept = Kept()
    result = found(
        lambda s: beyond(share * CAPACITY_FPS, s) if rate_of(s) > CAPACITY_FPS else (), nat64, kept
    )
    (figure,) = result.figures
    assert figure.values == pytest.approx((CAPACITY_FPS,), rel=0.011)
    assert figure.lower_bound == (False,)
    assert len(kept.told) < 20


@pytest.mark.parametrize(("share", "seed"), [(0.001, 8), (0.003, 4), (0.003, 10), (0.01, 0)])
def test_losses_by_chance_that_happen_to_fill_a_trial_bound_nothing(
    share: float, seed: int, nat64: TrafficPlan
) -> None:
    """It forwards 50,000, and loses a small share of the frames at any rate."""
    drawn = np.random.default_rng(seed)

    def lose(stream: Stream) -> Sequence[int]:
        by_chance: list[int] = np.flatnonzero(drawn.random(frames_in(stream)) < share).tolist()
        return sorted({*by_chance, *beyond(50_000, stream)})

    (figure,) = found(lose, nat64).figures
    assert figure.values[0] <= 50_000
    assert figure.lower_bound == (True,), figure


STRAYING_FPS = 50_000
TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0))
UNVERIFIED = ThroughputPlan(
    timing=TIMING, seed=1, repetitions=1, error=SearchError(fraction=Fraction(1, 100))
)


class Straying:
    """Loses what is above the capacity, and a frame of the first trial at each of some rates."""

    def __init__(self, *strays_fps: int) -> None:
        self._strays = set(strays_fps)

    def __call__(self, stream: Stream) -> Sequence[int]:
        rate_fps = rate_of(stream)
        if rate_fps > STRAYING_FPS:
            return beyond(STRAYING_FPS, stream)
        stray = stream.direction == "forward" and rate_fps in self._strays
        self._strays -= {rate_fps} if stray else set()
        return (3,) if stray else ()


def measured(
    plan: ThroughputPlan, nat64: TrafficPlan, lose: Straying, kept: Kept | None = None
) -> Measurement:
    return throughput(plan, FakeEngine(lose=lose).session(nat64, observer=kept))


def test_a_stray_loss_at_a_low_rate_caps_only_a_search_without_verification(
    nat64: TrafficPlan,
) -> None:
    strays = (4000, 32_000)
    plain = measured(UNVERIFIED, nat64, Straying(*strays))
    assert plain.figures[0].values[0] < 4000
    result = measured(replace(UNVERIFIED, loss_verifications=1), nat64, Straying(*strays))
    assert STRAYING_FPS * 0.98 < result.figures[0].values[0] <= STRAYING_FPS
    assert result.counts.overturned == 2


class Pausing(Straying):
    """Loses what is above the capacity at once."""

    def __call__(self, stream: Stream) -> Sequence[int]:
        return range(len(super().__call__(stream)))


def test_a_failure_that_the_rate_explains_counts_at_once(nat64: TrafficPlan) -> None:
    kept = Kept()
    plan = replace(UNVERIFIED, loss_verifications=2, error=SearchError(rate_fps=20_000))
    result = measured(plan, nat64, Straying(), kept)
    ups = [(rate, Verdict.PASS) for rate in (1000, 4000, 16_000)]
    assert kept.told == [
        *ups, (64_000, Verdict.FAIL), (32_000, Verdict.PASS), (48_000, Verdict.PASS)
    ]  # fmt: skip
    assert result.figures[0].lower_bound == (False,)


def test_another_failure_is_repeated_unless_the_loss_is_gross(nat64: TrafficPlan) -> None:
    """Then the rate fails all the same, but what passed below it is only a bound."""
    kept = Kept()
    plan = replace(UNVERIFIED, loss_verifications=2, error=SearchError(rate_fps=20_000))
    result = measured(plan, nat64, Pausing(), kept)
    repeated = [(64_000, Verdict.FAIL)] * (1 + MOST_UNEXPLAINED)
    assert kept.told[3:14] == [*repeated, (32_000, Verdict.PASS)]
    assert result.figures[0].lower_bound == (True,)
    assert Topic.BOUND_UNEXPLAINED in topics(result.remarks)
    kept = Kept()
    measured(replace(plan, max_rate_fps=256_000), nat64, Pausing(), kept)
    assert kept.told[:2] == [(256_000, Verdict.FAIL), (128_000, Verdict.FAIL)]


def test_repetitions_do_not_know_of_each_other(nat64: TrafficPlan) -> None:
    kept = Kept()
    measured(replace(UNVERIFIED, repetitions=3), nat64, Straying(), kept)
    rates = [[t.rate_fps for t in kept.trials if t.repetition == n] for n in (1, 2, 3)]
    assert rates[0] == rates[1] == rates[2]
    assert rates[0][:4] == [1000, 4000, 16_000, 64_000]


def test_it_is_named_and_counted_beside_the_figure(nat64: TrafficPlan) -> None:
    result = measured(replace(UNVERIFIED, loss_verifications=1), nat64, Straying(4000))
    assert {"trials": 2} in [each.facts for each in result.deviations]
    entry = result_entry(result)
    assert (entry["overturned"], entry["search"]["loss_verifications"]) == (1, 1)
    assert [(row["overturned"], row["loss_verifications"]) for row in rows(result)] == [(1, 1)]
    sentence = "1 failed trial was overturned by loss verification"
    for lines in (report_notes(result), measurement_notes([result])):
        assert any(sentence in line for line in lines)
        assert any("a rate fails after 2 trials with a loss" in line for line in lines)
    read = Measurement.model_validate_json(result.model_dump_json())
    assert result_entry(read) == entry


def test_nothing_is_said_of_what_was_not_asked_for_or_changed_nothing(nat64: TrafficPlan) -> None:
    plain = measured(UNVERIFIED, nat64, Straying())
    verified = measured(replace(UNVERIFIED, loss_verifications=1), nat64, Straying())
    assert plain.figures == verified.figures
    assert Differs.LOSS_VERIFIED not in codes(plain.deviations)
    for result in (plain, verified):
        assert not any("overturned" in line for line in report_notes(result))
    assert result_entry(plain)["search"] == {
        "method": "bisection",
        "loss_verifications": 0,
        **dict.fromkeys(("exceed_ratio", "duration_sum_s", "initial_duration_s")),
    }


def test_overturned_failures_of_several_searches_are_added(nat64: TrafficPlan) -> None:
    plan = OverloadPlan(
        test=replace(UNVERIFIED, loss_verifications=1), flows=(10,), incremental=False
    )
    lose = Straying(1000, 4000)
    result = overload(plan, FakeEngine(lose=lose).session(nat64))
    assert result.counts.overturned == 2


def test_the_share_lost_is_that_of_the_worse_direction(nat64: TrafficPlan) -> None:
    kept = Kept()
    measured(UNVERIFIED, nat64, Straying(4000), kept)
    trial = next(trial for trial in kept.trials if trial.rate_fps == 4000)
    assert worst_loss(trial) == (800, 1)
    assert lost_share(trial) == 1 / 800


@pytest.mark.parametrize(
    ("excused", "lost", "off"),
    [(1, 0, 1), (21, 235, 0), (100, 235, 79)],
    ids=["nothing was lost in clean time", "the same share", "more"],
)
def test_excused_losses_leave_the_share_of_the_clean_frames(
    excused: int, lost: int, off: int
) -> None:
    """235 of 2,163 are 10.9 %: taking 21 of 256 off would make it 9.98 % of 2,354."""
    of = CountedLoss(
        phase="test", direction="forward", frames=2354, clean=2163, lost=lost, excused=excused
    )
    assert of.not_counted == off


@pytest.mark.parametrize(("lost", "left"), [(0, 0), (1, 1)])
def test_the_share_lost_has_excused_losses_as_the_clean_frames_have(
    nat64: TrafficPlan, lost: int, left: int
) -> None:
    kept = Kept()
    measured(UNVERIFIED, nat64, Straying(4000), kept)
    trial = next(trial for trial in kept.trials if trial.rate_fps == 4000)
    excused = tuple(
        CountedLoss(
            phase=stream.phase,
            direction=stream.direction,
            frames=stream.sent,
            clean=stream.sent // 2,
            lost=lost,
            excused=stream.missing,
        )
        for stream in trial.result.streams
    )
    assert worst_loss(trial)[1] == 1
    assert worst_loss(trial.model_copy(update={"counted": excused}))[1] == left


def test_how_often_is_checked() -> None:
    with pytest.raises(ConfigurationError, match="loss_verifications: -1 is out of range"):
        replace(UNVERIFIED, loss_verifications=-1)
    with pytest.raises(ConfigurationError, match="loss_verifications: 101 is out of range"):
        replace(UNVERIFIED, loss_verifications=101)


def test_a_loss_that_does_not_count_is_no_share(nat64: TrafficPlan) -> None:
    """For the first tenth of a trial, its gateway is away; the trial passes."""
    kept = Kept()
    engine = FakeEngine(lose=lambda _: range(20), away_ns=lambda _: 2e7)
    throughput(replace(UNVERIFIED, max_rate_fps=1000), engine.session(nat64, observer=kept))
    (trial,) = kept.trials
    assert (trial.verdict, trial.result.lost) == (Verdict.PASS, 40)
    assert lost_share(trial) == 0
