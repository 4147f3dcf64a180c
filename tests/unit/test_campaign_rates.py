"""Rates of a campaign's table and plots: of one direction, or the sum of both."""

import pytest

from natxy.model.measurement import Measurement
from natxy.report.campaign_table import CellResult, as_shown, campaign_table
from natxy.report.figure_charts import figure_charts
from tests.unit.test_campaign_report import SCALE_UP, TESTBEDS, cell, measurement

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
