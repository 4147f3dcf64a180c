"""The gateway's use of CPU time, memory and connections in a trial, and the frames it dropped."""

from collections.abc import Mapping, Sequence
from typing import Self

from natxy.model.base import Model


class CpuTime(Model):
    """Seconds of one CPU, counted by the kernel in steps of 10 ms."""

    cpu: int
    # It includes softirq_s and irq_s; steal_s is not a part of it. A trial's telemetry leaves out
    # what the tester's own thread took that keeps a watched CPU awake.
    busy_s: float
    softirq_s: float
    irq_s: float
    steal_s: float  # the host ran something else

    def since(self, before: Self) -> Self:
        spent = {
            name: round(getattr(self, name) - getattr(before, name), 6)
            for name in ("busy_s", "softirq_s", "irq_s", "steal_s")
        }
        return self.model_copy(update=spent)


class Snapshot(Model):
    """The state of a gateway at one moment; the counters only grow. None: not known."""

    at_s: float = 0.0  # of a clock that never steps
    cpus: tuple[CpuTime, ...] = ()  # of the gateway, since its machine started
    host_cpus: tuple[CpuTime, ...] = ()  # on which a guest's CPUs run; empty: no guest
    memory_bytes: int | None = None
    memory_of: str = ""  # what the memory is of: "kernel slabs", "processes"
    connections: int | None = None  # in the connection tracking table
    drops: dict[str, int] | None = None  # frames or connections, by cause: "left rx dropped"


class Telemetry(Model):
    """The gateway's use from just before a trial to just after it. None: not known."""

    seconds: float  # between the two snapshots: preparation, trial and drain
    cpus: tuple[CpuTime, ...] = ()  # of the gateway; in a guest, the virtual ones
    host_cpus: tuple[CpuTime, ...] = ()  # on which a guest's CPUs run; empty: no guest
    memory_before_bytes: int | None = None
    memory_bytes: int | None = None  # after the trial
    memory_of: str = ""
    connections: int | None = None  # after the trial
    drops: dict[str, int] | None = None  # by cause, without those that did not occur

    @classmethod
    def between(
        cls, before: Snapshot, after: Snapshot, kept_awake_s: Mapping[int, float] | None = None
    ) -> Self | None:
        """Returns the difference; None if nothing is known of the gateway.

        `kept_awake_s` is the time, for each CPU of this machine, of the tester's own thread there.
        """
        cpus = _spent(before.cpus, after.cpus)
        host_cpus = _spent(before.host_cpus, after.host_cpus)
        if host_cpus:
            host_cpus = _without(host_cpus, kept_awake_s or {})
        else:
            cpus = _without(cpus, kept_awake_s or {})
        telemetry = cls(
            seconds=round(after.at_s - before.at_s, 6),
            cpus=cpus,
            host_cpus=host_cpus,
            memory_before_bytes=before.memory_bytes,
            memory_bytes=after.memory_bytes,
            memory_of=after.memory_of,
            connections=after.connections,
            drops=_grown(before.drops, after.drops),
        )
        nothing = cls(seconds=telemetry.seconds, memory_of=telemetry.memory_of)
        return None if telemetry == nothing else telemetry

    @property
    def busiest(self) -> CpuTime | None:
        """The gateway's CPU that was busy for the longest time."""
        return max(self.cpus, key=lambda each: each.busy_s, default=None)

    @property
    def dropped(self) -> int | None:
        return None if self.drops is None else sum(self.drops.values())

    def percent(self, seconds: float) -> float:
        """Returns the share of the time between the snapshots."""
        return 100 * seconds / self.seconds if self.seconds > 0 else 0.0


def _spent(before: Sequence[CpuTime], after: Sequence[CpuTime]) -> tuple[CpuTime, ...]:
    start = {each.cpu: each for each in before}
    return tuple(each.since(start[each.cpu]) for each in after if each.cpu in start)


def _without(cpus: Sequence[CpuTime], own_s: Mapping[int, float]) -> tuple[CpuTime, ...]:
    """Returns the times without those of the tester's own threads."""
    return tuple(
        each.model_copy(
            update={"busy_s": round(max(0.0, each.busy_s - own_s.get(each.cpu, 0.0)), 6)}
        )
        for each in cpus
    )


def _grown(
    before: Mapping[str, int] | None, after: Mapping[str, int] | None
) -> dict[str, int] | None:
    if before is None or after is None:
        return None
    grown = {cause: count - before.get(cause, 0) for cause, count in after.items()}
    return {cause: count for cause, count in grown.items() if count > 0}
