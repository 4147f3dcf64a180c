"""Frames built by scapy, carried through a running lab by the kernel alone, without the engine."""

import json
import subprocess
import sys
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses
from natxy.dut.namespace import NamespaceDut
from natxy.dut.namespaces import namespace_exists

WIRE = Path(__file__).with_name("wire.py")
DATA = b"eighteen octets ok"


def mac(namespace: str, interface: str) -> str:
    listed = run("ip", "-n", namespace, "-j", "link", "show", interface)
    return str(json.loads(listed)[0]["address"])


def run(*arguments: str, feed: str = "") -> str:
    done = subprocess.run(arguments, input=feed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


class LabWire:
    """Knows the lab's interfaces, and has told the gateway where the tester's next hops are."""

    def __init__(self, dut: NamespaceDut) -> None:
        assert dut.tester_namespace is not None
        assert dut.gateway_namespace is not None
        self.tester, self.gateway = dut.tester_namespace, dut.gateway_namespace
        self._label = self.tester.removeprefix("natxy-t-")
        for side in (LEFT, RIGHT):
            self._tell_neighbours(side)

    def tester_end(self, side: SideAddresses) -> str:
        return "t0" if side is LEFT else "t1"

    def gateway_end(self, side: SideAddresses) -> str:
        return f"d0-{self._label}" if side is LEFT else f"d1-{self._label}"

    def gateway_of(self, side: SideAddresses) -> str:
        """The namespace of this end; of two gateways in a row the left one is the front one."""
        front = f"natxy-f-{self._label}"
        return front if side is LEFT and namespace_exists(front) else self.gateway

    def carry(self, side: SideAddresses, packets: list[Packet], seconds: float) -> list[Packet]:
        """What arrives at the other side when these leave from this one."""
        other = RIGHT if side is LEFT else LEFT
        ether = Ether(
            src=mac(self.tester, self.tester_end(side)),
            dst=mac(self.gateway_of(side), self.gateway_end(side)),
        )
        frames = [bytes(ether / packet) for packet in packets]
        output = run(
            *("ip", "netns", "exec", self.tester, sys.executable, str(WIRE)),
            *(self.tester_end(side), self.tester_end(other), str(seconds)),
            feed="\n".join(frame.hex() for frame in frames),
        )
        return [Ether(bytes.fromhex(line)) for line in output.split()]

    def carry_until(self, side: SideAddresses, packets: list[Packet]) -> list[Packet]:
        """Tries again while nothing comes: a gateway may need a while after its start."""
        for _ in range(20):
            if arrived := self.carry(side, packets, 0.5):
                return arrived
        return []

    def _tell_neighbours(self, side: SideAddresses) -> None:
        address = mac(self.tester, self.tester_end(side))
        for hop in (side.tester_ipv4, side.tester_ipv6):
            run(
                *("ip", "-n", self.gateway_of(side), "neigh", "replace", hop, "lladdr", address),
                *("dev", self.gateway_end(side), "nud", "permanent"),
            )


def ipv4(source: str, destination: str) -> Packet:
    return (
        IP(src=source, dst=destination, flags="DF", ttl=64) / UDP(sport=1024, dport=7) / Raw(DATA)
    )


def ipv6(source: str, destination: str) -> Packet:
    return IPv6(src=source, dst=destination, hlim=64) / UDP(sport=1024, dport=7) / Raw(DATA)


def answer_to(came: Packet) -> Packet:
    """The same data back to where a frame seems to come from."""
    answer = came[IP].copy()
    answer.src, answer.dst = came[IP].dst, came[IP].src
    answer[UDP].sport, answer[UDP].dport = came[UDP].dport, came[UDP].sport
    del answer.chksum, answer[UDP].chksum
    return answer


def has_right_checksums(packet: Packet) -> bool:
    """Built again without its checksums, the frame is the same octet for octet."""
    again = Ether(bytes(packet))
    if IP in again:
        del again[IP].chksum
    del again[UDP].chksum
    return bytes(again) == bytes(packet)
