"""Reads what the command `dut.telemetry` prints: lines of a name and a value."""

import re
from collections.abc import Mapping
from math import isfinite

from natxy.model.telemetry import CpuTime, Snapshot

EXPECTED = (
    "lines such as memory_bytes 1048576, connections 4096, cpu0.busy_s 12.5, "
    "dropped.rx_ring 3, each once"
)
WHOLE = re.compile(r"memory_bytes|connections|dropped\.\S+")
CPU = re.compile(r"cpu(?P<cpu>\d+)\.(?P<time>busy_s|softirq_s|irq_s|steal_s)")


def snapshot_of(text: str, *, at_s: float) -> Snapshot:
    """Returns the snapshot that the lines describe; ValueError with the first wrong line."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, *rest = line.split() or [""]
        if len(rest) != 1 or name in values or not _is_right(name, rest[0]):
            raise ValueError(line)
        values[name] = rest[0]
    whole = {name: int(value) for name, value in values.items() if WHOLE.fullmatch(name)}
    drops = {name.partition(".")[2]: n for name, n in whole.items() if name.startswith("dropped.")}
    return Snapshot(
        at_s=at_s,
        cpus=_cpus(values),
        memory_bytes=whole.get("memory_bytes"),
        memory_of="what the command dut.telemetry counts" if "memory_bytes" in whole else "",
        connections=whole.get("connections"),
        drops=drops or None,
    )


def _is_right(name: str, value: str) -> bool:
    if WHOLE.fullmatch(name):
        return value.isascii() and value.isdigit()
    try:
        number = float(value)
    except ValueError:
        return False
    return CPU.fullmatch(name) is not None and isfinite(number) and number >= 0


def _cpus(values: Mapping[str, str]) -> tuple[CpuTime, ...]:
    none = dict.fromkeys(("busy_s", "softirq_s", "irq_s", "steal_s"), 0.0)
    times: dict[int, dict[str, float]] = {}
    for name, value in values.items():
        if found := CPU.fullmatch(name):
            times.setdefault(int(found["cpu"]), dict(none))[found["time"]] = float(value)
    return tuple(CpuTime(cpu=cpu, **of) for cpu, of in sorted(times.items()))
