"""Rates of a campaign's table and plots: of one direction, or the sum of both."""

import pytest

from natxy.model.measurement import Figure, Measurement, SearchConditions
from natxy.model.remark import Remark, Topic
from natxy.report.campaign_table import campaign_table
from natxy.report.cell_figures import CellResult, Place, as_shown, rate_words
from natxy.report.figure_charts import figure_charts
from natxy.report.figure_rows import value_of
from natxy.report.found_words import found
from natxy.report.numbers import benchmark
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
    assert shown["throughput"].text == f"{sum_fps:,}"
    (chart,) = figure_charts(table.columns, as_shown(SCALE_UP, cells))
    assert [row["median"] for row in chart.rows] == [sum_fps], "as in the table"


def test_rates_per_direction_stay_as_they_are() -> None:
    (measure, _) = SCALE_UP.measure
    apart = measure.model_copy(update={"both_directions": False})
    of = SCALE_UP.model_copy(update={"measure": (apart, *SCALE_UP.measure[1:])})
    cells = [cell(ONE, 1000.0), cell(ONE, 1000.0, measure="forwarding")]
    rows = {row.name: row.values[0].number for row in campaign_table(of, TESTBEDS, cells).rows}
    assert rows["throughput"] == 1000
    assert rows["forwarding throughput"] == 2000
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
    (known, *others) = rows["throughput"].values
    assert known.spread is not None
    assert known.spread.error_text == f"error {error}"
    assert [value.spread for value in others] == [None, None]


def test_the_error_of_a_delay_is_that_of_its_median() -> None:
    values, errors = (9000.0, 8000.0, 9100.0), (20.0, 300.0, 900.0)
    delay = Figure(name="PDV", unit="ns", values=values, errors=errors)
    result = searched("both", 1.0, error_fps=10).model_copy(update={"figures": (delay,)})
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    rows = {row.name: row.values[0] for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows}
    spread = rows["PDV at 10,000 fps"].spread
    assert spread is not None
    assert spread.error_text == "error 800 ns"


@pytest.mark.parametrize(
    ("lower_bound", "error"), [((True, False), None), ((False, True), None), ((), 20)]
)
def test_a_median_that_is_a_bound_has_no_error(
    lower_bound: tuple[bool, ...], error: int | None
) -> None:
    """No rate above a lower bound has failed, and a median of two depends on both."""
    result = searched("both", 1000.0, 1200.0, error_fps=10)
    figure = result.figures[0].model_copy(update={"lower_bound": lower_bound})
    result = result.model_copy(update={"figures": (figure,)})
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    table = campaign_table(SCALE_UP, TESTBEDS, cells)
    shown = {row.name: row.values[0] for row in table.rows}["throughput"]
    assert shown.text.endswith("2,200")
    assert shown.spread is not None
    assert shown.spread.error == error


def test_a_figure_without_an_error_names_none() -> None:
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(towards("both", 9.0),))]
    rows = campaign_table(SCALE_UP, TESTBEDS, cells).rows
    assert not [value.words for row in rows for value in row.values if "error" in value.words]


def delayed(value_ns: float, error_ns: float, name: str = "PDV") -> Measurement:
    figure = Figure(name=name, unit="ns", values=(value_ns,), errors=(error_ns,))
    return towards("both", 1.0).model_copy(update={"figures": (figure,)})


@pytest.mark.parametrize(
    ("value_ns", "error_ns", "shown"),
    [(3000.0, 2000.0, "3 µs"), (3000.0, 4000.0, "≤ 7 µs"), (0.0, 500.0, "≤ 500 ns")],
)
def test_a_figure_whose_error_is_as_large_as_itself_is_a_bound(
    value_ns: float, error_ns: float, shown: str
) -> None:
    """It is the same one in `status`, in `serve` and in a plot."""
    result = delayed(value_ns, error_ns)
    cells = [CellResult(column=ONE, measure="throughput", round=1, results=(result,))]
    (value, *_) = next(
        row.values
        for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows
        if row.figure.startswith("PDV")
    )
    assert value.text == shown
    assert ("error" in value.words) == (value.bound == "exact"), "a bound contains it"
    assert found([result], summed=True) == [f"PDV {shown}"]
    (chart,) = figure_charts((ONE,), as_shown(SCALE_UP, cells))
    assert (chart.rows[0]["bound"], chart.rows[0]["benchmark"] * 1000) == (
        value.bound,
        value.number,
    )


@pytest.mark.parametrize(
    ("values", "errors", "upper", "shown"),
    [
        ((57.0,), (60.0,), (), "≤ 100 % measured 57 %, n = 1"),
        ((2.0, 4.0), (9.0, 9.0), (), "≤ 12 % measured [2 % … 4 %], n = 2"),
        ((57.0,), (), (True,), "≤ 57 %, n = 1"),
        ((57.0,), (9.0,), (), "57 %, n = 1, error 9 points"),
    ],
)
def test_what_was_measured_stands_beside_a_bound_that_contains_an_error(
    values: tuple[float, ...], errors: tuple[float, ...], upper: tuple[bool, ...], shown: str
) -> None:
    figure = Figure(
        name="frame loss rate", unit="%", values=values, errors=errors, upper_bound=upper
    )
    assert value_of(figure).words == shown


def test_repetitions_that_are_lacking_are_counted_over_all_rounds() -> None:
    lacking = Remark.of(Topic.LACKING, lacking=4, asked=5)
    of_another = Remark.of(Topic.LACKING, "10 flows", lacking=4, asked=5)
    results = [
        towards("both", *values).model_copy(update={"remarks": remarks})
        for values, remarks in (((9.0,), (lacking,)), ((9.0,) * 5, ()), ((9.0,), (of_another,)))
    ]
    cells = [
        CellResult(column=ONE, measure="throughput", round=number, results=(result,))
        for number, result in enumerate(results)
    ]
    for several, count in (
        (cells[:1], "n = 1 of 5"),
        (cells, "n = 7 of 11"),
        (cells[1:2], "n = 5"),
    ):
        rows = {row.name: row for row in campaign_table(SCALE_UP, TESTBEDS, several).rows}
        spread = rows["throughput"].values[0].spread
        assert spread is not None
        assert spread.count == count


def test_a_loss_that_is_bounded_so_is_at_most_all() -> None:
    loss = Figure(name="frame loss rate", unit="%", values=(60.0,), errors=(70.0,))
    assert benchmark(loss) == "≤ 100 %"


@pytest.mark.parametrize("name", ["minimum IPDV", "median IPDV", "degradation of PDV"])
def test_a_figure_that_can_be_below_0_is_no_bound(name: str) -> None:
    """An IPDV of 10 ns that is wrong by 2 µs may be -2 µs."""
    assert found([delayed(10.0, 2000.0, name)], summed=False) == [f"{name} 10 ns"]


def test_a_rate_of_one_direction_is_no_sum() -> None:
    """Rates that a procedure reports for each direction are never doubled."""
    result = towards("both", 1.0)
    rate = Figure(name="forwarding rate", unit="fps", direction="forward", values=(1000.0,))
    assert rate_words(result.conditions, rate, summed=True) == "per direction"
    summed = as_shown(
        SCALE_UP,
        [
            CellResult(
                column=ONE,
                measure="throughput",
                round=1,
                results=(result.model_copy(update={"figures": (rate,)}),),
            )
        ],
    )
    assert summed[0].results[0].figures[0].values == (1000.0,)


def test_a_rate_is_shown_on_the_wire_as_well() -> None:
    """84 octets as IPv6, 20 of preamble and gap: 832 bits a frame. The sum of both directions is a
    share of twice the media's rate."""
    result = towards("both", 1_000_000.0)
    of = result.conditions.model_copy(update={"theoretical_fps": 12_019_230})
    cells = [
        CellResult(
            column=ONE,
            measure="throughput",
            round=1,
            results=(result.model_copy(update={"conditions": of}),),
        )
    ]
    rows = {row.name: row.values[0] for row in campaign_table(SCALE_UP, TESTBEDS, cells).rows}
    assert rows["throughput"].words == "2,000,000, n = 1, 1.66 Gbit/s, 8.32 % of the media"
    tagged = of.model_copy(update={"formats": ("Frames have a VLAN tag.",)})
    place = Place.of(tagged, result.figures[0], summed=False)
    assert place.wire_words(1_000_000.0) == "8.32 % of the media", (
        "nothing says how long a frame is"
    )


def test_a_bound_has_no_error_and_the_range_beside_an_upper_one_is_that_of_the_values() -> None:
    known = {"name": "PDV", "unit": "ns", "values": (3000.0, 2000.0, 4000.0)}
    below = value_of(Figure.model_validate({**known, "errors": (4000.0,) * 3}))
    assert below.words == "≤ 7 µs measured [2 µs … 4 µs], n = 3"
    above = value_of(
        Figure.model_validate({**known, "errors": (100.0,) * 3, "lower_bound": (True,) * 3})
    )
    assert above.words == "≥ 3 µs [2 µs … 4 µs], n = 3"
