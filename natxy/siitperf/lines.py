"""Prints a result in the lines that siitperf's scripts search for."""

from collections.abc import Iterator
from contextlib import suppress

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.model.distribution import P999, Delays
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import ESTABLISH, TEST
from natxy.siitperf.arguments import Arguments

NS_PER_MS = 10**6
SIDE_NAMES = {"forward": "Forward", "reverse": "Reverse"}


def preliminary_lines(result: TrialResult) -> Iterator[str]:
    """Yields the lines about phase 1, if there was one."""
    made = result.stream_of(ESTABLISH)
    if made is None:
        return
    yield from _frames("Preliminary", made)
    if result.connections is not None:
        yield f"Info: Connections in the state table: {result.connections.stored}."


def result_lines(arguments: Arguments, result: TrialResult) -> Iterator[str]:
    streams = result.of_phase(TEST).streams
    for stream in streams:
        yield from _frames(SIDE_NAMES[stream.direction], stream)
        yield from _odd_connections(stream)
    for stream in streams:
        with suppress(DutError):  # missing_figures reports it
            for name, value_ns in _figures(arguments, stream):
                yield f"{SIDE_NAMES[stream.direction]} {name}: {value_ns / NS_PER_MS:.6f}"


def missing_figures(arguments: Arguments, result: TrialResult) -> Iterator[str]:
    """Yields a sentence for each direction that has no figures."""
    for stream in result.of_phase(TEST).streams:
        try:
            tuple(_figures(arguments, stream))
        except DutError as error:
            yield f"{SIDE_NAMES[stream.direction]}: {error.in_options}"


def device_lines(dut: Dut) -> Iterator[str]:
    """Yields the number of connections in the gateway's table, if the gateway reports it."""
    if dut.table is None:
        return
    with suppress(DutError):
        entries = dut.table.parameters().entries
        takes = "" if entries is None else f" (it takes {entries})"
        yield f"Info: Connections in the gateway's table: {dut.table.count()}{takes}."


def _frames(name: str, stream: StreamResult) -> Iterator[str]:
    yield f"Info: {name} sending took {stream.sending_ns / 1e9:.10f} seconds."
    yield f"{name} frames sent: {stream.sent}"
    yield f"{name} frames received: {stream.received}"


def _odd_connections(stream: StreamResult) -> Iterator[str]:
    """Yields lines about changed and wrong connections, which siitperf does not report."""
    said = stream.connections
    if said is None:
        return
    name = SIDE_NAMES[stream.direction]
    if said.changed:
        yield f"Info: {name}: {said.changed} frames arrived with a mapping that had changed."
    if said.wrong:
        yield (
            f"Info: {name}: {said.wrong} frames were delivered to another connection, "
            f"{said.collided} of them because two connections have the same four-tuple outside."
        )


def _figures(arguments: Arguments, stream: StreamResult) -> Iterator[tuple[str, float]]:
    if arguments.command == "lat":
        delays = _tagged(arguments, stream)
        yield "TL", delays.median_ns
        yield "WCL", delays.percentile_ns(P999)
    if arguments.command == "pdv" and not arguments.frame_timeout_ms:
        delays = _all(arguments, stream)
        p999_ns, minimum_ns = delays.percentile_ns(P999), delays.minimum_ns
        yield "D99_9th_perc", p999_ns
        yield "Dmin", minimum_ns
        yield "Dmax", delays.lost_ns if delays.lost else delays.maximum_ns
        yield "PDV", p999_ns - minimum_ns


def _tagged(arguments: Arguments, stream: StreamResult) -> Delays:
    """Returns the tagged frames' delays; a lost one has the longest possible delay (SP 3.3.3)."""
    tags = stream.tags
    assert tags is not None, "the trial was asked for tags"
    after_s = arguments.last["tags_after_s"]
    lost_s = arguments.duration_s - after_s + arguments.timeout_s
    return Delays(distributions=(tags.delay,), lost=tags.lost, lost_ns=float(lost_s * 10**9))


def _all(arguments: Arguments, stream: StreamResult) -> Delays:
    """Returns the delays of all frames (SP 3.3.4)."""
    counters = [each for _, each in stream.counters()]
    return Delays(
        distributions=tuple(each.delay for each in counters),
        lost=sum(each.lost for each in counters),
        lost_ns=float((arguments.duration_s + arguments.timeout_s) * 10**9),
    )
