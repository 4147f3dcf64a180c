"""What the drawings of all plots share: sizes, colours, labels, and where a plot is shown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from natxy.report.charts import Chart, Rows

LARGE = 10_000  # from here on, an axis has 20k in place of 20,000
DATA = alt.NamedData("rows")  # the page has them once
ROW_PX, VALUE_PX = 34, 20  # of a label with two lines, and of a value, in a plot of dots
LINE_PX = 13  # of a label
COLOUR = "#4c78a8"  # the first one of Vega's, where nothing is told apart
HEIGHT_PX = 260
PANEL_PX = 200  # the height of a panel, of which a plot may have several
MOST_POWERS = 4  # of ten, between which a panel has room for labels
MOST_PANELS = 12  # of a picture, so that it fits a page
LONGEST_LABEL_PX = 300  # Vega would cut a label at 180
LONGEST_SHORT = 24  # letters of a legend's label that leave room for another one beside it
LINES = "split(datum.label, ', ')"  # a label has a line for each of its parts
# So that a point at the end of an axis is whole: a plot that can be zoomed cuts what lies outside.
ROOM: dict[str, Any] = {"padding": 8, "nice": False}


@dataclass(frozen=True, kw_only=True)
class Look:
    """Where a plot is shown: in the page, which has legends and lets a reader choose what is shown,
    or alone, as a picture with all of it."""

    is_alone: bool = False
    width_px: int = 0  # of a picture, with its labels
    font_px: int
    ink: str = "#000"  # of letters in a plot; an axis has its own

    @property
    def width(self) -> int | str:
        return self.width_px or "container"

    @property
    def columns(self) -> int:
        """The number of panels side by side; the page takes what fits."""
        return 1 if self.is_alone else 2

    @property
    def panel_px(self) -> int:
        """The width of a panel beside its labels; the page replaces it."""
        return max(self.width_px - 80, 100) if self.is_alone else 300

    def legend(self, names: Sequence[str]) -> Any:
        """Returns the legend of a picture; none if there is nothing to tell apart."""
        if not self.is_alone or len(names) < 2:
            return None
        columns = 1 if max(map(len, names)) > LONGEST_SHORT else 2
        return alt.Legend(orient="bottom", title=None, columns=columns, labelLimit=LONGEST_LABEL_PX)


# 7 pt on paper, where a plot is a little smaller. The page has one colour in each theme.
PAGE = Look(font_px=11, ink="currentColor")


def number_format(largest: float, unit: str = "") -> str:
    """Returns the format of an axis; a unit with a prefix of its own gets no second one."""
    return "~s" if largest >= LARGE and unit not in ("µs", "%") else ",~r"


def values_of(field: str, chart: Chart) -> list[Any]:
    """Returns the values of a field, in their order."""
    return list(dict.fromkeys(row[field] for row in chart.rows))


def shown(names: list[Any]) -> list[Any]:
    """Returns the values of which a picture has a panel each."""
    return names[:MOST_PANELS]


def colour(field: str, chart: Chart, look: Look) -> alt.Color:
    legend = look.legend(values_of(field, chart))
    return alt.Color(f"{field}:N", legend=legend, sort=None)


def dashes(chart: Chart) -> dict[str, Any]:
    """Returns the encoding by which a line of reverse, which is nearly that of forward, does not
    hide it; none if there is only one of them."""
    ways = ["forward", "reverse"]
    if any(way not in {row.get("direction") for row in chart.rows} for way in ways):
        return {}
    scale = alt.Scale(domain=ways, range=[[1, 0], [6, 3]])
    return {"strokeDash": alt.StrokeDash("direction:N", legend=None, scale=scale)}


def sized(drawn: Any, look: Look, height: int = HEIGHT_PX) -> Any:
    """Returns a drawing as wide as its place, with room for half of the last label of the x axis,
    laid out anew whenever what is shown changes."""
    return drawn.properties(
        width=look.width,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding", resize=True),
        padding={"left": 5, "top": 5, "right": 16, "bottom": 5},
    )


def panels(
    drawn: Any, field: str, chart: Chart, look: Look, height: int = PANEL_PX, room_px: int = 0
) -> Any:
    """Returns a drawing with a panel for each value of a field, and room above each."""
    header = alt.Header(
        title=None,
        labelFontSize=look.font_px + 1,
        labelLimit=LONGEST_LABEL_PX,
        labelPadding=10 + room_px,
    )
    facet = alt.Facet(f"{field}:N", header=header, sort=values_of(field, chart))
    sized_anew = drawn.properties(width=look.panel_px, height=height)
    # The last label of an axis and the first one of the next panel stand apart.
    return sized_anew.facet(facet, columns=look.columns).properties(
        spacing={"row": 20, "column": 40}
    )


def steps(values: Sequence[float]) -> list[float]:
    """Returns 1, 2 and 5 times powers of ten from below the lowest to above the highest value, so
    that an axis of logarithms has labels at both ends; only the powers, if they are many."""
    known = [value for value in values if value > 0] or [1.0]
    first, last = math.floor(math.log10(min(known))), math.ceil(math.log10(max(known)))
    kinds = (1, 2, 5) if last - first <= MOST_POWERS else (1,)
    found = [step * 10.0**power for power in range(first, last + 2) for step in kinds]
    below = [step for step in found if step <= min(known)][-1:]
    above = [step for step in found if step > max(known)][:1]
    return [*below, *(step for step in found if min(known) < step <= max(known)), *above]


def choice(name: str, rows: Rows) -> alt.Parameter:
    """Returns the parameter with which a reader chooses one value of a field."""
    values = list(dict.fromkeys(row[name] for row in rows))
    bind = alt.binding_select(options=values, name="Show ")
    return alt.param(name=f"chosen_{name}", value=values[0] if values else "", bind=bind)


def zoom() -> alt.Parameter:
    return alt.selection_interval(name="zoom", bind="scales")
