"""Shows a trial as text: its verdict, counters, lateness and delays."""

from collections.abc import Iterable, Iterator
from itertools import islice

from natxy.model.coded import duration
from natxy.model.distribution import Distribution
from natxy.model.port_result import PortResult, icmp_words
from natxy.model.reason import LossOfConnections, Reason
from natxy.model.stream_counters import ConnectionCounters, KindCounters, Losses
from natxy.model.stream_result import StreamResult
from natxy.model.table_result import ConnectionTableResult, MappingsResult
from natxy.model.telemetry import CpuTime, Telemetry
from natxy.model.trial_result import TrialResult, WorkerResult
from natxy.model.verdict import Verdict
from natxy.report.histogram import histogram_lines
from natxy.report.numbers import ARROWS, quantity

CPUS_SHOWN = 4  # the busiest
DROPS_SHOWN = 4  # the most frequent causes
_FAULTS_SHOWN = 3
ALL_PORTS = 2**16
WIDTH = 80  # of a brief text
REASONS_SHOWN = 2
BRIEF = ("sent", "received", "lost", "delay P50", "P99.9", "max")


def trial_headline(
    result: TrialResult,
    verdict: Verdict,
    measured: TrialResult | None = None,
    *,
    refused: str = "",
    lost_connections: LossOfConnections | None = None,
) -> str:
    """Returns the verdict with its reason.

    measured: the part of the trial that has the verdict, phase 2; None: the whole trial.
    refused: why no measurement would accept the trial as a result; it then has no verdict.
    lost_connections: how the gateway lost connections, which makes the trial a FAIL.
    """
    if refused:
        return f"NO RESULT: {refused}"
    if lost_connections:
        return f"FAIL: {lost_connections}"
    return _headline(result, measured or result, verdict)


def brief_trial(result: TrialResult, measured: TrialResult, reasons: Iterable[Reason]) -> list[str]:
    """Returns what the trial counted in its measured part; -v shows the rest."""
    lines = [_cut(f"  invalid: {reason}") for reason in islice(reasons, REASONS_SHOWN)]
    rows = [_row("", *BRIEF)]
    for stream, kind, counters in measured.counters():
        delay = counters.delay
        of = (delay.p50_ns, delay.p999_ns, delay.max_ns) if delay.count else ()
        counts = (counters.sent, counters.received, counters.lost)
        rows.append(
            _row(
                f"{ARROWS[stream.direction]} {kind}",
                *(f"{count:,}" for count in counts),
                *(quantity(value, "ns") for value in of),
            )
        )
    made = result.connections
    table = [f"Phase 1 made {made.stored:,} of {made.asked:,} connections."] if made else []
    mapped = mapping_lines(made) if made else ()
    shared = [_cut(f"{said}.") for said in result.shared_cpus]
    return [*lines, *rows, *table, *mapped, *shared, f"Seed {result.seed}. -v shows all counters."]


def _row(name: str, *values: str) -> str:
    return f"{name:<13}" + "".join(f" {value:>10}" for value in values)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…"


def trial_lines(
    result: TrialResult, reasons: tuple[Reason, ...], telemetry: Telemetry | None = None
) -> list[str]:
    """Returns all that is known of a trial with all its phases, without the headline.

    telemetry: what the gateway used; None: nothing is known.
    """
    used = (telemetry_line(telemetry),) if telemetry else ()
    return [*_lines(result, reasons), *used]


def _lines(result: TrialResult, reasons: tuple[Reason, ...]) -> Iterator[str]:
    for reason in reasons:
        yield f"  invalid: {reason}"
    yield (
        f"  seed {result.seed}, nonce {result.nonce}; "
        f"preparation {duration(result.preparation_ns)}, trial {duration(result.duration_ns)}"
    )
    for stream in result.streams:
        yield ""
        yield from _stream_lines(stream, several_phases=len({s.phase for s in result.streams}) > 1)
    yield ""
    if result.connections:
        yield _table_line(result.connections)
        yield from mapping_lines(result.connections)
    for port in result.ports:
        yield from _port_lines(port)
    for worker in result.workers:
        yield _worker_line(worker)
    for fault in result.faults[:_FAULTS_SHOWN]:
        yield f"misdelivered on the {fault.side}: {fault.reason}: {fault.frame_hex}"
    for watched in result.watched:
        yield (
            f"gateway on CPU {watched.cpu}, {watched.phase}: away for "
            f"{duration(watched.away_ns)} in all, {duration(watched.longest_away_ns)} at most"
        )
    for said in result.shared_cpus:
        yield f"{said}."
    yield f"Delay: {result.delay_definition}"


def _headline(result: TrialResult, measured: TrialResult, verdict: Verdict) -> str:
    of = "" if measured is result else " of phase 2"
    if verdict is Verdict.PASS:
        return f"PASS: all {measured.sent:,} frames{of} were received"
    if verdict is Verdict.FAIL and result.incomplete and result.connections:
        made = result.connections
        return f"FAIL: phase 1 created {made.stored:,} of {made.asked:,} connections"
    if verdict is Verdict.FAIL and not measured.lost and (result.changed or result.wrong):
        return (
            f"FAIL: {result.changed:,} connections got another mapping, {result.wrong:,} replies "
            "were delivered to another connection"
        )
    if verdict is Verdict.FAIL and not measured.lost and result.misdelivered:
        return f"FAIL: {result.misdelivered:,} frames were misdelivered"
    if verdict is Verdict.FAIL:
        return f"FAIL: {measured.lost:,} of {measured.sent:,} frames{of} were not received"
    return "INVALID: the tester did not do what it was asked"


def _stream_lines(stream: StreamResult, *, several_phases: bool) -> Iterator[str]:
    phase = f", phase {stream.phase}" if several_phases else ""
    yield (
        f"{stream.direction}{phase}: {stream.due:,} frames due, sent in "
        f"{duration(stream.sending_ns)}, largest burst {stream.largest_burst}"
    )
    if stream.refused_by_port or stream.refused_by_gateway:
        yield (
            f"  refused by the tester's port {stream.refused_by_port:,}, "
            f"by the gateway's ring {stream.refused_by_gateway:,}"
        )
    yield f"  {'lateness':<12}{_distribution(stream.lateness)}"
    yield f"  {'send call':<12}{_distribution(stream.send_call)}"
    if stream.pauses.total_ns:
        yield f"  {'pauses':<12}{duration(stream.pauses.total_ns)} in all"
    for kind, counters in stream.counters():
        yield from _kind_lines(kind, counters)
    yield f"  {'gaps':<12}{_gaps(stream.losses)}"
    if stream.connections:
        yield _connections_line(stream.connections)
    if stream.tags:
        counted = f"sent {stream.tags.sent:,}, lost {stream.tags.lost:,}"
        yield f"  {'tags':<12}{counted}; delay {_distribution(stream.tags.delay)}"


def _gaps(of: Losses | None) -> str:
    """Returns the gaps in the numbering, which both kinds of traffic share."""
    if of is None:
        return "none in the numbering"
    return (
        f"{of.gaps:,} in the numbering: {of.frames:,} frames never arrived, "
        f"{of.longest_run:,} in a row at most"
    )


def _connections_line(of: ConnectionCounters) -> str:
    shown = of.model_dump(exclude={"ending_new_percent"})
    ending = f"; {of.ending_new_percent:.4g} % new at the end" if of.new else ""
    return f"  {'connections':<12}{', '.join(f'{k} {v:,}' for k, v in shown.items())}{ending}"


def _kind_lines(kind: str, counters: KindCounters) -> Iterator[str]:
    yield f"  {kind}"
    shown = ", ".join(f"{_words(name)} {count:,}" for name, count in counters.frames().items())
    yield f"    {shown}, hop limit seen {counters.hop_limit}"
    checks = counters.misdelivered.model_dump(exclude={"total"})
    if counters.misdelivered.total:
        yield "    misdelivered by: " + ", ".join(f"{k} {v:,}" for k, v in checks.items() if v)
    if counters.delay.count:
        yield f"    {'delay':<10}{_distribution(counters.delay)}"
        yield from (f"    {line}" for line in histogram_lines(counters.delay))
    if counters.ipdv:
        pairs = f"{counters.ipdv.undefined:,} pairs undefined"
        yield f"    {'ipdv':<10}{_distribution(counters.ipdv.distribution)}; {pairs}"


def _words(member: str) -> str:
    return member.replace("_", " ").replace("udp", "UDP")


def _distribution(of: Distribution) -> str:
    if of.count == 0:
        return "none"
    figures = {
        "min": of.min_ns,
        "p50": of.p50_ns,
        "p90": of.p90_ns,
        "p99": of.p99_ns,
        "p99.9": of.p999_ns,
        "max": of.max_ns,
        "mean": of.mean_ns,
    }
    return "  ".join(f"{name} {quantity(value, 'ns')}" for name, value in figures.items())


def _table_line(of: ConnectionTableResult) -> str:
    return (
        f"the tester's state table: {of.stored:,} of {of.asked:,} connections, {of.bytes:,} bytes, "
        f"pages of {of.page_bytes:,}"
    )


def mapping_lines(of: ConnectionTableResult) -> Iterator[str]:
    """Yields what is known of how the gateway has given out its addresses and ports."""
    found = of.mappings
    if found is None:
        return
    yield (
        f"mappings: inside addresses {found.hosts:,}, external addresses {found.addresses:,}, "
        f"external ports {found.ports:,}"
    )
    counted = {
        "ports of an inside address": found.ports_per_host,
        "connections of an inside address": found.connections_per_host,
        "external addresses of an inside address": found.addresses_per_host,
        "inside addresses of an external address": found.hosts_per_address,
        "ports of an external address": found.ports_per_address,
        "connections of an external address": found.connections_per_address,
    }
    yield _mapping_row("", "min", "median", "P99", "max")
    for name, of_one in counted.items():
        shown = (of_one.min, of_one.median, of_one.p99, of_one.max)
        yield _mapping_row(name, *(f"{value:,.10g}" for value in shown))
    yield f"  {block_sentence(found)}"


def _mapping_row(name: str, *values: str) -> str:
    return f"  {name:<39}" + "".join(f" {value:>10}" for value in values)


def block_sentence(of: MappingsResult) -> str:
    blocks = f"{of.blocks_per_host.min:,} to {of.blocks_per_host.max:,}"
    if of.ports == 0:
        return "no connections were made"
    if of.block_ports == 0:
        return "two inside addresses have the same external port"
    if of.block_ports == ALL_PORTS:
        return "no external address is shared"
    if of.block_ports == 1:
        return "no blocks of ports: neighbouring ports belong to different inside addresses"
    return (
        f"no block of {of.block_ports:,} ports is shared; an inside address has ports in {blocks} "
        "such blocks"
    )


def _port_lines(port: PortResult) -> Iterator[str]:
    counted = ", ".join(f"{_words(name)} {count:,}" for name, count in port.of_device.items())
    yield f"{port.side} port: foreign {port.foreign:,}, neighbour {port.neighbour:,}, {counted}"
    yield f"  worst poll gap {duration(port.worst_poll_gap_ns)}"
    yield from (f"  {icmp_words(error)}" for error in port.icmp_errors)
    if port.icmp_errors_unlisted:
        yield f"  {port.icmp_errors_unlisted:,} x ICMP errors of other sorts"
    if port.icmp_errors_of_others:
        others = port.icmp_errors_of_others
        yield f"  {others:,} x ICMP errors about frames that the trial did not send"
    if port.clock_error_ns is not None:
        yield (
            f"  port clock known within {duration(port.clock_error_ns)}; unstamped frames "
            f"{port.unstamped:,}, implausible stamps {port.implausible_stamps:,}"
        )


def _worker_line(worker: WorkerResult) -> str:
    return (
        f"worker on CPU {worker.cpu} ({', '.join(worker.tasks)}): switches "
        f"{worker.voluntary_switches:,} voluntary, {worker.involuntary_switches:,} involuntary; "
        f"worst loop gap {duration(worker.worst_loop_gap_ns)}, CPU time {duration(worker.cpu_ns)}"
    )


def telemetry_line(of: Telemetry) -> str:
    return f"Gateway, in {duration(of.seconds * 1e9)}: {', '.join(_parts(of))}"


def _parts(of: Telemetry) -> Iterator[str]:
    for name, cpus in (("CPU", of.cpus), ("host CPU", of.host_cpus)):
        busiest = sorted(cpus, key=lambda each: -each.busy_s)[:CPUS_SHOWN]
        yield from (_cpu(name, each, of) for each in sorted(busiest, key=lambda each: each.cpu))
    if of.memory_bytes is not None:
        grown = _grown(of.memory_before_bytes, of.memory_bytes)
        yield f"memory {of.memory_bytes / 1e6:,.1f} MB{grown}"
    if of.connections is not None:
        yield f"{of.connections:,} connections"
    if of.drops is not None:
        yield _dropped(of.drops)


def _grown(before_bytes: int | None, after_bytes: int) -> str:
    return "" if before_bytes is None else f" ({(after_bytes - before_bytes) / 1e6:+,.1f} MB)"


def _cpu(name: str, cpu: CpuTime, of: Telemetry) -> str:
    parts = {"softirq": cpu.softirq_s, "interrupts": cpu.irq_s, "stolen": cpu.steal_s}
    said = [f"{part} {of.percent(spent):.0f} %" for part, spent in parts.items() if spent]
    beside = f" ({', '.join(said)})" if said else ""
    return f"{name} {cpu.cpu} busy {of.percent(cpu.busy_s):.0f} %{beside}"


def _dropped(drops: dict[str, int]) -> str:
    if not drops:
        return "nothing dropped"
    most = sorted(drops.items(), key=lambda each: -each[1])
    causes = [f"{cause} {count:,}" for cause, count in most[:DROPS_SHOWN]]
    more = ", ..." if len(most) > DROPS_SHOWN else ""
    return f"dropped {sum(drops.values()):,} ({', '.join(causes)}{more})"
