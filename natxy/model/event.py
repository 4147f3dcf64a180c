"""Events that the engine writes, one a line (docs/reference/engine-protocol.md)."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from natxy.model.base import Count, Model
from natxy.model.port_result import IcmpError
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Side

PROTOCOL = 1


class Worker(Model):
    """A worker of the engine."""

    cpu: int
    """Its CPU."""


class PortInfo(Model):
    """One of the tester's ports."""

    side: Side
    """Side of the port."""
    device: str
    """The device string of the command line."""
    driver: str
    """Name of the DPDK driver."""
    interface: str | None = None
    """The port's network interface. Null: it has none."""
    mac: str
    """MAC address."""
    mtu_bytes: int
    """The largest IP packet."""
    link_speed_mbps: int
    """Speed of the link. 0: the port has no speed, or the link of a NIC was still down 10 s after
    its start."""
    rx_ring_frames: int
    """Frames that the port's receive ring holds."""
    refusal: Literal["tester", "gateway"]
    """The cause if the port refuses a frame: `tester` if the queue of a NIC is full, `gateway` if a
    ring is full that the gateway empties (memif, vhost, `ring`)."""
    offloads: tuple[str, ...]
    """What the port does itself: `rx_timestamp`; `flow_control`, if it cannot be switched off."""
    numa_node: int
    """NUMA node of the device. -1: it has none."""


class Hello(Model):
    """The first event."""

    event: Literal["hello"]
    """Name of the event."""
    protocol: int
    """Version of the protocol."""
    engine_version: str
    """Version of the engine."""
    dpdk_version: str
    """Version of DPDK."""
    variant: str
    """The level of x86-64 that the engine's loops are compiled for."""
    tsc_hz: Count
    """Ticks a second of the processor's clock."""
    tsc_invariant: bool
    """The processor says that its clock never changes its speed."""
    realtime_allowed: bool
    """The engine may run under SCHED_FIFO."""
    huge_pages: bool
    """The buffers are in huge pages."""
    cpu_model: str
    """Model of the processor."""
    kernel: str
    """Release of the kernel."""
    main_cpus: tuple[int, ...]
    """CPUs on which the request loop may run."""
    workers: tuple[Worker, ...]
    """The workers."""
    ports: tuple[PortInfo, ...]
    """Both ports, the left one first."""


class ByDirection(Model):
    """A count for each direction."""

    forward: Count
    """Frames from left to right."""
    reverse: Count
    """Frames from right to left."""


class Progress(Model):
    """What a running trial does, at least once a second."""

    event: Literal["progress"]
    """Name of the event."""
    id: Count
    """The trial's request."""
    stage: Literal["table", "neighbours", "warm-up", "sending", "draining"]
    """What the trial does. In `table`, the engine prepares the memory of the state table, which
    takes seconds for hundreds of millions of connections."""
    elapsed_ns: Count
    """Time since the request."""
    duration_ns: Count
    """How long the phases of the trial last together, as the spec says."""
    sent: ByDirection
    """Frames sent so far."""
    received: ByDirection
    """Frames received so far."""


class ResultEvent(Model):
    """The end of a trial."""

    event: Literal["result"]
    """Name of the event."""
    id: Count
    """The trial's request."""
    result: TrialResult
    """What the trial found."""


class IcmpErrorAt(Model):
    """An ICMP error at a port."""

    side: Side
    """Side of the port."""
    error: IcmpError
    """The error."""


class ErrorEvent(Model):
    """An error, which ends a trial if a trial caused it."""

    event: Literal["error"]
    """Name of the event."""
    id: Count | None = None
    """The request of the trial that caused it; absent if none did."""
    kind: Literal[
        "request", "spec", "device", "driver", "neighbour", "warm-up", "cancelled", "internal"
    ]
    """What the error is about. `driver`: a device that DPDK refused, whose messages on standard
    error say why."""
    message: str
    """One sentence."""
    icmp_errors: tuple[IcmpErrorAt, ...] = ()
    """The ICMP errors that arrived in a warm-up that failed; absent if there were none."""


Event = Annotated[Hello | Progress | ResultEvent | ErrorEvent, Field(discriminator="event")]
EVENT: TypeAdapter[Hello | Progress | ResultEvent | ErrorEvent] = TypeAdapter(Event)
