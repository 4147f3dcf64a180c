"""The DPDK device strings of the tester's ends of a lab: AF_XDP, or packet sockets."""

import sys

from natxy.dut import af_xdp
from natxy.dut.execution import execute, in_namespace
from natxy.errors import DutError

PACKET_BLOCK_BYTES, PACKET_FRAMES = 65536, 8192


def usable_device_kind(namespace: str, interface: str, wanted: str) -> str:
    """`af_xdp` where it works, else `af_packet`; DutError where only af_xdp is wanted."""
    if wanted == "af_packet":
        return wanted
    try:
        execute(in_namespace(namespace, [sys.executable, "-P", af_xdp.__file__, interface]))
    except DutError as error:
        if wanted == "af_xdp":
            raise DutError(f"{error}; set dut.device to af_packet.") from error
        return "af_packet"
    return "af_xdp"


def device_string(kind: str, number: int, interface: str, *, mtu_bytes: int) -> str:
    if kind == "af_xdp":
        return f"net_af_xdp{number},iface={interface},busy_budget=0"
    frame_bytes = 2048 if mtu_bytes <= 1500 else 4096  # the kernel's header is in it, too
    return (
        f"net_af_packet{number},iface={interface},blocksz={PACKET_BLOCK_BYTES},"
        f"framesz={frame_bytes},framecnt={PACKET_FRAMES},qdisc_bypass=1"
    )
