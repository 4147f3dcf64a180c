"""DPDK device strings of the tester's ends of a lab's links: AF_XDP or packet sockets."""

import logging
import sys
from dataclasses import dataclass

from natxy.dut import af_xdp
from natxy.dut.execution import execute, in_namespace
from natxy.errors import DutError

PACKET_BLOCK_BYTES, PACKET_FRAMES = 65536, 8192
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class DeviceKind:
    """The kind of port as which the tester's ends of a lab's links are opened."""

    name: str  # af_xdp or af_packet
    refusal: str = ""  # why it is not af_xdp, which was preferred

    def __str__(self) -> str:
        return f"{self.name}, since {self.refusal}" if self.refusal else self.name


def usable_device_kind(namespace: str, interface: str, wanted: str) -> DeviceKind:
    """Returns `af_xdp` if it works, else `af_packet`; DutError if only af_xdp is wanted."""
    if wanted == "af_packet":
        return DeviceKind(name=wanted)
    try:
        execute(in_namespace(namespace, [sys.executable, "-P", af_xdp.__file__, interface]))
    except DutError as error:
        if wanted == "af_xdp":
            raise DutError(
                f'{error.in_options}; set dut.device = "af_packet" to do without.'
            ) from error
        return DeviceKind(name="af_packet", refusal=_probes_words(error))
    return DeviceKind(name="af_xdp")


def warn_of_fallback(kind: DeviceKind) -> None:
    """Warns if the lab's ports are packet sockets although AF_XDP was preferred."""
    if kind.refusal:
        LOG.warning(
            "natxy: %s. The lab uses packet sockets (net_af_packet) instead, with about half of "
            'the rate and longer delays. Set dut.device = "af_packet" to avoid this message.',
            kind.refusal,
        )


def _probes_words(error: DutError) -> str:
    """Returns the probe's own sentence without its command."""
    return "AF_XDP is refused" + error.in_options.rpartition("AF_XDP is refused")[2]


def device_string(kind: DeviceKind, number: int, interface: str, *, mtu_bytes: int) -> str:
    if kind.name == "af_xdp":
        return f"net_af_xdp{number},iface={interface},busy_budget=0"
    frame_bytes = 2048 if mtu_bytes <= 1500 else 4096  # includes the kernel's header
    return (
        f"net_af_packet{number},iface={interface},blocksz={PACKET_BLOCK_BYTES},"
        f"framesz={frame_bytes},framecnt={PACKET_FRAMES},qdisc_bypass=1"
    )
