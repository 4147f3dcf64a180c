"""The distributions of delays in a campaign, from the histograms of its trials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from natxy.campaign.plan import CampaignPlan

MEASURES_DELAYS = ("latency", "pdv", "ipdv")
POINTS = 120  # of a curve; the tail has half of them
Histogram = dict[tuple[float, float], int]  # frames by the ends of their bucket, in nanoseconds
Histograms = dict[tuple[str, str, str], Histogram]  # by the cell's key, series and direction


@dataclass(frozen=True, kw_only=True)
class DelayCurve:
    """The distribution of delays in a column, of one direction, over all its rounds."""

    column: str
    measure: str
    series: str  # what tells a result from the others of its cell: "84 B"
    direction: str
    points: tuple[tuple[float, float], ...]  # delay in microseconds, share of the frames
    buckets: tuple[tuple[float, float, int], ...]  # sorted: both ends in nanoseconds, frames


def add_delays(found: Histograms, cell: str, trial: dict[str, Any], series: str = "") -> None:
    """Adds a trial's record of the journal."""
    for stream in trial["result"]["streams"]:
        histogram = found.setdefault((cell, series, stream["direction"]), {})
        for kind in stream["kinds"].values():
            for lower_ns, upper_ns, count in kind["delay"]["buckets"] if kind else ():
                bucket = (lower_ns, upper_ns)
                histogram[bucket] = histogram.get(bucket, 0) + count


def curves_of(found: Histograms, plan: CampaignPlan) -> Iterator[DelayCurve]:
    """Yields the curves of each measurement of delays, by the columns of the experiment."""
    labels = [column.label for column in plan.experiment.columns]
    together: dict[tuple[str, str, str, str], Histogram] = {}
    for cell in sorted(plan.cells, key=lambda cell: labels.index(cell.column.label)):
        for (key, series, direction), histogram in found.items():
            if key != cell.key:
                continue
            of = (cell.column.label, cell.measure.name, series, direction)
            into = together.setdefault(of, {})
            for bucket, count in histogram.items():
                into[bucket] = into.get(bucket, 0) + count
    for (column, measure, series, direction), histogram in together.items():
        if histogram:
            yield DelayCurve(
                column=column,
                measure=measure,
                series=series,
                direction=direction,
                points=tuple(_cumulative(histogram)),
                buckets=tuple((*ends, count) for ends, count in sorted(histogram.items())),
            )


def own_trials(numbers: Sequence[int], measurements: int) -> set[int]:
    """Returns the trials of the measurements themselves, by their places in `numbers`.

    A measurement may search first, for its rate or for that of phase 1.
    """
    return {place for parts in _parts(numbers, measurements) for place in parts[-1]}


def measurements_of(numbers: Sequence[int], measurements: int) -> dict[int, int]:
    """Returns the measurement, from 0, of each trial, that of its searches included; by the trials'
    places in `numbers`."""
    return {
        place: measurement
        for measurement, parts in enumerate(_parts(numbers, measurements))
        for part in parts
        for place in part
    }


def _parts(numbers: Sequence[int], measurements: int) -> list[list[range]]:
    """Returns the places of the searches of each measurement, and last those of its own trials.

    The numbers of trials start at 1 in each search and in each measurement, and measurements of one
    command have equally many searches. Empty: they have not, so nothing is known.
    """
    begins = [place for place, number in enumerate(numbers) if number == 1]
    if not begins or not measurements or len(begins) % measurements:
        return []
    step = len(begins) // measurements
    parts = list(map(range, begins, (*begins[1:], len(numbers))))
    return [parts[first : first + step] for first in range(0, len(parts), step)]


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
