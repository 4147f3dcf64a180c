"""What the kernel's strict connection tracking does with TCP connections that are made in phases.

These are the observations of docs/decisions/0033-tcp.md. The segments are scapy's, not the
engine's, and one namespace is the tester, another one the gateway.
"""

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from natxy.dut.execution import execute, in_namespace, ip_batch, set_sysctls
from natxy.dut.namespaces import read_inside
from natxy.errors import DutError

TESTER, GATEWAY = "natxy-tcp-t", "natxy-tcp-g"
MACS = {name: f"02:00:00:00:00:0{i}" for i, name in enumerate(("t0", "d0", "d1", "t1"), start=1)}
INITIATOR, RESPONDER, OUTSIDE = "10.1.0.2", "10.2.0.2", "10.2.0.1"
CONNECTIONS = range(50)
DATA = b"x" * 100
STAMP = bytes(range(18))
RULES = """
table ip natxy {
  chain postrouting {
    type nat hook postrouting priority srcnat
    ip saddr 10.1.0.0/24 oifname "d1" masquerade
  }
  chain strict {
    type filter hook forward priority filter
    ct state invalid drop
  }
}
"""
Number = Callable[[int], int]


def first(key: int) -> Number:
    return lambda j: (j * 0x9E3779B1 % 2**32) ^ key


def after(number: Number, octets: int) -> Number:
    return lambda j: (number(j) + octets) % 2**32


def none(_: int) -> int:
    return 0


A, B = first(0x12345678), first(0xCAFEBABE)


def states() -> Counter[str]:
    """The states of the connections that have not expired, which listing them also removes."""
    lines = execute(in_namespace(GATEWAY, ["conntrack", "-L", "-p", "tcp"])).splitlines()
    return Counter(line.split()[3] for line in lines)


def opened(interface: str) -> socket.socket:
    """A socket of the tester's namespace."""
    made: list[socket.socket] = []

    def make() -> None:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        raw.bind((interface, 0))
        raw.settimeout(0.2)
        made.append(raw)

    read_inside({TESTER: make})
    return made[0]


class Phases:
    """Sends one segment of each connection, then looks at what has come on the other side."""

    def __init__(self) -> None:
        self.left, self.right = opened("t0"), opened("t1")

    def up(self, flags: str, seq: Number, ack: Number = none, data: bytes = b"") -> int:
        addresses = IP(src=INITIATOR, dst=RESPONDER)
        link = Ether(src=MACS["t0"], dst=MACS["d0"])
        frames = [
            link / addresses / _segment((20000 + j, 80), flags, seq(j), ack(j), data)
            for j in CONNECTIONS
        ]
        return self._unchanged(self.left, self.right, frames)

    def down(self, flags: str, seq: Number, ack: Number = none, data: bytes = b"") -> int:
        """The gateway keeps the ports as long as they are free."""
        addresses = IP(src=RESPONDER, dst=OUTSIDE)
        link = Ether(src=MACS["t1"], dst=MACS["d1"])
        frames = [
            link / addresses / _segment((80, 20000 + j), flags, seq(j), ack(j), data)
            for j in CONNECTIONS
        ]
        return self._unchanged(self.right, self.left, frames)

    def handshake(self) -> None:
        assert self.up("S", A) == len(CONNECTIONS)
        assert states() == {"SYN_SENT": len(CONNECTIONS)}
        assert self.down("SA", B, after(A, 1)) == len(CONNECTIONS)
        assert states() == {"SYN_RECV": len(CONNECTIONS)}
        assert self.up("A", after(A, 1), after(B, 1)) == len(CONNECTIONS)
        assert states() == {"ESTABLISHED": len(CONNECTIONS)}

    def close(self) -> None:
        self.left.close()
        self.right.close()

    @staticmethod
    def _unchanged(sender: socket.socket, receiver: socket.socket, frames: list[Ether]) -> int:
        """How many frames arrived with the octets of TCP that they left with, but the checksum."""
        for frame in frames:
            sender.send(bytes(frame))
        sent = {_octets(Ether(bytes(frame))) for frame in frames}
        came = 0
        with suppress(TimeoutError):
            while came < len(frames):
                frame = Ether(receiver.recv(4096))
                came += TCP in frame and _octets(frame) in sent
        return came


def _segment(ports: tuple[int, int], flags: str, seq: int, ack: int, data: bytes) -> TCP:
    source, destination = ports
    return TCP(
        sport=source,
        dport=destination,
        flags=flags,
        seq=seq,
        ack=ack,
        window=65535,
        options=[(253, STAMP)],
    ) / Raw(data)


def _octets(frame: Ether) -> bytes:
    octets = bytes(frame[TCP])
    return octets[:16] + octets[18:]


@pytest.fixture
def phases() -> Iterator[Phases]:
    _remove()
    for namespace in (TESTER, GATEWAY):
        execute(["ip", "netns", "add", namespace])
    for near, far in (("t0", "d0"), ("t1", "d1")):
        ip_batch(
            None,
            [
                f"link add {near} address {MACS[near]} netns {TESTER} type veth "
                f"peer name {far} address {MACS[far]} netns {GATEWAY}"
            ],
        )
        for namespace, name in ((TESTER, near), (GATEWAY, far)):
            execute(in_namespace(namespace, ["ethtool", "-K", name, "tx", "off"]))
            ip_batch(namespace, [f"link set {name} up"])
    ip_batch(
        GATEWAY,
        [
            "addr add 10.1.0.1/24 dev d0",
            "addr add 10.2.0.1/24 dev d1",
            f"neigh add {INITIATOR} lladdr {MACS['t0']} dev d0",
            f"neigh add {RESPONDER} lladdr {MACS['t1']} dev d1",
        ],
    )
    set_sysctls(
        GATEWAY,
        {
            "net/ipv4/ip_forward": 1,
            "net/netfilter/nf_conntrack_tcp_be_liberal": 0,
            "net/netfilter/nf_conntrack_tcp_timeout_time_wait": 1,
            "net/netfilter/nf_conntrack_tcp_timeout_close": 1,
        },
    )
    execute(in_namespace(GATEWAY, ["nft", "-f", "-"]), feed=RULES)
    made = Phases()
    yield made
    made.close()
    _remove()


def _remove() -> None:
    for namespace in (TESTER, GATEWAY):
        with suppress(DutError):
            execute(["ip", "netns", "del", namespace])


def expect_none_within(seconds: float) -> None:
    end = time.monotonic() + seconds
    while states() and time.monotonic() < end:
        time.sleep(0.1)
    assert states() == {}


def test_data_in_both_directions_are_retransmissions(phases: Phases) -> None:
    phases.handshake()
    for _ in range(5):
        assert phases.up("PA", after(A, 1), after(B, 1), DATA) == len(CONNECTIONS)
        assert phases.down("PA", after(B, 1), after(A, 1), DATA) == len(CONNECTIONS)
    assert states() == {"ESTABLISHED": len(CONNECTIONS)}


def test_tear_down_by_fin(phases: Phases) -> None:
    phases.handshake()
    assert phases.up("FA", after(A, 1), after(B, 1)) == len(CONNECTIONS)
    assert phases.down("FA", after(B, 1), after(A, 2)) == len(CONNECTIONS)
    assert phases.up("A", after(A, 2), after(B, 2)) == len(CONNECTIONS)
    expect_none_within(5)


@pytest.mark.parametrize("side", ["up", "down"])
def test_tear_down_by_rst(phases: Phases, side: str) -> None:
    phases.handshake()
    if side == "up":
        assert phases.up("RA", after(A, 1), after(B, 1)) == len(CONNECTIONS)
    else:
        assert phases.down("RA", after(B, 1), after(A, 1)) == len(CONNECTIONS)
    expect_none_within(5)


def test_wrong_numbers_are_dropped(phases: Phases) -> None:
    phases.handshake()
    assert phases.up("PA", after(A, 10**6), after(B, 1), DATA) == 0
    assert phases.up("PA", after(A, 1), after(B, 5), DATA) == 0
    assert phases.down("PA", after(B, 1), after(A, 1 + len(DATA)), DATA) == 0
    assert phases.up("R", after(A, 10**6)) == 0
    assert states() == {"ESTABLISHED": len(CONNECTIONS)}


def test_an_ack_needs_a_syn_ack(phases: Phases) -> None:
    assert phases.up("S", A) == len(CONNECTIONS)
    assert phases.up("A", after(A, 1), after(B, 1)) == 0
