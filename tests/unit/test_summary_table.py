"""The summary of a campaign: a row for each figure, ten at most, and both directions in one."""

from dataclasses import replace
from typing import Any

import pytest

from natxy.model.measurement import Bound
from natxy.model.trial_spec import Direction
from natxy.report.campaign_text import summary_text
from natxy.report.summary_table import MOST_ROWS, summary_table
from natxy.report.table_rows import CampaignTable, Notes, Row, Spread, Value


def row(
    figure: str, *texts: str, point: str = "", way: Direction | None = None, **more: Any
) -> Row:
    values = tuple(Value(number=1.0, text=text) for text in texts)
    known = {"group": "measured", "figure": figure, "point": point, "direction": way}
    return Row(name=f"{figure} {point}", values=values, **{**known, **more})


def table(*rows: Row, notes: Notes | None = None) -> CampaignTable:
    columns = tuple("ab"[: len(rows[0].values)])
    return CampaignTable(title="t", columns=columns, rows=rows, notes=notes or {})


def summed_up(*rows: Row) -> list[tuple[str, list[str]]]:
    found = summary_table(table(*rows)).rows
    return [(each.title, [value.text for value in each.values]) for each in found]


def test_a_figure_has_one_row_with_both_directions() -> None:
    rows = [row("PDV", "3 µs", "5 µs", way="forward"), row("PDV", "4 µs", "5 µs", way="reverse")]
    assert summed_up(*rows) == [("PDV", ["→ 3 µs\n← 4 µs", "5 µs"])]


def series(points: int, *ways: Direction) -> list[Row]:
    """Rows of 0 % at the first point, 1 % at the second, and so on."""
    return [
        row("loss", f"{place} %", point=f"{place + 1}000 fps", rate_fps=(place + 1) * 1000, way=way)
        for place in range(points)
        for way in ways
    ]


def test_each_point_of_a_short_series_has_a_row() -> None:
    rows = series(MOST_ROWS, "forward", "reverse")
    assert len(summed_up(*rows)) == MOST_ROWS
    assert summed_up(*rows)[1] == ("loss 2000 fps", ["1 %"])


def test_a_long_series_has_its_first_point_and_its_last() -> None:
    rows = series(MOST_ROWS + 1, "forward", "reverse")
    assert summed_up(*rows) == [("loss 1000 fps … 11000 fps", ["0 % … 10 %"])]


def lost(number: float | None, bound: Bound = "exact") -> Value:
    return Value(number=number, text="" if number is None else f"{number} %", bound=bound)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([lost(0), lost(3), lost(50)], "between 1,000 and 2,000 fps"),
        ([lost(0), lost(3, "upper"), lost(50)], "between 1,000 and 3,000 fps"),
        ([lost(None), lost(3), lost(50)], "at or below 2,000 fps"),
        (
            [lost(0), lost(3, "upper"), lost(50, "upper")],
            "none up to 1,000 fps, unknown above",
        ),
        ([lost(3, "upper"), lost(0), lost(0)], "unknown"),
        ([lost(0), lost(0), lost(None)], "none up to 2,000 fps"),
        ([lost(None), lost(None), lost(None)], ""),
    ],
)
def test_it_says_at_which_rate_a_gateway_loses_first(values: list[Value], said: str) -> None:
    """An upper bound may be of a loss that there is not."""
    losses = [
        replace(
            row("frame loss rate", "", point=f"{place}000 fps"),
            values=(value,),
            rate_fps=place * 1000,
        )
        for place, value in enumerate(values, start=1)
    ][::-1]  # as RFC 2544 has it: from the highest rate down
    others = [row(f"figure {number}", "1") for number in range(8)]
    found = dict(summed_up(*losses, *others))
    assert found["first loss"] == [said]


def test_conditions_and_what_is_computed_are_left_out() -> None:
    others = (row("", "4"), row("", "0.9", kind="relative scale-up"))
    assert summed_up(row("throughput", "1,000"), *others) == [("throughput", ["1,000"])]


def test_a_measurement_that_failed_everywhere_is_named() -> None:
    failed = Row(name="latency", values=(Value(text="failed"),), group="latency", figure="latency")
    assert summed_up(row("throughput", "1,000"), failed)[1] == ("latency", ["failed"])


def test_there_are_ten_rows_at_most() -> None:
    """Of more figures, each measurement has its first."""
    rows = [
        row(f"figure {number}", "1", group=f"measure {number // 2}")
        for number in range(MOST_ROWS + 2)
    ]
    found = summed_up(*rows)
    assert [title for title, _ in found] == [f"figure {number}" for number in range(0, 12, 2)]
    many = [row(f"figure {number}", "1", group=str(number)) for number in range(30)]
    assert len(summed_up(*many)) == MOST_ROWS
    assert summed_up(*many)[-1][0] == "… 21 more"


def test_where_each_gateway_loses_first_pushes_no_measurement_out() -> None:
    losses = [
        row("frame loss rate", "0 %", point=f"{fps} fps", rate_fps=fps, group=f"measure {number}")
        for number in range(6)
        for fps in (1000, 2000)
    ]
    assert [title for title, _ in summed_up(*losses)] == ["frame loss rate 1000 fps … 2000 fps"] * 6


def test_the_repetitions_are_below_a_figure_in_small_letters() -> None:
    spread = Spread(n=3, minimum=1000.0, maximum=3000.0, unit="ns")
    ways: tuple[Direction, ...] = ("forward", "reverse")
    rows = [
        replace(row("PDV", "", way=way), values=(Value(number=1.0, text=way, spread=spread),))
        for way in ways
    ]
    (found,) = summary_table(table(*rows)).rows
    assert found.values[0].below == ("→ [1 µs … 3 µs] n = 3", "← [1 µs … 3 µs] n = 3")


def test_a_terminal_has_a_line_for_each_direction_and_why_a_cell_failed() -> None:
    rows = [row("PDV", "3 µs", "5 µs", way="forward"), row("PDV", "14 µs", "5 µs", way="reverse")]
    notes = {"": ("latency failed: it died",), "Notes": ("The rate was given.",)}
    assert summary_text(table(*rows, notes=notes)).splitlines() == [
        "t",
        "",
        "           a     b",
        "PDV   → 3 µs  5 µs",
        "     ← 14 µs",
        "",
        "latency failed: it died",
    ]
