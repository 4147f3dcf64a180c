"""The traffic of a trial spec: addresses, ports, and what a stream does with connections.

Names, limits and meaning are those of engine/spec/trial_spec.hpp. The engine checks the rules that
concern several members (engine/spec/validate.cpp).
"""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from natxy.model.addresses import IpAddress, IpVersion
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
        """Checks what the engine checks too: a testbed has series, whose keys are named here."""
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


class AddressPair(Model):
    ip_version: IpVersion
    source: AddressPattern
    destination: AddressPattern


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
