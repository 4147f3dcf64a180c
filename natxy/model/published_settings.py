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
    """The document from which the figures come."""

    document: Literal["SD", "MP", "SP"] = Field(
        description="SD: the scalability draft; MP: the stateful NAT64 methodology paper; SP: the "
        "siitperf design paper"
    )
    title: Text = Field(description="title of the document")
    author: Text = Field(description="authors of the document")
    published: Text = Field(description="where and when the document was published")
    doi: str = Field(default="", description="DOI of the document")
    url: str = Field(default="", description="address of the document")
    kind: Literal["table", "figure"] = Field(
        description="whether the file holds a table or a figure"
    )
    number: Positive = Field(description="number of the table or figure in the document")
    section: Text = Field(description="section of the document that describes the measurement")
    caption: Text = Field(
        description="caption as printed, without the word Table or Figure and the number"
    )


class Measured(Model):
    """The commands and figures that were measured."""

    summary: Text = Field(description="the measurement in the terms of Natxy")
    commands: tuple[Text, ...] = Field(
        min_length=1, description="commands of Natxy that measure these figures"
    )


class Device(Model):
    """A device under test."""

    name: Text = Field(description="name of the implementation")
    function: Text = Field(description="what the gateway does with frames")
    version: str = Field(
        default="", description="version of the implementation; empty if not stated"
    )
    operating_system: Text = Field(description="name, and version of the kernel")
    machine: Text = Field(description="model, CPUs, memory and ports")
    cores: Positive | None = Field(
        default=None, description="active cores; absent if not stated, or if `columns` has them"
    )
    settings: str = Field(default="", description="how the gateway was set up")


class TesterUsed(Model):
    """The tester of the document."""

    program: Text = Field(description="name and version of the program")
    operating_system: Text = Field(description="name, and version of the kernel")
    dpdk: Text = Field(description="version of DPDK")
    machine: Text = Field(description="model, CPUs, memory and ports")


class TrafficUsed(Model):
    """The tester's traffic. A key that differs from column to column is absent."""

    left_ip_version: IpVersion | None = Field(
        default=None,
        description="IP version of the left side, which is the initiator if there is one",
    )
    right_ip_version: IpVersion | None = Field(
        default=None, description="IP version of the right side"
    )
    direction: Directions | None = Field(
        default=None, description="direction of the traffic, as in a testbed"
    )
    rates: Literal["each direction", "sum of directions"] = Field(
        description="which frames a figure in fps counts: those of each direction, or those of all "
        "active directions together"
    )
    frame_sizes_bytes: tuple[Positive, ...] = Field(
        default=(),
        description="sizes of the IPv6 frames; empty if not stated, or if `columns` has them",
    )
    networks: Positive | None = Field(default=None, description="destination networks on each side")
    rate_fps: Positive | None = Field(
        default=None, description="rate per direction; absent if the procedure searches for it"
    )


class ConnectionsUsed(Model):
    """Connections of a stateful gateway. A key that differs from column to column is absent."""

    count: Annotated[int, Between(1, MAX_CONNECTIONS)] | None = Field(
        default=None, description="connections that phase 1 creates"
    )
    source_ports: Positive | None = Field(default=None, description="number of source ports")
    destination_ports: Positive | None = Field(
        default=None, description="number of destination ports"
    )
    order: str = Field(
        default="",
        description="order in which phase 1 enumerates the connections; empty if not stated",
    )
    table_entries: Positive | None = Field(
        default=None, description="entries of the gateway's connection tracking table"
    )
    hash_size: Positive | None = Field(
        default=None, description="buckets of the table's hash table"
    )
    timeout_s: Seconds | None = Field(default=None, description="UDP timeout of the gateway")
    alpha: Share | None = Field(
        default=None, description="rate of validation as a share of phase 1's rate"
    )
    beta: Share | None = Field(
        default=None, description="beta of the exponential search for the capacity"
    )
    gamma: Share | None = Field(
        default=None, description="gamma of the final search for the capacity"
    )


class TrialsUsed(Model):
    """Trials, repetitions and the search. A key that differs from column to column is absent."""

    repetitions: Positive | None = Field(default=None, description="repetitions of each figure")
    duration_s: Seconds | None = Field(default=None, description="duration of a trial")
    drain_s: Seconds | None = Field(
        default=None, description="time after the last frame during which the tester still receives"
    )
    frame_timeout_s: Seconds | None = Field(
        default=None, description="delay after which a frame counts as lost"
    )
    tagged_frames: Positive | None = Field(
        default=None, description="tagged frames of a latency trial"
    )
    tags_after_s: Seconds | None = Field(
        default=None, description="time from the first frame to the first tagged one"
    )
    search_error: str = Field(default="", description="error at which the search ends")
    loss_accepted: str = Field(default="", description="loss that is accepted; empty for none")
