"""A calibration gateway with subscribers: a lwAFTR or a border relay of MAP, and with connections
an AFTR or a PLAT."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from natxy.dut.calibration import CalibrationDut
from natxy.model.testbed import read_testbed
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.accuracy.bench import BENCH

RATE_FPS = 20_000
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 25))
N = 1000  # connections
TESTBED = """
[tester]
cores = [0]
warm_up = "neighbours"
{tester}
[tester.left]
{left}
[tester.right]
[traffic]
left_ip_version = {version}
right_ip_version = 4
{connections}
{subscribers}
[dut]
kind = "calibration"
{gateway}
{nat}
faults = [{fault}]
"""
OWN_CORES = {
    "tester": "lateness_tolerance_us = 10000",
    "gateway": "realtime = true\npoll_gap_limit_us = 20000",
}
SHARED = 'ipv6_prefix = "2001:db8::/32"\nipv4_prefix = "10.64.0.0/{length}"\npsid_bits = 8\n'
GATEWAY = 'gateway = "2001:db9::1"\n'
PREFIX = 'gateway_prefix = "2001:db9::/96"\n'
CONNECTIONS = """
frame_size_bytes = 128
[traffic.forward]
source_port = {{mode = "pseudorandom", min = 10000, max = {last_port}}}
destination_port = {{mode = "fixed", min = 53, max = 53}}
[connections]
transport = "{transport}"
count = {count}
rate_fps = 20000
sample = 0
{asked}
"""
NAT = {"pool": ["198.19.0.1"], "entries": 10_000}
OF_THEIR_OWN = 'ipv6_prefix = "2001:db8::/32"\n'


def mechanism(name: str, count: int, *lines: str) -> str:
    return f'[subscribers]\nmechanism = "{name}"\ncount = {count}\n' + "".join(lines)


def inline(value: Any) -> str:
    """Writes a value for a testbed: a fault, for example."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {inline(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)


FEW, ALL = SHARED.format(length=32), SHARED.format(length=16)  # 256 or 2^24 subscribers
STATELESS = {
    "lw4o6": (4, mechanism("lw4o6", 200, FEW, GATEWAY)),
    "map-e": (4, mechanism("map-e", 2**24, ALL, GATEWAY)),
    "map-t": (6, mechanism("map-t", 2**24, ALL, PREFIX)),
}
STATEFUL = {
    "ds-lite": (4, mechanism("ds-lite", 100, OF_THEIR_OWN, GATEWAY)),
    "464xlat": (6, mechanism("464xlat", 100, OF_THEIR_OWN, PREFIX)),
}


@contextmanager
def gateway_for(
    name: str,
    folder: Path,
    fault: str = "",
    *,
    tags: str = "",
    transport: str = "udp",
    connections: int = N,
    ports: int = 100,
    asked: str = "",
    nat: Mapping[str, Any] | None = None,
    cores: Mapping[str, str] = OWN_CORES,
) -> Iterator[tuple[Session, CalibrationDut]]:
    """Starts the gateway of a mechanism, whose subscribers have this number of source ports.

    `asked` has further keys of [connections], and `nat` of the gateway's table.
    """
    version, subscribers = (STATELESS | STATEFUL)[name]
    made = table = ""
    if name in STATEFUL:
        made = CONNECTIONS.format(
            count=connections, transport=transport, last_port=9_999 + ports, asked=asked
        )
        table = f"nat = {inline(NAT | dict(nat or {}))}"
    text = TESTBED.format(
        left=tags,
        version=version,
        subscribers=subscribers,
        connections=made,
        nat=table,
        fault=fault,
        **cores,
    )
    with set_up_from(text, folder) as lab:
        yield lab


@contextmanager
def set_up_from(text: str, folder: Path) -> Iterator[tuple[Session, CalibrationDut]]:
    path = folder / "subscribers.toml"
    path.write_text(text)
    with BENCH.lab(*read_testbed(path)) as lab:
        yield lab
