"""The distributions of delays in a campaign, from the histograms of its trials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from natxy.campaign.plan import CampaignPlan

MEASURES_DELAYS = ("latency", "pdv", "ipdv")
POINTS = 120  # of a curve; the tail has half of them
Histogram = dict[tuple[float, float], int]  # frames by the ends of their bucket, in nanoseconds


@dataclass(frozen=True, kw_only=True)
class DelayCurve:
    """The distribution of delays in a column, of one direction, over all its rounds."""

    column: str
    measure: str
    direction: str
    points: tuple[tuple[float, float], ...]  # delay in microseconds, share of the frames


@dataclass(kw_only=True)
class DelayHistograms:
    """The histograms of the trials of measurements, added up by cell and direction."""

    found: dict[tuple[str, str], Histogram] = field(default_factory=dict)

    def add(self, cell: str, trial: dict[str, Any]) -> None:
        """Adds a trial's record of the journal."""
        for stream in trial["result"]["streams"]:
            histogram = self.found.setdefault((cell, stream["direction"]), {})
            for kind in stream["kinds"].values():
                for lower_ns, upper_ns, count in kind["delay"]["buckets"] if kind else ():
                    bucket = (lower_ns, upper_ns)
                    histogram[bucket] = histogram.get(bucket, 0) + count

    def curves(self, plan: CampaignPlan) -> Iterator[DelayCurve]:
        """Yields the curves of each measurement of delays, by the columns of the experiment."""
        labels = [column.label for column in plan.experiment.columns]
        together: dict[tuple[str, str, str], Histogram] = {}
        for cell in sorted(plan.cells, key=lambda cell: labels.index(cell.column.label)):
            for (key, direction), histogram in self.found.items():
                if key != cell.key:
                    continue
                of = (cell.column.label, cell.measure.name, direction)
                into = together.setdefault(of, {})
                for bucket, count in histogram.items():
                    into[bucket] = into.get(bucket, 0) + count
        for (column, measure, direction), histogram in together.items():
            if histogram:
                points = tuple(_cumulative(histogram))
                yield DelayCurve(column=column, measure=measure, direction=direction, points=points)


def own_trials(numbers: Sequence[int], measurements: int) -> set[int]:
    """Returns the trials of the measurements themselves, by their places in `numbers`.

    A measurement may search first, for its rate or for that of phase 1. The numbers of trials start
    at 1 in each search and in each measurement, and measurements of one command have equally many
    searches.
    """
    begins = [place for place, number in enumerate(numbers) if number == 1]
    if not begins or not measurements or len(begins) % measurements:
        return set()
    step = len(begins) // measurements
    ends = (*begins[1:], len(numbers))
    own = list(zip(begins, ends, strict=True))[step - 1 :: step]
    return {place for begin, end in own for place in range(begin, end)}


def _cumulative(histogram: Histogram) -> Iterator[tuple[float, float]]:
    """Yields some points of the cumulative distribution, closer to one another in the tail."""
    total = sum(histogram.values())
    half = POINTS // 2
    shares = [place / half for place in range(1, half)]
    shares += [1 - 10 ** (-6 * place / half) for place in range(half)]
    wanted = sorted({share for share in shares if share > 0} | {1.0})
    shortest_ns = min(lower_ns for lower_ns, _ in histogram)
    yield max(shortest_ns, 1.0) / 1000, 0.0  # an axis of logarithms has no zero
    below = 0
    for (_, upper_ns), count in sorted(histogram.items()):
        below += count
        share = below / total
        if share >= wanted[0]:
            yield upper_ns / 1000, share
            wanted = [each for each in wanted if each > share]
        if not wanted:
            return
