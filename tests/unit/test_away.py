"""Tests of what a gateway's absence excuses; leaving such trials out biases nothing."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log2

import pytest

from natxy.dut.base import Absence
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.away import (
    NOT_AWAY,
    Accepted,
    away_during,
    away_in,
    excuse,
    explained_frames,
)
from natxy.verdict.counted import Counting, counted
from tests.unit.results import result_of, stream_of

RATE_FPS = 100_000
COUNTING = Counting(above_fps=90_000, short=True)


@pytest.fixture
def both_ways(nat64: TrafficPlan) -> TrialSpec:
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
    plan = TrialPlan(traffic=nat64, timing=timing)
    return plan.spec(load=RATE_FPS, seed=1, nonce=1)


@pytest.fixture
def spec(both_ways: TrialSpec) -> TrialSpec:
    """Sends forward only."""
    (phase,) = both_ways.phases
    forward = phase.model_copy(update={"streams": phase.streams[:1]})
    return both_ways.model_copy(update={"phases": (forward,)})


def both(lost: int) -> tuple[StreamResult, StreamResult]:
    return (
        stream_of(sent=10_000, missing=lost, direction="forward"),
        stream_of(sent=10_000, missing=0, direction="reverse"),
    )


def test_a_loss_that_fits_into_the_absence_is_excused(spec: TrialSpec) -> None:
    """5 ms at 100,000 frames a second are 500 frames."""
    said = excuse(spec, result_of(*both(500), away_s=0.005), None)
    assert said is not None
    assert "the gateway's CPU 1 was away for 5.00 ms in all" in said
    assert "500 frames" in said


def test_a_loss_of_more_is_the_gateways_own(spec: TrialSpec) -> None:
    assert excuse(spec, result_of(*both(700), away_s=0.005), None) is None


def test_an_absence_that_every_queue_outlasts_excuses_nothing(spec: TrialSpec) -> None:
    """0.6 ms are 60 frames: a table that is full loses ten of 10,000 whoever was away."""
    assert excuse(spec, result_of(*both(10), away_s=0.0006), None) is None
    assert excuse(spec, result_of(*both(10), away_s=0.0007), None) is not None


def test_many_absences_that_every_queue_outlasts_excuse_nothing(spec: TrialSpec) -> None:
    result = result_of(*both(10), away_s=0.0007)
    shorter = tuple(each.model_copy(update={"longest_away_ns": 6e5}) for each in result.watched)
    assert excuse(spec, result.model_copy(update={"watched": shorter}), None) is None


def test_without_an_absence_nothing_is_excused(spec: TrialSpec) -> None:
    assert excuse(spec, result_of(*both(1)), None) is None


def test_a_frame_that_came_wrong_has_no_excuse(spec: TrialSpec) -> None:
    wrong = stream_of(sent=10_000, wrong=1)
    assert excuse(spec, result_of(wrong, away_s=0.05), None) is None


@pytest.mark.parametrize(("forward", "reverse"), [(1_000, 0), (0, 1_000), (300, 700)])
def test_directions_that_share_a_cpu_lose_together(
    forward: int, reverse: int, both_ways: TrialSpec
) -> None:
    """In 5 ms 500 frames come from each side, and one more if the first one comes at once. Which of
    them are lost depends on whose queue the gateway works off first: all of them can be of one
    direction."""

    def lost(more: int) -> tuple[StreamResult, StreamResult]:
        return (
            stream_of(sent=10_000, missing=forward + more, direction="forward"),
            stream_of(sent=10_000, missing=reverse, direction="reverse"),
        )

    assert excuse(both_ways, result_of(*lost(2), away_s=0.005), None) is not None
    assert excuse(both_ways, result_of(*lost(3), away_s=0.005), None) is None


def test_where_a_burst_fills_the_queue_no_absence_is_too_short(spec: TrialSpec) -> None:
    """0.2 ms are 20 or 21 frames."""
    burst = Accepted(room_frames=0)
    assert excuse(spec, result_of(*both(21), away_s=0.0002), None, burst) is not None
    assert excuse(spec, result_of(*both(22), away_s=0.0002), None, burst) is None
    assert excuse(spec, result_of(*both(20)), None, burst) is None


def test_an_overloaded_gateway_loses_what_comes_in_any_absence(both_ways: TrialSpec) -> None:
    """Its queue is full: 0.2 ms are 20 or 21 frames of each direction."""
    result = result_of(*both(5_000), away_s=0.0002)
    assert explained_frames(both_ways, result, None, ["test"]) == 42
    assert explained_frames(both_ways, result, None, ["another"]) == 0
    assert explained_frames(both_ways, result_of(*both(5_000)), None, ["test"]) == 0


def test_frames_that_waited_for_a_gateway_that_was_away_are_explained(
    both_ways: TrialSpec,
) -> None:
    """13 ms are more than a quarter of the drain, so that any frame may have come too late."""
    streams = (
        stream_of(sent=10_000, missing=5_000, late=30, direction="forward"),
        stream_of(sent=10_000, late=7, direction="reverse"),
    )
    for away_s, late in ((0.013, 37), (0.012, 0)):
        came = int(2 * RATE_FPS * away_s) + 2
        result = result_of(*streams, away_s=away_s)
        assert explained_frames(both_ways, result, None, ["test"]) == came + late


def slow(rate_fps: int, drain_s: Fraction, nat64: TrafficPlan) -> TrialSpec:
    timing = Timing(duration_s=Fraction(1, 5), drain_s=drain_s)
    return TrialPlan(traffic=nat64, timing=timing).spec(load=rate_fps, seed=1, nonce=1)


def lost_all(frames: int, away_s: float, waited_s: float) -> TrialResult:
    streams = (
        stream_of(sent=frames, missing=frames, direction=direction)
        for direction in ("forward", "reverse")
    )
    result = result_of(*streams, away_s=away_s)
    watched = (each.model_copy(update={"end_away_ns": waited_s * 1e9}) for each in result.watched)
    return result.model_copy(update={"watched": tuple(watched)})


@pytest.mark.parametrize(
    ("rate_fps", "frames", "waited_s"),
    [
        (1000, 200, 0.199),  # until the last frame leaves, which is the 200th
        (1000, 65, 0.06397),  # the first of them came just before the absence
        (62, 12, 11 / 62),  # a queue holds so few frames
        (5, 1, 1e-9),  # one frame leaves at once
    ],
)
def test_what_waits_when_the_drain_ends_is_lost_by_an_absence_that_lasts(
    rate_fps: int, frames: int, waited_s: float, nat64: TrafficPlan
) -> None:
    spec = slow(rate_fps, Fraction(1, 20), nat64)
    result = lost_all(frames, waited_s, waited_s)
    said = excuse(spec, result, None)
    assert said is not None
    assert "CPU 1 was away" in said
    assert explained_frames(spec, result, None, ["test"]) >= 2 * frames
    assert excuse(spec, lost_all(frames + 1, waited_s, waited_s), None) is None


def test_a_gateway_that_comes_back_in_the_drain_forwards_what_waited(nat64: TrafficPlan) -> None:
    spec = slow(62, Fraction(1, 20), nat64)
    assert excuse(spec, lost_all(12, 11 / 62, 0), None) is None


def test_short_absences_before_the_drain_leave_nothing_waiting(nat64: TrafficPlan) -> None:
    """However long they are together: 0.1 s here, in pieces of at most 5 ms, and a drain of 50."""
    spec = slow(5_000, Fraction(1, 20), nat64)
    result = lost_all(1, 0.1, 0)
    watched = tuple(each.model_copy(update={"longest_away_ns": 5e6}) for each in result.watched)
    assert excuse(spec, result.model_copy(update={"watched": watched}), None) is None


@pytest.mark.parametrize(
    ("longest_s", "is_excused"), [(0.25, True), (0.04, False)], ids=["longer", "shorter"]
)
def test_a_gateway_by_its_own_record_may_hold_frames_at_the_end(
    longest_s: float, is_excused: bool, nat64: TrafficPlan
) -> None:
    """The record does not say when the absence was: what counts is that the drain is shorter."""
    spec = slow(62, Fraction(1, 20), nat64)
    absence = Absence(where="the gateway", total_s=0.25, longest_s=longest_s)
    assert (excuse(spec, lost_all(12, 0, 0), absence) is not None) is is_excused


def test_a_trial_that_ended_early_has_no_drain(nat64: TrafficPlan) -> None:
    """It ended since the first of 27 frames in 55 ms was late by more than the drain would last."""
    spec = slow(500, Fraction(1, 20), nat64)
    result = lost_all(27, 0, 0).model_copy(update={"ended_early": True})
    absence = Absence(where="the gateway", total_s=0.055, longest_s=0.055)
    assert excuse(spec, result, absence) is not None
    assert excuse(spec, result, replace(absence, longest_s=0.04)) is None


def test_what_waited_at_the_end_of_a_phase_is_late_in_the_next_one(nat64: TrafficPlan) -> None:
    """10 ms before the last frame and the whole drain: less than a quarter of it was watched."""
    spec = slow(1_000, Fraction(1, 20), nat64)
    late = stream_of(sent=200, late=10, direction="forward")
    result = result_of(late, away_s=0.01)
    assert excuse(spec, result, None) is None
    watched = tuple(each.model_copy(update={"end_away_ns": 1e7}) for each in result.watched)
    assert excuse(spec, result.model_copy(update={"watched": watched}), None) is not None


TENTH = Accepted(tolerances=(LossTolerance(fraction=Fraction(1, 10)),))


def test_an_absence_has_to_explain_what_exceeds_the_accepted_loss(spec: TrialSpec) -> None:
    """1,000 of 10,000 are accepted; 3 ms are 300 or 301 frames."""
    assert excuse(spec, result_of(*both(1_301), away_s=0.003), None, TENTH) is not None
    assert excuse(spec, result_of(*both(1_302), away_s=0.003), None, TENTH) is None
    assert excuse(spec, result_of(*both(1_300), away_s=0.003), None) is None


def test_a_loss_that_is_accepted_needs_no_excuse(spec: TrialSpec) -> None:
    assert excuse(spec, result_of(*both(1_000), away_s=0.05), None, TENTH) is None


def test_a_frame_that_came_wrong_has_no_excuse_where_a_loss_is_accepted(spec: TrialSpec) -> None:
    lost, wrong = (stream_of(sent=10_000, missing=1_200, wrong=wrong) for wrong in (0, 1))
    assert excuse(spec, result_of(lost, away_s=0.003), None, TENTH) is not None
    assert excuse(spec, result_of(wrong, away_s=0.003), None, TENTH) is None


def test_one_goal_of_several_is_enough(spec: TrialSpec) -> None:
    goals = Accepted(tolerances=(NO_LOSS, *TENTH.tolerances))
    assert excuse(spec, result_of(*both(300), away_s=0.003), None, goals) is not None
    assert excuse(spec, result_of(*both(600), away_s=0.003), None, goals) is None
    assert excuse(spec, result_of(*both(1_100), away_s=0.003), None, goals) is not None


def test_what_another_phase_loses_is_not_accepted(spec: TrialSpec) -> None:
    of_phase_2 = replace(TENTH, phases={"other"})
    assert excuse(spec, result_of(*both(1_300), away_s=0.003), None, of_phase_2) is None
    assert excuse(spec, result_of(*both(300), away_s=0.003), None, of_phase_2) is not None


def test_an_accepted_rate_is_not_lower_in_noise(spec: TrialSpec) -> None:
    """A gateway that loses 5 % of this rate undisturbed never fails where 10 % are accepted, and
    one that loses 20 % does, nearly always."""
    chance = random.Random(2)
    kept: dict[float, list[Verdict]] = {0.05: [], 0.2: []}
    for _ in range(2_000):
        away_s = min(0.05, chance.expovariate(1 / 0.005))
        for share, verdicts in kept.items():
            lost = round(10_000 - RATE_FPS * (1 - share) * (0.1 - away_s))
            result = result_of(stream_of(sent=10_000, missing=lost), away_s=away_s)
            if lost <= 1_000:
                verdicts.append(Verdict.PASS)
            else:
                excused = excuse(spec, result, None, TENTH)
                verdicts.append(Verdict.INVALID if excused else Verdict.FAIL)
    assert Verdict.FAIL not in kept[0.05]
    assert Verdict.PASS in kept[0.05]
    assert Verdict.PASS not in kept[0.2]
    assert kept[0.2].count(Verdict.FAIL) > 1_500


def test_the_gateways_own_record_counts_where_it_keeps_one(spec: TrialSpec) -> None:
    absence = Absence(where="the calibration gateway", total_s=0.006, longest_s=0.004)
    said = excuse(spec, result_of(*both(500)), absence)
    assert said is not None
    assert said.startswith("the calibration gateway was away for 6.00 ms in all, at most 4.00 ms")


def judged(capacity_fps: float, away_s: float, rate_fps: int, spec: TrialSpec) -> Verdict:
    """A gateway of this capacity with a ring of 256 frames, by the fluid model of ADR 0018."""
    sending_s = 0.1
    served = capacity_fps * (sending_s - away_s) + 256
    lost = max(0, round(rate_fps * sending_s - served))
    sent = round(rate_fps * sending_s)
    result = result_of(stream_of(sent=sent, missing=min(lost, sent)), away_s=away_s)
    if not lost:
        return Verdict.PASS
    return Verdict.INVALID if excuse(spec, result, None) else Verdict.FAIL


def test_leaving_excused_trials_out_biases_nothing(spec: TrialSpec) -> None:
    """Whatever was away, a gateway below the rate never passes where it fails undisturbed, and one
    above it never fails: the verdicts that are kept are those of an undisturbed gateway."""
    chance = random.Random(1)
    kept: dict[str, list[Verdict]] = {"slow": [], "fast": []}
    for _ in range(2_000):
        away_s = min(0.05, chance.expovariate(1 / 0.005))
        kept["fast"].append(judged(RATE_FPS * 1.001, away_s, RATE_FPS, spec))
        kept["slow"].append(judged(RATE_FPS * 0.95, away_s, RATE_FPS, spec))
    assert Verdict.FAIL not in kept["fast"]
    assert Verdict.PASS in kept["fast"]
    assert Verdict.INVALID in kept["fast"]
    assert Verdict.PASS not in kept["slow"]
    assert kept["slow"].count(Verdict.FAIL) > 1_900


def with_bursts(stream: StreamResult, *bursts: int) -> StreamResult:
    """A tester that was kept from its CPU sends these numbers of frames at once."""
    late_ns = [frame * 1e9 / RATE_FPS for burst in bursts for frame in range(1, burst + 1)]
    buckets = tuple((late, late, 1) for late in sorted(late_ns))
    counted = {"count": len(buckets), "max_ns": max(late_ns), "buckets": buckets}
    lateness = stream.lateness.model_copy(update=counted)
    return stream.model_copy(update={"lateness": lateness, "largest_burst": max(bursts)})


def test_what_the_testers_bursts_have_beyond_the_room_of_a_queue_is_excused(
    spec: TrialSpec,
) -> None:
    """A queue of 100 frames loses 28 of a burst of 128 at a rate that the gateway does."""
    for lost, bursts, excused in ((28, (128,), True), (64, (128,), True), (65, (128,), False)):
        result = result_of(with_bursts(stream_of(sent=10_000, missing=lost), *bursts))
        assert (excuse(spec, result, None) is not None) == excused
    result = result_of(with_bursts(stream_of(sent=10_000, missing=56), 128, 128, 64))
    said = excuse(spec, result, None)
    assert said is not None
    assert "up to 128 frames at once, which explains the 56 frames" in said


def test_a_burst_for_which_every_queue_has_room_excuses_nothing(spec: TrialSpec) -> None:
    result = result_of(with_bursts(stream_of(sent=10_000, missing=1), 64, 64))
    assert excuse(spec, result, None) is None


def test_where_a_burst_fills_the_queue_on_purpose_a_late_sender_emptied_it(spec: TrialSpec) -> None:
    """A gateway forwards at most those frames fewer that were due while its sender was late."""
    fills = Accepted(room_frames=0)
    for lost, excused in ((129, True), (130, False)):  # and one that is due just then
        result = result_of(with_bursts(stream_of(sent=10_000, missing=lost), 128))
        assert (excuse(spec, result, None, fills) is not None) == excused
    punctual = late_by(stream_of(sent=10_000, missing=1), [9_000.0] * 10_000)
    assert excuse(spec, result_of(punctual), None, fills) is None


def late_by(stream: StreamResult, late_ns: Sequence[float]) -> StreamResult:
    """Frames that left so long after they were due, as the engine counts them: to 2^-5 of each."""
    counts = Counter(floor(32 * log2(max(1.0, late))) for late in late_ns)
    bounds = {step: (2 ** (step / 32), 2 ** ((step + 1) / 32)) for step in counts}
    buckets = tuple((*bounds[step], count) for step, count in sorted(counts.items()))
    counted = {"count": len(late_ns), "max_ns": max(late_ns), "buckets": buckets}
    lateness = stream.lateness.model_copy(update=counted)
    return stream.model_copy(update={"lateness": lateness, "largest_burst": len(late_ns)})


def test_a_sender_that_stays_late_sends_no_burst(spec: TrialSpec) -> None:
    """It stays 70 to 120 frames late: it never makes up for more than 50, after it once did."""
    chance = random.Random(4)
    steady = [chance.uniform(70, 120) for _ in range(9_880)]
    late_ns = [frames * 1e9 / RATE_FPS for frames in (*range(120), *steady)]
    for lost, excused in ((50, True), (500, False), (9_000, False)):
        stream = late_by(stream_of(sent=10_000, missing=lost), late_ns)
        said = excuse(spec, result_of(stream), None)
        assert (said is not None) == excused
        assert said is None or "up to 120 frames at once" in said


def test_nothing_tells_bursts_apart_where_segments_have_silence_between_them(
    spec: TrialSpec,
) -> None:
    """Or where the load asks for bursts: then every frame that was late counts."""
    late_ns = [frames * 1e9 / RATE_FPS for frames in (*range(120), *[100] * 9_880)]
    result = result_of(late_by(stream_of(sent=10_000, missing=5_000), late_ns))
    (phase,) = spec.phases
    (stream,) = phase.streams
    (segment,) = stream.segments
    for segments in (
        (segment, segment),
        (segment.model_copy(update={"burst_frames": 2, "burst_rate_fps": 10 * RATE_FPS}),),
    ):
        changed = phase.model_copy(
            update={"streams": (stream.model_copy(update={"segments": segments}),)}
        )
        asked = spec.model_copy(update={"phases": (changed,)})
        assert excuse(asked, result, None) is not None
    assert excuse(spec, result, None) is None


@dataclass(frozen=True)
class Sent:
    lost: int  # by a gateway that forwards just the rate, with room for 64 frames and the next one
    late: list[float]  # of each frame, in frames


def sent_by(chance: random.Random) -> Sent:
    """A sender that is away now and then, catches up at a random speed, and is slow for a while."""
    speed = chance.choice((1.02, 1.2, 2.0, 20.0, 1e6))  # frames in the time of one
    away_for = chance.choice((5.0, 40.0, 90.0))
    late: list[float] = []
    lost, queued, paused, left_at = 0, 0.0, 0.0, 0.0
    for number in range(4_000):
        sends_at = max(number + paused, left_at + 1 / speed)
        if chance.random() < 0.01:
            sends_at += chance.expovariate(1 / away_for)
        if chance.random() < 0.0005:
            speed = chance.choice((0.97, 1.02, 2.0, 20.0, 1e6))
        if sends_at - number - paused > 128:
            paused = sends_at - number
        queued = max(0.0, queued - (sends_at - left_at))
        left_at = sends_at
        if queued + 1 > 65:
            lost += 1
        else:
            queued += 1
        late.append(sends_at - number - paused)
    return Sent(lost=lost, late=late)


def test_what_bursts_make_a_gateway_lose_is_always_excused(spec: TrialSpec) -> None:
    chance = random.Random(5)
    lossy = 0
    for _ in range(400):
        sent = sent_by(chance)
        late_ns = [frames * 1e9 / RATE_FPS for frames in sent.late]
        stream = late_by(stream_of(sent=10_000, missing=sent.lost), late_ns)
        lossy += sent.lost > 0
        assert not sent.lost or excuse(spec, result_of(stream), None) is not None
    assert lossy > 100


@pytest.mark.parametrize("part", [0.0, 0.3, 0.5, 1.0])
def test_no_division_of_the_loss_blames_a_gateway_that_is_fast_enough(
    part: float, both_ways: TrialSpec
) -> None:
    """It forwards both directions with one CPU; `part` of its loss is forward."""
    chance = random.Random(3)
    for _ in range(1_000):
        away_s = min(0.05, chance.expovariate(1 / 0.005))
        served = 2 * RATE_FPS * 1.001 * (0.1 - away_s) + 256
        lost = max(0, round(20_000 - served))
        forward = min(10_000, round(lost * part))
        streams = (
            stream_of(sent=10_000, missing=forward, direction="forward"),
            stream_of(sent=10_000, missing=min(10_000, lost - forward), direction="reverse"),
        )
        result = result_of(*streams, away_s=away_s)
        assert not lost or excuse(both_ways, result, None) is not None


def test_the_rate_that_counts_is_what_was_offered_in_the_time_that_it_took() -> None:
    result = result_of(stream_of(sent=10_000, paused_s=0.005))
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert of.verdict is Verdict.PASS
    assert of.fps == 95_238  # 10,000 frames in 105 ms


def test_a_sender_that_was_late_at_the_end_has_sent_at_a_lower_rate() -> None:
    """10 ms behind in a trial of 100 ms, and it had not paused."""
    result = result_of(stream_of(sent=10_000, sending_s=0.11))
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert of.verdict is Verdict.PASS
    assert of.fps == 90_900  # in 110.01 ms


def test_a_pass_that_tells_nothing_new_is_repeated_where_noise_is_why() -> None:
    result = result_of(stream_of(sent=10_000, paused_s=0.02))
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert of.verdict is Verdict.INVALID
    assert "100,000 fps to 83,333 fps" in of.sentence


def test_a_pass_at_a_rate_that_has_passed_before_is_repeated() -> None:
    paused = result_of(stream_of(sent=10_000, paused_s=0.025))
    passed = counted(replace(COUNTING, above_fps=80_000), RATE_FPS, paused, NOT_AWAY)
    assert (passed.fps, passed.verdict) == (80_000, Verdict.INVALID)


def test_frames_that_the_gateway_still_held_are_not_forwarded_at_the_rate() -> None:
    result = result_of(stream_of(sent=10_000, held_s=0.02))
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert of.verdict is Verdict.FAIL
    assert "20.00 ms longer to leave" in of.sentence
    long_trials = Counting(above_fps=90_000, short=False)
    assert counted(long_trials, RATE_FPS, result, away_in(result, "test", None)).fps == RATE_FPS


def test_what_the_gateway_holds_of_a_burst_may_come_out_before_the_next() -> None:
    """The last burst of 1,000 ends at 90 ms; it comes out until 100 ms, and one more until 120."""
    bursts = Counting(above_fps=90_000, short=True, silence_s=Fraction(1, 100))
    for held_s, fps in ((0.01, RATE_FPS), (0.03, 83_333)):
        result = result_of(stream_of(sent=10_000, sending_s=0.09 - 1e-5, held_s=held_s))
        assert counted(bursts, RATE_FPS, result, NOT_AWAY).fps == fps
    late = result_of(stream_of(sent=10_000, sending_s=0.1 - 1e-5))
    assert counted(bursts, RATE_FPS, late, NOT_AWAY).fps == 90_909, "10 ms late at the end"


def test_what_is_held_back_while_the_gateway_was_away_is_noise() -> None:
    result = result_of(stream_of(sent=10_000, held_s=0.02), away_s=0.02)
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert of.verdict is Verdict.INVALID


@pytest.mark.parametrize(
    ("away_s", "fps"), [(0.02, 95_238), (0.002, 98_039), (0.0, RATE_FPS)], ids=str
)
def test_an_absence_at_the_end_gave_the_gateway_more_time(away_s: float, fps: int) -> None:
    """The last of 10,000 frames came 5 ms later than the shortest delay asks for, in 100 ms.

    Only as much of that counts as the absence lasted; without one, delays have varied.
    """
    result = result_of(stream_of(sent=10_000, ended_late_s=0.005), away_s=away_s)
    of = counted(COUNTING, RATE_FPS, result, away_in(result, "test", None))
    assert (of.fps, of.verdict, of.gateway_fps) == (fps, Verdict.PASS, RATE_FPS)
    long_trials = Counting(above_fps=90_000, short=False)
    assert counted(long_trials, RATE_FPS, result, away_in(result, "test", None)).fps == RATE_FPS


def test_the_cpu_that_was_away_most_need_not_be_the_one_that_was_away_at_the_end() -> None:
    """CPU 1 was away forty times for a moment, CPU 2 once for 5 ms, at the end."""
    often = result_of(stream_of(sent=10_000, ended_late_s=0.005), away_s=0.006)
    watch = often.watched[0]
    moments = watch.model_copy(update={"longest_away_ns": 50_000.0, "absences": 40})
    once = watch.model_copy(update={"cpu": 2, "away_ns": 5e6, "longest_away_ns": 5e6})
    result = often.model_copy(update={"watched": (moments, once)})
    away = away_in(result, "test", None)
    assert away.total_s == pytest.approx(0.006)
    assert away.longest_s == pytest.approx(0.005)
    assert counted(COUNTING, RATE_FPS, result, away).fps == 95_238


def test_the_rate_that_counts_is_the_rate_itself_where_nothing_was_away() -> None:
    """Of any whole number of frames a second: not one less by a rounding error."""
    for rate_fps in range(100_001, 101_000):
        frames = rate_fps // 5
        result = result_of(stream_of(sent=frames, sending_s=frames / rate_fps))
        of = counted(Counting(above_fps=1, short=True), rate_fps, result, NOT_AWAY)
        assert of.fps == rate_fps


def test_what_is_no_loss_has_no_excuse(spec: TrialSpec) -> None:
    """A mapping that changed has changed whoever was away."""
    none: dict[str, int] = dict.fromkeys(ConnectionCounters.model_fields, 0)
    changed = stream_of(sent=10_000, missing=100).model_copy(
        update={"connections": ConnectionCounters.model_validate(none | {"changed": 1})}
    )
    assert excuse(spec, result_of(changed, away_s=0.005), None) is None


def test_late_frames_and_missing_ones_have_each_their_own_excuse(spec: TrialSpec) -> None:
    """The tester's absence makes frames late, and the gateway's loses others meanwhile."""
    timed = spec.model_copy(update={"frame_timeout_ns": 10_000_000})
    stream = stream_of(sent=10_000, missing=100, late=20)
    assert excuse(timed, result_of(stream, away_s=0.002), None) is None
    doubtful = stream.model_copy(update={"uncertain_late": 20})
    assert excuse(timed, result_of(doubtful, away_s=0.002), None) is not None
    assert excuse(timed, result_of(doubtful, away_s=0.0005), None) is None


def test_absences_of_all_phases_are_added_up() -> None:
    watch = result_of(stream_of(sent=1), away_s=0.002).watched[0]
    phases = ("establish", "test")
    watched = tuple(watch.model_copy(update={"phase": phase}) for phase in phases)
    result = result_of(stream_of(sent=1)).model_copy(update={"watched": watched})
    assert away_during(result, phases, None).total_s == pytest.approx(0.004)
    assert away_during(result, ["test"], None).total_s == pytest.approx(0.002)
    own = Absence(where="the calibration gateway", total_s=0.006, longest_s=0.004)
    assert away_during(result, phases, own).total_s == 0.006


def test_what_polls_may_have_made_of_the_ends_is_not_held_back() -> None:
    for held_s, fps in ((0.0001, RATE_FPS), (0.0002, 99_800)):
        result = result_of(stream_of(sent=10_000, held_s=held_s))
        assert counted(COUNTING, RATE_FPS, result, NOT_AWAY).fps == fps
