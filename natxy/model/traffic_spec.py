"""Traffic of a trial's spec: addresses, how they and the ports follow from a frame's number, and
what a stream does with connections. Names and meaning are those of engine/spec/trial_spec.hpp."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from natxy.model.addresses import IpAddress, IpVersion, not_of_version, version_of
from natxy.model.base import Between, Model, refuse

MAX_CONNECTIONS = 2**32  # what a frame's four octets can number
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
    """How a 16-bit value follows from a frame's ordinal (RFC 4814)."""

    mode: SeriesMode
    min: UInt16  # the value where mode is fixed
    max: UInt16

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.max < self.min:
            refuse(f"{self.max} is below min, {self.min} to 65535 is right", member="max")
        return self

    @classmethod
    def counted(cls, first: int, count: int) -> Self:
        """So many values, from the first on, in turn."""
        mode: SeriesMode = "increasing" if count > 1 else "fixed"
        return cls(mode=mode, min=first, max=first + count - 1)

    @property
    def values(self) -> int:
        return 1 if self.mode == "fixed" else self.max - self.min + 1


FIXED_ZERO = Series(mode="fixed", min=0, max=0)


class AddressPattern(Model):
    """An address of which one octet may hold the network's number and two a varying field."""

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
            refuse(f"{offset} is outside the address, 0 to {last} is right", member=member)

    def _check_apart(self, member: str) -> None:
        if self.field_byte is None or self.network_byte is None:
            return
        if self.network_byte - self.field_byte in (0, 1):
            refuse(
                f"{self.network_byte} lies within the field, another octet is right", member=member
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
    """A frame whose hop limit is used up goes nowhere."""
    if drop is not None and drop >= hop_limit:
        refuse(
            f"{drop} uses up a hop limit of {hop_limit}, 0 to {hop_limit - 1} is right",
            member="hop_limit_drop",
        )


class Connections(Model):
    """What a stream does with the connections of its trial, and in which order it takes them.

    A connection is known by its number in the enumeration of the establishing stream. `linear`
    takes each once, `repeating` draws an establishing stream's combinations with repetition,
    `missing` takes those that are not there: for an initiator the ones that are not in the tester's
    table, for a responder the ones that no linear reply came back for. The others go on for ever.
    """

    role: Role
    order: Order = "linear"

    @model_validator(mode="after")
    def _is_an_order_of_this_role(self) -> Self:
        if self.order not in ORDERS[self.role]:
            right = ", ".join(ORDERS[self.role])
            refuse(
                f'"{self.order}" is no order to {self.role} in, {right} is right', member="order"
            )
        return self


ORDERS: dict[Role, tuple[Order, ...]] = {
    "establish": ("linear", "repeating"),
    "initiate": ("linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing"),
    "respond": ("linear", "fixed", "increasing", "decreasing", "pseudorandom", "missing"),
}


ESTABLISH_EACH = Connections(role="establish")


class Traffic(Model):
    """One kind of traffic: how frames leave and what they must look like when they come."""

    departure: AddressPair
    arrival: AddressPair
    selection: Selection
    source_port: Series
    destination_port: Series
    source_field: Series
    destination_field: Series
    networks: Annotated[int, Between(1, 256)]
    hop_limit: Annotated[int, Between(1, 255)] = HOP_LIMIT  # on departure
    dont_fragment: bool = True  # IPv4's DF bit
    hop_limit_drop: Annotated[int, Between(0, 254)] | None = None  # None: learned
    # Send no frame whose UDP checksum on arrival is to be ffff: some translators make it 0000.
    avoid_zero_checksum: bool = False
    # TOS, traffic class and flow label, which are 0 on departure, must be 0 on arrival.
    dscp_kept: bool = False
    # A UDP checksum of 0 is wrong over IPv4, too, where RFC 768 has it say that there is none.
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
            refuse(f"{self.networks} networks need a network_byte, 1 is right", member="networks")
        if self.selection != "independent":
            refuse(
                f"{self.networks} is not possible in an enumeration, 1 is right", member="networks"
            )

    def _check_connections(self) -> None:
        if self.connections is None:
            return
        if self.selection == "independent":
            refuse(
                "connections are enumerated, enumerate-pseudorandom is right", member="selection"
            )
        if self.combinations > MAX_CONNECTIONS:
            refuse(
                f"the ranges have {self.combinations} combinations, at most {MAX_CONNECTIONS} is "
                "right",
                member="selection",
            )

    def _check_field(self, end: Literal["source", "destination"], series: Series) -> None:
        patterns: tuple[AddressPattern, ...] = (
            getattr(self.departure, end),
            getattr(self.arrival, end),
        )
        if series.mode != "fixed" and any(p.field_byte is None for p in patterns):
            refuse(
                "the field varies, but an address has no field_byte for it; fixed is right",
                member=f"{end}_field.mode",
            )

    @property
    def ranges(self) -> tuple[Selection, Series, Series, Series, Series]:
        """What an enumeration is made of."""
        return (
            self.selection,
            self.source_port,
            self.destination_port,
            self.source_field,
            self.destination_field,
        )

    @property
    def swapped_ranges(self) -> tuple[Selection, Series, Series, Series, Series]:
        """The same, as the other side's frames have it."""
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
