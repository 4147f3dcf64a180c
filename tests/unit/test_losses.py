"""Tests of the losses that count, and of what excuses the others."""

from fractions import Fraction

import pytest

from natxy.model.disturbance import Absence
from natxy.model.reason import Code
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.stream_result import StreamResult
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.search.settings import NO_LOSS, LossTolerance
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.losses import Losses, excuse, full_of
from natxy.verdict.silences import with_silences_counted
from tests.unit.results import result_of, stream_of

RATE_FPS = 100_000
FRAMES = 10_000
TENTH = LossTolerance(fraction=Fraction(1, 10))
MS = 1_000_000


@pytest.fixture
def spec(nat64: TrafficPlan) -> TrialSpec:
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
    return TrialPlan(traffic=nat64, timing=timing).spec(load=RATE_FPS, seed=1, nonce=1)


def losing(*runs: tuple[int, int], late: int = 0, wrong: int = 0) -> StreamResult:
    """Runs have a first number and a length."""
    missing = sum(length for _, length in runs)
    lost_runs = tuple((first, length, length) for first, length in sorted(runs))
    stream = stream_of(sent=FRAMES, missing=missing, late=late, wrong=wrong)
    return stream.model_copy(update={"lost_runs": lost_runs})


def away(*streams: StreamResult, at_ms: tuple[float, float] = (20, 25)) -> TrialResult:
    result = result_of(*streams, away_s=(at_ms[1] - at_ms[0]) / 1000)
    interval = tuple(int(each * MS) for each in at_ms)
    watch = result.watched[0].model_copy(update={"away_at": (interval,)})
    return result.model_copy(update={"watched": (watch,)})


def test_a_loss_counts_unless_it_is_due_in_an_absence_or_as_long_afterwards(
    spec: TrialSpec,
) -> None:
    """At 100 frames a ms: 2,000 to 3,000, and 20 on either side."""
    within = losing((1980, 100), (2900, 120))
    reason = excuse(spec, away(within), None)
    assert reason is not None
    assert (reason.code, reason.facts["total_ns"]) == (Code.GATEWAY_AWAY, 5e6)
    for outside in ((1979, 1), (3021, 1)):
        assert excuse(spec, away(losing((2000, 100), outside)), None) is None
        assert Losses.of(spec, away(losing((2000, 100), outside))).excused(within) == 100


def test_a_loss_says_nothing_if_less_than_half_of_the_frames_are_clean(spec: TrialSpec) -> None:
    outside = losing((9500, 1))
    for until_ms, counts in ((40, True), (48, False)):
        result = away(outside, at_ms=(20, until_ms))
        assert (excuse(spec, result, None, least_clean=0.5) is None) == counts
        assert excuse(spec, result, None) is None
    wrong = losing((9500, 1), wrong=1)
    assert excuse(spec, away(wrong, at_ms=(20, 48)), None, least_clean=0.5) is None
    assert excuse(spec, away(losing(), at_ms=(20, 48)), None, least_clean=0.5) is None


def test_the_program_that_had_the_cpu_is_named(spec: TrialSpec) -> None:
    result = away(losing((2000, 100)))
    for taken_ns, who in (
        (2e6, "the gateway's CPU 1"),
        (3e6, "the gateway's CPU 1 (vs (7) ran there)"),
    ):
        watch = result.watched[0].model_copy(update={"taken_by": "vs (7)", "taken_ns": taken_ns})
        reason = excuse(spec, result.model_copy(update={"watched": (watch,)}), None)
        assert reason is not None
        assert reason.where == who


def test_without_an_absence_nothing_is_excused(spec: TrialSpec) -> None:
    assert excuse(spec, result_of(losing((2000, 1))), None) is None


def test_both_directions_have_the_same_time(spec: TrialSpec) -> None:
    reverse = losing((2500, 50)).model_copy(update={"direction": "reverse"})
    assert excuse(spec, away(losing((2000, 100)), reverse), None) is not None
    later = losing((5000, 1)).model_copy(update={"direction": "reverse"})
    assert excuse(spec, away(losing((2000, 100)), later), None) is None


def test_a_late_sender_disturbs_the_frames_that_it_sends_at_once(spec: TrialSpec) -> None:
    stream = losing((2050, 40)).model_copy(
        update={"late_runs": ((2000, 2100),), "largest_burst": 90}
    )
    reason = excuse(spec, result_of(stream), None)
    assert reason is not None
    assert (reason.code, reason.facts["burst"]) == (Code.TESTER_AWAY, 90)


def test_the_gateways_own_record_counts_where_it_keeps_one(spec: TrialSpec) -> None:
    """Its times are those of the machine; the phase began at 7 s."""
    own = Absence(
        where="the gateway",
        total_s=0.005,
        longest_s=0.005,
        intervals=((7_020 * MS, 7_025 * MS),),
    )
    stream = losing((2000, 500))
    began = stream.model_copy(update={"start_raw_ns": 7_000 * MS})
    assert excuse(spec, result_of(began), own) is not None
    assert excuse(spec, result_of(stream), own) is None


def test_where_a_load_fills_the_queue_what_came_in_an_absence_is_lost_later(
    spec: TrialSpec,
) -> None:
    result = away(losing((8000, 100)))
    assert excuse(spec, result, None) is None
    assert excuse(spec, result, None, fills_buffers=True) is not None
    assert excuse(spec, away(losing((1000, 1))), None, fills_buffers=True) is None


def test_an_absence_has_to_explain_what_exceeds_the_accepted_loss(spec: TrialSpec) -> None:
    result = away(losing((2000, 600), (5000, 890)))
    assert excuse(spec, result, None, TENTH) is not None
    assert excuse(spec, result, None, NO_LOSS) is None
    assert excuse(spec, result, None, TENTH, phases=["another"]) is None
    assert excuse(spec, away(losing((2000, 900))), None, TENTH) is None, "it is accepted"


def test_what_is_no_loss_has_no_excuse(spec: TrialSpec) -> None:
    """A mapping that changed has changed whoever was away, and a wrong frame has come."""
    none: dict[str, int] = dict.fromkeys(ConnectionCounters.model_fields, 0)
    changed = losing((2000, 100)).model_copy(
        update={"connections": ConnectionCounters.model_validate(none | {"changed": 1})}
    )
    assert excuse(spec, away(changed), None) is None
    assert excuse(spec, away(losing((2000, 100), wrong=1)), None) is None
    few = LossTolerance(fraction=Fraction(1, 1000))
    assert excuse(spec, away(losing((2000, 100))), None, few) is not None
    assert excuse(spec, away(losing((2000, 100), wrong=1)), None, few) is None, "however few"


def test_late_frames_have_an_excuse_of_their_own(spec: TrialSpec) -> None:
    """The gateway's absence, or the tester's, makes frames late that were due at any time."""
    timed = spec.model_copy(update={"frame_timeout_ns": 10 * MS})
    stream = losing((2000, 100), late=20)
    assert excuse(timed, away(stream), None) is not None
    assert excuse(timed, away(stream, at_ms=(20, 22)), None) is None, "a fifth of the timeout"
    doubtful = stream.model_copy(update={"uncertain_late": 20})
    assert excuse(timed, away(doubtful, at_ms=(20, 22)), None) is not None


def test_numbers_that_no_run_tells_count(spec: TrialSpec) -> None:
    stream = stream_of(sent=FRAMES, missing=100)
    assert excuse(spec, away(stream), None) is None


def test_a_sender_has_the_times_of_its_own_numbers(spec: TrialSpec) -> None:
    """Of two senders, that of the odd numbers pauses for 10 ms."""
    pauses = losing().pauses.model_copy(update={"at": ((1001, 10 * MS, "core"),)})
    stream = losing((1000, 60)).model_copy(update={"senders": 2, "pauses": pauses})
    result = away(stream, at_ms=(20, 20.1))
    (line,) = Losses.of(spec, result).lines.values()
    # Even numbers are due at 20 ms from 2,000 on, odd ones from 1,000 on.
    assert [begin for begin, _ in line.pieces if begin > 1001] == [1040, 2040]


@pytest.mark.parametrize(
    ("every", "paused_every", "fills"),
    [(10, 5000, True), (200, 5000, True), (200, 250, False), (5000, 5000, False)],
)
def test_losses_fill_the_time_between_pauses_if_each_piece_has_some(
    every: int, paused_every: int, fills: bool, spec: TrialSpec
) -> None:
    """From one run of losses to the next one: a piece of 250 frames has at most two."""
    pauses = tuple((before, MS, "core") for before in range(paused_every, FRAMES, paused_every))
    stream = losing(*((first, 1) for first in range(5, FRAMES, every)))
    paused = stream.pauses.model_copy(update={"at": pauses})
    stream = stream.model_copy(update={"pauses": paused})
    assert Losses.of(spec, result_of(stream)).fills_pieces(stream) == fills


def test_a_tolerance_is_of_the_clean_frames(spec: TrialSpec) -> None:
    """Half of the frames are disturbed: 100 of all are 2 % of the others."""
    lost = losing((0, 200), (9000, 60))
    for percent, is_excused in ((1, False), (2, True)):
        tolerance = LossTolerance(fraction=Fraction(percent, 100))
        assert (excuse(spec, away(lost, at_ms=(0, 25)), None, tolerance) is not None) == is_excused


def test_disturbed_frames_are_taken_to_be_lost_like_the_clean_ones(spec: TrialSpec) -> None:
    """From 20 to 30.2 ms of 100, and 0.2 ms before: a tenth of 8,960 clean frames was lost."""
    result = away(losing((2000, 600), (5000, 896)))
    (stream,) = Losses.of(spec, result).without_excused(result, {"test"}).streams
    assert stream.lost == 896 + 104
    result = away(losing((2000, 50), (5000, 896)))
    (stream,) = Losses.of(spec, result).without_excused(result, {"test"}).streams
    assert stream.lost == 896 + 50, "as many as were"


def test_what_nobody_watches_is_not_full_where_half_of_the_losses_are_in_silences(
    spec: TrialSpec,
) -> None:
    """A run of 50 in each 500 frames fills the time. It is one of a batch if the frames wait."""
    stream = losing(*((first, 50) for first in range(200, FRAMES, 500)))
    waiting = stream.model_copy(update={"low_delays": ((0, 1_000), (1000, 9 * MS), (2000, 9 * MS))})
    single = losing(*((first, 1) for first in range(200, FRAMES, 50)))
    for lost, watched, full in (
        (stream, True, True),
        (stream, False, False),
        (waiting, False, True),
        (single, False, True),
    ):
        result = result_of(lost) if watched else result_of(lost).model_copy(update={"watched": ()})
        losses = Losses.of(spec, with_silences_counted(result))
        assert (full_of([losses], {"test"}) is not None) == full
        (counted,) = losses.counted({"test"})
        assert counted.spread == full
