"""The change of a figure between two gateways, with an interval in which it lies.

A campaign is one sample. Its repetitions share the state of the machine, which changes from run to
run, so their number says little about how exact their median is. The variance of a campaign is

- what runs of one gateway are known to differ by (`run_variation`, a standard deviation),
- plus the variance of the repetitions, divided by the number of rounds, not of repetitions.

Several campaigns of a gateway show how much its runs differ. If that is more, it is pooled with the
variance above, which counts like `KNOWN` degrees of freedom. The interval is that of Student's t.

If nothing is known of the machine (`run_variation` is None), the campaigns alone say how much runs
differ, with as many degrees of freedom as they have; but not less than their repetitions would if
they had nothing in common. So the interval is right on a machine of any noise.

If the trials of two campaigns alternated, those are a pair: what the machine did then met both, and
only the differences of pairs vary.

Errors that a figure states (of its search, of the timing) are the same in all campaigns: they are
added, as uniform distributions, and no number of campaigns makes them smaller.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

from natxy.model.measurement import Figure
from natxy.statistics import student_p, student_t

KNOWN = 10  # degrees of freedom
LEAST_RUNS = 2  # of each gateway, if they are to show how much runs differ
MISSED = 0.1  # of the changes that `runs_for` looks for
MOST_RUNS = 100  # of each gateway: nobody measures more


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The values of a figure in one campaign."""

    figure: Figure
    rounds: int = 1
    search_error: float = 0.0  # in the figure's unit
    is_noisy: bool = False  # it is a bound, and only because of noise

    @property
    def stated_error(self) -> float:
        return max(self.search_error, self.figure.benchmark_error)


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change, as a difference of logarithms or, of a figure that may be 0 or less, of values."""

    before: float
    after: float
    logarithmic: bool
    error: float  # standard error of the difference
    freedom: int
    run_error: float  # standard deviation from campaign to campaign
    stated_error: float  # a part of `error`, which no number of campaigns makes smaller
    open_below: bool  # a bound leaves open how much lower the change is
    open_above: bool
    paired: bool = False

    @property
    def difference(self) -> float:
        if self.logarithmic:
            return math.log(self.after / self.before)
        return self.after - self.before

    @property
    def share(self) -> float:
        """(after - before) / |before|; infinite if only `before` is 0."""
        return self._share(self.difference)

    @property
    def p(self) -> float:
        """The probability of such a difference between equal gateways (two-sided)."""
        beyond = self.open_below if self.difference > 0 else self.open_above
        if beyond or not self.difference:
            return 1.0
        return student_p(self.difference / self.error, self.freedom) if self.error else 0.0

    def interval(self, level: float) -> tuple[float, float]:
        """Returns the shares between which the change lies, except with this probability."""
        half = student_t(level, self.freedom) * self.error
        lowest = -1.0 if self.logarithmic else -math.inf
        return (
            lowest if self.open_below else self._share(self.difference - half),
            math.inf if self.open_above else self._share(self.difference + half),
        )

    def runs_for(self, share: float, level: float) -> int | None:
        """Returns how many campaigns of each gateway find a change by this share, except for one
        of ten; None: not even `MOST_RUNS` do.

        `level` is the probability with which gateways that are equal are told apart.
        """
        looked_for = math.log1p(share) if self.logarithmic else share * abs(self.before)

        def finds(runs: int) -> bool:
            error = math.sqrt(2 * self.run_error**2 / runs + self.stated_error**2)
            freedom = runs - 1 if self.paired else 2 * runs - 2
            return (student_t(level, freedom) + student_t(2 * MISSED, freedom)) * error < looked_for

        found = 2 + bisect_left(range(2, MOST_RUNS + 1), True, key=finds)
        return found if found <= MOST_RUNS else None

    def _share(self, difference: float) -> float:
        if self.logarithmic:
            return math.expm1(difference)
        if not difference:
            return 0.0
        return difference / abs(self.before) if self.before else math.copysign(math.inf, difference)


def that_count(samples: list[Sample]) -> list[Sample]:
    """Returns the campaigns without those that noise has left with a bound, if they are at most
    half of them, and `LEAST_RUNS` others are left."""
    others = [each for each in samples if not each.is_noisy]
    return others if len(others) >= max(LEAST_RUNS, len(samples) / 2) else samples


def change_of(
    before: Sequence[Sample],
    after: Sequence[Sample],
    run_variation: float | None,
    *,
    paired: bool = False,
) -> Change:
    """Returns the change from campaigns of one gateway to those of another.

    `run_variation` is the standard deviation from run to run, as a share; None: it is not known,
    and there are more than one campaign of each. `paired`: it is not known, and each campaign was
    measured together with one of the other gateway.
    """
    samples = [*before, *after]
    logarithmic = samples[0].figure.unit != "%" and all(
        value > 0 for each in samples for value in each.figure.values
    )
    scale = math.log if logarithmic else float
    sides = [[scale(each.figure.benchmark) for each in side] for side in (before, after)]
    observed = [value - _mean(side) for side in sides for value in side]
    if paired:  # a campaign varies half as much as the difference of two
        differences = list(map(sub, *sides))
        observed = [(each - _mean(differences)) / math.sqrt(2) for each in differences]
    unit = 1.0 if logarithmic else _size(samples)
    within = _within(samples, logarithmic=logarithmic)
    if paired:  # nothing but the differences shows how much they vary
        known, variance = 0, 0.0
    elif run_variation is None:
        known, variance = 0, within * _per_value(samples)
    else:
        known, variance = KNOWN, (run_variation * unit) ** 2 + within * _per_round(samples)
    freedom = len(before) - 1 if paired else known + len(samples) - 2
    pooled = (known * variance + math.fsum(x * x for x in observed)) / freedom
    wider = max(variance, pooled)
    stated = sum(_stated(side, logarithmic=logarithmic) ** 2 / 3 for side in (before, after))
    low, high = zip(*(_open(side) for side in (before, after)), strict=True)
    return Change(
        before=_mean([each.figure.benchmark for each in before]),
        after=_mean([each.figure.benchmark for each in after]),
        logarithmic=logarithmic,
        error=math.sqrt(wider * (1 / len(before) + 1 / len(after)) + stated),
        freedom=freedom,
        run_error=math.sqrt(wider),
        stated_error=math.sqrt(stated),
        open_below=high[0] or low[1],
        open_above=low[0] or high[1],
        paired=paired,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _size(samples: Sequence[Sample]) -> float:
    """Returns what 100 % of the run variation are: all frames, if the figure is a share of them."""
    if samples[0].figure.unit == "%":
        return 100.0
    return max(abs(each.figure.benchmark) for each in samples)


def _within(samples: Sequence[Sample], *, logarithmic: bool) -> float:
    """Returns the variance of the repetitions, as a mean of all samples."""
    squares, freedom = 0.0, 0
    for each in samples:
        values = [math.log(x) if logarithmic else x for x in each.figure.values]
        squares += math.fsum((value - _mean(values)) ** 2 for value in values)
        freedom += len(values) - 1
    return squares / freedom if freedom else 0.0


def _per_round(samples: Sequence[Sample]) -> float:
    return sum(1 / each.rounds for each in samples) / len(samples)


def _per_value(samples: Sequence[Sample]) -> float:
    return sum(1 / len(each.figure.values) for each in samples) / len(samples)


def _stated(side: Sequence[Sample], *, logarithmic: bool) -> float:
    return max(
        each.stated_error / each.figure.benchmark if logarithmic else each.stated_error
        for each in side
    )


def _open(side: Sequence[Sample]) -> tuple[bool, bool]:
    """Returns whether a value may be lower, and whether it may be higher."""
    bounds = {each.figure.benchmark_bound for each in side}
    return "upper" in bounds, "lower" in bounds
