"""siitperf.conf's addresses in a lab, which makes addresses of its own.

A lab routes all of 198.18.0.0/16 and 2001:2::/56 and so on to the tester, and a translator there
maps an IPv4 address to the IPv6 address that ends in the same 16 bits: siitperf.conf's addresses
can be used where they keep to that. If one does not, the lab's are used instead.
"""

from ipaddress import ip_address

from natxy.model.testbed import Port, Testbed
from natxy.siitperf.configuration import Configuration, Side
from natxy.siitperf.entries import Warn

HOST_BITS = 16
NETWORK_HOST_BITS = 8  # where the 8 bits before are the network's number


def with_own_addresses(made: Testbed, configuration: Configuration, warn: Warn) -> Testbed:
    """`made` has what the lab made."""
    host_bits = HOST_BITS
    if made.traffic.left_networks > 1 or made.traffic.right_networks > 1:
        host_bits = NETWORK_HOST_BITS
    pairs = (
        (made.tester.left, addresses_of(configuration.left)),
        (made.tester.right, addresses_of(configuration.right)),
    )
    if not all(_fits(port, asked, host_bits) for port, asked in pairs):
        warn(
            f"{configuration.entries.name}: its addresses do not lead through the lab, which has "
            f"{_made(made)}"
        )
        return made
    left, right = (port.model_copy(update=_known(port, asked)) for port, asked in pairs)
    tester = made.tester.model_copy(update={"left": left, "right": right})
    return made.model_copy(update={"tester": tester})


def addresses_of(side: Side) -> dict[str, str]:
    """By the names of a testbed's port; without those that are unused."""
    names = ("ipv4_real", "ipv4_virtual", "ipv6_real", "ipv6_virtual")
    return {name: value for name in names if (value := getattr(side, name)) is not None}


def _known(port: Port, asked: dict[str, str]) -> dict[str, str]:
    """Those that the lab has a use for."""
    return {name: value for name, value in asked.items() if getattr(port, name) is not None}


def _fits(port: Port, asked: dict[str, str], host_bits: int) -> bool:
    used = _known(port, asked)
    in_place = all(
        _bits(value) >> host_bits == _bits(getattr(port, name)) >> host_bits
        for name, value in used.items()
    )
    merged = port.model_copy(update=used)
    return in_place and all(
        _bits(real) % 2**host_bits == _bits(virtual) % 2**host_bits
        for real, virtual in _mapped(merged)
    )


def _mapped(port: Port) -> list[tuple[str, str]]:
    pairs = ((port.ipv4_real, port.ipv6_virtual), (port.ipv6_real, port.ipv4_virtual))
    return [(real, virtual) for real, virtual in pairs if real and virtual]


def _bits(address: str) -> int:
    return int(ip_address(address))


def _made(made: Testbed) -> str:
    names = ("ipv6_real", "ipv6_virtual", "ipv4_real", "ipv4_virtual")
    ports = (("L", made.tester.left), ("R", made.tester.right))
    said = [
        f"IPv{name[3]}-{letter}-{'Real' if name.endswith('real') else 'Virt'} {value}"
        for letter, port in ports
        for name in names
        if (value := getattr(port, name)) is not None
    ]
    return ", ".join(said)
