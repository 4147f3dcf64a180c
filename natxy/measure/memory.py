"""Memory per connection of a stateful gateway, from the telemetry of trials that fill its table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.establishing import connections_held
from natxy.trial.observer import Observer

MEMORY = "memory per connection"
# A system keeps some memory that it does not use. This is little beside so much.
LEAST_GROWTH_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The gateway's memory, as a trial shows it."""

    held: int | None  # connections after the trial; None: it did not pass
    before_bytes: int | None
    after_bytes: int | None
    memory_of: str

    @classmethod
    def of(cls, trial: TrialRecord) -> Self | None:
        """Returns None if the trial has no telemetry."""
        known = trial.telemetry
        if known is None:
            return None
        return cls(
            held=connections_held(trial.result) if trial.verdict is Verdict.PASS else None,
            before_bytes=known.memory_before_bytes,
            after_bytes=known.memory_bytes,
            memory_of=known.memory_of,
        )


Samples = Sequence[Sequence[Sample]]  # of each repetition


@dataclass
class MemorySamples(Observer):
    """Keeps the samples of the trials of one measurement, by their repetition."""

    found: dict[int, list[Sample]] = field(default_factory=dict)

    def trial_ended(self, trial: TrialRecord) -> None:
        of_repetition = self.found.setdefault(trial.repetition, [])
        if sample := Sample.of(trial):
            of_repetition.append(sample)

    @property
    def samples(self) -> Samples:
        return list(self.found.values())


def memory_per_connection(
    repetitions: Sequence[Sequence[TrialRecord]],
) -> tuple[tuple[Figure, ...], Remark]:
    """Returns the figure, with a value for each repetition, or none; and a remark about it.

    A value is (memory with N connections - memory with none) / N, of the trial with the largest N
    that passed. The memory with none is the least before any trial, since a gateway may keep what
    an earlier trial made it allocate.
    """
    samples = [[each for each in map(Sample.of, trials) if each] for trials in repetitions]
    return _memory(samples, at="", empty_bytes=_least_before(samples))


def memory_at_points(
    points: Mapping[str, Samples], *, started_anew: bool
) -> tuple[tuple[Figure, ...], Remarks]:
    """Returns the figure of each point of a series, or none; and remarks about them.

    `started_anew` says that each point has a gateway that was set up for it, whose memory without
    connections is its own; otherwise it is the least before any trial of the series.
    """
    every = [samples for point in points.values() for samples in point]
    figures: list[Figure] = []
    remarks: dict[Remark, list[str]] = {}  # with the points that they are about
    for at, samples in points.items():
        empty_bytes = _least_before(samples if started_anew else every)
        found, remark = _memory(samples, at=at, empty_bytes=empty_bytes)
        figures += found
        remarks.setdefault(remark, []).append(at)
    if len(remarks) == 1:
        return tuple(figures), tuple(remarks)
    return tuple(figures), tuple(said.at("; ".join(ats)) for said, ats in remarks.items())


def _least_before(repetitions: Iterable[Sequence[Sample]]) -> int | None:
    every = (each.before_bytes for samples in repetitions for each in samples)
    return min((size for size in every if size is not None), default=None)


def _memory(
    repetitions: Samples, *, at: str, empty_bytes: int | None
) -> tuple[tuple[Figure, ...], Remark]:
    full = [_fullest(samples) for samples in repetitions]
    if empty_bytes is None or not full or None in full:
        return (), Remark.of(Topic.MEMORY_UNKNOWN)
    found = [(count, used - empty_bytes) for count, used in filter(None, full)]
    if (least := min(grown for _, grown in found)) < LEAST_GROWTH_BYTES:
        facts = {"grown": max(0, least), "least": LEAST_GROWTH_BYTES}
        return (), Remark.of(Topic.MEMORY_BY_CHANCE, **facts)
    counts = tuple(dict.fromkeys(float(count) for count, _ in found))
    of = [sample.memory_of for samples in repetitions for sample in samples][-1]
    values = tuple(grown / count for count, grown in found)
    figure = Figure(name=MEMORY, unit="octets", at=at, values=values, primary=False)
    return (figure,), Remark.of(Topic.MEMORY, memory_of=of, connections=counts)


def _fullest(samples: Sequence[Sample]) -> tuple[int, int] | None:
    """Returns the most connections of a trial that passed, and the memory after it."""
    known = [
        (each.held, each.after_bytes)
        for each in samples
        if each.held and each.after_bytes is not None
    ]
    return max(known, default=None)
