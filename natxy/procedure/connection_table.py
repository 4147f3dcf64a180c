"""The device's connection table around a trial: it must hold what the trial makes, for as long as
the trial lasts; and what it tells when a trial has gone wrong."""

from collections.abc import Sequence
from math import ceil
from typing import NoReturn

from natxy.dut.base import Dut, TableParameters
from natxy.dut.cable import Cable
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError, MeasurementError
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.phases import ESTABLISH, TEST, VALIDATE

MARGIN_S = 2.0  # neighbours are asked, memory is touched, a timer of the device is coarse
SAMPLE_LOSS = 0.1  # more is no loss by chance
RUN = 3  # replies in a row that are no chance loss
LOST_ADVICE = 'a lower phase 1 rate is right, or connections.incomplete = "accept"'


class WithoutConnections(MeasurementError):
    """There is no phase 2 to speak of, at this number of connections."""


class IncompletePhase1(WithoutConnections):
    """Connections that phase 1 was to make are not there."""


class LostConnections(WithoutConnections):
    """The device lost them in each trial."""


def needed_timeout_s(spec: TrialSpec) -> float:
    """No connection may expire within the trial, also one that phase 2 never uses."""
    return ceil(spec.duration_ns / 10**9 + MARGIN_S)


def parameters_of(dut: Dut) -> TableParameters:
    """All None where the device does not tell."""
    if dut.table is None:
        return TableParameters()
    try:
        return dut.table.parameters()
    except DutError:
        return TableParameters()


def refuse_small_table(dut: Dut, connections: int) -> None:
    """Where the device tells how many entries its table takes."""
    entries = parameters_of(dut).entries
    if entries is not None and entries < connections:
        raise ConfigurationError(
            f"The device's connection tracking table takes {entries:,} entries, fewer than the "
            f"{connections:,} connections of phase 1: a larger table, or fewer connections, are "
            "right"
        )


def hold(dut: Dut, spec: TrialSpec, asked_s: float | None = None) -> None:
    """Makes connections live as long as the trial; refuses a timeout known to be shorter, and one
    that was asked for: with a longer one it would be another measurement."""
    table, needed_s = dut.table, needed_timeout_s(spec)
    if asked_s is not None and asked_s < needed_s:
        raise ConfigurationError(
            f"--timeouts: {asked_s:g} s are shorter than a trial, which may last {needed_s:g} s: a "
            "longer timeout, fewer connections or a higher phase 1 rate are right"
        )
    if table is None or _lasts(dut, needed_s):
        return
    refused = ""
    try:
        table.set_timeout(needed_s)
    except DutError as refusal:
        refused = f" ({refusal})"
    known_s = parameters_of(dut).timeout_s
    # What becomes of connections whose timeout nobody knows is seen after the trial.
    if known_s is not None and known_s < needed_s:
        raise ConfigurationError(
            f"The device's connections expire after {known_s:g} s, but the trial may last "
            f"{needed_s:g} s: a longer timeout, fewer connections or a higher phase 1 rate are "
            f"right{refused}"
        )


def _lasts(dut: Dut, needed_s: float) -> bool:
    known_s = parameters_of(dut).timeout_s
    return known_s is not None and known_s >= needed_s


def check_emptied(dut: Dut) -> None:
    """Before each trial: what an earlier one made would be taken for new connections, or be there
    for phase 1 to find. Nobody looks into a device that does not tell."""
    left = _count(dut)
    if left:
        raise MeasurementError(
            f"The device still has {left:,} connections after it was reset for a trial: a reset "
            "that empties its table is right."
        )
    if left is None and isinstance(dut, NoDut) and not isinstance(dut, Cable):
        raise MeasurementError(
            "Nobody empties the device's connection table between trials: [dut] of kind "
            '"command" with a `reset` that does is right.'
        )


def check_established(result: TrialResult, dut: Dut) -> None:
    """A trial that was to have a phase 2, and ended before that."""
    if result.connections is None:
        return
    if result.incomplete or result.stream_of(TEST) is None:
        explain_incomplete(result, dut)


def lost_before_phase_2(sample: StreamResult | None, dut: Dut, needed_s: float) -> str:
    """Returns how the gateway lost what phase 1 made; empty: it did not, or nothing was asked."""
    if sample is None:
        return ""
    silent = max(0, sample.lost - _misdelivered(sample))  # what came wrong is an answer
    if silent <= sample.sent * SAMPLE_LOSS:
        return ""
    why = _where_to("the device", dut, needed_s, some_left=sample.lost < sample.sent)
    return (
        f"Of {sample.sent:,} connections that were asked between the phases {silent:,} did "
        f"not answer, and all of them were made in phase 1: {why}."
    )


def sample_is_right(sample: StreamResult | None) -> bool:
    """Nothing of it was delivered wrongly. A few lost frames may be chance: phase 2 judges that."""
    return sample is None or not _misdelivered(sample)


def _misdelivered(stream: StreamResult) -> int:
    """Replies to another connection among them."""
    return sum(counters.misdelivered.total for _, counters in stream.counters())


def check_repeating(made: StreamResult | None) -> None:
    """Where combinations are drawn with repetition nobody knows how many connections there are to
    be: none may be lost on its way."""
    if made is not None and made.lost:
        raise IncompletePhase1(
            f"Phase 1 lost {made.lost:,} of {made.sent:,} frames: a lower phase 1 rate is right."
        )


def explain_incomplete(result: TrialResult, dut: Dut, advice: str = LOST_ADVICE) -> NoReturn:
    """IncompletePhase1 with what is known of the reason; the advice is for lost frames."""
    made, table = result.stream_of(ESTABLISH), result.connections
    assert made is not None, "a trial of connections begins with it"
    assert table is not None, "a trial of connections has one"
    stored, asked = table.stored, _asked(made)
    raise IncompletePhase1(
        f"Phase 1 made {stored:,} of {asked:,} connections: {_why(dut, stored, asked, advice)}."
    )


def lost_in_phase_2(result: TrialResult, spec: TrialSpec, dut: Dut) -> str:
    """Returns how the device lost connections in a trial that did not pass; empty: it did not, as
    far as is known."""
    table = result.connections
    if table is None or result.incomplete or result.ended_early:
        return ""
    left, needed_s = _count(dut), needed_timeout_s(spec)
    if left is not None and left < table.stored:
        return (
            f"Of {table.stored:,} connections that phase 1 made the device has {left:,} left: "
            f"{_where_to('it', dut, needed_s, some_left=left > 0)}."
        )
    found = _no_reply(result) if left is None else _made_again(result)
    return found or _replies_alone(result, needed_s, dut)


def refuse_without_connections(trials: Sequence[TrialRecord]) -> None:
    """Where the device lost connections in each valid trial there is no figure of a phase 2."""
    valid = [trial for trial in trials if trial.verdict is not Verdict.INVALID]
    if valid and all(trial.lost_connections for trial in valid):
        raise LostConnections(valid[-1].lost_connections)


def check_answers(result: TrialResult, dut: Dut) -> None:
    """After validations that failed at every rate: whether there were connections to validate."""
    table, validated = result.connections, result.stream_of(VALIDATE)
    if table is None or validated is None or validated.connections is None:
        return
    left = _count(dut)
    if left is not None and 2 * left < table.stored:
        raise MeasurementError(
            f"Of {table.stored:,} connections that phase 1 made the device has {left:,} left: "
            f"{'it dropped them' if left else 'it dropped its table'}, or their timeout is too "
            "short."
        )
    if validated.sent and not validated.connections.known:
        raise MeasurementError(
            f"None of {validated.sent:,} connections answered in validation, and all of phase 1 "
            "came through: the device dropped its table between the phases, or its timeout is too "
            "short."
        )


def _made_again(result: TrialResult) -> str:
    """The device has as many connections as phase 1 made, but not the same: replies are lost from
    the first one on until the initiator has made their connections again."""
    roles = {stream.direction for stream in result.streams if stream.phase == TEST}
    made = result.stream_of(ESTABLISH)
    for stream in result.streams:
        losses = stream.losses
        if stream.phase != TEST or losses is None or made is None or len(roles) == 1:
            continue
        from_the_first = losses.first_number == 0 and losses.longest_run_from_ns == 0
        if stream.direction != made.direction and from_the_first and losses.longest_run >= RUN:
            return (
                f"The first {losses.longest_run:,} replies of phase 2 were lost, and the device "
                "has all connections: it dropped its table between the phases, and the "
                "initiator's frames made it anew."
            )
    return ""


def _replies_alone(result: TrialResult, needed_s: float, dut: Dut) -> str:
    """Where only the responder sends, nobody makes lost connections again. A count tells nothing: a
    reply that finds no connection makes an entry of its own in many a table, such as the kernel's.
    A gateway that is merely too slow has room for the first reply, and forwards it."""
    made = result.stream_of(ESTABLISH)
    tested = [stream for stream in result.streams if stream.phase == TEST]
    if made is None or len(tested) != 1 or tested[0].direction == made.direction:
        return ""
    (replies,) = tested
    losses = replies.losses
    if losses is None or losses.first_number != 0 or 2 * losses.frames <= replies.sent:
        return ""
    why = _where_to("the device", dut, needed_s, some_left=losses.frames < replies.sent)
    return (
        f"Of {replies.sent:,} replies of phase 2 {losses.frames:,} were lost, from the first one "
        f"on, and all connections were made in phase 1: {why}."
    )


def _where_to(who: str, dut: Dut, needed_s: float, *, some_left: bool) -> str:
    timeout_s = parameters_of(dut).timeout_s
    if timeout_s is not None and timeout_s < needed_s:
        return f"they expire after {timeout_s:g} s, and the trial needs {needed_s:g} s"
    what = "them" if some_left else "its table between the phases"
    dropped = f"{who} dropped {what}"
    if timeout_s is not None:
        return dropped
    return f"{dropped}, or their timeout is too short: {needed_s:g} s is right"


def _no_reply(result: TrialResult) -> str:
    """Of a device that does not tell how many connections it has."""
    for stream in result.streams:
        said = stream.connections
        counted = stream.kinds.foreground
        if stream.phase == ESTABLISH or said is None or counted is None:
            continue
        if counted.sent and not said.known and not said.changed and not said.new:
            return (
                f"None of {counted.sent:,} {stream.direction} frames of phase 2 came through, and "
                "all of phase 1 did: the device dropped its table between the phases, or its "
                "timeout is too short."
            )
    return ""


def _asked(made: StreamResult) -> int:
    counted = made.kinds.foreground
    return counted.sent if counted else 0


def _why(dut: Dut, stored: int, asked: int, advice: str) -> str:
    """Whether the gateway's table is full, or the frames went astray."""
    entries, left = parameters_of(dut).entries, _count(dut)
    if entries is not None and entries < asked:
        return (
            f"the device's table takes {entries:,} entries; a larger one, or fewer connections, "
            "are right"
        )
    if left is not None and left < stored:
        return (
            f"the device has only {left:,} of them left; a longer timeout, or a larger table, is "
            "right"
        )
    if entries is None and left is not None and left < asked:
        return (
            f"the device has no more than {left:,} in its table; a lower phase 1 rate, or a larger "
            "table, is right"
        )
    return f"{asked - stored:,} frames were lost on their way; {advice}"


def _count(dut: Dut) -> int | None:
    if dut.table is None:
        return None
    try:
        return dut.table.count()
    except DutError:
        return None
