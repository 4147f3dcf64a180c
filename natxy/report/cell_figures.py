"""Figures of a campaign's cells, by measurement and column, as its tables and plots show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Self

from natxy.model.experiment import Experiment
from natxy.model.measurement import Conditions, ConnectionConditions, Figure, Measurement, Unit
from natxy.statistics import median

Variant = tuple[str, ...]
Key = tuple[str, ...]  # of a figure: the words of its series, its direction, name and point
RATES: tuple[Unit, ...] = ("fps", "cps")  # what a search finds
OVERHEAD_OCTETS = 20  # preamble, start of frame, gap between frames
IPV6_OCTETS = 20  # by which the header of IPv6 is longer than that of IPv4


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """The figures that a cell of the campaign found."""

    column: str
    measure: str
    round: int
    results: tuple[Measurement, ...]
    error: str = ""
    started: str = ""  # ISO 8601, UTC
    ended: str = ""  # empty: it was interrupted
    testbed: int = 1  # that measured it; 0: none has
    host: str = ""  # the name of the machine that measured it
    # What tells each result from the others of its measurement: "84 B, 50 % foreground"; empty:
    # they are told apart among themselves.
    series: tuple[str, ...] = ()
    summed: bool = False  # rates are the sum of both directions

    @property
    def told(self) -> list[tuple[str, Measurement]]:
        """The results, each with what tells it from the others."""
        words = self.series or told_apart(_variants(self))
        return list(zip(words, self.results, strict=True))


@dataclass(kw_only=True)
class ColumnFigures:
    """The figures of a measurement in one column, with the values of all rounds together."""

    figures: dict[Key, Figure] = field(default_factory=dict)
    connections: list[ConnectionConditions] = field(default_factory=list)  # of each result
    search_errors: dict[str, float] = field(default_factory=dict)  # largest, by the series' words
    places: dict[Key, list["Place"]] = field(default_factory=dict)  # one for each round
    planned: dict[Key, int] = field(default_factory=dict)  # repetitions of all rounds
    error: str = ""

    def place(self, key: Key) -> "Place | None":
        """Returns where a figure was measured in the last round."""
        return next(reversed(self.places.get(key, [])), None)

    def add(self, cell: CellResult) -> None:
        self.error = self.error or cell.error
        for series, result in cell.told:
            if result.conditions.connections is not None:
                self.connections.append(result.conditions.connections)
            of_search = result.conditions.search
            if of_search is not None and of_search.error_fps is not None:
                largest = max(of_search.error_fps, self.search_errors.get(series, 0))
                self.search_errors[series] = largest
            for figure in result.figures:
                key = (series, figure.direction or "", figure.name, figure.at)
                place = Place.of(result.conditions, figure, summed=cell.summed)
                self.places.setdefault(key, []).append(place)
                self.planned[key] = self.planned.get(key, 0) + planned(result, figure)
                known = self.figures.get(key)
                self.figures[key] = figure if known is None else together(known, figure)


def planned(result: Measurement, figure: Figure) -> int:
    """Returns how many repetitions of a figure there were to be, as the result's remarks say."""
    done = len(figure.values)
    for remark in (each for each in result.remarks if "lacking" in each.facts):
        asked, lacking = remark.facts["asked"], remark.facts["lacking"]
        is_at = not remark.where or f"{figure.at}, ".startswith(f"{remark.where}, ")
        if is_at and isinstance(asked, float) and asked - done == lacking:
            return int(asked)
    return done


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a figure was measured, as RFC 2544 section 26 and RFC 8219 ask to report, and what a
    rate of frames is on the wire there, of the side whose frames are longer."""

    frame_size_bytes: int
    foreground_percent: float
    rate_fps: float | None  # per direction; None: the figure is the rate
    theoretical_fps: int | None  # the media's rate, per direction; None: a medium has none
    directions: str  # that a rate of frames counts, as `rate_words` names them
    # Only of a rate of frames:
    octets: float | None  # of a frame, with preamble, start of frame and gap; None: not known
    media_fps: int | None  # for the directions that the rate counts; None: a medium has no rate

    @classmethod
    def of(cls, conditions: Conditions, figure: Figure, *, summed: bool) -> Self:
        of_all = None if figure.unit in RATES else conditions.rate_fps
        is_rate = figure.unit == "fps"
        both = summed and conditions.direction == "both" and figure.direction is None
        alone_fps = conditions.theoretical_fps
        # Tags and tunnels add to a frame, and no result says how much.
        is_plain = is_rate and not conditions.formats
        return cls(
            frame_size_bytes=conditions.frame_size_bytes,
            foreground_percent=conditions.foreground_percent,
            rate_fps=figure.rate_fps or of_all,
            theoretical_fps=alone_fps,
            directions=rate_words(conditions, figure, summed=summed),
            octets=_octets(conditions) + OVERHEAD_OCTETS if is_plain else None,
            media_fps=alone_fps * (1 + both) if is_rate and alone_fps is not None else None,
        )

    @classmethod
    def of_all(cls, places: "Sequence[Place]") -> "Place | None":
        """Returns the place of all rounds, with the median of their rates."""
        if not places:
            return None
        rates = [each.rate_fps for each in places if each.rate_fps is not None]
        return replace(places[0], rate_fps=median(rates) if rates else None)

    def wire_words(self, rate_fps: float) -> str:
        """Returns "0.17 Gbit/s, 11 % of the media" for a rate of frames, else nothing."""
        gbit_s = rate_fps * (self.octets or 0) * 8 / 1e9
        many = f"{gbit_s:.3g} Gbit/s" if gbit_s >= 0.001 else f"{gbit_s * 1e3:.3g} Mbit/s"
        bits = many if self.octets else ""
        share = f"{rate_fps / self.media_fps * 100:.3g} % of the media" if self.media_fps else ""
        return ", ".join(filter(None, (bits, share)))


def _octets(conditions: Conditions) -> float:
    """Returns the mean size of the frames; between two sides of IPv4, those of the foreground are
    smaller."""
    versions = (conditions.left_ip_version, conditions.right_ip_version)
    saved = 0.0 if 6 in versions else IPV6_OCTETS * conditions.foreground_percent / 100
    return conditions.frame_size_bytes - saved


def together(one: Figure, other: Figure) -> Figure:
    """Returns a figure with the values of both; bounds and errors stay with their values."""

    def bounds(figure: Figure, name: str) -> tuple[bool, ...]:
        return getattr(figure, name) or (False,) * len(figure.values)

    return one.model_copy(
        update={
            "values": (*one.values, *other.values),
            "lower_bound": (*bounds(one, "lower_bound"), *bounds(other, "lower_bound")),
            "upper_bound": (*bounds(one, "upper_bound"), *bounds(other, "upper_bound")),
            "errors": (*one.errors, *other.errors),
            "excused": (*one.excused, *other.excused),
            "found": one.found if one.found == other.found else "",
            "missing": one.missing if not (one.values or other.values) else "",
            "uncertain": one.uncertain or other.uncertain,
        }
    )


def doubled(figure: Figure) -> Figure:
    """Returns a rate per direction as the sum of both directions; its error doubles as well."""
    if figure.unit != "fps" or figure.direction is not None:
        return figure
    return figure.model_copy(
        update={
            "values": tuple(2 * value for value in figure.values),
            "errors": tuple(2 * error for error in figure.errors),
            "excused": tuple(2 * value for value in figure.excused),
        }
    )


def as_shown(experiment: Experiment, cells: Sequence[CellResult]) -> list[CellResult]:
    """Returns the cells as all tables, plots and lines show them.

    Rates are those that the experiment asks for: per direction, or the sum of both. Results of a
    series have the words that tell them apart, the same ones in all cells of a measurement.
    """
    both = {measure.name for measure in experiment.measure if measure.both_directions}
    of_measure: dict[str, list[CellResult]] = {}
    for cell in cells:
        of_measure.setdefault(cell.measure, []).append(cell)
    differ = {measure: _differences(of) for measure, of in of_measure.items()}
    return [
        replace(
            cell,
            results=tuple(
                in_directions(each, summed=cell.measure in both) for each in cell.results
            ),
            series=tuple(told_apart(_variants(cell), differ[cell.measure])),
            summed=cell.measure in both,
        )
        for cell in cells
    ]


def _variants(cell: CellResult) -> list[Variant]:
    return [variant_of(result.conditions) for result in cell.results]


def _differences(cells: Sequence[CellResult]) -> list[bool]:
    """Returns which parts of a variant differ within any of the cells."""
    found = [differing(_variants(cell)) for cell in cells if cell.results]
    return list(map(any, zip(*found, strict=True)))


def in_directions(result: Measurement, *, summed: bool) -> Measurement:
    """Returns a result with its rates per direction or, if `summed`, as the sum of both; if only
    one direction was active, its rate is the sum."""
    if not summed or result.conditions.direction != "both":
        return result
    conditions, search = result.conditions, result.conditions.search
    if search is not None and search.error_fps is not None:
        twice = search.model_copy(update={"error_fps": 2 * search.error_fps})
        conditions = conditions.model_copy(update={"search": twice})
    figures = tuple(map(doubled, result.figures))
    return result.model_copy(update={"conditions": conditions, "figures": figures})


def rate_words(conditions: Conditions, figure: Figure, *, summed: bool) -> str:
    """Returns which directions a rate in frames a second counts; empty for another unit."""
    if figure.unit != "fps":
        return ""
    if conditions.direction != "both":
        return f"{conditions.direction} only"
    # A rate of one direction is never doubled.
    return "sum of both directions" if summed and figure.direction is None else "per direction"


Found = Mapping[tuple[str, str], ColumnFigures]  # by the names of measurement and column


def found_figures(experiment: Experiment, cells: Sequence[CellResult]) -> Found:
    """Returns the figures of each measurement in each column, as its table shows them."""
    found: dict[tuple[str, str], ColumnFigures] = {}
    for cell in as_shown(experiment, cells):
        found.setdefault((cell.measure, cell.column), ColumnFigures()).add(cell)
    return found


def main_figure(of: ColumnFigures | None, name: str, direction: str = "") -> Figure | None:
    """Returns the first figure with values that has this name, or is a main one, and, if one is
    given, this direction."""
    figures = () if of is None else of.figures.values()
    fits = (each for each in figures if (each.name == name if name else each.primary))
    towards = (each for each in fits if direction in ("", each.direction))
    return next((figure for figure in towards if figure.values), None)


def variant_of(conditions: Conditions) -> Variant:
    bursts = conditions.search.burst_frames if conditions.search else 1
    return (
        f"{conditions.frame_size_bytes:,} B",
        f"{conditions.foreground_percent:g} % foreground",
        f"networks {conditions.networks}",
        "steady" if bursts == 1 else f"bursts of {bursts:,}",
    )


def differing(variants: Sequence[Variant]) -> list[bool]:
    """Returns which parts of the variants differ."""
    return [len(set(words)) > 1 for words in zip(*variants, strict=True)]


def told_apart(variants: Sequence[Variant], differ: Sequence[bool] = ()) -> list[str]:
    """Returns each variant's words without those that all have: "84 B, 50 % foreground".

    `differ` has the parts to show; by default those that differ. Equal ones get a number.
    """
    parts = differ or differing(variants)
    words = [", ".join(compress(each, parts)) for each in variants]
    return [
        " ".join(filter(None, (each, f"({words[:place].count(each) + 1})")))
        if words.count(each) > 1
        else each
        for place, each in enumerate(words)
    ]
