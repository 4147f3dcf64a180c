"""Why a trial is not PASS: a code, where, and facts; and the sentence of each code."""

from enum import Enum
from typing import Self

from natxy.model.coded import Sentences, Statement, filled

BY_TSC = '; tester.arrival_clock = "tsc" does without this clock'


class Cause(Enum):
    """What is behind a reason. An earlier one explains the later ones: a link that is down also
    makes frames late."""

    LINK = 1
    CLOCK = 2
    PORT = 3  # what is behind the tester's port, or the port, is too slow
    RECORDS = 4
    LATE = 5  # the tester's core, by a sender that may not pause
    TESTER = 6  # the tester's core
    GATEWAY = 7  # the gateway's core
    HOST = 8
    OTHER = 9  # the sentence says all


class Code(Sentences):
    """The kinds of reasons."""

    cause: Cause

    def __new__(cls, cause: Cause, sentence: str) -> Self:
        member = object.__new__(cls)
        member._value_ = sentence
        member.cause = cause
        return member

    # Of the engine (engine/spec/trial_result.hpp).
    LINK_DOWN = Cause.LINK, "{where}: its link was down at the end"
    LINK_FELL = (
        Cause.LINK,
        "{where}: its link went down and came back within the trial ({times} x)",
    )
    RX_ERRORS = Cause.LINK, "{where}: {frames} frames received with an error"
    CLOCK_ERROR = (
        Cause.CLOCK,
        "{where}: the error of its clock was {error_ns} (expected at most {limit_ns})" + BY_TSC,
    )
    UNSTAMPED = (
        Cause.CLOCK,
        "{where}: {frames} frames without a time stamp of the port's clock" + BY_TSC,
    )
    IMPLAUSIBLE_STAMPS = (
        Cause.CLOCK,
        "{where}: {frames} frames with an impossible time stamp of the port's clock" + BY_TSC,
    )
    PORT_REFUSED = (
        Cause.PORT,
        "{where}: the port took only {sent} of {due} frames",
    )
    RX_MISSED = Cause.PORT, "{where}: {frames} frames missed for lack of descriptors"
    RX_NO_BUFFER = (
        Cause.PORT,
        "{where}: {frames} frames missed for lack of buffers",
    )
    TX_ERRORS = Cause.PORT, "{where}: {frames} frames not sent because of an error"
    KERNEL_RX_DROPPED = (
        Cause.PORT,
        "{where}: {frames} frames dropped by the network interface",
    )
    RECORDS_LOST = (
        Cause.RECORDS,
        "{where}: {frames} frames without a record, because its buffer had no room",
    )
    LEFT_LATE = (
        Cause.LATE,
        "{where}: a frame left {late_ns} after it was due (expected at most {limit_ns})",
    )
    GAVE_UP_LATE = (
        Cause.LATE,
        "{where}: the sender gave up after {sent} of {due} frames: the next frame would have left "
        "too late, by {late_ns}",
    )
    GAVE_UP_PAUSED = (
        Cause.TESTER,
        "{where}: the sender gave up after {sent} of {due} frames: it had paused for {paused_ns}",
    )
    RING_FULL = (
        Cause.TESTER,
        "{where}: up to {frames} frames waited for the tester at once, more than its ring holds, "
        "and some are missing",
    )
    TWO_QUEUES = (
        Cause.OTHER,
        "{where}: {frames} frames arrived on two receive queues, so duplicates cannot be told "
        "(expected a port that distributes frames by addresses and ports, or one queue)",
    )
    TOO_MANY_ADDRESSES = (
        Cause.OTHER,
        "{where}: {frames} frames came from further external IPv6 addresses (expected at most "
        "{limit})",
    )

    # What a loss, a delay or a rate may be due to.
    GATEWAY_AWAY = (
        Cause.GATEWAY,
        "{where} was away for {total_ns} in all, at most {longest_ns} at once, so that the {lost} "
        "frames that are missing do not count",
    )
    TESTER_AWAY = (
        Cause.TESTER,
        "the tester was kept from its CPU and then sent up to {burst} frames at once, so that "
        "the {lost} frames that are missing do not count",
    )
    CORES_APART = (
        Cause.HOST,
        "the host had moved the cores of the tester and of the gateway apart: a round trip of a "
        "cache line took {took_ns}, where {possible_ns} is possible",
    )
    CORE_SHARED = (
        Cause.HOST,
        "the host let the tester's or the gateway's core do other work as well: a piece of work "
        "took {took_ns}, where {possible_ns} is possible",
    )
    PAUSED = (
        Cause.TESTER,
        "{where}: the tester's core was away or too slow: the sender paused for {paused_ns} of "
        "{sending_ns} (expected at most {limit_share})",
    )
    SLOWED = (
        Cause.TESTER,
        "pauses of the tester or the gateway reduced {rate_fps} fps to {counted_fps} fps, but a "
        "rate at least as high has passed already",
    )
    DELAY_IN_DOUBT = (
        Cause.TESTER,
        "{where} of {value_ns} may be {error_ns} too long, because the tester was away when frames "
        "were sent or arrived (expected an error of at most {limit_share})",
    )
    FEW_CLEAN_TAGS = (
        Cause.OTHER,
        "{where}: only {clean} of {tags} tagged frames met no absence of gateway or tester "
        "(expected {limit_share})",
    )
    SILENCE_IN_DOUBT = (
        Cause.TESTER,
        "{where}: the gateway was silent for {silence_ns}, of which the tester may have been away "
        "for {unseen_ns} (expected at most {limit_share})",
    )
    END_IN_DOUBT = (
        Cause.OTHER,
        "{where}: the last frame was lost, and the gateway or the tester was kept from its CPU, "
        "which may be the reason",
    )
    BURST_SLOW = (
        Cause.OTHER,
        "{where}: the burst took {excess_ns} longer than the {due_ns} of its rate (expected at "
        "most {limit_ns}, the time of a step at the throughput; a larger step allows more)",
    )
    SENT_SLOWLY = (
        Cause.OTHER,
        "{where} sending took {excess_ns} longer than {due_ns} (expected at most {limit_ns})",
    )

    # Why a trial without loss is a FAIL.
    HELD_BACK = (
        Cause.OTHER,
        "no frame was lost, but the frames took {held_ns} longer to leave the gateway than to "
        "enter it: a longer trial would have filled its buffers",
    )
    PORT_SLOW = (
        Cause.OTHER,
        "no frame was lost, but the tester's port refused frames for {refused_ns}: what is behind "
        "it took them no faster",
    )

    # What a gateway says of itself.
    GATEWAY_POLLED_LATE = (
        Cause.OTHER,
        "the calibration gateway did not poll its ports for {gap_ns} (expected at most {limit_ns}, "
        "dut.poll_gap_limit_us)",
    )
    TABLE_RESIZED = (
        Cause.OTHER,
        "{where} is {now} (expected {wanted}, as this lab set it): another lab or program has "
        "changed it; run one at a time",
    )
    LOG_ENDED = (
        Cause.OTHER,
        "`conntrack -E`, which logs connections, ended with status {status}",
    )
    UNKNOWN = Cause.OTHER, "the engine gave no reason"


class Reason(Statement[Code, float]):
    """`where` is a direction, the side of a port, a CPU, or what the sentence is about."""


class Advice(Sentences):
    """What a user can do about trials that stay invalid."""

    LOWER_RATE = "use a lower rate"
    DISCARDED = "a lower rate does not help: find out what discards frames at so low a rate"
    DOCTOR = "run `natxy doctor`, which reports what takes the tester's cores away"
    DOCTOR_FIRST = f"{DOCTOR}; if it finds nothing, the tester is too slow: {LOWER_RATE}"
    GATEWAY_AWAY = (
        "run `natxy doctor`, which reports what takes the gateway's core away "
        "(what is the gateway's belongs in dut.processes)"
    )
    PLACED = (
        "the host decides where the cores of a virtual machine run: repeat the measurement later"
    )
    LINK = "check the cable, and the port at its other end"


class Explanation(Reason):
    """Why trials stay invalid."""

    advice: Advice | None = None

    def __str__(self) -> str:
        why = super().__str__()
        return f"{why}; {self.advice.value}" if self.advice else why


class HowLost(Sentences):
    """How a gateway lost connections that phase 1 had created."""

    SAMPLE_SILENT = (
        "of {tested} connections that were tested between the phases, {silent} did not answer, "
        "although phase 1 created all of them"
    )
    CONNECTIONS_GONE = "of {created} connections that phase 1 created, the gateway has {left} left"
    MADE_AGAIN = (
        "the first {frames} replies of phase 2 were lost, although the gateway has all "
        "connections: it dropped its table between the phases, and the initiator's frames created "
        "the connections again"
    )
    REPLIES_LOST = (
        "of {sent} replies of phase 2, {lost} were lost, from the first one on, although phase 1 "
        "created all connections"
    )
    NO_REPLY = (
        "none of {sent} {where} frames of phase 2 arrived, although all frames of phase 1 did"
    )


class WhyLost(Sentences):
    """Why it lost them."""

    EXPIRED = "connections expire after {timeout_s}, and the trial needs {needed_s}"
    DROPPED = "the gateway dropped connections"
    DROPPED_OR_EXPIRED = (
        "the gateway dropped connections, or their timeout is too short (expected {needed_s})"
    )


class LossOfConnections(Statement[HowLost, float]):
    """How a gateway lost connections, and why, as far as is known."""

    because: WhyLost | None = None

    def __str__(self) -> str:
        how = super().__str__()
        return f"{how}: {filled(self.because.value, '', self.facts)}" if self.because else how
