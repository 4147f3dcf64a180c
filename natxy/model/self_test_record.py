"""The stored result of a self-test: the tester's own part of every delay."""

from typing import Literal, Self

from natxy.model.addresses import IpVersion
from natxy.model.base import Model
from natxy.model.event import Hello, PortInfo
from natxy.model.testbed import TrafficSection


class DelayAt(Model):
    """Delay of the looped tester at one rate, in the direction where it is longer."""

    rate_fps: int  # per direction
    minimum_ns: float
    median_ns: float
    p999_ns: float


class OwnDelay(Model):
    """The tester's own delay at one frame size, which is a part of every delay it measures."""

    frame_size_bytes: int
    offset: DelayAt  # at a rate so low that no frame waits for another one
    loaded: DelayAt  # at half of the highest rate: includes waiting in the tester's queues


def looped_version(traffic: TrafficSection) -> IpVersion:
    """Returns the IP version of a loop's frames: IPv6 where the testbed's sides differ."""
    same = traffic.left_ip_version == traffic.right_ip_version
    return traffic.left_ip_version if same else 6


def _driver_text(port: PortInfo) -> str:
    return " with ".join((port.driver, *port.offloads))


class TesterIdentity(Model):
    """Properties of the tester that its own delay depends on."""

    driver: str  # of its ports, with their offloads
    cpu_model: str
    workers: int
    link_speeds_mbps: tuple[int, ...]  # 0: the port has none
    ip_version: IpVersion  # of the loop
    engine_version: str
    variant: str = ""  # absent from records of engines that had none

    @classmethod
    def of(cls, hello: Hello, traffic: TrafficSection) -> Self:
        return cls(
            driver=", ".join(sorted({_driver_text(port) for port in hello.ports})),
            cpu_model=hello.cpu_model,
            workers=len(hello.workers),
            link_speeds_mbps=tuple(sorted(port.link_speed_mbps for port in hello.ports)),
            ip_version=looped_version(traffic),
            engine_version=hello.engine_version,
            variant=hello.variant,
        )


class SelfTestRecord(Model):
    record: Literal["self-test"] = "self-test"
    date: str  # ISO 8601, of the day
    loop: str  # what connected the ports: "ring", "veth", "testbed"
    cpus: tuple[int, ...]
    tester: TesterIdentity
    delays: tuple[OwnDelay, ...]  # one for each frame size that had a valid trial

    def delay_of(self, frame_size_bytes: int) -> OwnDelay:
        """Returns the delay at the nearest frame size that was measured."""
        return min(self.delays, key=lambda each: abs(each.frame_size_bytes - frame_size_bytes))
