"""Tunnels and VLAN tags whose other end is Linux: tunnel and VLAN devices of the kernel in a guest.

The kernel takes each frame out of the tunnel or the VLAN of one side, routes it, and puts it into
that of the other side. So a trial in both directions tries both devices in both directions.

The devices are in a guest because a kernel without modules, such as that of the machines of this
project, has none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

import pytest

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses
from natxy.dut.guest import GuestDut
from natxy.dut.site import fed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.guest.guests import RATE_FPS, ROUTER6, TESTER, testbed_of, trial_without_dut

# The networks in tunnels and VLANs, by side and IP version: .1 is the guest, .2 the tester.
NETWORKS = {
    ("left", 4): "10.1.0.{}",
    ("left", 6): "2001:db8:1::{}",
    ("right", 4): "10.2.0.{}",
    ("right", 6): "2001:db8:2::{}",
}
PREFIX_BITS = {4: 24, 6: 64}
NO_OPTION = "encaplimit none"  # else Linux adds the destination option of RFC 2473
# The kernel's device, by encapsulation and by the IP versions inside and outside.
DEVICES = {
    ("ip", 4, 4): "ipip",
    ("ip", 6, 4): "sit",
    ("ip", 4, 6): f"ip6tnl mode ipip6 {NO_OPTION}",
    ("ip", 6, 6): f"ip6tnl mode ip6ip6 {NO_OPTION}",
    ("gre", 4, 4): "gre",
    ("gre", 6, 4): "gre",
    ("gre", 4, 6): f"ip6gre {NO_OPTION}",
    ("gre", 6, 6): f"ip6gre {NO_OPTION}",
}
DURATION_S = Fraction(1, 5)
FRAMES = int(RATE_FPS * DURATION_S)  # in each direction


@dataclass(frozen=True)
class Tunnel:
    encapsulation: str
    outer: int  # the IP version
    more: str = ""  # words for the device

    def devices(self, side: SideAddresses, inner: int) -> list[str]:
        """Returns `ip` lines for the guest's end, a device `in-SIDE` that sends nothing itself."""
        device, (own, other) = f"in-{side.name}", self._ends(side)
        kind = DEVICES[self.encapsulation, inner, self.outer]
        return [
            f"link add {device} type {kind} local {own} remote {other} {self.more}",
            f"link set {device} addrgenmode none",
            f"link set {device} up",
            f"route add {address(side, inner, 0)}/{PREFIX_BITS[inner]} dev {device}",
        ]

    def keys(self, side: SideAddresses, inner: int) -> str:
        """Returns the keys of the side's port in the testbed."""
        own, other = self._ends(side)
        return (
            f'next_hop_ipv{self.outer} = "{own}"\nown_addresses = ["{other}"]\ntunnel = {{'
            f'encapsulation = "{self.encapsulation}", address = "{other}", gateway = "{own}"}}\n'
        )

    def _ends(self, side: SideAddresses) -> tuple[str, str]:
        """Returns the addresses of the side's link at the guest and at the tester."""
        if self.outer == 4:
            return side.gateway_ipv4, side.tester_ipv4
        return side.gateway_ipv6, side.tester_ipv6


@dataclass(frozen=True)
class Tagged:
    tags: tuple[tuple[str, int], ...]  # TPID and number of the VLAN, outer tag first

    def devices(self, side: SideAddresses, inner: int) -> list[str]:
        """Returns `ip` lines for a device `in-SIDE`, and one above it if there is a second tag."""
        lines, below = [], "eth0" if side is LEFT else "eth1"
        names = (f"in-{side.name}", f"{side.name}-2")
        for device, (tpid, number) in zip(names, self.tags, strict=False):
            lines += [
                f"link add link {below} name {device} type vlan proto {tpid} id {number}",
                f"link set {device} up",
            ]
            below = device
        return [*lines, f"addr add {address(side, inner, 1)}/{PREFIX_BITS[inner]} dev {below}"]

    def keys(self, side: SideAddresses, inner: int) -> str:
        own, other = address(side, inner, 1), address(side, inner, 2)
        tags = ", ".join(f'{{tpid = "{tpid}", id = {number}}}' for tpid, number in self.tags)
        return f'next_hop_ipv{inner} = "{own}"\nown_addresses = ["{other}"]\nvlans = [{tags}]\n'


def address(side: SideAddresses, version: int, number: int) -> str:
    return NETWORKS[side.name, version].format(number or ("" if version == 6 else 0))


VLAN = Tagged((("802.1Q", 100),))
QINQ = Tagged((("802.1ad", 200), ("802.1Q", 7)))
Link = Tunnel | Tagged
# The IP version of the packets, and what they are in on the left and on the right.
CASES: dict[str, tuple[int, Link, Link]] = {
    "gre-4-in-4-and-ipip": (4, Tunnel("gre", 4), Tunnel("ip", 4)),
    "gre-4-in-6-and-ipip6": (4, Tunnel("gre", 6), Tunnel("ip", 6)),
    "gre-6-in-4-and-sit": (6, Tunnel("gre", 4), Tunnel("ip", 4)),
    "gre-6-in-6-and-ip6ip6": (6, Tunnel("gre", 6), Tunnel("ip", 6)),
    "ipv4-in-vlan-and-qinq": (4, VLAN, QINQ),
    "ipv6-in-vlan-and-qinq": (6, VLAN, QINQ),
}


@pytest.fixture(scope="module")
def guest() -> Iterator[GuestDut]:
    """A guest that routes IPv4 and IPv6 between two links without tags."""
    _, _, dut = testbed_of(ROUTER6)
    dut.start()
    yield dut
    dut.stop()


@contextmanager
def devices(guest: GuestDut, lines: list[str]) -> Iterator[None]:
    guest.machine.run(fed("ip -batch -", "\n".join(lines)))
    try:
        yield
    finally:
        guest.machine.run("ip link del in-left && ip link del in-right")


def trial_of(guest: GuestDut, inner: int, *links: Link, tester: str = TESTER) -> TrialRecord:
    ports = guest.tester_ports()
    assert ports is not None
    text = f"{tester}[traffic]\nleft_ip_version = {inner}\nright_ip_version = {inner}\n"
    lines = []
    for side, port, link in zip((LEFT, RIGHT), (ports.left, ports.right), links, strict=True):
        text += f'[tester.{side.name}]\ndevice = "{port.device}"\n{link.keys(side, inner)}'
        text += f'ipv{inner}_real = "{address(side, inner, 2)}"\n'
        lines += link.devices(side, inner)
    with devices(guest, lines):
        return trial_without_dut(text, guest.tester_namespace, DURATION_S)


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_every_frame_goes_through_devices_of_the_kernel(
    case: tuple[int, Link, Link], guest: GuestDut
) -> None:
    if QINQ in case and "af_packet" in guest.describe()["tester_device"]:
        pytest.skip("AF_XDP is refused here, and packet sockets do not receive two tags")
    trial = trial_of(guest, *case)
    assert trial.verdict is Verdict.PASS
    assert trial.misdelivered == 0
    assert [stream.received for stream in trial.result.streams] == [FRAMES, FRAMES]


def test_frames_with_a_key_are_of_another_tunnel(guest: GuestDut) -> None:
    """The tester has no keys (RFC 2890); the kernel takes frames without one, but sends one."""
    neighbours = f'{TESTER}warm_up = "neighbours"\n'  # no probe would arrive
    with_key = Tunnel("gre", 4, "okey 7")
    trial = trial_of(guest, 4, with_key, Tunnel("ip", 4), tester=neighbours)
    assert trial.verdict is Verdict.FAIL
    assert [stream.received for stream in trial.result.streams] == [FRAMES, 0]
    assert [port.foreign for port in trial.result.ports if port.side == "left"] == [FRAMES]
