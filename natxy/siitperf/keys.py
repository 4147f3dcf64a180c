"""The keys of siitperf.conf as a table: name, kind, default.

A key of a side occurs twice in a file, with L and R in place of {}; a key of a direction with Fwd
and Rev. Such a key has two defaults, for left (forward) and right (reverse); None means no default.
"""

from dataclasses import dataclass
from typing import Any

from natxy.siitperf.kinds import Address, Kind, Mac, OneOf, Switch, Whole, WholeWithBase

PORT = Whole(0, 65535)
CPU = Whole(0, 4095)
FIELD = WholeWithBase(0, 65535)
ORDER = Whole(0, 3)  # 0 fixed, 1 increasing, 2 decreasing, 3 pseudorandom


@dataclass(frozen=True)
class Key:
    name: str
    field: str  # of configuration.Side, Direction or Configuration
    kind: Kind
    default: Any = None


@dataclass(frozen=True)
class PairedKey:
    name: str
    field: str
    kind: Kind
    defaults: tuple[Any, Any] = (None, None)

    def of(self, letters: str, index: int) -> Key:
        return Key(self.name.format(letters), self.field, self.kind, self.defaults[index])


SIDE_KEYS = (
    PairedKey("IP-{}-Vers", "ip_version", OneOf((4, 6)), (6, 4)),
    PairedKey("IPv6-{}-Real", "ipv6_real", Address(6)),
    PairedKey("IPv6-{}-Virt", "ipv6_virtual", Address(6)),
    PairedKey("IPv4-{}-Real", "ipv4_real", Address(4)),
    PairedKey("IPv4-{}-Virt", "ipv4_virtual", Address(4)),
    PairedKey("MAC-{}-Tester", "tester_mac", Mac()),
    PairedKey("MAC-{}-DUT", "dut_mac", Mac()),
    PairedKey("Num-{}-Nets", "networks", Whole(1, 256), (1, 1)),
    PairedKey("CPU-{}-Send", "send_cpu", CPU),
    PairedKey("CPU-{}-Recv", "receive_cpu", CPU),
    PairedKey("IP-{}-var", "varying", ORDER, (0, 0)),
    PairedKey("IP-{}-min", "field_min", FIELD),
    PairedKey("IP-{}-max", "field_max", FIELD),
    PairedKey("IPv4-{}-offset", "ipv4_offset", Whole(1, 2)),
    PairedKey("IPv6-{}-offset", "ipv6_offset", Whole(6, 14)),
)
DIRECTION_KEYS = (
    PairedKey("{}-var-sport", "varying_source_port", ORDER, (0, 0)),
    PairedKey("{}-var-dport", "varying_destination_port", ORDER, (0, 0)),
    PairedKey("{}-sport-min", "source_port_min", PORT, (1024, 1024)),
    PairedKey("{}-sport-max", "source_port_max", PORT, (65535, 65535)),
    PairedKey("{}-dport-min", "destination_port_min", PORT, (1, 1)),
    PairedKey("{}-dport-max", "destination_port_max", PORT, (49151, 49151)),
)
COMMON_KEYS = (
    Key("Forward", "has_forward", Switch(), True),
    Key("Reverse", "has_reverse", Switch(), True),
    Key("Promisc", "promiscuous", Switch(), True),
    Key("MEM-Channels", "memory_channels", Whole(1, 32), 1),
    Key("Stateful", "stateful", OneOf((0, 1, 2)), 0),
    Key("Enumerate-ports", "enumerated_ports", ORDER, 0),
    Key("Enumerate-ips", "enumerated_addresses", ORDER, 0),
    Key("Responder-tuples", "responder_tuples", ORDER, 0),
)
OLDER_NAMES = {"Responder-ports": "Responder-tuples"}

PARTS: dict[str, tuple[Key, ...]] = {
    "left": tuple(key.of("L", 0) for key in SIDE_KEYS),
    "right": tuple(key.of("R", 1) for key in SIDE_KEYS),
    "forward": tuple(key.of("Fwd", 0) for key in DIRECTION_KEYS),
    "reverse": tuple(key.of("Rev", 1) for key in DIRECTION_KEYS),
    "common": COMMON_KEYS,
}
KEYS = {key.name: key for part in PARTS.values() for key in part}
