"""Converts a siitperf.conf to a testbed."""

from typing import get_args

from natxy.model.base import Model
from natxy.model.source import Source
from natxy.model.testbed import (
    AddressField,
    Directions,
    Port,
    PortRanges,
    Testbed,
    TesterSection,
    TrafficSection,
)
from natxy.model.traffic_spec import Series, SeriesMode
from natxy.siitperf.configuration import Configuration
from natxy.siitperf.keys import Direction, Side

MODES: tuple[SeriesMode, ...] = get_args(SeriesMode)  # in siitperf's order: 0 to 3
BOTH: Directions = "both"
# Ports that do not vary, from RFC 2544 appendix C.2.6.4.
FIXED_SOURCE_PORT = 0xC020
FIXED_DESTINATION_PORT = 7


def testbed_of(configuration: Configuration) -> Testbed:
    """Returns a testbed whose ports have no device yet; `whole_testbed` adds them."""
    return Testbed(
        tester=TesterSection(
            cores=cores_of(configuration),
            warm_up="neighbours",  # siitperf sends nothing before the frames of its trial
            left=port_of(configuration.left),
            right=port_of(configuration.right),
        ),
        traffic=traffic_of(configuration),
        dut={"kind": "none"},
    )


def cores_of(configuration: Configuration) -> tuple[int, ...]:
    """Returns the cores without repetition; a core that several keys name does all their work."""
    return tuple(dict.fromkeys(cpu_keys(configuration).values()))


def cpu_keys(configuration: Configuration) -> dict[str, int]:
    """Returns the CPU keys of the active directions: senders, then receivers, as the engine's."""
    active = {
        "CPU-L-Send": configuration.sends_forward,
        "CPU-R-Send": configuration.sends_reverse,
        "CPU-R-Recv": configuration.sends_forward,
        "CPU-L-Recv": configuration.sends_reverse,
    }
    return {key: configuration.entries.value(key) for key, wanted in active.items() if wanted}


def port_of(side: Side) -> Port:
    return Port(
        ipv4_real=side.ipv4_real,
        ipv4_virtual=side.ipv4_virtual,
        ipv6_real=side.ipv6_real,
        ipv6_virtual=side.ipv6_virtual,
        next_hop_mac=side.dut_mac,
    )


def traffic_of(configuration: Configuration) -> TrafficSection:
    left, right = configuration.left, configuration.right
    # Enumeration makes both ports of the initiator vary, whatever their own keys are.
    enumerated = configuration.enumerated_ports
    forward = enumerated if configuration.initiator == "left" else 0
    reverse = enumerated if configuration.initiator == "right" else 0
    written = {
        "left_ip_version": left.ip_version,
        "right_ip_version": right.ip_version,
        "direction": _direction(configuration),
        "left_networks": 1 if configuration.stateful else left.networks,
        "right_networks": 1 if configuration.stateful else right.networks,
        "forward": _json(_ports(configuration.forward, forward)),
        "reverse": _json(_ports(configuration.reverse, reverse)),
        "left_field": _json(_field(left)),
        "right_field": _json(_field(right)),
    }
    traffic: TrafficSection = Source(name=configuration.entries.name).validated(
        TrafficSection, written
    )
    return traffic


def _json(model: Model) -> object:
    return model.model_dump(mode="json")


def _direction(configuration: Configuration) -> Directions:
    if configuration.has_forward and configuration.has_reverse:
        return BOTH
    if not configuration.has_phase_2:  # it is the initiator's alone
        return "forward" if configuration.initiator == "left" else "reverse"
    return "forward" if configuration.has_forward else "reverse"


def _ports(direction: Direction, enumerated: int) -> PortRanges:
    return PortRanges(
        source_port=_series(
            direction.varying_source_port or enumerated,
            (direction.source_port_min, direction.source_port_max),
            fixed=FIXED_SOURCE_PORT,
        ),
        destination_port=_series(
            direction.varying_destination_port or enumerated,
            (direction.destination_port_min, direction.destination_port_max),
            fixed=FIXED_DESTINATION_PORT,
        ),
    )


def _series(order: int, limits: tuple[int, int], *, fixed: int) -> Series:
    if order == 0:
        return Series(mode="fixed", min=fixed, max=fixed)
    return Series(mode=MODES[order], min=limits[0], max=limits[1])


def _field(side: Side) -> AddressField:
    if side.varying == 0:
        return AddressField()
    return AddressField(
        mode=MODES[side.varying],
        min=side.field_min or 0,
        max=side.field_max or 0,
        ipv4_offset=2 if side.ipv4_offset is None else side.ipv4_offset,
        ipv6_offset=14 if side.ipv6_offset is None else side.ipv6_offset,
    )
