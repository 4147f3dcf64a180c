"""Tests of what was found for a figure: it is shown, but is no part of the keys that pool."""

import csv
import io
import json
from typing import Any

import pytest

from natxy.model.measurement import Figure
from natxy.report.campaign_table import campaign_table
from natxy.report.cell_figures import CellResult
from natxy.report.comparison import compared, missing
from natxy.report.figure_charts import figure_charts
from natxy.report.found_words import found
from natxy.report.result_text import headline
from natxy.report.results_csv import results_csv
from natxy.report.table_rows import CampaignTable
from tests.unit.campaign_report import SCALE_UP, TESTBEDS
from tests.unit.measurement_report import measurement

COLUMNS = ("1 cores", "2 cores")


def rate(value: float, **more: Any) -> Figure:
    return Figure(name="throughput", unit="fps", values=(value,), **more)


def cell(round_: int, *figures: Figure, column: str = COLUMNS[0]) -> CellResult:
    result = measurement(procedure="throughput", figures=figures)
    return CellResult(
        column=column,
        measure="throughput",
        round=round_,
        results=(result,),
        started="2026-01-01T00:00:00+00:00",
    )


def table(*cells: CellResult) -> CampaignTable:
    return campaign_table(SCALE_UP, TESTBEDS, cells)


def rounds(*found: str) -> list[CellResult]:
    """Returns a cell for each round, with two figures at whose points this was found."""
    return [
        cell(
            number,
            rate(1000.0 * number, at="1 flow", found=each),
            rate(10.0 * number, at="10 flows", found=each),
        )
        for number, each in enumerate(found, start=1)
    ]


def test_rounds_that_found_other_rates_are_pooled() -> None:
    cells = rounds("at 900 fps", "at 901 fps", "at 899 fps")
    rows = {row.name: row.values[0].text for row in table(*cells).rows}
    assert rows["throughput 1 flow"] == "4,000", "the sum of both directions"
    assert rows["throughput 10 flows"] == "40"
    assert not [name for name in rows if "at 9" in name]
    (chart,) = figure_charts(COLUMNS[:1], cells)
    assert [(row["at"], row["n"]) for row in chart.rows] == [("1 flow", 3), ("10 flows", 3)]


def test_campaigns_that_found_other_rates_are_compared() -> None:
    before, after = rounds("at 900 fps"), rounds("at 901 fps")
    assert [each.figure for each in compared([before], [after])] == [
        "throughput 1 flow",
        "throughput 10 flows",
    ]
    assert not list(missing(before, after))


def test_a_row_shows_what_was_found_if_it_is_one_thing() -> None:
    names = [row.name for row in table(*rounds("at 900 fps", "at 900 fps")).rows]
    assert "throughput 1 flow, at 900 fps" in names


def test_parentheses_stand_at_the_value_that_is_uncertain() -> None:
    """Only the value of one round in one column is uncertain; the row is the same."""
    cells = [
        cell(1, rate(1000.0)),
        cell(2, rate(1000.0, uncertain=True)),
        cell(1, rate(2000.0), column=COLUMNS[1]),
    ]
    (row,) = (row for row in table(*cells).rows if row.name == "throughput")
    assert [value.text for value in row.values] == ["(2,000)", "4,000", ""]
    assert row.values[0].number == 2000


UNCERTAIN = rate(1000.0, at="1 flow", found="at 900 fps", uncertain=True)


def test_a_person_sees_it_beside_the_figure() -> None:
    result = measurement(figures=(UNCERTAIN,))
    assert headline([result], 160).startswith("Throughput  (1,000) fps per direction")
    assert found([result], summed=False) == [
        "(throughput) 1 flow, at 900 fps 1,000 fps per direction (0.832 Mbit/s)"
    ]


def test_files_have_it_as_members_of_their_own() -> None:
    (row,) = csv.DictReader(io.StringIO(results_csv([measurement(figures=(UNCERTAIN,))])))
    assert (row["figure"], row["at"]) == ("throughput", "1 flow")
    assert (row["found"], row["uncertain"]) == ("at 900 fps", "yes")
    (row,) = csv.DictReader(io.StringIO(results_csv([measurement(figures=(rate(1.0),))])))
    assert (row["found"], row["uncertain"]) == ("", "no")
    (chart,) = figure_charts(COLUMNS[:1], [cell(1, UNCERTAIN)])
    assert [row["uncertain"] for row in chart.rows] == [True]


@pytest.mark.parametrize(("lower", "bound"), [(True, "lower"), (False, "exact")])
def test_the_data_of_a_plot_say_that_a_median_is_a_bound(lower: bool, bound: str) -> None:
    figure = rate(1000.0).model_copy(update={"lower_bound": (lower,)})
    (chart,) = figure_charts(COLUMNS[:1], [cell(1, figure)])
    assert [row["bound"] for row in chart.rows] == [bound]


@pytest.mark.parametrize("name", ["found", "uncertain"])
def test_a_figure_of_before_is_still_read(name: str) -> None:
    old = rate(1.0).model_dump(mode="json")
    del old[name]
    assert Figure.model_validate_json(json.dumps(old)) == rate(1.0)
