"""Each gateway forwards, with kernel and scapy alone: a fault here is none of the engine."""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses
from tests.labs.conftest import StartLab
from tests.labs.traffic import DATA, LabWire, answer_to, has_right_checksums, ipv4, ipv6

BOTH = pytest.mark.parametrize("side", [LEFT, RIGHT], ids=["forward", "reverse"])


def other(side: SideAddresses) -> SideAddresses:
    return RIGHT if side is LEFT else LEFT


@BOTH
def test_routes_ipv4(shared_lab: StartLab, side: SideAddresses) -> None:
    wire = LabWire(shared_lab("kernel-router", 4, 4))
    sent = ipv4(side.tester_ipv4, other(side).tester_ipv4)
    (came,) = wire.carry_until(side, [sent])
    assert (came[IP].src, came[IP].dst) == (side.tester_ipv4, other(side).tester_ipv4)
    assert came[IP].ttl == 63
    assert bytes(came[UDP].payload) == DATA
    assert has_right_checksums(came)


@BOTH
def test_routes_ipv6(shared_lab: StartLab, side: SideAddresses) -> None:
    wire = LabWire(shared_lab("kernel-router", 6, 6))
    sent = ipv6(side.tester_ipv6, other(side).tester_ipv6)
    (came,) = wire.carry_until(side, [sent])
    assert (came[IPv6].src, came[IPv6].dst) == (side.tester_ipv6, other(side).tester_ipv6)
    assert came[IPv6].hlim == 63
    assert has_right_checksums(came)


def test_routes_every_network_and_wide_ranges(shared_lab: StartLab) -> None:
    wire = LabWire(shared_lab("kernel-router", 4, 4))
    four = [ipv4("198.18.0.2", f"198.19.{n}.2") for n in range(256)]
    six = [ipv6("2001:2::2", f"2001:2:0:80{n:02x}::{n:x}:2") for n in range(256)]
    wire.carry_until(LEFT, [four[7], six[7]])  # the first frames may wait for a neighbour
    assert len(wire.carry(LEFT, four + six, 3)) == 512


@pytest.mark.parametrize(("left", "right"), [(6, 4), (4, 6)])
@pytest.mark.parametrize("networks", [1, 256])
def test_tayga_translates_both_ways(
    shared_lab: StartLab, left: int, right: int, networks: int
) -> None:
    wire = LabWire(shared_lab("tayga", left, right, networks=networks))
    six, four = (LEFT, RIGHT) if left == 6 else (RIGHT, LEFT)
    out = ipv6(six.tester_ipv6, "2001:2:0:1000::2")
    (came,) = wire.carry_until(six, [out])
    assert (came[IP].src, came[IP].dst) == (six.tester_ipv4, four.tester_ipv4)
    assert has_right_checksums(came)
    back = ipv4(four.tester_ipv4, six.tester_ipv4)
    (came,) = wire.carry_until(four, [back])
    assert (came[IPv6].src, came[IPv6].dst) == ("2001:2:0:1000::2", six.tester_ipv6)
    assert has_right_checksums(came)


def test_tayga_translates_every_network(shared_lab: StartLab) -> None:
    wire = LabWire(shared_lab("tayga", 6, 4, networks=256))
    out = [ipv6("2001:2::2", f"2001:2:0:10{n:02x}::2") for n in range(256)]
    assert wire.carry_until(LEFT, [out[0]])
    came = wire.carry(LEFT, out, 3)
    assert sorted(c[IP].dst for c in came) == sorted(f"198.19.{n}.2" for n in range(256))


def test_background_is_routed_beside_tayga(shared_lab: StartLab) -> None:
    wire = LabWire(shared_lab("tayga", 6, 4))
    (came,) = wire.carry_until(LEFT, [ipv6(LEFT.tester_ipv6, RIGHT.tester_ipv6)])
    assert (came[IPv6].src, came[IPv6].dst) == (LEFT.tester_ipv6, RIGHT.tester_ipv6)


def test_nat44_masquerades_answers_and_forgets(shared_lab: StartLab) -> None:
    dut = shared_lab("nat44", 4, 4)
    wire = LabWire(dut)
    (came,) = wire.carry_until(LEFT, [ipv4(LEFT.tester_ipv4, RIGHT.tester_ipv4)])
    assert (came[IP].src, came[IP].dst) == (RIGHT.gateway_ipv4, RIGHT.tester_ipv4)
    answer = answer_to(came)
    (back,) = wire.carry(RIGHT, [answer], 2)
    assert (back[IP].dst, back[UDP].dport) == (LEFT.tester_ipv4, 1024)
    dut.reset()
    assert wire.carry(RIGHT, [answer], 0.5) == []
