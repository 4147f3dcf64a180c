"""Checks of the gateway's connection tracking table before and after a trial.

The table must hold the connections of a trial until the trial ends. After a failed trial, it may
show how connections were lost.
"""

from collections.abc import Sequence
from math import ceil
from typing import NoReturn

from natxy.dut.base import Dut, TableParameters
from natxy.errors import ConfigurationError, DutError, MeasurementError
from natxy.model.reason import HowLost, LossOfConnections, WhyLost
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import ESTABLISH, TEST, VALIDATE, Phase, TrialSpec
from natxy.model.verdict import Verdict
from natxy.setting import Setting
from natxy.trial.session import Session
from natxy.trial.warm_up import count_of

MARGIN_S = 2.0  # for resolving neighbours, touching memory, and coarse timers of the gateway
SAMPLE_LOSS = 0.1  # a larger share of lost frames is not chance
RUN = 3  # lost replies in a row that are not chance
LOST_ADVICE = ('use a lower phase 1 rate, or connections.incomplete = "accept"',)
TIMEOUT = Setting(
    "timeout_s",
    "Seconds after which the gateway drops an idle connection",
    option="timeouts",
    default="unchanged",
)


class WithoutConnections(MeasurementError):
    """Phase 2 cannot be measured with this number of connections."""


class IncompletePhase1(WithoutConnections):
    """Phase 1 did not create all of its connections."""


class LostConnections(WithoutConnections):
    """The gateway lost connections in each trial."""


def needed_timeout_s(spec: TrialSpec) -> float:
    """Returns how long connections must live: no connection may expire within the trial, not even
    one that phase 2 never uses.

    While new ones are created, those of phase 1 must live until they are used again.
    """
    idle_ns = _longest_idle_ns(spec.phases[-1])
    lasts_ns = spec.duration_ns
    if idle_ns is not None:
        before_ns = lasts_ns - spec.phases[-1].streams[0].duration_ns
        lasts_ns = min(lasts_ns, before_ns + idle_ns)
    whole_ms = lasts_ns // 10**6  # half a period between the directions adds no second
    return ceil(whole_ms / 1000 + MARGIN_S)


def _longest_idle_ns(phase: Phase) -> int | None:
    """Returns how long a phase that creates connections beside leaves the others unused; None if
    it creates none, or may leave some unused."""
    creating = [stream for stream in phase.streams if stream.creates_beside]
    if not creating:
        return None
    (stream,) = creating
    if stream.foreground is None or stream.foreground.connections is None:
        return None
    assert stream.background is not None
    assert stream.background.connections is not None
    used = stream.frames_of("foreground")
    rounds = used // max(1, stream.background.connections.first)
    if stream.foreground.connections.order == "fixed" or not rounds:
        return None
    # In each round, each connection is used once; in a pseudorandom order, first and then last.
    return 2 * stream.duration_ns // rounds


def parameters_of(dut: Dut) -> TableParameters:
    """Returns the parameters of the gateway's table; all None if it does not report them."""
    if dut.table is None:
        return TableParameters()
    try:
        return dut.table.parameters()
    except DutError:
        return TableParameters()


def refuse_small_table(dut: Dut, connections: int) -> None:
    """Raises ConfigurationError if the gateway reports a table with fewer entries than needed."""
    entries = parameters_of(dut).entries
    if entries is not None and entries < connections:
        raise ConfigurationError(
            f"The gateway's connection tracking table takes {entries:,} entries, but phase 1 "
            f"creates {connections:,} connections (expected a larger table, or fewer connections)"
        )


def hold(spec: TrialSpec, session: Session) -> None:
    """Makes connections live as long as the trial.

    Raises ConfigurationError if the timeout is known to be shorter, or if a shorter one was asked
    for, since a longer one would make another measurement.
    """
    dut, needed_s, asked_s = session.dut, needed_timeout_s(spec), session.connection_timeout_s
    if asked_s is not None and asked_s < needed_s:
        raise ConfigurationError(
            TIMEOUT,
            f": {asked_s:g} s is shorter than a trial, which may last {needed_s:g} s (expected a "
            "longer timeout, fewer connections or a higher phase 1 rate)",
        )
    if dut.table is None or _lasts(dut, needed_s):
        return
    refused = ""
    try:
        dut.table.set_timeout(needed_s)
    except DutError as refusal:
        refused = f" ({refusal.in_options})"
    known_s = parameters_of(dut).timeout_s
    # If the timeout is unknown, the checks after the trial find out whether connections expired.
    if known_s is not None and known_s < needed_s:
        raise ConfigurationError(
            f"The gateway's connections expire after {known_s:g} s, but the trial may last "
            f"{needed_s:g} s (expected a longer timeout, fewer connections or a higher phase 1 "
            f"rate){refused}"
        )


def _lasts(dut: Dut, needed_s: float) -> bool:
    known_s = parameters_of(dut).timeout_s
    return known_s is not None and known_s >= needed_s


def check_established(trial: TrialRecord, dut: Dut) -> None:
    """Raises IncompletePhase1 if a trial ended before its phase 2."""
    if trial.result.connections is None:
        return
    if trial.result.incomplete or trial.result.stream_of(TEST) is None:
        explain_incomplete(trial, dut)


def lost_before_phase_2(
    sample: StreamResult | None, dut: Dut, needed_s: float
) -> LossOfConnections | None:
    """Returns how the gateway lost connections before phase 2; None if it did not, or if no
    connection was tested."""
    if sample is None:
        return None
    silent = max(0, sample.lost - _misdelivered(sample))  # a misdelivered frame is an answer
    if silent <= sample.sent * SAMPLE_LOSS:
        return None
    return _lost(HowLost.SAMPLE_SILENT, dut, needed_s, tested=sample.sent, silent=silent)


def sample_is_right(sample: StreamResult | None) -> bool:
    """Returns whether no frame of the sample, or of another phase before phase 2, was misdelivered.

    A few lost frames may be chance; phase 2 judges them.
    """
    return sample is None or not _misdelivered(sample)


def _misdelivered(stream: StreamResult) -> int:
    """Returns the misdelivered frames, which include replies to another connection."""
    return sum(counters.misdelivered.total for _, counters in stream.counters())


def check_repeating(made: StreamResult | None) -> None:
    """Raises IncompletePhase1 if combinations are drawn with repetition and a frame was lost.

    The number of connections to expect is unknown then.
    """
    if made is not None and made.lost:
        raise IncompletePhase1(
            f"Phase 1 lost {made.lost:,} of {made.sent:,} frames; use a lower phase 1 rate."
        )


def explain_incomplete(
    trial: TrialRecord, dut: Dut, advice: tuple[str | Setting, ...] = LOST_ADVICE
) -> NoReturn:
    """Raises IncompletePhase1 with the reason, as far as known; `advice` is for lost frames."""
    made, table = trial.established, trial.result.connections
    assert made is not None, "a trial of connections begins with phase 1"
    assert table is not None, "a trial of connections has a table"
    stored, asked = table.stored, _asked(made)
    why = _why(parameters_of(dut).entries, trial.connections_left, stored, asked)
    raise IncompletePhase1(
        f"Phase 1 created {stored:,} of {asked:,} connections: ",
        *((why,) if why else (f"{asked - stored:,} frames were lost; ", *advice)),
        ".",
    )


def lost_in_phase_2(result: TrialResult, spec: TrialSpec, dut: Dut) -> LossOfConnections | None:
    """Returns how the gateway lost connections in a trial that failed; None if it lost none, as
    far as is known."""
    table = result.connections
    if table is None or result.incomplete or result.ended_early:
        return None
    left, needed_s = count_of(dut), needed_timeout_s(spec)
    stored = min(table.stored, spec.phases[0].streams[0].frames_of("foreground"))
    if left is not None and left < stored:
        return _lost(HowLost.CONNECTIONS_GONE, dut, needed_s, created=stored, left=left)
    found = _no_reply(result, dut, needed_s) if left is None else _made_again(result)
    return found or _replies_alone(result, needed_s, dut)


def refuse_without_connections(trials: Sequence[TrialRecord]) -> None:
    """Raises LostConnections if the gateway lost connections in each valid trial."""
    valid = [trial for trial in trials if trial.verdict is not Verdict.INVALID]
    if valid and all(trial.lost_connections for trial in valid):
        raise LostConnections(f"Connections were lost: {valid[-1].lost_connections}.")


def check_answers(trial: TrialRecord) -> None:
    """Raises MeasurementError if validation failed at every rate for lack of connections."""
    table, validated = trial.result.connections, trial.result.stream_of(VALIDATE)
    if table is None or validated is None or validated.connections is None:
        return
    left = trial.connections_left
    if left is not None and 2 * left < table.stored:
        raise MeasurementError(
            f"Of {table.stored:,} connections that phase 1 created, the gateway has {left:,} left: "
            f"{'it dropped them' if left else 'it dropped its table'}, or their timeout is too "
            "short."
        )
    if validated.sent and not validated.connections.known:
        raise MeasurementError(
            f"None of {validated.sent:,} connections answered in validation, although all frames "
            "of phase 1 arrived: the gateway dropped its table between the phases, or its timeout "
            "is too short."
        )


def _made_again(result: TrialResult) -> LossOfConnections | None:
    """Tells whether the gateway lost its connections and the initiator created them again.

    The gateway then has as many connections as phase 1 created, but the first replies are lost:
    each until a frame of the initiator has created its connection again.
    """
    roles = {stream.direction for stream in result.streams if stream.phase == TEST}
    made = result.stream_of(ESTABLISH)
    for stream in result.streams:
        losses = stream.losses
        if stream.phase != TEST or losses is None or made is None or len(roles) == 1:
            continue
        from_the_first = losses.first_number == 0 and losses.longest_run_from_ns == 0
        if stream.direction != made.direction and from_the_first and losses.longest_run >= RUN:
            return LossOfConnections(code=HowLost.MADE_AGAIN, facts={"frames": losses.longest_run})
    return None


def _replies_alone(result: TrialResult, needed_s: float, dut: Dut) -> LossOfConnections | None:
    """Tells whether the gateway lost connections where only the responder sends in phase 2.

    Lost connections are not created again then. The count of connections shows nothing: in many
    tables, such as the kernel's, a reply without connection creates an entry. If the gateway were
    only too slow, it would have room for the first reply and forward it.
    """
    made = result.stream_of(ESTABLISH)
    tested = [stream for stream in result.streams if stream.phase == TEST]
    if made is None or len(tested) != 1 or tested[0].direction == made.direction:
        return None
    (replies,) = tested
    losses = replies.losses
    if losses is None or losses.first_number != 0 or 2 * losses.frames <= replies.sent:
        return None
    return _lost(HowLost.REPLIES_LOST, dut, needed_s, sent=replies.sent, lost=losses.frames)


def _no_reply(result: TrialResult, dut: Dut, needed_s: float) -> LossOfConnections | None:
    """Tells whether a direction of phase 2 got no frame through.

    It is for gateways that do not report how many connections they have.
    """
    for stream in result.streams:
        said = stream.connections
        counted = stream.kinds.foreground
        if stream.phase == ESTABLISH or said is None or counted is None:
            continue
        if counted.sent and not said.known and not said.changed and not said.new:
            return _lost(HowLost.NO_REPLY, dut, needed_s, stream.direction, sent=counted.sent)
    return None


def _lost(
    code: HowLost, dut: Dut, needed_s: float, where: str = "", **facts: float
) -> LossOfConnections:
    timeout_s = parameters_of(dut).timeout_s
    if timeout_s is None:
        because, times = WhyLost.DROPPED_OR_EXPIRED, {"needed_s": needed_s}
    elif timeout_s < needed_s:
        because, times = WhyLost.EXPIRED, {"timeout_s": timeout_s, "needed_s": needed_s}
    else:
        because, times = WhyLost.DROPPED, {}
    return LossOfConnections(code=code, where=where, facts=facts | times, because=because)


def _asked(made: StreamResult) -> int:
    counted = made.kinds.foreground
    return counted.sent if counted else 0


def _why(entries: int | None, left: int | None, stored: int, asked: int) -> str:
    """Returns why connections are missing; empty: not for lack of room in the table."""
    if entries is not None and entries < asked:
        return (
            f"the gateway's table takes only {entries:,} entries; use a larger table, or fewer "
            "connections"
        )
    if left is not None and left < stored:
        return f"the gateway has only {left:,} of them left; use a longer timeout or a larger table"
    if entries is None and left is not None and left < asked:
        return (
            f"the gateway has only {left:,} in its table; use a lower phase 1 rate, or a larger "
            "table"
        )
    return ""
