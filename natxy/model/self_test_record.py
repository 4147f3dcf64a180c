"""What a self-test has found and is kept of it: the tester's own part of every delay."""

from typing import Literal, Self

from natxy.model.addresses import IpVersion
from natxy.model.base import Model
from natxy.model.event import Hello, PortInfo
from natxy.model.testbed import TrafficSection


class DelayAt(Model):
    """Of the loop at one rate, the worse direction."""

    rate_fps: int  # per direction
    minimum_ns: float
    median_ns: float
    p999_ns: float


class OwnDelay(Model):
    """Of the loop at one frame size: what is in each delay that such a tester measures."""

    frame_size_bytes: int
    offset: DelayAt  # at a rate so low that no frame waits for another one
    loaded: DelayAt  # at half of the highest rate: with the tester's queues


def looped_version(traffic: TrafficSection) -> IpVersion:
    """What the gateway would translate is IPv6 on both sides of a loop."""
    same = traffic.left_ip_version == traffic.right_ip_version
    return traffic.left_ip_version if same else 6


def _of(port: PortInfo) -> str:
    return " with ".join((port.driver, *port.offloads))


class TesterIdentity(Model):
    """What a delay of the tester's own depends on."""

    driver: str  # of its ports, and what they do beside sending and receiving
    cpu_model: str
    workers: int
    link_speeds_mbps: tuple[int, ...]  # 0: the port has none
    ip_version: IpVersion  # of the loop
    engine_version: str

    @classmethod
    def of(cls, hello: Hello, traffic: TrafficSection) -> Self:
        return cls(
            driver=", ".join(sorted({_of(port) for port in hello.ports})),
            cpu_model=hello.cpu_model,
            workers=len(hello.workers),
            link_speeds_mbps=tuple(sorted(port.link_speed_mbps for port in hello.ports)),
            ip_version=looped_version(traffic),
            engine_version=hello.engine_version,
        )


class SelfTestRecord(Model):
    record: Literal["self-test"] = "self-test"
    date: str  # ISO 8601, of the day
    loop: str  # what the ports were looped by: "ring", "veth", "testbed"
    cpus: tuple[int, ...]
    tester: TesterIdentity
    delays: tuple[OwnDelay, ...]  # of the frame sizes that had a valid trial

    def delay_of(self, frame_size_bytes: int) -> OwnDelay:
        """Of the nearest frame size."""
        return min(self.delays, key=lambda each: abs(each.frame_size_bytes - frame_size_bytes))
