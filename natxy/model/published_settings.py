"""Source and settings of a published measurement, in the words of Natxy's testbeds and results."""

from typing import Annotated, Literal

from pydantic import Field

from natxy.model.addresses import IpVersion
from natxy.model.base import Between, Model
from natxy.model.published_values import Text
from natxy.model.testbed import Directions
from natxy.model.traffic_spec import MAX_CONNECTIONS

Positive = Annotated[int, Between(1, 2**32)]
Share = Annotated[float, Between(0, 1)]
Seconds = Annotated[float, Between(0, 86400)]


class Origin(Model):
    """The document from which the figures come.

    SD is the scalability draft, MP the stateful NAT64 methodology paper, SP the siitperf design
    paper.
    """

    document: Literal["SD", "MP", "SP"]
    title: Text
    author: Text
    published: Text
    doi: str = ""
    url: str = ""
    kind: Literal["table", "figure"]
    number: Positive
    section: Text
    caption: Text


class Measured(Model):
    """The commands and figures that were measured."""

    summary: Text
    commands: Annotated[tuple[Text, ...], Field(min_length=1)]


class Device(Model):
    """A device under test."""

    name: Text
    function: Text
    version: str = ""
    operating_system: Text
    machine: Text
    cores: Positive | None = None  # None: not stated, or `columns` has them
    settings: str = ""


class TesterUsed(Model):
    """The tester of the document."""

    program: Text
    operating_system: Text
    dpdk: Text
    machine: Text


class TrafficUsed(Model):
    """The tester's traffic. A key that differs from column to column is absent."""

    left_ip_version: IpVersion | None = None
    right_ip_version: IpVersion | None = None
    direction: Directions | None = None
    rates: Literal["each direction", "sum of directions"]  # what a figure in fps counts
    frame_sizes_bytes: tuple[Positive, ...] = ()
    networks: Positive | None = None
    source_ports: Positive | None = None
    destination_ports: Positive | None = None
    rate_fps: Positive | None = None


class ConnectionsUsed(Model):
    """Connections of a stateful gateway. A key that differs from column to column is absent."""

    count: Annotated[int, Between(1, MAX_CONNECTIONS)] | None = None
    source_ports: Positive | None = None
    destination_ports: Positive | None = None
    first_source_port: Positive | None = None
    order: str = ""
    incomplete: Literal["", "repeat"] = ""
    table_entries: Positive | None = None
    hash_size: Positive | None = None
    timeout_s: Seconds | None = None
    alpha: Share | None = None
    beta: Share | None = None
    gamma: Share | None = None


class TrialsUsed(Model):
    """Trials, repetitions and the search. A key that differs from column to column is absent."""

    repetitions: Positive | None = None
    duration_s: Seconds | None = None
    drain_s: Seconds | None = None
    frame_timeout_s: Seconds | None = None
    tagged_frames: Positive | None = None
    tags_after_s: Seconds | None = None
    search_error: str = ""
    loss_accepted: str = ""
