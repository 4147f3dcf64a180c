"""Each plot as a picture: all that a reader of the page could choose, and letters large enough."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import vl_convert

from natxy.campaign.data import read_data
from natxy.campaign.report import charts_of, table_of, write_report
from natxy.model.measurement import Figure, Unit
from natxy.report.cell_figures import CellResult
from natxy.report.charts import Chart, distribution_charts, time_chart, trace_chart
from natxy.report.drawing_parts import PAGE, Look, steps
from natxy.report.drawings import COLUMN, INK, picture, specification, write_pictures
from natxy.report.figure_charts import figure_charts
from natxy.visible import one_line
from tests.unit.campaigns import run
from tests.unit.heat import cell, maps
from tests.unit.measurement_report import measurement

COLUMN_PT = 252  # 3.5 inches, the width of a column in a paper with two
LEAST_PT = 7.0


def trial(number: int, cell: str = "throughput, router", **more: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "cell": cell,
        "quantity": "frames a second",
        "number": number,
        "repetition": 1,
        "rate_of": "frames a second",
        "lost_percent": 0.0,
        "tried": 10**number,
        "result": 100.0,
        "at_s": number,
    }
    known |= {"verdict": "PASS", "paused_ms": 1.5, "away_ms": 2.5, "busy_percent": 10.0 * number}
    return {**known, "rate_fps": 10**number, "median_us": 20.0, "p999_us": 90.0, **more}


def dots() -> Chart:
    figures = [
        Figure(name="PDV", unit="ns", direction=way, values=(1000.0, 2000.0, 9000.0))
        for way in ("forward", "reverse")
    ]
    cells = [
        CellResult(
            column=column, measure="pdv", round=1, results=(measurement(figures=tuple(figures)),)
        )
        for column in ("Linux router, IPv4", "tayga, stateless NAT64")
    ]
    (chart,) = figure_charts([cell.column for cell in cells], cells)
    return chart


TRIALS = [trial(1), trial(2, verdict="FAIL"), trial(1, "pdv, router"), trial(3, "pdv, router")]
CURVES = [
    {"panel": panel, "curve": "pdv, forward", "delay_us": 10.0 * at, "share": 1 - 10**-at}
    for panel in ("router", "tayga")
    for at in range(1, 6)
]
CHARTS = {
    "dots": dots(),
    "trace": trace_chart(TRIALS),
    "time": time_chart(TRIALS),
    "heat": maps(cell("", (84, 512), (10, 100)))[0],
    "percentiles": distribution_charts(CURVES)[0],
}


def drawn(chart: Chart) -> str:
    svg: str = vl_convert.vegalite_to_svg(picture(chart, "A campaign"))
    return svg


@pytest.mark.parametrize("kind", CHARTS)
def test_the_letters_of_a_picture_as_wide_as_a_column_have_at_least_7_points(kind: str) -> None:
    svg = drawn(CHARTS[kind])
    (width,) = re.findall(r'<svg [^>]*?width="([\d.]+)"', svg)
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
    assert sizes
    assert min(sizes) * COLUMN_PT / float(width) >= LEAST_PT


@pytest.mark.parametrize("kind", CHARTS)
def test_a_picture_has_its_title_and_loads_nothing(kind: str) -> None:
    svg = drawn(CHARTS[kind])
    text = " ".join(re.findall(r">([^<>]+)<", svg))
    assert "A campaign" in text
    for word in CHARTS[kind].title.split():
        assert word.replace("&", "&amp;") in text
    assert "href=" not in svg


def test_colours_that_differ_have_a_legend() -> None:
    assert ">forward<" in drawn(CHARTS["dots"])
    assert ">PASS<" in drawn(CHARTS["trace"])
    assert ">gateway without its CPU<" in drawn(CHARTS["time"])
    one = replace(CHARTS["percentiles"], rows=[row for row in CURVES if row["panel"] == "tayga"])
    for row in one.rows:
        row.setdefault("frames_per_later", 10.0)
    assert ">pdv, forward<" not in drawn(one)


def test_what_a_reader_of_the_page_chooses_is_all_in_the_picture() -> None:
    svg = drawn(CHARTS["trace"])
    for name in ("throughput, router", "pdv, router"):
        assert f">{name}<" in svg
    assert svg.count('aria-roledescription="point"') in (0, len(TRIALS))
    assert len(re.findall(r"<g class=\"mark-symbol role-mark", svg)) == 2, "a panel each"


def test_a_picture_has_panels_for_a_page_and_says_what_is_left_out() -> None:
    many = trace_chart([trial(number, f"cell {cell}") for cell in range(30) for number in (1, 2)])
    svg = drawn(many)
    assert len(re.findall(r"<g class=\"mark-symbol role-mark", svg)) == 12
    assert "The first 12 of 30" in svg
    assert ">cell 11<" in svg
    assert ">cell 12<" not in svg


@pytest.mark.parametrize("label", ["\x1b[2K", "<b>", "a & b", "two\nlines", "\u202eabc", "a\0b"])
def test_a_label_is_no_more_than_text(label: str, tmp_path: Path) -> None:
    trials = [trial(1, label), trial(2, label, verdict="FAIL"), trial(1, "other")]
    traced = replace(trace_chart(trials), key="traced", title=label)
    figure = Figure(name=label, unit="ns", values=(1000.0,))
    cells = [
        CellResult(column=column, measure="m", round=1, results=(measurement(figures=(figure,)),))
        for column in (label, "other")
    ]
    charts = [traced, *figure_charts((label, "other"), cells)]
    write_pictures(charts, tmp_path, label)
    assert len(list(tmp_path.iterdir())) == 4
    for path in tmp_path.glob("*.svg"):
        text = "".join(ElementTree.parse(path).getroot().itertext())
        assert one_line(label).split()[0] in text


def test_pictures_stand_beside_the_data_of_what_the_page_shows(tmp_path: Path) -> None:
    none = trace_chart([])
    one = replace(time_chart(TRIALS), rows=time_chart(TRIALS).rows[:1])
    write_pictures([CHARTS["dots"], none, one], tmp_path, "A campaign", "Scaled down by --quick")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pdv.pdf", "pdv.svg"]
    assert (tmp_path / "pdv.pdf").read_bytes().startswith(b"%PDF-")
    assert "Scaled down by --quick" in (tmp_path / "pdv.svg").read_text()


def test_a_report_has_the_pictures_of_its_plots(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    write_report(data, tmp_path / "report", html=True)
    keys = {chart.key for chart in charts_of(data, table_of(data)) if chart.is_drawn}
    for ending in ("svg", "pdf"):
        files = {path.stem for path in (tmp_path / "report" / "data").glob(f"*.{ending}")}
        assert files == keys
    write_report(data, tmp_path / "plain", html=False)
    assert not list((tmp_path / "plain" / "data").glob("*.svg")), "--no-html"
    assert COLUMN.is_alone


def marks_of(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        yield from ([spec] if "mark" in spec else [])
        spec = list(spec.values())
    if isinstance(spec, list):
        for each in spec:
            yield from marks_of(each)


@pytest.mark.parametrize("look", [PAGE, COLUMN])
@pytest.mark.parametrize("kind", CHARTS)
def test_letters_in_a_plot_can_be_read_in_both_themes(kind: str, look: Look) -> None:
    """They have the look's colour or that of a value; a field of a map is light in both."""
    missing = [{**row, "missing": "no trial"} for row in CHARTS[kind].rows]
    chart = replace(CHARTS[kind], rows=missing) if kind == "dots" else CHARTS[kind]
    texts = [
        each
        for each in marks_of(specification(chart, look))
        if each["mark"] == "text" or each["mark"]["type"] == "text"
    ]
    assert bool(texts) == (kind in ("dots", "trace", "heat"))
    for each in texts:
        encoded = each["encoding"].get("color", {}).get("value")
        assert (encoded or each["mark"]["color"]) == (INK if kind == "heat" else look.ink)


def test_an_uncertain_value_is_hollow() -> None:
    chart = dots()
    unsure = [{**row, "uncertain": True} for row in chart.rows]
    filled = [
        [each["mark"]["filled"] for each in marks_of(specification(of)) if "filled" in each["mark"]]
        for of in (chart, replace(chart, rows=unsure), replace(chart, rows=[*chart.rows, *unsure]))
    ]
    assert filled == [[True], [False], [True, False]], "a layer without data is a warning"


@pytest.mark.parametrize(("value", "unit", "said"), [(2e6, "ns", ",~r"), (2e6, "fps", "~s")])
def test_a_unit_with_a_prefix_gets_no_second_one(value: float, unit: Unit, said: str) -> None:
    figure = Figure(name="PDV", unit=unit, values=(value * 10, value * 20))
    cells = [
        CellResult(column=column, measure="pdv", round=1, results=(measurement(figures=(figure,)),))
        for column in "ab"
    ]
    (chart,) = figure_charts("ab", cells)
    assert f"'format': '{said}'" in str(specification(chart))


def test_the_nines_have_their_labels_and_the_median() -> None:
    svg = drawn(CHARTS["percentiles"])
    assert all(f">{share}<" in svg for share in ("0", "50", "90", "99.999"))


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((20.0,), [20, 50]),
        ((6.0, 30.0, 900.0), [5, 10, 20, 50, 100, 200, 500, 1000]),
        ((0.0, 3.0, 10.0), [2, 5, 10, 20]),
        ((0.2, 3e6), [0.1, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]),
    ],
)
def test_an_axis_of_logarithms_has_a_label_at_both_ends(
    values: tuple[float, ...], found: list[float]
) -> None:
    assert steps(values) == pytest.approx(found)


def test_question_marks_of_several_lines_stand_side_by_side() -> None:
    """At one rate: one above the other they were one gateway's."""
    figures = tuple(
        Figure(
            name="loss",
            unit="%",
            at=f"{at} fps",
            at_value=at,
            at_unit="fps",
            values=() if at == 3 else (1.0,),
            missing="no valid trial" if at == 3 else "",
        )
        for at in (1, 2, 3)
    )
    cells = [
        CellResult(column=column, measure="m", round=1, results=(measurement(figures=figures),))
        for column in "abc"
    ]
    svg = drawn(figure_charts("abc", cells)[0])
    marks = re.findall(r'<text [^>]*translate\(([\d.]+),[^>]*fill="(#\w+)"[^>]*>\?<', svg)
    assert len({x for x, _ in marks}) == len({fill for _, fill in marks}) == len(marks) == 3


def test_an_invalid_trial_is_hollow_over_time() -> None:
    for verdicts, filled in ((["PASS"], [True]), (["PASS", "INVALID"], [True, False])):
        chart = time_chart([trial(1, verdict=verdict) for verdict in verdicts])
        assert ("hollow: INVALID" in chart.title) is ("INVALID" in verdicts)
        strips = specification(chart)["vconcat"]
        for strip in strips:
            assert [layer["mark"]["filled"] for layer in strip["layer"]] == filled
            assert {layer["mark"]["opacity"] for layer in strip["layer"]} == {1}


def test_what_was_tried_is_named_above_the_plot() -> None:
    """No grid and no point is there."""
    svg = drawn(trace_chart(TRIALS[:2]))
    ((y, _),) = re.findall(
        r"<text [^>]*translate\([\d.]+,(-?[\d.]+)\)[^>]*>(frames a second)<", svg
    )
    assert float(y) < 0
    assert ">PASS<" in svg
    assert ">INVALID<" not in svg, "there is none"


def test_a_map_names_its_unit_and_its_axis_is_as_long_as_its_title() -> None:
    chart = CHARTS["heat"]
    assert chart.title == "overload, frames a second, as a map"
    title = chart.words["titles"][1]
    assert specification(chart)["height"] > 6 * len(title)
