"""The keys of siitperf.conf: each with its name, kind and default, as a member of a section.

A key of a side occurs twice in a file, with L and R in place of {}; a key of a direction with Fwd
and Rev. Such a key has two defaults, for left (forward) and right (reverse); None means no default.

What reads the value of a key, or of an argument, refuses a wrong one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Any

from natxy.model.addresses import EXAMPLES, IpVersion, not_of_a_host, version_of

UNUSED = {4: "0.0.0.0", 6: "::"}


class Wrong(Exception):
    """Refuses a value; the message continues a sentence that begins with the value."""


DECIMAL = re.compile(r"[+-]?[0-9]+")
HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9A-Fa-f]*")
# Numbers as C's %i reads them: 0x is hexadecimal, another leading 0 is octal.
WITH_A_BASE = (
    (re.compile(r"[+-]?0[xX][0-9A-Fa-f]+"), 16),
    (re.compile(r"[+-]?0[0-7]*"), 8),
    (re.compile(r"[+-]?[1-9][0-9]*"), 10),
)


def _number(text: str, base: int, expected: str) -> int:
    try:
        return int(text, base)
    except ValueError:  # more digits than Python converts
        raise Wrong(f"is out of range (expected {expected})") from None


def _decimal(text: str, expected: str) -> int:
    """Returns the number; a leading 0 changes nothing."""
    if DECIMAL.fullmatch(text):
        return _number(text, 10, expected)
    if HEXADECIMAL.fullmatch(text):
        raise Wrong(f"is hexadecimal, which siitperf reads as 0 (expected {expected}, decimal)")
    raise Wrong(f"is not a whole number (expected {expected})")


def _with_a_base(text: str, expected: str) -> int:
    for pattern, base in WITH_A_BASE:
        if pattern.fullmatch(text):
            return _number(text, base, expected)
    raise Wrong(f"is not a whole number (expected {expected})")


def whole(
    lowest: int, highest: int, number: Callable[[str, str], int] = _decimal
) -> Callable[[str], int]:
    """Returns what reads a whole number, decimal by default."""
    expected = f"{lowest} to {highest}"

    def read(text: str) -> int:
        value = number(text, expected)
        if not lowest <= value <= highest:
            raise Wrong(f"is out of range (expected {expected})")
        return value

    return read


def one_of(*numbers: int) -> Callable[[str], int]:
    expected = " or ".join(map(str, numbers))

    def read(text: str) -> int:
        value = _decimal(text, expected)
        if value not in numbers:
            raise Wrong(f"is an unknown value (expected {expected})")
        return value

    return read


def switch(text: str) -> bool:
    """Reads a number that is true unless it is 0."""
    return _decimal(text, "0 or 1") != 0


def address(version: IpVersion) -> Callable[[str], str | None]:
    """Returns what reads an IP address; the unspecified one stands for an unused one: None."""

    def read(text: str) -> str | None:
        if version_of(text) != version:
            raise Wrong(
                f"is not an IPv{version} address (expected for example {EXAMPLES[version]}, or "
                f"{UNUSED[version]} for an unused address)"
            )
        if ip_address(text).is_unspecified:
            return None
        if sentence := not_of_a_host(text):
            raise Wrong(sentence)
        return text

    return read


def mac(text: str) -> str:
    """Reads a MAC address, in lower case; an octet may have one digit."""
    if not re.fullmatch(r"[0-9A-Fa-f]{1,2}(:[0-9A-Fa-f]{1,2}){5}", text):
        raise Wrong("is not a MAC address (expected for example 02:00:00:00:00:01)")
    return ":".join(f"{int(octet, 16):02x}" for octet in text.split(":"))


PORT = whole(0, 65535)
CPU = whole(0, 4095)
FIELD = whole(0, 65535, _with_a_base)
ORDER = whole(0, 3)  # 0 fixed, 1 increasing, 2 decreasing, 3 pseudorandom


@dataclass(frozen=True)
class Key:
    name: str
    field: str  # of Side, Direction or Settings; of an argument, that of Arguments
    read: Callable[[str], Any]  # returns the value, or raises Wrong
    default: Any = None


def key(name: str, read: Callable[[str], Any], *defaults: Any) -> Any:
    """Declares a member with its key in the file; without defaults, None is the default."""
    return field(metadata={"name": name, "read": read, "defaults": defaults or (None, None)})


@dataclass(frozen=True, kw_only=True)
class Side:
    ip_version: IpVersion = key("IP-{}-Vers", one_of(4, 6), 6, 4)  # noqa: RUF009 (makes a field)
    ipv6_real: str | None = key("IPv6-{}-Real", address(6))
    ipv6_virtual: str | None = key("IPv6-{}-Virt", address(6))
    ipv4_real: str | None = key("IPv4-{}-Real", address(4))
    ipv4_virtual: str | None = key("IPv4-{}-Virt", address(4))
    tester_mac: str | None = key("MAC-{}-Tester", mac)
    dut_mac: str | None = key("MAC-{}-DUT", mac)
    networks: int = key("Num-{}-Nets", whole(1, 256), 1, 1)
    send_cpu: int | None = key("CPU-{}-Send", CPU)
    receive_cpu: int | None = key("CPU-{}-Recv", CPU)
    varying: int = key("IP-{}-var", ORDER, 0, 0)
    field_min: int | None = key("IP-{}-min", FIELD)
    field_max: int | None = key("IP-{}-max", FIELD)
    ipv4_offset: int | None = key("IPv4-{}-offset", whole(1, 2))
    ipv6_offset: int | None = key("IPv6-{}-offset", whole(6, 14))

    @property
    def field_values(self) -> int:
        return (self.field_max or 0) - (self.field_min or 0) + 1


@dataclass(frozen=True, kw_only=True)
class Direction:
    varying_source_port: int = key("{}-var-sport", ORDER, 0, 0)
    varying_destination_port: int = key("{}-var-dport", ORDER, 0, 0)
    source_port_min: int = key("{}-sport-min", PORT, 1024, 1024)
    source_port_max: int = key("{}-sport-max", PORT, 65535, 65535)
    destination_port_min: int = key("{}-dport-min", PORT, 1, 1)
    destination_port_max: int = key("{}-dport-max", PORT, 49151, 49151)

    @property
    def source_ports(self) -> int:
        return self.source_port_max - self.source_port_min + 1

    @property
    def destination_ports(self) -> int:
        return self.destination_port_max - self.destination_port_min + 1

    @property
    def varies(self) -> bool:
        return bool(self.varying_source_port or self.varying_destination_port)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys that occur once."""

    has_forward: bool = key("Forward", switch, True)
    has_reverse: bool = key("Reverse", switch, True)
    promiscuous: bool = key("Promisc", switch, True)
    memory_channels: int = key("MEM-Channels", whole(1, 32), 1)
    stateful: int = key("Stateful", one_of(0, 1, 2), 0)  # 0 no, 1 initiator left, 2 right
    enumerated_ports: int = key("Enumerate-ports", ORDER, 0)
    enumerated_addresses: int = key("Enumerate-ips", ORDER, 0)
    responder_tuples: int = key("Responder-tuples", ORDER, 0)


def _keys(section: type, letters: str = "", index: int = 0) -> tuple[Key, ...]:
    declared = {member.name: member.metadata for member in fields(section)}
    return tuple(
        Key(of["name"].format(letters), name, of["read"], of["defaults"][index])
        for name, of in declared.items()
    )


OLDER_NAMES = {"Responder-ports": "Responder-tuples"}
PARTS: dict[str, tuple[Key, ...]] = {
    "left": _keys(Side, "L", 0),
    "right": _keys(Side, "R", 1),
    "forward": _keys(Direction, "Fwd", 0),
    "reverse": _keys(Direction, "Rev", 1),
    "common": _keys(Settings),
}
KEYS = {key.name: key for part in PARTS.values() for key in part}
