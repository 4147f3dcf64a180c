"""The range of addresses that `[traffic]` makes of one address of a testbed.

It varies a field of the address and the number of its network.

The combinations of ranges are the connections of a trial.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from math import prod
from typing import Self

from natxy.model.addresses import NO_HOSTS, IpVersion
from natxy.model.testbed import IPV4_NETWORK_BYTE, IPV6_NETWORK_BYTE, TrafficSection
from natxy.model.traffic_spec import Series
from natxy.model.trial_spec import Side

FIELD_OCTETS = 2


@dataclass(frozen=True, kw_only=True)
class AddressRange:
    octets: bytes  # of the address in the testbed
    field_at: int | None = None  # the first octet of the field; None: no field varies
    lowest: int = 0  # value of the field
    highest: int = 0
    network_at: int | None = None  # the octet with the network's number; None: one network
    networks: int = 1

    @classmethod
    def of(cls, traffic: TrafficSection, side: Side, address: str) -> Self:
        parsed = ip_address(address)
        version: IpVersion = parsed.version
        field, networks = traffic.field(side), traffic.networks(side)
        varies = field.mode != "fixed"
        network_at = IPV4_NETWORK_BYTE if version == 4 else IPV6_NETWORK_BYTE
        offset = field.ipv4_offset if version == 4 else field.ipv6_offset
        return cls(
            octets=parsed.packed,
            field_at=offset if varies else None,
            lowest=field.min,
            highest=field.max,
            network_at=network_at if networks > 1 else None,
            networks=networks,
        )

    @property
    def ends(self) -> tuple[str, str]:
        """The lowest and the highest address."""
        return self._end(self.lowest, 0), self._end(self.highest, self.networks - 1)

    def holds(self, address: str) -> bool:
        """Returns whether the range contains this address."""
        return self.meets(AddressRange(octets=ip_address(address).packed))

    def meets(self, other: "AddressRange") -> bool:
        """Returns whether the two ranges have an address in common."""
        if len(self.octets) != len(other.octets):
            return False
        if not all(self._values(i) & other._values(i) for i in range(len(self.octets))):
            return False
        if self._crosses(other):
            return any(each.meets(other) for each in self._parts())
        if other._crosses(self):
            return any(each.meets(self) for each in other._parts())
        at = self.field_at if self.field_at is not None else other.field_at
        if at is None:
            return True
        (low, high), (other_low, other_high) = self._interval(at), other._interval(at)
        return max(low, other_low) <= min(high, other_high)

    def special(self) -> str | None:
        """Returns the name of special addresses in the range, such as "multicast", or None."""
        for prefix, name in NO_HOSTS.items():
            network = ip_network(prefix)
            first = network.network_address.packed
            if len(first) != len(self.octets):
                continue
            if network.prefixlen == network.max_prefixlen:
                found = self.holds(str(network.network_address))
            else:  # the first octet decides for all other prefixes
                last = network.broadcast_address.packed
                found = any(first[0] <= value <= last[0] for value in self._values(0))
            if found:
                return name
        return None

    def _end(self, field: int, number: int) -> str:
        end = self
        if self.field_at is not None:
            octets = self._with(self.field_at, field.to_bytes(FIELD_OCTETS))
            end = replace(end, octets=octets)
        if self.network_at is not None:
            end = replace(end, octets=end._with(self.network_at, bytes([number])))
        return str(ip_address(end.octets))

    def _with(self, place: int, octets: bytes) -> bytes:
        return self.octets[:place] + octets + self.octets[place + len(octets) :]

    def _crosses(self, other: "AddressRange") -> bool:
        """Returns whether a part of this range varies in only one octet of the other's field."""
        if other.field_at is None or self.field_at == other.field_at:
            return False
        return self.field_at is not None or self.network_at in (other.field_at, other.field_at + 1)

    def _parts(self) -> Iterator["AddressRange"]:
        """Yields one range for each value of the field or, without a field, for each network."""
        if self.field_at is not None:
            for value in range(self.lowest, self.highest + 1):
                octets = self._with(self.field_at, value.to_bytes(FIELD_OCTETS))
                yield replace(self, octets=octets, field_at=None)
        elif self.network_at is not None:
            for number in self._values(self.network_at):
                octets = self._with(self.network_at, bytes([number]))
                yield replace(self, octets=octets, network_at=None)

    def _interval(self, at: int) -> tuple[int, int]:
        if self.field_at is not None:
            return self.lowest, self.highest
        value = int.from_bytes(self.octets[at : at + FIELD_OCTETS])
        return value, value

    def _values(self, place: int) -> set[int]:
        """Returns the values that this octet may have."""
        if place == self.network_at:  # destinations vary; sources keep the testbed's value
            return {self.octets[place], *range(self.networks)}
        if self.field_at is None or place not in (self.field_at, self.field_at + 1):
            return {self.octets[place]}
        upper = (self.lowest >> 8, self.highest >> 8)
        if place == self.field_at:
            return set(range(upper[0], upper[1] + 1))
        if upper[0] != upper[1]:
            return set(range(256))
        return set(range(self.lowest & 255, (self.highest & 255) + 1))


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """The ranges of ports and address fields whose combinations are the connections of a trial."""

    source_port: Series
    destination_port: Series
    source_field: Series
    destination_field: Series

    @property
    def combinations(self) -> int:
        return prod(series.values for series in vars(self).values())

    def __str__(self) -> str:
        return " x ".join(f"{values:,}" for values in self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Counts of source ports, destination ports, and of each side's addresses if they vary."""
        ports = self.source_port.values, self.destination_port.values
        fields = self.source_field.values, self.destination_field.values
        return (*ports, *(values for values in fields if values > 1))

    def swapped(self) -> "Ranges":
        """Returns the ranges of the responder's frames: source and destination swapped."""
        return Ranges(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_field=self.destination_field,
            destination_field=self.source_field,
        )


def as_range(series: Series) -> Series:
    """Returns the series as a plain range: the enumeration decides the order of its values."""
    return series if series.mode == "fixed" else series.model_copy(update={"mode": "increasing"})
