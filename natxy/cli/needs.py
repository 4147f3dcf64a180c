"""The needs of a campaign's cell: privileges, programs, CPUs and memory."""

import re
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from natxy.campaign.plan import Cell
from natxy.cli.campaigns import work_of
from natxy.doctor.kernel import ENGINE_MB
from natxy.dut.config import LABS, NamespaceConfig
from natxy.dut.cpus import gateway_cpu, gateway_cpus
from natxy.dut.execution import LAB_PACKAGES
from natxy.dut.recipe import drivers
from natxy.errors import DutError
from natxy.guest.machine import QEMU
from natxy.model.source import Source
from natxy.model.testbed import Testbed

# Ports in memory or in files.
WITHOUT_ROOT = ("ring", "net_memif", "net_ring", "net_null", "net_pcap")
TESTER_BYTES = 8  # of the tester's table, for each connection (docs/performance.md)
# Of the kernel's objects of a connection with NAT, as `natxy capacity` measures it, and of a hash
# bucket (struct hlist_nulls_head).
CONNECTION_BYTES, BUCKET_BYTES = 384, 8


def needs_of(cell: Cell) -> str:
    """Returns in words what the cell needs on the machine that measures it."""
    written: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
    testbed = work_of(cell).asked(written)
    parts = (
        "root" if _needs_root(testbed) else "no privileges",
        *_programs(testbed),
        _cpus(testbed, cell.column.cores),
        f"about {_size(memory_bytes(testbed, cell.options))} of memory",
    )
    return "; ".join(parts)


def _needs_root(testbed: Testbed) -> bool:
    """docs/privileges.md lists what needs root, and what a user can be given instead."""
    kind = testbed.dut.get("kind")
    if kind in LABS:
        return bool(kind != "calibration")
    ports = (testbed.tester.left.device, testbed.tester.right.device)
    return any(device is not None and not device.startswith(WITHOUT_ROOT) for device in ports)


def _programs(testbed: Testbed) -> Iterator[str]:
    if testbed.dut.get("kind") == "command":
        yield "the programs that the commands of [dut] call"
    if testbed.dut.get("kind") == "ssh":
        yield "the extra natxy[ssh]"
    if testbed.dut.get("kind") == "guest":
        yield _named([QEMU])
    if testbed.dut.get("kind") != "namespace":
        return
    lab = drivers("namespace")[NamespaceConfig.model_validate(testbed.dut).driver].in_lab
    yield _named(sorted({*LAB_PACKAGES, *lab.packages}))


def _named(names: Sequence[str]) -> str:
    missing = [name for name in names if shutil.which(name) is None]
    absent = f" (not installed here: {', '.join(missing)})" if missing else ""
    return f"programs {', '.join(names)}{absent}"


def _cpus(testbed: Testbed, cores: int | None) -> str:
    tester = testbed.tester.cores
    return f"{_numbered(tester)} for the tester{_of_the_gateway(testbed, cores)}"


def _of_the_gateway(testbed: Testbed, cores: int | None) -> str:
    if testbed.dut.get("kind") not in LABS:
        return ""
    tester = testbed.tester.cores
    given: int | None = testbed.dut.get("gateway_cpu")  # perhaps of another machine
    first = gateway_cpu(None, tester) if given is None else given
    if first is None:
        return ", none is free for the gateway"
    try:
        return f", {_numbered(gateway_cpus(first, tester, cores or 1))} for the gateway"
    except DutError:
        return f", {cores} for the gateway (this machine has fewer)"


def _numbered(cpus: Sequence[int]) -> str:
    return f"CPU{'s' * (len(cpus) > 1)} {', '.join(map(str, cpus))}"


def memory_bytes(testbed: Testbed, options: dict[str, Any]) -> int:
    """Returns about how much memory tester and lab take; that of other gateways is unknown."""
    engine_mb = testbed.tester.memory_mb or ENGINE_MB
    connections = _connections(testbed, options)
    total = engine_mb * 2**20 + connections * TESTER_BYTES
    if testbed.dut.get("kind") == "namespace" and connections:
        lab = NamespaceConfig.model_validate(testbed.dut)
        entries = lab.conntrack_entries or connections
        total += min(connections, entries) * CONNECTION_BYTES
        total += (lab.hash_size or entries) * BUCKET_BYTES
    return total


def _connections(testbed: Testbed, options: dict[str, Any]) -> int:
    """Returns the most connections of a trial; a search for the capacity fills the whole table."""
    if testbed.connections is None:
        return 0
    asked = [testbed.connections.count]
    asked += map(int, re.findall(r"\d+", str(options.get("counts", ""))))
    if "c0" in options:
        asked.append(testbed.dut.get("conntrack_entries") or int(str(options["c0"])))
    return max(asked)


def _size(octets: int) -> str:
    return f"{octets / 1e9:.1f} GB" if octets >= 1e9 else f"{octets / 1e6:.0f} MB"
