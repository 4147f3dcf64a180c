"""Why trials were invalid, in a few words for each code: the head of a report counts them."""

from collections import Counter
from collections.abc import Iterable, Mapping

from natxy.model.reason import Code

SHOWN = 4
PORT_CLOCK, MISSED = "the port's clock was wrong", "the tester's port missed frames"
LINK, LATE, PAUSED = "a link failed", "a frame left late", "the sender paused too long"
TESTER = "the tester's core was away"
SHORT: Mapping[Code, str] = {
    Code.LINK_DOWN: LINK,
    Code.LINK_FELL: LINK,
    Code.RX_ERRORS: "frames arrived with errors",
    Code.CLOCK_ERROR: PORT_CLOCK,
    Code.UNSTAMPED: PORT_CLOCK,
    Code.IMPLAUSIBLE_STAMPS: PORT_CLOCK,
    Code.PORT_REFUSED: "the tester's port took too few frames",
    Code.RX_MISSED: MISSED,
    Code.RX_NO_BUFFER: MISSED,
    Code.KERNEL_RX_DROPPED: MISSED,
    Code.TX_ERRORS: "the tester's port failed to send",
    Code.RECORDS_LOST: "records had no room",
    Code.LEFT_LATE: LATE,
    Code.GAVE_UP_LATE: LATE,
    Code.GAVE_UP_PAUSED: PAUSED,
    Code.PAUSED: PAUSED,
    Code.RING_FULL: "the tester's ring was full",
    Code.TWO_QUEUES: "frames arrived on two queues",
    Code.TOO_MANY_ADDRESSES: "too many external addresses",
    Code.GATEWAY_AWAY: "the gateway's core was away",
    Code.TESTER_AWAY: TESTER,
    Code.LATE_IN_DOUBT: TESTER,
    Code.DELAY_IN_DOUBT: TESTER,
    Code.SILENCE_IN_DOUBT: TESTER,
    Code.CORES_APART: "the host moved the cores apart",
    Code.CORE_SHARED: "the host shared a core",
    Code.SLOWED: "pauses lowered the rate",
    Code.FEW_CLEAN_TAGS: "too few tagged frames without noise",
    Code.END_IN_DOUBT: "a loss at the end in noise",
    Code.BURST_SLOW: "a burst took too long",
    Code.SENT_SLOWLY: "sending took too long",
    Code.GATEWAY_POLLED_LATE: "the calibration gateway polled late",
    Code.TABLE_RESIZED: "another program resized the table",
    Code.LOG_ENDED: "the log of connections ended",
    Code.UNKNOWN: "the engine gave no reason",
}


def counted_reasons(codes: Iterable[str]) -> str:
    """Returns how often each reason made a trial invalid, by its code, the most frequent first:
    "6 x a frame left late, 3 x the host shared a core"."""
    counted = Counter(SHORT[Code[code.upper()]] for code in codes).most_common()
    others = sum(count for _, count in counted[SHOWN:])
    words = [f"{count:,} x {reason}" for reason, count in counted[:SHOWN]]
    return ", ".join([*words, f"{others:,} x others"] if others else words)
