"""The distributions of delays in a campaign, from the histograms of its trials."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from natxy.campaign.plan import CampaignPlan
from natxy.model.measurement import Measurement

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
    """The histograms of valid trials, added up by cell, direction and rate."""

    found: dict[tuple[str, str, int], Histogram] = field(default_factory=dict)

    def add(self, cell: str, trial: dict[str, Any]) -> None:
        """Adds a trial's record of the journal."""
        for stream in trial["result"]["streams"]:
            place = (cell, stream["direction"], trial["rate_fps"])
            histogram = self.found.setdefault(place, {})
            for kind in stream["kinds"].values():
                for lower_ns, upper_ns, count in kind["delay"]["buckets"] if kind else ():
                    bucket = (lower_ns, upper_ns)
                    histogram[bucket] = histogram.get(bucket, 0) + count

    def curves(
        self, plan: CampaignPlan, results: Mapping[str, Sequence[Measurement]]
    ) -> Iterator[DelayCurve]:
        """Yields the curves of each measurement of delays, at the rate at which it took place.

        The trials of the search for that rate do not count. `results` has those of each cell.
        """
        together: dict[tuple[str, str, str], Histogram] = {}
        for cell in plan.cells:
            if cell.measure.command not in MEASURES_DELAYS:
                continue
            rates = {result.conditions.rate_fps for result in results.get(cell.key, ())}
            for (key, direction, rate_fps), histogram in self.found.items():
                if key != cell.key or rate_fps not in rates:
                    continue
                of = (cell.column.label, cell.measure.name, direction)
                into = together.setdefault(of, {})
                for bucket, count in histogram.items():
                    into[bucket] = into.get(bucket, 0) + count
        for (column, measure, direction), histogram in together.items():
            if histogram:
                points = tuple(_cumulative(histogram))
                yield DelayCurve(column=column, measure=measure, direction=direction, points=points)


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
