"""The lines of a result, as siitperf prints them and scripts look for them."""

from collections.abc import Iterator

from natxy.errors import DutError
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.procedure.delays import P999, Delays
from natxy.siitperf.arguments import Arguments

SIDES = {"forward": "Forward", "reverse": "Reverse"}


def result_lines(arguments: Arguments, result: TrialResult) -> Iterator[str]:
    """Of a valid trial."""
    for stream in result.streams:
        side = SIDES[stream.direction]
        yield f"Info: {side} sending took {stream.sending_ns / 1e9:.6f} s"
        yield f"{side} frames sent: {sum(c.sent for _, c in stream.counters())}"
        yield f"{side} frames received: {sum(c.received for _, c in stream.counters())}"
    for stream in result.streams:
        yield from _delay_lines(arguments, stream)


def invalid_line(reasons: tuple[str, ...]) -> str:
    """Not an error: a script may go on at a lower rate, or try again."""
    return f"Info: the test is invalid: {'; '.join(reasons)}"


def _delay_lines(arguments: Arguments, stream: StreamResult) -> Iterator[str]:
    side = SIDES[stream.direction]
    if arguments.program == "lat":
        delays = _tagged(arguments, stream)
        yield f"{side} TL: {_ms(delays.median_ns)}"
        yield f"{side} WCL: {_ms(delays.percentile_ns(P999))}"
    elif arguments.program == "pdv" and not arguments.frame_timeout_ms:
        yield f"{side} PDV: {_ms(_variation_ns(arguments, stream))}"


def _tagged(arguments: Arguments, stream: StreamResult) -> Delays:
    """A lost one counts as the longest possible delay (SP 3.3.3)."""
    tags = stream.tags
    assert tags is not None, "the trial was asked for tags"
    longest_s = arguments.duration_s - arguments.delay_s + arguments.timeout_s
    return Delays(distributions=(tags.delay,), lost=tags.lost, lost_ns=float(longest_s * 10**9))


def _variation_ns(arguments: Arguments, stream: StreamResult) -> float:
    """P99.9 - Dmin; a lost frame counts as the longest possible delay (SP 3.3.4)."""
    kinds = [counters for _, counters in stream.counters()]
    if not any(counters.delay.count for counters in kinds):
        raise DutError(f"{SIDES[stream.direction]} PDV: no frame came through, so there is none")
    delays = Delays(
        distributions=tuple(counters.delay for counters in kinds),
        lost=sum(counters.lost for counters in kinds),
        lost_ns=float((arguments.duration_s + arguments.timeout_s) * 10**9),
    )
    return delays.percentile_ns(P999) - delays.minimum_ns


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e6:.6f}"
