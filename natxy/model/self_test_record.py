"""What a self-test has found and is kept of it: the tester's own part of every delay."""

from typing import Literal, Self

from natxy.model.base import Model
from natxy.model.event import Hello, PortInfo


class OwnDelay(Model):
    """Of the loop, the worse direction, at half of the highest rate."""

    frame_size_bytes: int
    median_ns: float
    p999_ns: float


def _of(port: PortInfo) -> str:
    return " with ".join((port.driver, *port.offloads))


class TesterIdentity(Model):
    """What a delay of the tester's own depends on."""

    driver: str  # of its ports, and what they do beside sending and receiving
    cpu_model: str
    workers: int
    engine_version: str

    @classmethod
    def of(cls, hello: Hello) -> Self:
        return cls(
            driver=", ".join(sorted({_of(port) for port in hello.ports})),
            cpu_model=hello.cpu_model,
            workers=len(hello.workers),
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
