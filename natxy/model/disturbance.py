"""The effect of noise on trials: absences of the gateway, pauses and lateness of the tester's
senders."""

from collections.abc import Iterable
from typing import Self

from pydantic import Field

from natxy.model.base import Model

# The round trip of a cache line between two cores that share a cache takes less.
FAR_NS = 150


def took_most(taken_ns: float, away_ns: float) -> bool:
    """Tells whether a thread had the CPU in most of the gateway's absences."""
    return 2 * taken_ns > away_ns > 0


def summed(times_ns: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Returns the sum of the times of each name."""
    found: dict[str, float] = {}
    for name, ns in times_ns:
        found[name] = found.get(name, 0.0) + ns
    return found


class Absence(Model):
    """The times in which a gateway did not run in a trial, by its own record."""

    where: str  # the subject of a sentence about it
    total_s: float  # while frames waited
    longest_s: float  # without a break, with or without waiting frames
    # From and until, in nanoseconds of CLOCK_MONOTONIC_RAW, with or without waiting frames; empty
    # as well if the gateway records only the sums. The gateway's list may have joined neighbours.
    intervals: tuple[tuple[int, int], ...] = ()


class Disturbance(Model):
    """Times in nanoseconds, summed over valid trials; the longest ones are maxima."""

    sending_ns: float = 0.0  # pauses included
    paused_ns: float = 0.0  # in each trial, of the direction that paused longest
    away_ns: float = 0.0  # absences of a watched gateway
    longest_away_ns: float = 0.0
    taken_ns: dict[str, float] = Field(default_factory=dict)  # by the thread that took its CPU
    longest_late_ns: float = 0.0  # the largest lateness of a frame, of all directions
    unwatched_reason: str = ""  # why a gateway on this machine was not watched
    shared_cpus: tuple[str, ...] = ()  # clauses on CPUs that another process used as well
    nearest_ns: float = 0.0  # shortest round trip between tester and gateway; 0: unknown

    @classmethod
    def total(cls, all_of: Iterable[Self]) -> Self:
        members = list(all_of)
        return cls(
            sending_ns=sum(each.sending_ns for each in members),
            paused_ns=sum(each.paused_ns for each in members),
            away_ns=sum(each.away_ns for each in members),
            longest_away_ns=max((each.longest_away_ns for each in members), default=0.0),
            taken_ns=summed(taken for each in members for taken in each.taken_ns.items()),
            longest_late_ns=max((each.longest_late_ns for each in members), default=0.0),
            shared_cpus=tuple(dict.fromkeys(said for o in members for said in o.shared_cpus)),
            nearest_ns=min((o.nearest_ns for o in members if o.nearest_ns), default=0.0),
            unwatched_reason=next((o.unwatched_reason for o in members if o.unwatched_reason), ""),
        )

    @property
    def taker(self) -> str:
        """The thread that had the CPU in most of the gateway's absences; empty: none."""
        who, ns = max(self.taken_ns.items(), key=lambda each: each[1], default=("", 0.0))
        return who if took_most(ns, self.away_ns) else ""
