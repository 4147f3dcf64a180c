"""Decides by siitperf's rules whether a test is invalid, or ends after phase 1."""

from collections.abc import Iterator
from fractions import Fraction

from natxy.model.phase_names import ESTABLISH
from natxy.model.reason import Code, Reason
from natxy.model.stream_result import StreamResult
from natxy.model.testbed import Testbed
from natxy.model.trial_result import TrialResult
from natxy.siitperf.arguments import Arguments
from natxy.siitperf.lines import SIDE_NAMES
from natxy.trial.trial import Trial
from natxy.verdict.clean_tags import too_few
from natxy.verdict.delay_error import late_in_doubt
from natxy.verdict.losses import excuse
from natxy.verdict.pacing import PAUSE_SHARE, long_pauses
from natxy.verdict.placement import bad_placement

TOLERANCE = Fraction(100_001, 100_000)  # of the time that sending takes


def reasons_of(arguments: Arguments, trial: Trial, testbed: Testbed) -> tuple[Reason, ...]:
    """Returns the reasons why the test is invalid, none if it is valid.

    It is invalid if the tester did not do what it was asked, or if absences or the placement of
    the gateway explain every missing frame.
    """
    spec, result = trial.spec, trial.result
    if reasons := (
        trial.invalid_reasons or too_slow(arguments, result, testbed) or too_few(result)
    ):
        return reasons
    late = late_in_doubt(result, spec.frame_timeout_ns) if spec.frame_timeout_ns else None
    lost = any(stream.lost for stream in result.streams)
    placed = bad_placement(result, trial.absence) if lost else None
    excused = excuse(spec, result, trial.absence) or late or placed
    return (excused,) if excused else ()


def too_slow(arguments: Arguments, result: TrialResult, testbed: Testbed) -> tuple[Reason, ...]:
    """Returns the reasons why the tester was too slow, by siitperf's rule.

    Natxy's own rule is used if the testbed sets lateness_tolerance_us.
    """
    if _has_own_rule(testbed):
        paused = long_pauses(result, PAUSE_SHARE)
        return (paused,) if paused else ()
    return tuple(_too_slow(arguments, result))


def most_pauses(testbed: Testbed) -> Fraction:
    """Returns the longest pauses of a valid test, as a share of its time."""
    return PAUSE_SHARE if _has_own_rule(testbed) else TOLERANCE - 1


def _has_own_rule(testbed: Testbed) -> bool:
    return "lateness_tolerance_us" in testbed.tester.model_fields_set


def _too_slow(arguments: Arguments, result: TrialResult) -> Iterator[Reason]:
    for stream in result.streams:
        should_s = Fraction(stream.due, _rate_fps(arguments, stream))
        took_s = stream.sending_ns / 1e9
        if took_s > should_s * TOLERANCE:
            name = "Preliminary" if stream.phase == ESTABLISH else SIDE_NAMES[stream.direction]
            due_ns = float(should_s) * 1e9
            facts = {
                "excess_ns": took_s * 1e9 - due_ns,
                "due_ns": due_ns,
                "limit_ns": due_ns * float(TOLERANCE - 1),
            }
            yield Reason.of(Code.SENT_SLOWLY, name, **facts)


def _rate_fps(arguments: Arguments, stream: StreamResult) -> int:
    if stream.phase != ESTABLISH:
        return arguments.rate_fps
    assert arguments.preliminary is not None, "a stateless test has no such phase"
    return arguments.preliminary.preliminary_rate_fps


def missing_entries(arguments: Arguments, result: TrialResult) -> str | None:
    """Returns a sentence if phase 1 filled the state table with fewer than M entries."""
    made = result.stream_of(ESTABLISH)
    if made is None or arguments.preliminary is None:
        return None
    entries, asked = _entries(result, made), arguments.preliminary.table_entries
    if entries >= asked:
        return None
    return (
        f"Failed to fill state table (valid entries: {entries}, required: {asked}), the test ends "
        "after its preliminary phase"
    )


def _entries(result: TrialResult, made: StreamResult) -> int:
    """Counts entries as siitperf does: a frame that repeats a connection is one as well."""
    stored = result.connections.stored if result.connections else 0
    again = made.connections.known if made.connections else 0
    return stored + again
