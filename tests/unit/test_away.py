"""Tests of the rate that counts, and of how long a gateway was away in all."""

from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.verdict.away import away_s, longest_away_s
from natxy.verdict.counted import Counted, Counting
from natxy.verdict.losses import Losses
from tests.unit.results import result_of, stream_of

RATE_FPS = 100_000
COUNTING = Counting(above_fps=90_000, short=True)


def counted(counting: Counting, rate_fps: int, result: TrialResult) -> Counted:
    load = replace(steady(rate_fps, Fraction(1, 10)), counting=counting)
    return load.counted(result, None, Losses(lines={}))


def test_the_rate_that_counts_is_what_was_offered_in_the_time_that_it_took() -> None:
    result = result_of(stream_of(sent=10_000, paused_s=0.005))
    of = counted(COUNTING, RATE_FPS, result)
    assert of.verdict is Verdict.PASS
    assert of.fps == 95_238  # 10,000 frames in 105 ms


def test_a_sender_that_was_late_at_the_end_has_sent_at_a_lower_rate() -> None:
    """10 ms behind in a trial of 100 ms, and it had not paused."""
    result = result_of(stream_of(sent=10_000, sending_s=0.11))
    of = counted(COUNTING, RATE_FPS, result)
    assert of.verdict is Verdict.PASS
    assert of.fps == 90_900  # in 110.01 ms


def test_a_pass_that_tells_nothing_new_is_repeated_where_noise_is_why() -> None:
    result = result_of(stream_of(sent=10_000, paused_s=0.02))
    of = counted(COUNTING, RATE_FPS, result)
    assert of.verdict is Verdict.INVALID
    assert of.reason is not None
    assert of.reason.facts == {"rate_fps": 100_000, "counted_fps": 83_333}


def test_a_pass_at_a_rate_that_has_passed_before_is_repeated() -> None:
    paused = result_of(stream_of(sent=10_000, paused_s=0.025))
    passed = counted(replace(COUNTING, above_fps=80_000), RATE_FPS, paused)
    assert (passed.fps, passed.verdict) == (80_000, Verdict.INVALID)


def test_frames_that_the_gateway_still_held_are_not_forwarded_at_the_rate() -> None:
    result = result_of(stream_of(sent=10_000, held_s=0.02))
    of = counted(COUNTING, RATE_FPS, result)
    assert of.verdict is Verdict.FAIL
    assert of.reason == Reason.of(Code.HELD_BACK, held_ns=2e7)
    long_trials = Counting(above_fps=90_000, short=False)
    assert counted(long_trials, RATE_FPS, result).fps == RATE_FPS


def test_what_the_gateway_holds_of_a_burst_may_come_out_before_the_next() -> None:
    """The last burst of 1,000 ends at 90 ms; it comes out until 100 ms, and one more until 120."""
    bursts = Counting(above_fps=90_000, short=True, silence_s=Fraction(1, 100))
    for held_s, fps in ((0.01, RATE_FPS), (0.03, 83_333)):
        result = result_of(stream_of(sent=10_000, sending_s=0.09 - 1e-5, held_s=held_s))
        assert counted(bursts, RATE_FPS, result).fps == fps
    late = result_of(stream_of(sent=10_000, sending_s=0.1 - 1e-5))
    assert counted(bursts, RATE_FPS, late).fps == 90_909, "10 ms late at the end"


def test_what_is_held_back_while_the_gateway_was_away_is_noise() -> None:
    result = result_of(stream_of(sent=10_000, held_s=0.02), away_s=0.02)
    of = counted(COUNTING, RATE_FPS, result)
    assert of.verdict is Verdict.INVALID


@pytest.mark.parametrize(
    ("away_s", "fps"), [(0.02, 95_238), (0.002, 98_039), (0.0, RATE_FPS)], ids=str
)
def test_an_absence_at_the_end_gave_the_gateway_more_time(away_s: float, fps: int) -> None:
    """The last of 10,000 frames came 5 ms later than the shortest delay asks for, in 100 ms.

    Only as much of that counts as the absence lasted; without one, delays have varied.
    """
    result = result_of(stream_of(sent=10_000, ended_late_s=0.005), away_s=away_s)
    of = counted(COUNTING, RATE_FPS, result)
    assert (of.fps, of.verdict, of.gateway_fps) == (fps, Verdict.PASS, RATE_FPS)
    long_trials = Counting(above_fps=90_000, short=False)
    assert counted(long_trials, RATE_FPS, result).fps == RATE_FPS


def test_the_cpu_that_was_away_most_need_not_be_the_one_that_was_away_at_the_end() -> None:
    """CPU 1 was away forty times for a moment, CPU 2 once for 5 ms, at the end."""
    often = result_of(stream_of(sent=10_000, ended_late_s=0.005), away_s=0.006)
    watch = often.watched[0]
    moments = watch.model_copy(update={"longest_away_ns": 50_000.0, "absences": 40})
    once = watch.model_copy(update={"cpu": 2, "away_ns": 5e6, "longest_away_ns": 5e6})
    result = often.model_copy(update={"watched": (moments, once)})
    assert away_s(result, None, "test") == pytest.approx(0.006)
    assert longest_away_s(result, None, "test") == pytest.approx(0.005)
    assert counted(COUNTING, RATE_FPS, result).fps == 95_238


def test_the_rate_that_counts_is_the_rate_itself_where_nothing_was_away() -> None:
    """Of any whole number of frames a second: not one less by a rounding error."""
    for rate_fps in range(100_001, 101_000):
        frames = rate_fps // 5
        result = result_of(stream_of(sent=frames, sending_s=frames / rate_fps))
        of = counted(Counting(above_fps=1, short=True), rate_fps, result)
        assert of.fps == rate_fps


def test_absences_of_all_phases_are_added_up() -> None:
    watch = result_of(stream_of(sent=1), away_s=0.002).watched[0]
    phases = ("establish", "test")
    watched = tuple(watch.model_copy(update={"phase": phase}) for phase in phases)
    result = result_of(stream_of(sent=1)).model_copy(update={"watched": watched})
    assert away_s(result, None, *phases) == pytest.approx(0.004)
    assert away_s(result, None, "test") == longest_away_s(result, None, *phases) == 0.002
    own = Absence(where="the calibration gateway", total_s=0.006, longest_s=0.004)
    assert away_s(result, own, *phases) == 0.006
    assert longest_away_s(result, own, *phases) == 0.004


def test_what_polls_may_have_made_of_the_ends_is_not_held_back() -> None:
    for held_s, fps in ((0.0001, RATE_FPS), (0.0002, 99_800)):
        result = result_of(stream_of(sent=10_000, held_s=held_s))
        assert counted(COUNTING, RATE_FPS, result).fps == fps
