"""The subscribers of IPv4-as-a-Service whose devices the tester replaces.

These are the B4s of DS-Lite (RFC 6333), the lwB4s of lightweight 4over6 (RFC 7596), the CEs of
MAP-E (RFC 7597) and MAP-T (RFC 7599), or the CLATs of 464XLAT (RFC 6877). A subscriber's addresses
and ports follow from its number, which is the value of a field of the frames.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, Literal, Self

from pydantic import model_validator

from natxy.model.addresses import Ipv4Host, Ipv4Prefix, Ipv6Host, Ipv6Prefix, IpVersion
from natxy.model.base import Between, Model, refuse
from natxy.model.traffic_spec import (
    MAX_FIELD_BITS,
    AddressPattern,
    FieldBits,
    FieldSeries,
    PortSet,
)
from natxy.model.trial_spec import Side

Mechanism = Literal["ds-lite", "lw4o6", "map-e", "map-t", "464xlat"]
TUNNELS: tuple[Mechanism, ...] = ("ds-lite", "lw4o6", "map-e")
SUBSCRIBERS: dict[Mechanism, str] = {  # what the subscribers' devices are called
    "ds-lite": "B4",
    "lw4o6": "lwB4",
    "map-e": "CE",
    "map-t": "CE",
    "464xlat": "CLAT",
}
SHARED_IPV4: tuple[Mechanism, ...] = ("lw4o6", "map-e", "map-t")  # one address, several subscribers
MAP: tuple[Mechanism, ...] = ("map-e", "map-t")
EMBEDDING = (32, 40, 48, 56, 64, 96)  # lengths of prefixes that embed IPv4 addresses (RFC 6052)
SUBNET_BITS = 64  # bits of an IPv6 address before the interface identifier
RESERVED_BITS = 8  # bits 64 to 71, which an IPv4-embedded address leaves out (RFC 6052 section 2.2)


@dataclass(frozen=True, kw_only=True)
class Subscriber:
    ipv6: str
    ipv4: str  # shared by those with other PSIDs, or before a NAT
    psid: int


class SubscribersSection(Model):
    """The number of subscribers, and the rules that make their addresses and ports."""

    mechanism: Mechanism
    side: Side = "left"
    count: Annotated[int, Between(1, 2**MAX_FIELD_BITS)] = 1
    # A subscriber's number follows this prefix: directly as EA bits (MAP), else up to bit 64.
    ipv6_prefix: Ipv6Prefix
    ipv4_prefix: Ipv4Prefix | None = None  # of the addresses that subscribers share
    psid_bits: Annotated[int, Between(0, 15)] = 0  # 2^psid_bits subscribers share an address
    psid_offset_bits: Annotated[int, Between(0, 15)] | None = None  # None: 6, and 0 for lw4o6
    gateway: Ipv6Host | None = None  # the other end of all softwires
    gateway_prefix: Ipv6Prefix | None = None  # embeds the IPv4 addresses of the other side
    # The IPv4 source of every subscriber's packets: 192.0.0.2 is a B4's (RFC 6333 section 5.7).
    private_ipv4: Ipv4Host = "192.0.0.2"

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        self._check_needed("gateway", self.gateway is not None, needed=self.tunnels)
        self._check_needed(
            "gateway_prefix", self.gateway_prefix is not None, needed=not self.tunnels
        )
        self._check_needed("ipv4_prefix", self.ipv4_prefix is not None, needed=self.shares_ipv4)
        if self.psid_bits and not self.shares_ipv4:
            refuse(
                f'{self.psid_bits} is not possible with mechanism = "{self.mechanism}", whose '
                "subscribers share no IPv4 address (expected 0)",
                member="psid_bits",
            )
        self._check_port_bits()
        self._check_embedding()
        self._check_room()
        return self

    def _check_needed(self, key: str, given: bool, *, needed: bool) -> None:
        mechanism = f'mechanism = "{self.mechanism}"'
        if needed and not given:
            refuse(f"is missing: {mechanism} needs it", member=key)
        if given and not needed:
            refuse(f"is not used with {mechanism} (expected no {key})", member=key)

    def _check_port_bits(self) -> None:
        if self.offset_bits + self.psid_bits > 16:
            refuse(
                f"{self.psid_bits} leaves no bits of a port after {self.offset_bits} offset bits "
                f"(expected 0 to {16 - self.offset_bits})",
                member="psid_bits",
            )

    def _check_embedding(self) -> None:
        length = self._embedding.prefixlen if self.gateway_prefix else EMBEDDING[0]
        if length not in EMBEDDING:
            refuse(
                f"/{length} cannot embed an IPv4 address (expected /32, /40, /48, /56, /64 or /96; "
                "RFC 6052 section 2.2)",
                member="gateway_prefix",
            )

    def _check_room(self) -> None:
        if self.mechanism in MAP:
            self._check_bits(self.number_bits, "EA bits")
        else:
            self._check_bits(self.psid_bits, "PSID bits")
        most = 2**self.number_bits
        if self.count > most:
            refuse(
                f"{self.count} subscribers do not fit (expected at most {most}, or shorter "
                "prefixes, or more psid_bits)",
                member="count",
            )

    def _check_bits(self, needed: int, name: str) -> None:
        if needed > self._free_bits:
            what = f"{needed} {name}" if needed else "a subscriber's prefix"
            refuse(
                f"/{self._ipv6.prefixlen} leaves no room for {what} before bit {SUBNET_BITS} "
                f"(expected at most /{SUBNET_BITS - needed})",
                member="ipv6_prefix",
            )

    @property
    def tunnels(self) -> bool:
        """Tells whether subscribers' packets are IPv4 in IPv6; else they are translated to IPv6."""
        return self.mechanism in TUNNELS

    @property
    def shares_ipv4(self) -> bool:
        """Tells whether the IPv4 address and the port set follow from the subscriber's number."""
        return self.mechanism in SHARED_IPV4

    @property
    def stateful(self) -> bool:
        """Tells whether the gateway keeps the state of each connection."""
        return not self.shares_ipv4

    @property
    def ip_version(self) -> IpVersion:
        """The IP version of the packets between tester and gateway, inside a softwire if any."""
        return 4 if self.tunnels else 6

    @property
    def offset_bits(self) -> int:
        """The a bits of RFC 7597 section 5.1; RFC 7596 section 5.1 asks for 0."""
        if self.psid_offset_bits is not None:
            return self.psid_offset_bits
        return 6 if self.mechanism in MAP else 0

    @property
    def suffix_bits(self) -> int:
        """Returns how many bits of the IPv4 address follow from the subscriber's number."""
        return 32 - IPv4Network(self.ipv4_prefix).prefixlen if self.ipv4_prefix else 0

    @property
    def number_bits(self) -> int:
        """Returns how many bits a subscriber's number has, at most.

        Without a Rule IPv6 prefix, a prefix may have room for fewer subscribers than their IPv4
        addresses and PSIDs would make.
        """
        if self.mechanism in MAP:
            return self.suffix_bits + self.psid_bits
        most = self.suffix_bits + self.psid_bits if self.shares_ipv4 else MAX_FIELD_BITS
        return min(most, self._free_bits)

    @property
    def numbers(self) -> FieldSeries:
        """The subscribers' numbers."""
        if self.count == 1:
            return FieldSeries(mode="fixed", min=0, max=0)
        return FieldSeries(mode="pseudorandom", min=0, max=self.count - 1)

    @property
    def port_set(self) -> PortSet | None:
        """Returns the ports that a subscriber has; None: all."""
        if not self.psid_bits:
            return None
        return PortSet(offset_bits=self.offset_bits, psid_bits=self.psid_bits)

    @property
    def rule_ipv6_prefix(self) -> str:
        """The prefix that a subscriber's number follows directly: the Rule IPv6 prefix of MAP."""
        if self.mechanism in MAP:
            return self.ipv6_prefix
        return f"{self._ipv6.network_address}/{SUBNET_BITS - self.number_bits}"

    @property
    def rule_ipv4_prefix(self) -> str:
        """The prefix of the IPv4 addresses that a subscriber's number can make."""
        return f"{self._ipv4.network_address}/{32 + self.psid_bits - self.number_bits}"

    def ipv6_pattern(self) -> AddressPattern:
        """Returns the subscribers' IPv6 addresses: ends of softwires, or translated sources."""
        base = int(self._ipv6.network_address)
        if self.shares_ipv4:  # RFC 7597 section 6: 16 zeros, IPv4 address, PSID
            base |= int(self._ipv4.network_address) << 16
        elif self.tunnels:
            base |= 1
        else:
            base |= int(IPv4Address(self.private_ipv4))
        return AddressPattern(address=str(IPv6Address(base)), field=self._ipv6_bits())

    def ipv4_pattern(self) -> AddressPattern:
        """Returns the IPv4 addresses of the subscribers' packets before a NAT."""
        if not self.shares_ipv4:
            return AddressPattern(address=self.private_ipv4)
        return AddressPattern(address=str(self._ipv4.network_address), field=self._suffix(end=32))

    def subscribers(self) -> Iterator[Subscriber]:
        """Yields the addresses of each subscriber, from number 0 on."""
        ipv6, ipv4, psids = self.ipv6_pattern(), self.ipv4_pattern(), 2**self.psid_bits
        for number in range(self.count):
            yield Subscriber(
                ipv6=ipv6.with_field(number), ipv4=ipv4.with_field(number), psid=number % psids
            )

    def embedded(self, ipv4: str) -> str:
        """Returns the IPv6 address under which subscribers see an IPv4 host (RFC 6052)."""
        prefix = self._embedding
        length, value = prefix.prefixlen, int(IPv4Address(ipv4))
        if length == 96:
            return str(IPv6Address(int(prefix.network_address) | value))
        whole = value << (128 - 32 - length)  # as if no bits were left out
        before = whole >> SUBNET_BITS << SUBNET_BITS
        after = (whole - before) >> RESERVED_BITS
        return str(IPv6Address(int(prefix.network_address) | before | after))

    @property
    def _ipv6(self) -> IPv6Network:
        return IPv6Network(self.ipv6_prefix)

    @property
    def _ipv4(self) -> IPv4Network:
        return IPv4Network(self.ipv4_prefix or "0.0.0.0/32")

    @property
    def _free_bits(self) -> int:
        """The number of bits of an IPv6 address between its prefix and bit 64."""
        return SUBNET_BITS - self._ipv6.prefixlen

    @property
    def _embedding(self) -> IPv6Network:
        return IPv6Network(self.gateway_prefix or "::/96")

    def _ipv6_bits(self) -> tuple[FieldBits, ...]:
        first = self._ipv6.prefixlen
        end = first + self.number_bits if self.mechanism in MAP else SUBNET_BITS
        number = _bits(value_bit=0, bits=self.number_bits, end=end)
        if not self.shares_ipv4:
            return number
        return (*number, *self._suffix(end=112), *_bits(value_bit=0, bits=self.psid_bits, end=128))

    def _suffix(self, *, end: int) -> tuple[FieldBits, ...]:
        return _bits(value_bit=self.psid_bits, bits=self.suffix_bits, end=end)


def _bits(*, value_bit: int, bits: int, end: int) -> tuple[FieldBits, ...]:
    """Returns bits of the number that end before this bit of an address; () if there are none."""
    used = min(bits, MAX_FIELD_BITS - value_bit)  # all numbers are 0 in the others
    if not used:
        return ()
    return (FieldBits(value_bit=value_bit, bits=used, address_bit=end - used),)
