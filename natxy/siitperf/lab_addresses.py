"""Uses the addresses of a siitperf.conf in a lab, if the lab routes and translates them.

A lab routes prefixes such as 198.18.0.0/16 and 2001:2::/56 to the tester, and its translator maps
an IPv4 address to the IPv6 address with the same last 16 bits. Addresses of a siitperf.conf that
fit both are used; if one does not fit, the lab's own addresses are used instead.
"""

from ipaddress import ip_address

from natxy.model.testbed import Port, Testbed
from natxy.model.trial_spec import Side as SideName
from natxy.siitperf.configuration import Configuration, Warn
from natxy.siitperf.keys import Side
from natxy.siitperf.whole_testbed import ADDRESSES, SIDES

VIRTUAL = ("ipv4_virtual", "ipv6_virtual")
HOST_BITS = 16
NETWORK_HOST_BITS = 8  # with several networks: the 8 bits before are the network's number


def with_own_addresses(made: Testbed, configuration: Configuration, warn: Warn) -> Testbed:
    """Returns `made`, the testbed with the lab's ports, with the configuration's addresses."""
    host_bits = HOST_BITS
    if made.traffic.left_networks > 1 or made.traffic.right_networks > 1:
        host_bits = NETWORK_HOST_BITS
    asked = {side: _asked(side, configuration) for side, _ in SIDES}
    if not all(
        _fits(_compared(side, made, configuration), asked[side], host_bits) for side, _ in SIDES
    ):
        warn(
            f"{configuration.entries.name}: its addresses are ignored, because the lab does not "
            f"route them; the lab's addresses are {_made(made)}"
        )
        return made
    ports: dict[str, Port] = {
        side: _merged(made.tester.port(side), asked[side]) for side, _ in SIDES
    }
    return made.model_copy(update={"tester": made.tester.model_copy(update=ports)})


def _asked(side: SideName, configuration: Configuration) -> dict[str, str]:
    asked = addresses_of(getattr(configuration, side))
    if not _initiates(side, configuration):
        return asked
    return {name: value for name, value in asked.items() if name not in VIRTUAL}


def _compared(side: SideName, made: Testbed, configuration: Configuration) -> Port:
    port = made.tester.port(side)
    if not _initiates(side, configuration):
        return port
    return port.model_copy(update=dict.fromkeys(VIRTUAL))


def _initiates(side: SideName, configuration: Configuration) -> bool:
    """Returns whether this side initiates, so that the gateway chooses its virtual addresses."""
    return bool(configuration.stateful) and configuration.initiator == side


def _merged(port: Port, asked: dict[str, str]) -> Port:
    return port.model_copy(update=_known(port, asked))


def addresses_of(side: Side) -> dict[str, str]:
    """Returns the side's used addresses, by their names in a testbed's port."""
    return {name: value for name in ADDRESSES if (value := getattr(side, name)) is not None}


def _known(port: Port, asked: dict[str, str]) -> dict[str, str]:
    """Returns the addresses that the lab's port has as well."""
    return {name: value for name, value in asked.items() if getattr(port, name) is not None}


def _fits(port: Port, asked: dict[str, str], host_bits: int) -> bool:
    used = _known(port, asked)
    in_place = all(
        _bits(value) >> host_bits == _bits(getattr(port, name)) >> host_bits
        for name, value in used.items()
    )
    merged = _merged(port, asked)
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
    said = [
        f"{key.format(letter)} {value}"
        for side, letter in SIDES
        for name, key in ADDRESSES.items()
        if (value := getattr(made.tester.port(side), name)) is not None
    ]
    return ", ".join(said)
