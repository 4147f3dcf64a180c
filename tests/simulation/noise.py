"""Absences of cores, as intervals on the time line of a trial."""

import math

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
SHORTEST_S, LONGEST_S = 1e-4, 1e-2  # the pieces of tools/noise
PERIOD_S = 1e-4  # of the watch's looks


def pieces(share: float, until_s: float, chance: np.random.Generator) -> Times:
    """Returns the absences (begin, end) of a core that loses a share of its time."""
    if not share:
        return np.empty((0, 2))
    mean_s = (LONGEST_S - SHORTEST_S) / math.log(LONGEST_S / SHORTEST_S)
    gap_s = mean_s * (1 - share) / share
    found: list[tuple[float, float]] = []
    at_s = -0.05
    while at_s < until_s:
        at_s += chance.exponential(gap_s)
        length_s = SHORTEST_S * (LONGEST_S / SHORTEST_S) ** chance.random()
        found.append((at_s, at_s + length_s))
        at_s += length_s
    return np.array(found)


def seen(absences: Times, chance: np.random.Generator) -> Times:
    """Returns what a watch sees of absences: each end to within a period, none below 1.5 periods.

    As upper bounds: from the last look before to the first look after.
    """
    long = absences[absences[:, 1] - absences[:, 0] >= 1.5 * PERIOD_S]
    blur = chance.random(long.shape) * PERIOD_S * np.array([-1.0, 1.0])
    return np.asarray(long + blur, dtype=np.float64)


class WorkTime:
    """The time that a core has worked by a moment, which stands still in its absences."""

    def __init__(self, absences: Times) -> None:
        begins, ends = absences[:, 0], absences[:, 1]
        lost = np.concatenate([[0.0], np.cumsum(ends - begins)])
        self._real = np.concatenate([[-1.0], np.column_stack([begins, ends]).ravel(), [1e4]])
        worked = np.concatenate([[-1.0], np.repeat(begins - lost[:-1], 2), [1e4 - lost[-1]]])
        self._worked = worked

    def at(self, times: Times) -> Times:
        return np.asarray(np.interp(times, self._real, self._worked), dtype=np.float64)

    def real(self, worked: Times) -> Times:
        """Returns the moments by which so much has been worked."""
        strictly = self._worked + np.arange(len(self._worked)) * 1e-12
        return np.asarray(np.interp(worked, strictly, self._real), dtype=np.float64)


def within(times: Times, intervals: Times) -> NDArray[np.bool_]:
    """Returns which times fall into one of the intervals, which are merged and in order."""
    if not len(intervals):
        return np.zeros(len(times), dtype=bool)
    place = np.searchsorted(intervals[:, 0], times, side="right") - 1
    found = (place >= 0) & (times <= intervals[np.maximum(place, 0), 1])
    return np.asarray(found, dtype=np.bool_)


def merged(intervals: Times) -> Times:
    """Returns the union of intervals, in order."""
    if not len(intervals):
        return intervals
    ordered = intervals[np.argsort(intervals[:, 0])]
    found: list[list[float]] = []
    for begin, end in ordered.tolist():
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return np.array(found)
