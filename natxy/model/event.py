"""Events that the engine writes, one a line (docs/reference/engine-protocol.md)."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from natxy.model.base import Count, Model
from natxy.model.port_result import IcmpError
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Side

PROTOCOL = 1


class Worker(Model):
    cpu: int


class PortInfo(Model):
    side: Side
    device: str
    driver: str
    interface: str | None = None
    mac: str
    mtu_bytes: int
    link_speed_mbps: int  # 0: the port has none
    rx_ring_frames: int
    refusal: Literal["tester", "gateway"]  # who is to blame for a frame that the port does not take
    offloads: tuple[str, ...]
    numa_node: int


class Hello(Model):
    event: Literal["hello"]
    protocol: int
    engine_version: str
    dpdk_version: str
    variant: str  # the level of x86-64 that the engine's loops are compiled for
    tsc_hz: Count
    tsc_invariant: bool
    realtime_allowed: bool  # the engine may run under SCHED_FIFO
    huge_pages: bool
    cpu_model: str
    kernel: str
    main_cpus: tuple[int, ...]
    workers: tuple[Worker, ...]
    ports: tuple[PortInfo, ...]


class ByDirection(Model):
    forward: Count
    reverse: Count


class Progress(Model):
    event: Literal["progress"]
    id: Count
    stage: Literal["table", "neighbours", "warm-up", "sending", "draining"]
    elapsed_ns: Count
    duration_ns: Count
    sent: ByDirection
    received: ByDirection


class ResultEvent(Model):
    event: Literal["result"]
    id: Count
    result: TrialResult


class IcmpErrorAt(Model):
    side: Side
    error: IcmpError


class ErrorEvent(Model):
    event: Literal["error"]
    id: Count | None = None  # absent: no trial caused it
    # driver: a device that DPDK refused; its messages on standard error say why
    kind: Literal[
        "request", "spec", "device", "driver", "neighbour", "warm-up", "cancelled", "internal"
    ]
    message: str
    icmp_errors: tuple[IcmpErrorAt, ...] = ()  # received instead of the warm-up's probes


Event = Annotated[Hello | Progress | ResultEvent | ErrorEvent, Field(discriminator="event")]
EVENT: TypeAdapter[Hello | Progress | ResultEvent | ErrorEvent] = TypeAdapter(Event)
