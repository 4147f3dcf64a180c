"""Converts a siitperf.conf to a testbed file with comments: `natxy init --from`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from natxy.errors import DeviceError
from natxy.model.testbed import AddressField, Port, Testbed, TrafficSection
from natxy.model.traffic_spec import Series
from natxy.siitperf.configuration import Warn, read_configuration
from natxy.siitperf.stateful import all_connections
from natxy.siitperf.testbed import testbed_of
from natxy.siitperf.whole_testbed import first_two_devices, with_devices

HEADING = """\
# Converted from {name}, a configuration of siitperf. Keys that are left out have their
# defaults; `natxy init` writes a testbed with every key and a comment on each.

"""
PORT_COMMENTS = {
    "device": "PCI address, or a DPDK device",
    "ipv4_virtual": "how the IPv4 side sees this one",
    "ipv6_virtual": "how the IPv6 side sees this one",
    "next_hop_mac": "the DUT's; without it, give next_hop_ipv4 or next_hop_ipv6",
}
TRAFFIC_COMMENTS = {
    "left_ip_version": "of the foreground that is sent there",
    "direction": "forward is left to right",
    "left_networks": "destination networks behind that side",
}
CONNECTION_COMMENTS = {
    "count": "siitperf's N",
    "order": "in which phase 1 creates them",
    "initiator_order": "in which phase 2 uses them",
}
UNKNOWN_DEVICE = '# device = "0000:01:00.0"          # PCI address, or a DPDK device'
COMMENT_COLUMN = 35


def testbed_toml(testbed: Testbed, name: str) -> str:
    return HEADING.format(name=name) + "\n".join(_lines(testbed)) + "\n"


def _lines(testbed: Testbed) -> Iterator[str]:
    tester, traffic = testbed.tester, testbed.traffic
    yield "[tester]"
    yield _line("cores", list(tester.cores), "CPUs of the tester's workers, one worker each")
    yield _line("warm_up", tester.warm_up, "siitperf sends nothing before its trial's frames")
    for side, port in (("left", tester.left), ("right", tester.right)):
        yield f"\n[tester.{side}]"
        yield from _port(port)
    yield "\n[traffic]"
    yield from _traffic(traffic)
    for direction, ports in (("forward", traffic.forward), ("reverse", traffic.reverse)):
        yield f"\n[traffic.{direction}]                  # UDP ports"
        yield _line("source_port", ports.source_port)
        yield _line("destination_port", ports.destination_port)
    yield from _field("left", traffic.left_field)
    yield from _field("right", traffic.right_field)
    if testbed.connections is not None:
        yield "\n[connections]                      # phase 1 of each trial creates them"
        yield from _given(
            testbed.connections.model_dump(exclude_unset=True).items(), CONNECTION_COMMENTS
        )
    yield "\n[dut]"
    yield _line("kind", "none", "Natxy does not control the gateway")


def _port(port: Port) -> Iterator[str]:
    if port.device is None:
        yield UNKNOWN_DEVICE
    yield from _given(port.model_dump(exclude_defaults=True).items(), PORT_COMMENTS)


def _traffic(traffic: TrafficSection) -> Iterator[str]:
    tables = {"forward", "reverse", "left_field", "right_field"}
    written = traffic.model_dump(exclude=tables, exclude_none=True)
    yield from _given(written.items(), TRAFFIC_COMMENTS)


def _field(side: str, field: AddressField) -> Iterator[str]:
    if field.mode != "fixed":
        yield f"\n[traffic.{side}_field]               # 16 bits of that side's addresses"
        yield from _given(field.model_dump().items(), {"ipv4_offset": "octets from the start"})


def _given(items: Iterable[tuple[str, object]], comments: dict[str, str]) -> Iterator[str]:
    for key, value in items:
        yield _line(key, value, comments.get(key, ""))


def _line(key: str, value: object, comment: str = "") -> str:
    text = f"{key} = {_toml(value)}"
    return f"{text:<{COMMENT_COLUMN}}# {comment}" if comment else text


def _toml(value: object) -> str:
    """Returns a value as TOML; a testbed's texts, addresses and words, need no escapes."""
    if isinstance(value, Series):
        return f'{{mode = "{value.mode}", min = {value.min}, max = {value.max}}}'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(element) for element in value) + "]"
    return str(value)


def imported(path: Path, warn: Warn) -> str:
    """Returns the testbed file's text.

    The cores are not checked, because the file may be for another machine.
    """
    configuration = read_configuration(path, warn)
    testbed = with_devices(testbed_of(configuration), _devices(warn))
    testbed = testbed.model_copy(update={"connections": all_connections(configuration, warn)})
    if testbed.connections is not None:
        warn(
            "Stateful: N is an argument of siitperf, so count in [connections] is the number of "
            f"combinations, {testbed.connections.count}"
        )
    return testbed_toml(testbed, path.name)


def _devices(warn: Warn) -> Sequence[str | None]:
    try:
        return first_two_devices()
    except DeviceError:
        warn("no two ports of this machine are bound to a DPDK driver: fill in `device`")
        return None, None
