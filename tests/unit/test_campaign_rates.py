"""Rates of a campaign's table and plots: of one direction, or the sum of both."""

import pytest

from natxy.model.measurement import Figure, Measurement, SearchConditions
from natxy.report.campaign_table import campaign_table
from natxy.report.cell_figures import CellResult, as_shown
from natxy.report.figure_charts import figure_charts
from tests.unit.campaign_report import SCALE_UP, TESTBEDS, cell, measurement

ONE = "1 cores"


def towards(direction: str, *values: float) -> Measurement:
    """A throughput of 84 B frames in this direction, or in both."""
    result = measurement(*values)
    conditions = result.conditions.model_copy(update={"direction": direction})
    return result.model_copy(update={"conditions": conditions})


@pytest.mark.parametrize(
    ("direction", "sum_fps"), [("both", 2000), ("forward", 1000), ("reverse", 1000)]
)
def test_the_sum_of_both_directions_is_that_of_the_active_ones(
    direction: str, sum_fps: int
) -> None:
    """MP Table 15 adds up active directions: a rate of one direction is not doubled."""
    result = towards(direction, 1000.0)
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    table = campaign_table(SCALE_UP, TESTBEDS, cells)
    shown = {row.name: row.values[0] for row in table.rows}
    assert shown["throughput median"].text == f"{sum_fps:,}"
    (chart,) = figure_charts(table.columns, as_shown(SCALE_UP, cells))
    assert [row["median"] for row in chart.rows] == [sum_fps], "as in the table"


def test_rates_per_direction_stay_as_they_are() -> None:
    (measure, _) = SCALE_UP.measure
    apart = measure.model_copy(update={"both_directions": False})
    of = SCALE_UP.model_copy(update={"measure": (apart, *SCALE_UP.measure[1:])})
    cells = [cell(ONE, 1000.0), cell(ONE, 1000.0, measure="forwarding")]
    rows = {row.name: row.values[0].number for row in campaign_table(of, TESTBEDS, cells).rows}
    assert rows["throughput median"] == 1000
    assert rows["forwarding throughput median"] == 2000
    shown = as_shown(of, cells)
    assert [each.results[0].figures[0].values for each in shown] == [(1000.0,), (2000.0,)]


def searched(direction: str, *values: float, error_fps: int | None) -> Measurement:
    result = towards(direction, *values)
    search = SearchConditions(error="1 %", error_fps=error_fps)
    conditions = result.conditions.model_copy(update={"search": search})
    return result.model_copy(update={"conditions": conditions})


@pytest.mark.parametrize(("direction", "error"), [("both", "24"), ("forward", "12")])
def test_the_error_of_a_search_is_that_of_the_rate_shown(direction: str, error: str) -> None:
    """The sum of both directions has twice the error; rounds show the largest."""
    cells = [
        CellResult(column=ONE, measure="throughput", round=number, results=(result,))
        for number, result in enumerate(
            (searched(direction, 1000.0, error_fps=10), searched(direction, 1200.0, error_fps=12)),
            start=1,
        )
    ]
    rows = {row.name: row for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows}
    assert [value.text for value in rows["throughput error"].values] == [error, "", ""]


def test_a_delay_has_the_largest_error_of_its_timing() -> None:
    delay = Figure(name="PDV", unit="ns", values=(9000.0, 8000.0), errors=(20.0, 300.0))
    result = searched("both", 1.0, error_fps=10).model_copy(update={"figures": (delay,)})
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    rows = {row.name: row.values[0] for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows}
    assert rows["PDV error"].text == "300 ns"


@pytest.mark.parametrize(
    ("lower_bound", "error"), [((True, False), None), ((False, True), "20"), ((), "20")]
)
def test_a_median_that_is_a_bound_has_no_error(
    lower_bound: tuple[bool, ...], error: str | None
) -> None:
    """No rate above a lower bound has failed. One above the median does not change it."""
    result = searched("both", 1000.0, 1200.0, error_fps=10)
    figure = result.figures[0].model_copy(update={"lower_bound": lower_bound})
    result = result.model_copy(update={"figures": (figure,)})
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    table = campaign_table(SCALE_UP, TESTBEDS, cells)
    shown = {row.name: row.values[0].text for row in table.rows}
    assert shown["throughput median"].endswith("2,200")
    assert shown.get("throughput error") == error


def test_a_figure_without_an_error_has_no_row_for_it() -> None:
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(towards("both", 9.0),))]
    names = [row.name for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows]
    assert not [name for name in names if name.endswith("error")]
