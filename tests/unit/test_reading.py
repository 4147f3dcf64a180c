"""How to read a report: what occurs in its tables, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from natxy.report.campaign_html import how_to_read
from natxy.report.cell_figures import Place
from natxy.report.table_rows import CampaignTable, Row, Spread, Value

ONE = Value(number=1.0, text="1")


def table(*rows: Row) -> CampaignTable:
    return CampaignTable(title="t", columns=("a",), rows=rows)


def row(figure: str, spread: Spread | None = None, value: Value = ONE, **more: Any) -> Row:
    value = replace(value, spread=spread)
    return Row(name=figure, figure=figure, values=(value,), **more)


def test_what_does_not_occur_is_not_explained() -> None:
    assert how_to_read([table(row("throughput"))]) == {}


@pytest.mark.parametrize(
    ("shown", "marks"),
    [
        (row("throughput", value=Value(number=1.0, bound="lower")), {"≥ a"}),
        (row("frame loss rate", value=Value(number=1.0, bound="upper")), {"≤ a"}),
        (row("tear-down rate", value=Value(number=1.0, is_uncertain=True)), {"(a)"}),
        (row("IPDV"), {"IPDV"}),
        (row("PDV", direction="forward"), {"PDV", "→, ←"}),
        (row("typical latency"), {"typical latency"}),
        (row("first loss", value=Value(text="no valid trial")), {"first loss", "no valid trial"}),
    ],
)
def test_marks_and_terms_are_explained_once(shown: Row, marks: set[str]) -> None:
    assert set(how_to_read([table(shown, shown), table(shown)])) == marks


def spread(**changes: Any) -> Spread:
    known: dict[str, Any] = {"n": 3, "minimum": 1.0, "maximum": 2.0, "unit": "ns"}
    return Spread(**known | changes)


def test_the_parts_below_a_figure_are_explained() -> None:
    few = spread(planned=5, deviation=1.0, measured=True)
    marks = {"a figure", "[a … b]", "n = 1 of 5", "± a", "measured"}
    assert set(how_to_read([table(row("reset time", spread=few))])) == marks


@pytest.mark.parametrize("is_rate", [True, False])
def test_a_share_of_the_media_is_explained_at_rates_alone(is_rate: bool) -> None:
    """A latency is measured on media that have a rate as well."""
    place = Place(
        frame_size_bytes=64,
        foreground_percent=100,
        rate_fps=None if is_rate else 1000,
        theoretical_fps=1_488_095,
        directions="",
        octets=84 if is_rate else None,
        media_fps=1_488_095 if is_rate else None,
    )
    value = replace(ONE, place=place)
    shown = row("throughput" if is_rate else "median", spread=spread(), value=value)
    assert ("of the media" in how_to_read([table(shown)])) == is_rate


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["PDV"], "it can only be too long"),
        (["IPDV"], ""),
        (["PDV", "IPDV"], "a delay can only be too long"),
        (["first-packet latency", "throughput"], "a delay can only be too long"),
    ],
)
def test_an_error_that_only_lengthens_is_said_where_there_is_one(
    rows: list[str], said: str
) -> None:
    shown = [row(name, spread=spread(error=1.0)) for name in rows]
    assert how_to_read([table(*shown)])["error"].partition("; ")[2] == said


def test_percentage_points_are_explained_where_they_are() -> None:
    loss = row("frame loss rate", spread=spread(unit="%", error=23.78), unit="%")
    assert loss.values[0].spread is not None
    assert loss.values[0].spread.error_text == "error 23.8 points"
    assert "percentage points" in how_to_read([table(loss)])["error"]


@pytest.mark.parametrize(
    ("of", "said"),
    [(["mean"], "mean"), (["median"], "median"), (["mean", "median"], "or their mean")],
)
def test_what_the_repetitions_give_is_said(of: list[Any], said: str) -> None:
    rows = [row(f"figure {each}", spread=spread(), statistic=each) for each in of]
    assert said in how_to_read([table(*rows)])["a figure"]
