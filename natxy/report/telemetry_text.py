"""Shows the telemetry of a trial in one line."""

from collections.abc import Iterator

from natxy.model.telemetry import CpuTime, Telemetry
from natxy.report.numbers import duration

CPUS_SHOWN = 4  # the busiest
DROPS_SHOWN = 4  # the most frequent causes


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
