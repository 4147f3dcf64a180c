"""The rows and values of a campaign's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from natxy.model.measurement import Bound, PointUnit, Statistic, Unit
from natxy.model.trial_spec import Direction
from natxy.report.cell_figures import RATES, Place
from natxy.report.numbers import quantity

Notes = Mapping[str, tuple[str, ...]]  # by their headings; under "", what failed


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far the values of a figure lie apart, the largest error of one, the rate at which they
    were measured, and the benchmark on the wire."""

    n: int
    minimum: float
    maximum: float
    deviation: float | None = None  # the standard deviation, where the benchmark is the mean
    error: float | None = None
    unit: Unit
    planned: int = 0  # more than n where repetitions are lacking
    # The benchmark is a bound that contains an error, so that the values themselves lie elsewhere.
    measured: bool = False
    at: str = ""  # "at 9,000 fps"; empty: the row says it, or there is no rate
    wire: str = ""  # "0.17 Gbit/s, 11 % of the media"

    @property
    def parts(self) -> tuple[str, ...]:
        """The extremes, what tells how exact the benchmark is, and what else is known of it."""
        count = ", ".join(filter(None, (self.count, self.error_text)))
        known = ", ".join(filter(None, (self.at, self.wire)))
        return tuple(filter(None, (self.extremes, count, known)))

    @property
    def text(self) -> str:
        return ", ".join(self.parts)

    @property
    def count(self) -> str:
        """The number of repetitions: "n = 1 of 5" if there are fewer than planned."""
        return f"n = {self.n:,}" + f" of {self.planned:,}" * (self.n < self.planned)

    @property
    def extremes(self) -> str:
        """The extremes, where they differ as they are printed, and the standard deviation."""
        low, high = (quantity(value, self.unit) for value in (self.minimum, self.maximum))
        around = "" if self.deviation is None else f"± {quantity(self.deviation, self.unit)}"
        alone = low if self.measured else ""
        shown = f"[{low} … {high}]" if low != high else alone
        words = ("measured" * self.measured, shown, around if self.n > 1 else "")
        return " ".join(filter(None, words))

    @property
    def error_text(self) -> str:
        """The error; that of a percentage is a number of percentage points, not a share of it."""
        if not self.error:
            return ""
        is_share = self.unit == "%"
        return (
            f"error {f'{self.error:.3g} points' if is_share else quantity(self.error, self.unit)}"
        )


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value of the table, as a number and as text; no number: an error, or nothing measured."""

    number: float | None = None
    text: str = ""
    bound: Bound = "exact"
    is_uncertain: bool = False
    spread: Spread | None = None  # of a figure's values
    place: Place | None = None  # where a figure was measured
    below: tuple[str, ...] = ()  # of a summary, in small letters below the text

    @property
    def words(self) -> str:
        """The text with the spread: "398,518 [394,000 … 408,000], n = 4"."""
        if self.spread is None:
            return self.text
        return f"{self.text}{' ' if self.spread.extremes else ', '}{self.spread.text}"


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    values: tuple[Value, ...]  # one for each column
    unit: str = ""
    group: str = ""  # the measurement; empty: a condition, or computed
    series: str = ""  # what tells the results of a series apart: "84 B, 50 % foreground"
    rates: str = ""  # which directions a rate counts: "per direction"
    kind: str = ""  # of a computed row: "relative scale-up"
    figure: str = ""  # the name of a figure, without its direction and its point
    direction: Direction | None = None
    point: str = ""  # of a series: "84 B, 90 % (900,000 fps)"
    point_unit: PointUnit | None = None  # of what the point begins with
    rate_fps: int = 0  # that the point names
    statistic: Statistic | None = None  # that is the benchmark of a figure

    @property
    def title(self) -> str:
        """The name, with the unit of a rate or of a memory: others stand beside their values."""
        has_unit = self.unit in (*RATES, "octets")
        unit = " ".join(filter(None, (self.unit, self.rates))) if has_unit else ""
        mean = "mean" if self.statistic == "mean" else ""
        return ", ".join(filter(None, (self.name, unit, mean)))


def named(figure: str, point: str, unit: PointUnit | None) -> str:
    """Returns a figure's name with its point: "tear-down rate of 2,000 connections"."""
    of = "of" if unit == "connections" else ""
    return " ".join(filter(None, (figure, of, point)))


@dataclass(frozen=True, kw_only=True)
class CampaignTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: Notes = field(default_factory=dict)
    warning: str = ""  # before anything else
