"""Quotients of bounds in a campaign's table: which sign they have, and when they have none."""

from typing import Any

import pytest

from natxy.model.measurement import Bound, Figure, Measurement
from natxy.report.campaign_table import campaign_table
from natxy.report.cell_figures import CellResult
from natxy.report.figure_charts import computed_charts
from tests.unit.campaign_report import SCALE_UP, TESTBEDS
from tests.unit.measurement_report import measurement as some_measurement

ONE, TWO = "1 cores", "2 cores"


def rate(value: float, bound: Bound = "exact") -> Measurement:
    figure = Figure(
        name="throughput",
        unit="fps",
        values=(value,),
        lower_bound=(bound == "lower",),
        upper_bound=(bound == "upper",),
    )
    return some_measurement(procedure="throughput", figures=(figure,))


def quotients(
    first: tuple[Any, ...], second: tuple[Any, ...], baseline: tuple[Any, ...]
) -> dict[str, list[str]]:
    """The computed rows of throughputs in two columns, and of a forwarding rate in the second."""
    cells = [
        CellResult(column=column, measure=measure, round=1, results=(rate(*value),))
        for column, measure, value in (
            (ONE, "throughput", first),
            (TWO, "throughput", second),
            (TWO, "forwarding", baseline),
        )
    ]
    table = campaign_table(SCALE_UP, TESTBEDS, cells)
    return {row.name: [value.text for value in row.values][:2] for row in table.rows if row.kind}


@pytest.mark.parametrize(
    ("first", "second", "scale_up", "previous"),
    [
        ((100.0,), (95.0,), "0.475", "0.95"),
        ((100.0,), (150.0, "lower"), "≥ 0.75", "≥ 1.5"),
        ((100.0,), (150.0, "upper"), "≤ 0.75", "≤ 1.5"),
        ((200.0, "lower"), (100.0,), "≤ 0.25", "≤ 0.5"),
        ((200.0, "upper"), (100.0,), "≥ 0.25", "≥ 0.5"),
        ((200.0, "lower"), (100.0, "upper"), "≤ 0.25", "≤ 0.5"),
        ((200.0, "lower"), (100.0, "lower"), "unknown", "unknown"),
        ((200.0, "upper"), (100.0, "upper"), "unknown", "unknown"),
    ],
)
def test_a_quotient_has_the_sign_that_both_values_give_it(
    first: tuple[Any, ...], second: tuple[Any, ...], scale_up: str, previous: str
) -> None:
    """What is divided by at least 200 is at most the quotient."""
    rows = quotients(first, second, (1000.0,))
    assert rows["throughput relative scale-up"] == ["1", scale_up], "to itself it is exactly 1"
    assert rows["throughput ratio to the previous"] == ["", previous]


@pytest.mark.parametrize(
    ("value", "baseline", "shown"),
    [
        ((100.0,), (200.0,), "0.5"),
        ((100.0,), (200.0, "lower"), "≤ 0.5"),
        ((100.0, "lower"), (200.0,), "≥ 0.5"),
        ((100.0, "lower"), (200.0, "lower"), "unknown"),
    ],
)
def test_a_ratio_to_a_baseline_has_its_sign(
    value: tuple[Any, ...], baseline: tuple[Any, ...], shown: str
) -> None:
    rows = quotients((100.0,), value, baseline)
    assert rows["throughput ratio to forwarding"] == ["", shown]


def test_what_is_unknown_has_no_bar() -> None:
    cells = [
        CellResult(column=column, measure="throughput", round=1, results=(rate(value, "lower"),))
        for column, value in ((ONE, 200.0), (TWO, 100.0))
    ]
    table = campaign_table(SCALE_UP, TESTBEDS, cells)
    charts = {chart.key: chart.rows for chart in computed_charts(table)}
    assert "computed-ratio-to-the-previous" not in charts
    assert [row["column"] for row in charts["computed-relative-scale-up"]] == [ONE]
