"""Finds where to run the configuration: the testbed in NATXY_TESTBED, or the first two NICs.

A lab routes prefixes such as 198.18.0.0/16 and 2001:2::/56 to the tester, and its translator maps
an IPv4 address to the IPv6 address with the same last 16 bits. Addresses of a siitperf.conf that
fit both are used in a lab; if one does not fit, the lab's own addresses are used instead.
"""

import os
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path

from natxy.dut.config import LABS
from natxy.errors import ConfigurationError, DeviceError
from natxy.model.addresses import IpVersion
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, read_testbed
from natxy.model.trial_spec import Side as SideName
from natxy.siitperf.configuration import Configuration, Warn
from natxy.siitperf.keys import Side
from natxy.siitperf.testbed import cpu_keys

VARIABLE = "NATXY_TESTBED"
# DPDK uses the last two while the kernel keeps them.
DRIVERS = ("igb_uio", "uio_pci_generic", "vfio-pci", "mlx4_core", "mlx5_core")
PCI_DRIVERS = Path("/sys/bus/pci/drivers")
NETWORK_CLASS = "0x02"
SIDES: tuple[tuple[SideName, str], ...] = (("left", "L"), ("right", "R"))
ADDRESSES = {
    "ipv6_real": "IPv6-{}-Real",
    "ipv6_virtual": "IPv6-{}-Virt",
    "ipv4_real": "IPv4-{}-Real",
    "ipv4_virtual": "IPv4-{}-Virt",
}
NEXT_HOPS = ("next_hop_ipv4", "next_hop_ipv6", "next_hop_mac")
VIRTUAL = ("ipv4_virtual", "ipv6_virtual")
HOST_BITS = 16
NETWORK_HOST_BITS = 8  # with several networks: the 8 bits before are the network's number


def with_devices(testbed: Testbed, devices: Sequence[str | None]) -> Testbed:
    """Returns the testbed with the devices of its left and its right port."""
    ports: dict[str, Port] = {
        side: testbed.tester.port(side).model_copy(update={"device": device})
        for (side, _), device in zip(SIDES, devices, strict=True)
    }
    return testbed.model_copy(update={"tester": testbed.tester.model_copy(update=ports)})


def at_nics(configured: Testbed, configuration: Configuration) -> tuple[Testbed, Source]:
    testbed = with_devices(configured, first_two_devices())
    check_cores(configuration)
    check_ports(testbed, configuration)
    return testbed, Source(name=configuration.entries.name)


def at_testbed(
    configured: Testbed, configuration: Configuration, path: Path, warn: Warn
) -> tuple[Testbed, Source]:
    """Takes ports, next hops, warm-up and gateway from the file, traffic from the configuration."""
    written, source = read_testbed(path)
    in_lab = is_lab(written)
    update: dict[str, object] = {"cores": _cores(configured, configuration, written, warn)}
    for side, letter in SIDES:
        given = written.tester.port(side)
        if in_lab and configured.tester.port(side).next_hop_mac:
            warn(f"MAC-{letter}-DUT: is ignored: the lab of {path} has its own gateway")
        update[side] = given if in_lab else _port(given, configured.tester.port(side))
    kept = (
        "avoid_zero_checksum",
        "hop_limit_drop",
        "hop_limit",
        "dont_fragment",
        "udp_checksum",
    )
    traffic = configured.traffic.model_copy(
        update={key: getattr(written.traffic, key) for key in kept}
    )
    if written.connections is not None:
        warn(f"{path}: [connections] is ignored: {configuration.entries.name} sets the connections")
    testbed = Testbed(
        tester=written.tester.model_copy(update=update),
        traffic=traffic,
        connections=configured.connections,
        siitperf=written.siitperf,
        dut=written.dut,
    )
    if not in_lab:
        check_ports(testbed, configuration)
    return testbed, source


def is_lab(testbed: Testbed) -> bool:
    """Returns whether [dut] makes the tester's ports, with their addresses and next hops."""
    return testbed.dut.get("kind") in LABS


def _cores(
    configured: Testbed, configuration: Configuration, written: Testbed, warn: Warn
) -> tuple[int, ...]:
    """Returns the file's cores if it sets them, because its lab may need the others."""
    asked = configured.tester.cores
    if "cores" not in written.tester.model_fields_set and set(asked) <= os.sched_getaffinity(0):
        return asked
    if asked != written.tester.cores:
        keys = ", ".join(cpu_keys(configuration))
        warn(f"{keys}: are ignored: the testbed's cores are {list(written.tester.cores)}")
    return written.tester.cores


def _port(given: Port, configured: Port) -> Port:
    """Returns the file's port with the configuration's addresses.

    The next hop is the file's if it has one, and the configuration's otherwise.
    """
    update = {key: getattr(configured, key) for key in ADDRESSES if getattr(configured, key)}
    if not any(getattr(given, key) for key in NEXT_HOPS):
        update["next_hop_mac"] = configured.next_hop_mac
    return given.model_copy(update=update)


def check_cores(configuration: Configuration) -> None:
    for key, cpu in cpu_keys(configuration).items():
        if cpu not in os.sched_getaffinity(0):
            there = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
            configuration.entries.refuse(
                key, f"this process may not use CPU {cpu} (expected one of {there})"
            )


def check_ports(testbed: Testbed, configuration: Configuration) -> None:
    """Refuses a missing address or next hop under the name of siitperf's key."""
    for side, member in _needed(testbed):
        if getattr(testbed.tester.port(side), member) is None:
            key = ADDRESSES[member].format(dict(SIDES)[side])
            configuration.entries.refuse(
                key, "is missing or unused, and the traffic needs it (expected an address)"
            )
    for side, letter in SIDES:
        knows = any(getattr(testbed.tester.port(side), key) for key in NEXT_HOPS)
        if _sends(testbed, side) and not knows:
            configuration.entries.refuse(
                f"MAC-{letter}-DUT",
                "is missing, and frames are sent there (expected for example 02:00:00:00:00:01)",
            )


def _sends(testbed: Testbed, side: SideName) -> bool:
    """Returns whether the side sends in one of the phases."""
    if testbed.connections is not None and testbed.connections.initiator == side:
        return True
    return testbed.traffic.direction in ("both", "forward" if side == "left" else "reverse")


def _needed(testbed: Testbed) -> Iterator[tuple[SideName, str]]:
    left: IpVersion = testbed.traffic.left_ip_version
    right: IpVersion = testbed.traffic.right_ip_version
    asked = testbed.connections
    if testbed.traffic.m:
        yield "left", f"ipv{left}_real"
        yield "right", f"ipv{right}_real"
    if testbed.traffic.m and left != right:
        # The gateway chooses the initiator's virtual address.
        if asked is None or asked.initiator != "left":
            yield "left", f"ipv{right}_virtual"
        if asked is None or asked.initiator != "right":
            yield "right", f"ipv{left}_virtual"
    if testbed.traffic.has_background:
        yield "left", "ipv6_real"
        yield "right", "ipv6_real"


def first_two_devices(drivers: Path = PCI_DRIVERS) -> list[str]:
    """Returns the two lowest PCI addresses, in the order in which DPDK numbers its ports."""
    bound = (path for driver in DRIVERS for path in (drivers / driver).glob("*:*:*.*"))
    found = sorted({path.name for path in bound if _is_network_port(path)})
    if len(found) < 2:
        raise DeviceError(
            f"{len(found)} network devices are bound to a DPDK driver (expected 2 with one of "
            f"{', '.join(DRIVERS)}; or {VARIABLE}=FILE with a testbed, which `natxy init` writes)"
        )
    return found[:2]


def _is_network_port(device: Path) -> bool:
    try:
        return (device / "class").read_text().startswith(NETWORK_CLASS)
    except OSError:
        return False


def whole_testbed_of(
    configured: Testbed, configuration: Configuration, named: str | None, warn: Warn
) -> tuple[Testbed, Source]:
    """Returns a testbed whose ports have devices, and the file that errors about it name."""
    if named is None:
        return at_nics(configured, configuration)
    if not named:
        raise ConfigurationError(f"{VARIABLE}: is empty (expected the name of a testbed file)")
    return at_testbed(configured, configuration, Path(named), warn)


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
