"""The traffic of a trial spec: addresses, ports, and what a stream does with connections.

Names, limits and meaning are those of engine/spec/trial_spec.hpp.
"""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from natxy.model.addresses import IpAddress, IpVersion, not_of_version, version_of
from natxy.model.base import Between, Model, refuse

MAX_CONNECTIONS = 2**32  # a frame has four octets for the number of its connection
HOP_LIMIT = 64

SeriesMode = Literal["fixed", "increasing", "decreasing", "pseudorandom"]
Selection = Literal[
    "independent", "enumerate-increasing", "enumerate-decreasing", "enumerate-pseudorandom"
]
Role = Literal["establish", "initiate", "respond"]
Order = Literal[
    "linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing", "repeating"
]
Octet = Annotated[int, Between(0, 15)]
UInt16 = Annotated[int, Between(0, 2**16 - 1)]


class Series(Model):
    """A 16-bit value that follows from a frame's ordinal (RFC 4814)."""

    mode: SeriesMode
    min: UInt16  # the only value if the mode is fixed
    max: UInt16

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.max < self.min:
            refuse(f"{self.max} is below min (expected {self.min} to 65535)", member="max")
        return self

    @classmethod
    def counted(cls, first: int, count: int) -> Self:
        """Returns a series of `count` increasing values that starts with `first`."""
        mode: SeriesMode = "increasing" if count > 1 else "fixed"
        return cls(mode=mode, min=first, max=first + count - 1)

    @property
    def values(self) -> int:
        return 1 if self.mode == "fixed" else self.max - self.min + 1


FIXED_ZERO = Series(mode="fixed", min=0, max=0)


class AddressPattern(Model):
    """An address in which one octet may hold the network's number, and two octets a field."""

    address: IpAddress
    network_byte: Octet | None = None
    field_byte: Octet | None = None

    def check(self, version: IpVersion, member: str) -> None:
        if version_of(self.address) != version:
            refuse(f'"{self.address}" {not_of_version(version)}', member=f"{member}.address")
        last = 3 if version == 4 else 15
        self._check_octet(self.network_byte, last, f"{member}.network_byte")
        self._check_octet(self.field_byte, last - 1, f"{member}.field_byte")
        self._check_apart(f"{member}.network_byte")

    @staticmethod
    def _check_octet(offset: int | None, last: int, member: str) -> None:
        if offset is not None and offset > last:
            refuse(f"{offset} is outside the address (expected 0 to {last})", member=member)

    def _check_apart(self, member: str) -> None:
        if self.field_byte is None or self.network_byte is None:
            return
        if self.network_byte - self.field_byte in (0, 1):
            refuse(
                f"{self.network_byte} is an octet of the field (expected another octet)",
                member=member,
            )


class AddressPair(Model):
    ip_version: IpVersion
    source: AddressPattern
    destination: AddressPattern

    @model_validator(mode="after")
    def _fits_its_version(self) -> Self:
        self.source.check(self.ip_version, "source")
        self.destination.check(self.ip_version, "destination")
        return self


def check_hop_limits(hop_limit: int, drop: int | None) -> None:
    """Refuses a drop that would use up the hop limit, since no gateway forwards such a frame."""
    if drop is not None and drop >= hop_limit:
        refuse(
            f"{drop} uses up a hop limit of {hop_limit} (expected 0 to {hop_limit - 1})",
            member="hop_limit_drop",
        )


class Connections(Model):
    """The role of a stream in the connections of its trial, and the order in which it uses them.

    A connection is identified by its number in the enumeration of the establishing stream.
    `linear` uses each connection once. `repeating` draws an establishing stream's combinations
    with repetition. `missing` uses the connections that are missing: for an initiator those that
    are not in the tester's table, for a responder those of which no reply arrived in a linear
    stream. All other orders continue without end.
    """

    role: Role
    order: Order = "linear"

    @model_validator(mode="after")
    def _is_an_order_of_this_role(self) -> Self:
        if self.order not in ORDERS[self.role]:
            possible = ", ".join(ORDERS[self.role])
            refuse(
                f'"{self.order}" is not an order of the role "{self.role}" (expected one of '
                f"{possible})",
                member="order",
            )
        return self


ORDERS: dict[Role, tuple[Order, ...]] = {
    "establish": ("linear", "repeating"),
    "initiate": ("linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing"),
    "respond": ("linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing"),
}


ESTABLISH_EACH = Connections(role="establish")


class Traffic(Model):
    """One kind of traffic: how its frames are sent, and what they must be like on arrival."""

    departure: AddressPair
    arrival: AddressPair
    selection: Selection
    source_port: Series
    destination_port: Series
    source_field: Series
    destination_field: Series
    networks: Annotated[int, Between(1, 256)]
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT  # of the frames that leave the tester
    dont_fragment: bool = True  # IPv4's DF bit
    hop_limit_drop: Annotated[int, Between(0, 254)] | None = None  # None: learned
    # Send no frame whose UDP checksum would be ffff on arrival: some translators make it 0000.
    avoid_zero_checksum: bool = False
    # TOS, traffic class and flow label are sent as 0 and must be 0 on arrival.
    dscp_kept: bool = False
    # Over IPv4, too, a frame with a UDP checksum of 0 (RFC 768: it has none) is misdelivered.
    udp_checksum_required: bool = False
    connections: Connections | None = None  # None: stateless

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        check_hop_limits(self.hop_limit, self.hop_limit_drop)
        self._check_networks()
        self._check_connections()
        self._check_field("source", self.source_field)
        self._check_field("destination", self.destination_field)
        return self

    def _check_networks(self) -> None:
        if self.networks == 1:
            return
        if self.departure.destination.network_byte is None:
            refuse(f"{self.networks} networks need a network_byte (expected 1)", member="networks")
        if self.selection != "independent":
            refuse(
                f"{self.networks} is not possible in an enumeration (expected 1)", member="networks"
            )

    def _check_connections(self) -> None:
        if self.connections is None:
            return
        if self.selection == "independent":
            refuse(
                '"independent" is not possible with connections (expected enumerate-increasing, '
                "enumerate-decreasing or enumerate-pseudorandom)",
                member="selection",
            )
        if self.combinations > MAX_CONNECTIONS:
            refuse(
                f"the ranges have {self.combinations} combinations (expected at most "
                f"{MAX_CONNECTIONS})",
                member="selection",
            )

    def _check_field(self, end: Literal["source", "destination"], series: Series) -> None:
        patterns: tuple[AddressPattern, ...] = (
            getattr(self.departure, end),
            getattr(self.arrival, end),
        )
        if series.mode != "fixed" and any(p.field_byte is None for p in patterns):
            refuse(
                "the field varies, but an address has no field_byte for it (expected fixed)",
                member=f"{end}_field.mode",
            )

    @property
    def ranges(self) -> tuple[Selection, Series, Series, Series, Series]:
        """The selection and the ranges that determine an enumeration."""
        return (
            self.selection,
            self.source_port,
            self.destination_port,
            self.source_field,
            self.destination_field,
        )

    @property
    def swapped_ranges(self) -> tuple[Selection, Series, Series, Series, Series]:
        """The same with source and destination swapped, as in the other side's frames."""
        return (
            self.selection,
            self.destination_port,
            self.source_port,
            self.destination_field,
            self.source_field,
        )

    @property
    def combinations(self) -> int:
        return (
            self.source_port.values
            * self.destination_port.values
            * self.source_field.values
            * self.destination_field.values
        )
