"""The rows and values of a campaign's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from natxy.model.measurement import Bound, Statistic, Unit
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
    bound: Bound = "exact"  # of the benchmark
    at: str = ""  # "at 9,000 fps"; empty: the row says it, or there is no rate
    wire: str = ""  # "0.17 Gbit/s, 11 % of the media"

    @property
    def parts(self) -> tuple[str, ...]:
        """The extremes, what tells how exact the benchmark is, and what else is known of it."""
        count = ", ".join(filter(None, (f"n = {self.n:,}", self.error_text)))
        known = ", ".join(filter(None, (self.at, self.wire)))
        return tuple(filter(None, (self.extremes, count, known)))

    @property
    def text(self) -> str:
        return ", ".join(self.parts)

    @property
    def extremes(self) -> str:
        """The extremes, where they differ as they are printed, and the standard deviation."""
        low, high = (quantity(value, self.unit) for value in (self.minimum, self.maximum))
        around = "" if self.deviation is None else f"± {quantity(self.deviation, self.unit)}"
        # The values themselves may be above an upper bound: they have their errors.
        measured = "measured " if self.bound == "upper" else ""
        words = (f"{measured}[{low} … {high}]" if low != high else "", around if self.n > 1 else "")
        return " ".join(filter(None, words))

    @property
    def error_text(self) -> str:
        return f"error {quantity(self.error, self.unit)}" if self.error else ""


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value of the table, as a number and as text; no number: an error, or nothing measured."""

    number: float | None = None
    text: str = ""
    bound: Bound = "exact"
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
    statistic: Statistic | None = None  # that is the benchmark of a figure

    @property
    def title(self) -> str:
        """The name, with the unit of a rate or of a memory: others stand beside their values."""
        has_unit = self.unit in (*RATES, "octets")
        unit = " ".join(filter(None, (self.unit, self.rates))) if has_unit else ""
        mean = "mean" if self.statistic == "mean" else ""
        return ", ".join(filter(None, (self.name, unit, mean)))


@dataclass(frozen=True, kw_only=True)
class CampaignTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: Notes = field(default_factory=dict)
    warning: str = ""  # before anything else
