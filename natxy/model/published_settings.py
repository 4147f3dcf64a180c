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
    """Where the figures come from."""

    document: Literal["SD", "MP", "SP"] = Field(
        description="SD: the scalability draft; MP: the stateful NAT64 methodology paper; SP: the "
        "siitperf design paper"
    )
    title: Text = Field(description="the document's title")
    author: Text = Field(description="its authors")
    published: Text = Field(description="where and when it was published")
    doi: str = Field(default="", description="its DOI")
    url: str = Field(default="", description="its address")
    kind: Literal["table", "figure"] = Field(description="what the file holds")
    number: Positive = Field(description="of the table or figure in the document")
    section: Text = Field(description="of the document, where the measurement is described")
    caption: Text = Field(description="as printed, without kind and number")


class Measured(Model):
    """What was measured."""

    summary: Text = Field(description="the measurement, in Natxy's terms")
    commands: tuple[Text, ...] = Field(
        min_length=1, description="Natxy's commands that measure these figures"
    )


class Device(Model):
    """A device under test."""

    name: Text = Field(description="of the implementation")
    function: Text = Field(description="what it does with frames")
    version: str = Field(default="", description="of the implementation; empty: not stated")
    operating_system: Text = Field(description="with the version of the kernel")
    machine: Text = Field(description="model, CPUs, memory and ports")
    cores: Positive | None = Field(
        default=None, description="active cores; absent: not stated, or `columns` has them"
    )
    settings: str = Field(default="", description="how it was set up")


class TesterUsed(Model):
    """The tester of the document."""

    program: Text = Field(description="name and version")
    operating_system: Text = Field(description="with the version of the kernel")
    dpdk: Text = Field(description="version of DPDK")
    machine: Text = Field(description="model, CPUs, memory and ports")


class TrafficUsed(Model):
    """The tester's traffic. A key that differs from column to column is absent."""

    left_ip_version: IpVersion | None = Field(
        default=None, description="of the left side, which is the initiator if there is one"
    )
    right_ip_version: IpVersion | None = Field(default=None, description="of the right side")
    direction: Directions | None = Field(default=None, description="as in a testbed")
    rates: Literal["each direction", "sum of directions"] = Field(
        description="which frames a figure in fps counts: those of each direction, or those of all "
        "active directions together"
    )
    frame_sizes_bytes: tuple[Positive, ...] = Field(
        default=(), description="of the IPv6 frames; empty: not stated, or `columns` has them"
    )
    networks: Positive | None = Field(default=None, description="destination networks a side")
    rate_fps: Positive | None = Field(
        default=None, description="per direction; absent: the procedure searches for it"
    )


class ConnectionsUsed(Model):
    """Connections of a stateful device. A key that differs from column to column is absent."""

    count: Annotated[int, Between(1, MAX_CONNECTIONS)] | None = Field(
        default=None, description="connections that phase 1 creates"
    )
    source_ports: Positive | None = Field(default=None, description="size of the range")
    destination_ports: Positive | None = Field(default=None, description="size of the range")
    order: str = Field(
        default="", description="in which phase 1 enumerates them; empty: not stated"
    )
    table_entries: Positive | None = Field(
        default=None, description="size of the device's connection tracking table"
    )
    hash_size: Positive | None = Field(default=None, description="size of its hash table")
    timeout_s: Seconds | None = Field(default=None, description="the device's UDP timeout")
    alpha: Share | None = Field(
        default=None, description="rate of the validation as a share of phase 1's rate"
    )
    beta: Share | None = Field(default=None, description="of the capacity's exponential search")
    gamma: Share | None = Field(default=None, description="of the capacity's final search")


class TrialsUsed(Model):
    """Trials, repetitions and the search. A key that differs from column to column is absent."""

    repetitions: Positive | None = Field(default=None, description="of each figure")
    duration_s: Seconds | None = Field(default=None, description="of a trial")
    drain_s: Seconds | None = Field(
        default=None, description="the tester's timeout: how long it still receives"
    )
    frame_timeout_s: Seconds | None = Field(default=None, description="of each frame")
    tagged_frames: Positive | None = Field(default=None, description="in a latency trial")
    tags_after_s: Seconds | None = Field(
        default=None, description="time from the first frame to the first tagged one"
    )
    search_error: str = Field(default="", description="at which the search ends")
    loss_accepted: str = Field(default="", description="empty: no loss is accepted")
