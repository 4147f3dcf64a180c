"""The plots of figures: dots with their ranges, lines over a quantity, and what is computed."""

from dataclasses import replace
from typing import Any

import pytest

from natxy.model.measurement import Figure
from natxy.model.trial_spec import Direction
from natxy.report.cell_figures import CellResult
from natxy.report.drawings import specification
from natxy.report.figure_charts import computed_charts, figure_charts
from natxy.report.table_rows import CampaignTable, Row, Value
from tests.unit.drawings import layers_of, marks_of
from tests.unit.heat import cell as heat_cell
from tests.unit.heat import maps
from tests.unit.measurement_report import measurement as some_measurement

EXACT: Any = {"name": "throughput", "unit": "fps", "values": (6.0,)}


def cell(column: str, *figures: Figure, **changes: object) -> CellResult:
    result = some_measurement(figures=figures, **changes)
    return CellResult(column=column, measure="some", round=1, results=(result,))


def loss(at: str, direction: Any, *values: float) -> Figure:
    return Figure(name="frame loss rate", unit="%", at=at, direction=direction, values=values)


def loss_at(rate_fps: int, direction: Any, *values: float, **more: Any) -> Figure:
    figure = loss(f"{rate_fps:,} fps", direction, *values)
    return figure.model_copy(update={"at_value": rate_fps, "at_unit": "fps", **more})


def test_loss_has_a_line_over_the_rate_for_each_column_and_direction() -> None:
    """RFC 2544 section 26.3: the offered rate across, the loss from 0 to 100 % up."""
    figures = [
        loss_at(rate, direction, 1.0, 2.0, 4.0)
        for rate in (2000, 1000)
        for direction in ("forward", "reverse")
    ]
    chart, *maps = figure_charts(
        ("84 B", "1,518 B"), [cell("84 B", *figures), cell("1,518 B", *figures)]
    )
    assert [each.kind for each in maps] == ["heat"]
    assert chart.kind == "lines"
    assert {(row["at_value"], row["line"]) for row in chart.rows} == {
        (rate, f"{column}, {direction}")
        for rate in (1000, 2000)
        for column in ("84 B", "1,518 B")
        for direction in ("forward", "reverse")
    }
    assert {(row["minimum"], row["median"], row["maximum"]) for row in chart.rows} == {(1, 2, 4)}
    line, points, ranges = layers_of(chart)
    assert marks_of(chart) == ["line", "point", "rule"]
    for layer, value in ((line, "exact"), (points, "benchmark")):
        assert layer["encoding"]["x"]["field"] == "at_value"
        assert layer["encoding"]["y"]["field"] == value
        assert layer["encoding"]["y"]["scale"] == {"domain": [0, 100]}
        assert layer["encoding"]["color"]["field"] == "line_of_both"
    encoding = line["encoding"]
    assert encoding["x"]["title"] == "offered rate, frames a second per direction"
    assert encoding["y"]["title"] == "frame loss rate, %"
    assert (ranges["encoding"]["y"]["field"], ranges["encoding"]["y2"]["field"]) == (
        "minimum",
        "maximum",
    )


@pytest.mark.parametrize("columns", [("router", "tayga"), ("router", "tayga", "Jool")])
def test_lines_have_a_colour_for_each_gateway_and_a_dash_for_reverse(
    columns: tuple[str, ...],
) -> None:
    """Eight colours are hardly told apart, and the lines of both directions are often one."""
    figures = [
        loss_at(rate, direction, 1.0)
        for rate in (1000, 2000)
        for direction in ("forward", "reverse")
    ]
    (chart,) = figure_charts(columns, [cell(column, *figures) for column in columns])
    assert chart.title.endswith("; forward, and dashed: reverse")
    assert {row["line_of_both"] for row in chart.rows} == set(columns)
    line, *_ = layers_of(chart)
    assert line["encoding"]["color"]["field"] == "line_of_both"
    dashes = line["encoding"]["strokeDash"]
    assert (dashes["field"], dashes["scale"]["range"][0]) == ("direction", [1, 0])
    assert line["encoding"]["detail"]["field"] == "line", "a line for each direction"


def test_the_lines_of_one_gateway_have_colours_and_do_not_hide_one_another() -> None:
    figures = [
        loss_at(rate, direction, 1.0)
        for rate in (1000, 2000)
        for direction in ("forward", "reverse")
    ]
    (chart,) = figure_charts(("a",), [cell("a", *figures)])
    line, *_ = layers_of(chart)
    assert line["encoding"]["color"]["field"] == "line"
    assert line["encoding"]["strokeDash"]["field"] == "direction"
    (alone,) = figure_charts(("a",), [cell("a", *figures[::2])])
    assert "strokeDash" not in layers_of(alone)[0]["encoding"]


def test_a_bound_is_no_point_of_a_line() -> None:
    """A loss of at most 100 % at one rate and of 78 % at the next: it has not become less."""
    figures = [
        loss_at(1000, "forward", 0.0),
        loss_at(2000, "forward", 100.0, upper_bound=(True,)),
        loss_at(3000, "forward", 78.0),
    ]
    (chart,) = figure_charts(("a",), [cell("a", *figures)])
    line, points = layers_of(chart)
    (calculated,) = line["transform"]
    assert calculated == {
        "calculate": "datum.bound === 'exact' ? datum.benchmark : null",
        "as": "exact",
    }
    assert line["encoding"]["y"]["field"] == "exact"
    shape = points["encoding"]["shape"]["scale"]
    assert dict(zip(shape["domain"], shape["range"], strict=True)) == {
        "exact": "circle",
        "lower": "triangle-up",
        "upper": "triangle-down",
    }
    assert "▼ upper bound" in chart.title
    bounds = [loss_at(rate, "forward", 9.0, upper_bound=(True,)) for rate in (1000, 2000)]
    (chart,) = figure_charts(("a",), [cell("a", *bounds)])
    assert marks_of(chart) == ["point"], "a line without points has an axis without an end"


def test_the_offered_rate_is_a_share_of_the_medias_where_it_has_one() -> None:
    figures = [loss_at(rate, "forward", 1.0) for rate in (500_000, 1_000_000)]
    conditions = some_measurement().conditions.model_copy(update={"theoretical_fps": 1_000_000})
    (chart,) = figure_charts(("a",), [cell("a", *figures, conditions=conditions)])
    assert chart.words["x"] == "at_percent"
    assert [row["at_percent"] for row in chart.rows] == [50, 100]
    assert "media_fps" not in [
        layer["encoding"].get("y", {}).get("field") for layer in layers_of(chart)
    ], "a loss has no line of the media"


def test_a_line_ends_where_no_trial_is_known() -> None:
    """It must not look like a rate without loss."""
    figures = [
        loss_at(1000, "forward", 0.0),
        loss_at(2000, "forward", missing="no valid trial"),
        loss_at(3000, "forward", 9.0),
    ]
    (chart,) = figure_charts(("a",), [cell("a", *figures)])
    assert [row["benchmark"] for row in chart.rows] == [0, None, 9]
    line, points, mark = layers_of(chart)
    kinds = [set(each) for each in line["transform"]]
    assert kinds == [{"calculate", "as"}], "without the value the line would go on past it"
    assert points["transform"] == [{"filter": "datum.missing === ''"}]
    assert mark["transform"][0] == {"filter": "datum.missing !== ''"}
    assert (mark["mark"]["text"], mark["encoding"]["y"]["datum"]) == ("?", 0)
    assert "missing" in [each["field"] for each in mark["encoding"]["tooltip"]]


def over_sizes(*sizes: int, m: int = 1, media_fps: int | None = None) -> list[Any]:
    return [
        some_measurement(
            procedure="throughput",
            figures=(Figure(name="throughput", unit="fps", values=(1e8 / size,)),),
            conditions=some_measurement().conditions.model_copy(
                update={
                    "frame_size_bytes": size,
                    "n": 2,
                    "m": m,
                    "theoretical_fps": media_fps and media_fps // size,
                }
            ),
        )
        for size in sizes
    ]


def test_throughput_is_a_line_over_the_frame_size_beside_the_medias() -> None:
    """RFC 2544 section 26.1: one line for the media's theoretical rate, one for what was found."""
    results = tuple(over_sizes(84, 512, 1518, media_fps=10**9))
    whole = CellResult(column="", measure="throughput", round=1, results=results)
    (chart,) = figure_charts(("",), [whole])
    assert (chart.kind, chart.words["x"]) == ("lines", "frame_size_bytes")
    assert [row["frame_size_bytes"] for row in chart.rows] == [84, 512, 1518]
    assert [row["media_fps"] for row in chart.rows] == [10**9 // size for size in (84, 512, 1518)]
    assert marks_of(chart) == ["line", "point", "line"]
    *_, media = layers_of(chart)
    assert media["encoding"]["y"]["field"] == "media_fps"
    assert chart.title.endswith("; dotted: the media's rate")
    assert media["mark"]["strokeDash"]
    summed = [replace(whole, summed=True)]
    (chart,) = figure_charts(("",), summed)
    assert chart.rows[0]["media_fps"] == 2 * (10**9 // 84), "of as many directions as the rate"


def test_each_mix_has_a_line_of_its_own_over_the_frame_size() -> None:
    results = (*over_sizes(84, 512), *over_sizes(84, 512, m=2))
    chart, _ = figure_charts(
        ("",), [CellResult(column="", measure="throughput", round=1, results=results)]
    )
    assert chart.words["x"] == "frame_size_bytes"
    assert [(row["line"], row["frame_size_bytes"]) for row in chart.rows] == [
        (f"throughput, {share} % foreground", size) for share in (50, 100) for size in (84, 512)
    ]


def test_one_value_has_a_dot_and_no_range() -> None:
    (chart,) = figure_charts(("",), [cell("", loss("1000 fps", "forward", 3.0))])
    assert marks_of(chart) == ["point"]
    assert layers_of(chart)[0]["encoding"]["y"]["field"] == "at"


def test_several_values_have_a_dot_with_their_range_on_one_axis_with_the_others() -> None:
    figures = [Figure(**{**EXACT, "values": values}) for values in ((6.0, 7.0, 9.0), (5.0,))]
    (chart,) = figure_charts(("a", "b"), [cell("b", figures[1]), cell("a", figures[0])])
    assert (chart.kind, marks_of(chart)) == ("dots", ["rule", "point"])
    ranges, dots = layers_of(chart)
    assert ranges["transform"] == [{"filter": "datum.minimum < datum.maximum"}]
    assert (ranges["encoding"]["x"]["field"], ranges["encoding"]["x2"]["field"]) == (
        "minimum",
        "maximum",
    )
    assert dots["encoding"]["x"]["field"] == "benchmark"
    assert dots["encoding"]["x"]["title"] == "throughput, frames a second, per direction"
    assert dots["encoding"]["y"]["field"] == "column"
    assert dots["encoding"]["y"]["sort"] == ["a", "b"]
    assert [row["column"] for row in chart.rows] == ["a", "b"], "in the order of the table"
    assert "yOffset" not in dots["encoding"], "each column has one"


def test_the_shape_of_a_bound_shows_its_direction_and_the_title_says_so() -> None:
    rate = Figure(name="throughput", unit="fps", values=(5.0,), lower_bound=(True,))
    (chart,) = figure_charts(("a", "b"), [cell("a", rate), cell("b", Figure(**EXACT))])
    assert {row["column"]: row["bound"] for row in chart.rows} == {"a": "lower", "b": "exact"}
    shape = layers_of(chart)[0]["encoding"]["shape"]
    assert shape["field"] == "bound"
    shapes = dict(zip(shape["scale"]["domain"], shape["scale"]["range"], strict=True))
    assert shapes == {"exact": "circle", "lower": "triangle-right", "upper": "triangle-left"}
    assert chart.title == "some (▶ lower bound)"
    (exact,) = figure_charts(("b",), [cell("b", Figure(**EXACT))])
    assert exact.title == "some"


def test_units_have_plots_of_their_own() -> None:
    """A scale-up has rates and ratios, whose dots would not be seen beside those of the rates."""
    rate = Figure(name="throughput", unit="fps", at="2 cores", values=(700_000.0,))
    ratio = Figure(name="relative scale-up", unit="times", at="2 cores", values=(0.9,))
    charts = figure_charts(("",), [cell("", rate, ratio)])
    assert [(chart.key, chart.title) for chart in charts] == [
        ("some-frames-a-second", "some: throughput"),
        ("some-times", "some: relative scale-up"),
    ]


def test_columns_of_one_point_each_stand_side_by_side() -> None:
    """MP Table 16: each column has another number of connections."""
    cells = [cell(name, loss(name, None, 1.0)) for name in ("1,000", "2,000")]
    (chart,) = figure_charts(("1,000", "2,000"), cells)
    assert layers_of(chart)[0]["encoding"]["y"]["field"] == "column"
    assert {row["line"] for row in chart.rows} == {"frame loss rate"}


def test_the_figures_of_a_single_measurement_stand_by_their_names() -> None:
    """There is no column, and no point, to stand at."""
    figures = [
        Figure(name=name, unit="ns", direction=way, values=(1000.0,))
        for name in ("typical latency", "worst-case latency")
        for way in ("forward", "reverse")
    ]
    (chart,) = figure_charts(("",), [cell("", *figures)])
    encoding = layers_of(chart)[0]["encoding"]
    assert (encoding["y"]["field"], "yOffset" in encoding) == ("line", False)
    assert "field" not in encoding["color"], "the axis has the names"
    assert [row["line"] for row in chart.rows] == [
        f"{name}, {way}"
        for name in ("typical latency", "worst-case latency")
        for way in ("forward", "reverse")
    ]
    assert chart.words["axis"] == "µs, at 10,000 fps", "the rate of a delay is a part of it"


def test_labels_of_three_lines_have_room() -> None:
    names = ("reset time, frame-loss method", "reset time, timestamp method")
    figures = [
        Figure(name=name, unit="s", direction=way, values=(value,))
        for name, value in zip(names, (0.043, 0.2), strict=True)
        for way in ("forward", "reverse")
    ]
    (chart,) = figure_charts(("",), [cell("", *figures)])
    assert specification(chart)["height"] >= 4 * 3 * 11
    assert [row["benchmark"] for row in chart.rows[::2]] == [43, 200]
    assert {row["unit"] for row in chart.rows} == {"ms"}, "as the table has it"
    assert chart.words["axis"] == "ms, at 10,000 fps"
    longer = [Figure(name=names[0], unit="s", at=at, values=(1.5,)) for at in ("a", "b")]
    (chart,) = figure_charts(("",), [cell("", *longer)])
    assert [row["benchmark"] for row in chart.rows] == [1.5, 1.5]
    assert {row["unit"] for row in chart.rows} == {"seconds"}


def test_dots_that_are_all_at_0_are_no_plot() -> None:
    ways: tuple[Direction, ...] = ("forward", "reverse")
    for value, is_drawn in ((0.0, False), (0.1, True)):
        figures = [Figure(name="time", unit="s", direction=way, values=(value,)) for way in ways]
        (chart,) = figure_charts(("",), [cell("", *figures)])
        assert chart.is_drawn is is_drawn


def test_the_frame_sizes_of_a_measurement_are_told_apart() -> None:
    results = tuple(
        some_measurement(
            figures=(loss("", None, size / 1000),),
            conditions=some_measurement().conditions.model_copy(update={"frame_size_bytes": size}),
        )
        for size in (84, 1518)
    )
    (chart,) = figure_charts(
        ("",), [CellResult(column="", measure="throughput", round=1, results=results)]
    )
    assert [(row["at"], row["median"]) for row in chart.rows] == [
        ("84 B", 0.084),
        ("1,518 B", 1.518),
    ]


def test_counts_that_grow_by_powers_have_a_logarithmic_axis() -> None:
    def at(flows: int) -> Figure:
        more = {"at": f"{flows:,} flows", "at_value": flows, "at_unit": "flows"}
        return Figure(**{**EXACT, **more})

    (wide,) = figure_charts(("",), [cell("", at(1), at(100), at(10_000))])
    assert layers_of(wide)[0]["encoding"]["x"]["scale"]["type"] == "log"
    assert layers_of(wide)[0]["encoding"]["x"]["title"] == "flows"
    (narrow,) = figure_charts(("",), [cell("", at(1), at(2), at(4))])
    assert "type" not in layers_of(narrow)[0]["encoding"]["x"]["scale"]


def test_rows_that_are_computed_have_a_plot_for_each_kind() -> None:
    """Scale-up and degradation: ratios of about 1 beside thousands of frames for each core."""
    rows = (
        Row(name="scale-up", kind="relative scale-up", values=(Value(number=1), Value(number=0.9))),
        Row(name="per core", kind="per", values=(Value(number=400_000), Value())),
        Row(name="throughput", group="throughput", values=(Value(number=1), Value(number=1))),
    )
    charts = computed_charts(CampaignTable(title="", columns=("1 core", "2 cores"), rows=rows))
    assert {chart.key: len(chart.rows) for chart in charts} == {
        "computed-relative-scale-up": 2,
        "computed-per": 1,
    }
    assert [marks_of(chart) for chart in charts] == [["point"]] * 2, "one value is seen as well"
    assert layers_of(charts[0])[0]["encoding"]["x"]["field"] == "value"


def test_two_quantities_make_a_map() -> None:
    (chart,) = maps(heat_cell("", (84, 512), (10, 100)))
    assert chart.key == "overload-map"
    assert (chart.words["x"], chart.words["y"]) == ("at_value", "frame_size_bytes")
    assert chart.words["titles"] == ["flows", "frame size as IPv6, octets"]
    assert [(row["at_value"], row["frame_size_bytes"], row["panel"]) for row in chart.rows] == [
        (10, 84, ""),
        (100, 84, ""),
        (10, 512, ""),
        (100, 512, ""),
    ]
    fields, said = layers_of(chart)
    assert (fields["mark"]["type"], fields["encoding"]["color"]["field"]) == ("rect", "benchmark")
    assert said["encoding"]["text"]["field"] == "shown"


@pytest.mark.parametrize(("sizes", "flows"), [((84,), (10, 100)), ((84, 512), (10,))])
def test_one_quantity_makes_none(sizes: tuple[int, ...], flows: tuple[int, ...]) -> None:
    assert maps(heat_cell("", sizes, flows)) == []


def test_columns_that_are_numbers_are_a_quantity_and_gateways_are_panels() -> None:
    (chart,) = maps(
        *(heat_cell(f"{count:,} connections", (84,), (1, 2)) for count in (1000, 10_000))
    )
    assert (chart.words["x"], chart.words["y"]) == ("at_value", "column")
    assert maps(*(heat_cell(name, (84,), (1, 2)) for name in ("router", "tayga"))) == []
    (both,) = maps(*(heat_cell(name, (84, 512), (1, 2)) for name in ("router", "tayga")))
    assert {row["panel"] for row in both.rows} == {"router", "tayga"}


def test_frame_sizes_that_are_the_columns_are_one_quantity() -> None:
    """A map would have two empty fields of four."""
    assert maps(*(heat_cell(f"{size} B", (size,), (10,)) for size in (84, 512))) == []
