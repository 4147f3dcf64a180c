"""Tests of what the failures of a search say of a gateway that was full."""

from fractions import Fraction

import pytest

from natxy.model.reason import Code, Reason
from natxy.model.trial_record import CountedLoss, TrialRecord
from natxy.model.verdict import Verdict
from natxy.search.bisection import SearchError
from natxy.search.confirmation import Confirmation
from tests.unit.results import result_of, stream_of

FRAMES = 2000


def trial(
    rate_fps: int,
    full_fps: int | None,
    *,
    error_fps: int = 100,
    bucket: int = 0,
    phase: str = "test",
) -> TrialRecord:
    """A trial of FRAMES frames. `full_fps` came through while the gateway was full; None: it
    passed. A bucket saves some frames."""
    share = 0.0 if full_fps is None else 1 - full_fps / rate_fps
    lost = CountedLoss(
        phase=phase,
        direction="forward",
        frames=FRAMES,
        clean=FRAMES,
        lost=round(share * FRAMES) - bucket,
        excused=0,
    )
    return TrialRecord(
        number=1,
        repetition=1,
        rate_fps=rate_fps,
        started="2026-11-28T12:00:00Z",
        verdict=Verdict.PASS if full_fps is None else Verdict.FAIL,
        invalid_reasons=(),
        counted=(lost,),
        full_share=None if full_fps is None else share,
        full_error=error_fps / rate_fps,
        result=result_of(stream_of(sent=FRAMES, missing=lost.lost, phase=phase)),
    )


def known(*trials: TrialRecord, accepted: float = 0.0) -> Confirmation:
    return Confirmation.of(trials, SearchError(fraction=Fraction(1, 100)), accepted)


def test_the_closest_of_the_failures_says_what_a_full_gateway_does_at_least() -> None:
    lowest, above = trial(11_000, 10_000, error_fps=400), trial(14_000, 9_990, error_fps=20)
    assert known(lowest).sustained_fps == pytest.approx(9_600, abs=1)
    assert known(above, lowest).sustained_fps == pytest.approx(9_970, abs=1)


def test_a_failure_further_above_shows_no_more_than_the_lowest_one_allows() -> None:
    faster = trial(14_000, 10_600)
    assert known(faster, trial(11_000, 10_000)).sustained_fps == pytest.approx(9_900, abs=1)


@pytest.mark.parametrize(("result_fps", "is_slower"), [(10_100, False), (10_105, True)])
def test_what_a_bucket_lets_pass_is_looked_for_an_error_above_what_came_through(
    result_fps: int, is_slower: bool
) -> None:
    """Between 9,900 and 10,100, so probably 10,000."""
    full_fps = known(trial(10_200, 10_000)).overloaded_fps(result_fps)
    assert (full_fps is not None) == is_slower


def test_what_pauses_fill_at_a_low_rate_is_no_limit_where_far_more_came_through() -> None:
    """At 1,000 each pause loses a frame or two, at 16,000 one trial lost 50 frames in a hole."""
    filled, hole = trial(1_020, 980), trial(16_000, 15_600)
    as_long = result_of(stream_of(sent=16 * FRAMES, missing=50))
    hole = hole.model_copy(update={"full_share": None, "result": as_long})
    assert known(filled).near(1_000) is filled
    assert known(hole, filled).near(1_000) is None


def test_what_a_bucket_lets_through_in_a_short_trial_surpasses_no_long_one() -> None:
    """Of 12,000 in the short trial 11,000 came, of which the bucket had 1,000; FRAMES are 0.2 s."""
    short, longer = trial(12_000, 10_000, bucket=200), trial(10_400, 10_000)
    stream = stream_of(sent=5 * FRAMES, missing=380)
    longer = longer.model_copy(update={"result": result_of(stream)})
    assert known(short, longer).near(10_300) is longer


def test_a_failure_without_a_loss_takes_no_place_of_one_that_lost_frames() -> None:
    """A bucket that is full again hides what the gateway forwards without it."""
    spread = trial(11_000, 8_000)
    held = spread.model_copy(
        update={
            "fail_reason": Reason.of(Code.HELD_BACK, held_ns=1e7),
            "counted_fps": 10_500,
            "full_share": None,
        }
    )
    assert known(spread, held).sustained_fps == pytest.approx(7_900, abs=1)


def test_connections_that_are_created_faster_than_they_are_used_have_the_slower_rate() -> None:
    created = trial(11_000, 10_500, phase="establish")
    used = trial(10_500, 9_000, phase="validate")
    assert known(created, used).sustained_fps == pytest.approx(8_900, abs=1)


def test_what_may_be_lost_is_a_part_of_the_rate() -> None:
    at_tenth = known(trial(110_000, 90_000), accepted=0.1)
    assert at_tenth.sustained_fps == pytest.approx(89_900 / 0.9, abs=1)


def test_nobody_knows_it_without_a_failure_that_the_rate_explains() -> None:
    assert known(trial(10_000, None)).sustained_fps == 0


def test_a_longer_pass_that_noise_slowed_does_not_tell_how_long_the_result_lasts() -> None:
    """Of 11,000 in 0.2 s a bucket of 200 frames lets all through that 10,000 do not do."""
    failed = trial(11_500, 10_000, bucket=200)
    short = trial(11_000, None)
    slowed = trial(8_000, None)
    assert known(failed, short).is_helped(11_000)
    assert known(failed, short, slowed).is_helped(11_000)
