"""A report of several sizes and mixes: each figure has its key, and each plot its own curve."""

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from natxy.campaign.data import read_data
from natxy.campaign.report import charts_of, table_of
from natxy.model.experiment import Experiment
from natxy.model.measurement import Figure, Measurement, SearchConditions
from natxy.report.campaign_table import campaign_table
from natxy.report.campaign_text import table_csv
from natxy.report.cell_figures import CellResult, as_shown, told_apart, variant_of
from natxy.report.drawings import specification
from natxy.report.figure_charts import figure_charts
from natxy.report.found_words import found
from natxy.report.summary_table import summary_table
from tests.unit.drawings import layers_of
from tests.unit.measurement_report import measurement
from tests.unit.series import KEYS, measured_series


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured_series(tmp_path_factory.mktemp("series"))


@pytest.mark.parametrize("ending", ["txt", "md", "tex", "csv"])
def test_each_row_of_a_table_has_its_key(folder: Path, ending: str) -> None:
    written = (folder / "report" / f"table.{ending}").read_text().replace("\\%", "%")
    for key in KEYS:
        assert f"→ PDV {key}" in written.replace(r"$\rightarrow$", "→"), key
    assert "(1)" not in written


def test_the_csv_file_has_the_key_as_a_column(folder: Path) -> None:
    with (folder / "report" / "table.csv").open() as file:
        assert list(dict.fromkeys(row["series"] for row in csv.DictReader(file))) == KEYS


def test_the_csv_file_has_size_mix_and_rate_as_columns(folder: Path) -> None:
    """RFC 2544 section 26 and RFC 8219 section 7 ask for them."""
    with (folder / "report" / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ("frame_size_bytes", "foreground_percent", "rate_fps", "direction")
    assert [tuple(row[name] for name in names) for row in rows] == [
        (f"{size}", f"{share}", "1000", way)
        for share in (100.0, 50.0)
        for size in (84, 512)
        for way in ("forward", "reverse")
    ]


def test_the_page_has_the_keys(folder: Path) -> None:
    page = (folder / "report" / "report.html").read_text()
    for key in KEYS:
        assert f"<td>→ PDV {key}, at 1,000 fps</td>" in page


@pytest.mark.parametrize("name", ["pdv", "trials"])
def test_each_plot_has_the_keys_in_its_data(folder: Path, name: str) -> None:
    made = pd.read_csv(folder / "report" / "data" / f"{name}.csv")
    assert list(dict.fromkeys(made["series"])) == KEYS
    assert list(dict.fromkeys(pd.read_parquet(folder / f"report/data/{name}.parquet")["series"]))


def test_there_is_a_delay_curve_for_each(folder: Path) -> None:
    """They were one curve of all sizes and mixes, which was that of none."""
    made = pd.read_csv(folder / "report" / "data" / "delays.csv")
    curves = list(dict.fromkeys(zip(made["panel"], made["curve"], strict=True)))
    assert curves == [(key, f"pdv, {way}") for key in KEYS for way in ("forward", "reverse")]


def test_a_delay_curve_has_the_frames_of_its_own_size_and_mix(folder: Path) -> None:
    """Ten a direction, of which the tables of delays have the foreground, and the background."""
    for curve in read_data(folder).delays:
        assert sum(frames for *_, frames in curve.buckets) == 10, (curve.series, curve.direction)


def test_a_test_case_of_junit_has_the_keys(folder: Path) -> None:
    (said,) = ElementTree.parse(folder / "report" / "junit.xml").iter("system-out")
    lines = (said.text or "").splitlines()
    assert [line.partition(": → PDV ")[0] for line in lines] == KEYS


def test_the_trials_of_each_can_be_chosen(folder: Path) -> None:
    data = read_data(folder)
    charts = {chart.key: chart for chart in charts_of(data, table_of(data))}
    params = {each["name"]: each for each in specification(charts["trials"])["params"]}
    assert params["chosen_search"]["bind"]["options"] == [f"pdv, {key}" for key in KEYS]


def test_the_figures_are_lines_over_the_size_one_for_each_mix(folder: Path) -> None:
    data = read_data(folder)
    (chart,) = (each for each in charts_of(data, table_of(data)) if each.key == "pdv")
    assert (chart.kind, chart.words["x"]) == ("lines", "frame_size_bytes")
    assert chart.words["axis"] == "PDV, µs, at 1,000 fps"
    assert {(row["line"], row["frame_size_bytes"]) for row in chart.rows} == {
        (f"{way}, {share} % foreground", size)
        for way in ("forward", "reverse")
        for share in (100, 50)
        for size in (84, 512)
    }


def test_the_summary_has_each_point_of_a_short_series(folder: Path) -> None:
    rows = summary_table(table_of(read_data(folder))).rows
    assert [row.title for row in rows] == [f"PDV {key}, at 1,000 fps" for key in KEYS]


def sized(size: int, share: int = 100, bursts: int = 1) -> Measurement:
    conditions = measurement().conditions.model_copy(
        update={
            "frame_size_bytes": size,
            "n": 100,
            "m": share,
            "search": SearchConditions(burst_frames=bursts),
        }
    )
    figure = Figure(name="PDV", unit="ns", values=(float(size),))
    return measurement(procedure="pdv", conditions=conditions, figures=(figure,))


EXPERIMENT = Experiment.model_validate_json(
    json.dumps(
        {
            "title": "t",
            "testbed": "testbed.toml",
            "column": [{"label": "one"}, {"label": "two"}],
            "measure": [{"command": "pdv"}],
        }
    )
)


def cell(column: str, *results: Measurement) -> CellResult:
    return CellResult(column=column, measure="pdv", round=1, results=results)


def test_a_column_with_one_of_the_series_has_its_key_as_well() -> None:
    cells = [cell("one", sized(84), sized(512)), cell("two", sized(512))]
    rows = {
        r.name: r.values for r in campaign_table(EXPERIMENT, {"one": {}, "two": {}}, cells).rows
    }
    assert [value.number for value in rows["PDV 512 B, at 10,000 fps"]] == [512, 512]
    assert [value.number for value in rows["PDV 84 B, at 10,000 fps"]] == [84, None]


def test_what_differs_only_between_columns_is_no_key() -> None:
    cells = [cell("one", sized(84)), cell("two", sized(512))]
    names = [row.name for row in campaign_table(EXPERIMENT, {"one": {}, "two": {}}, cells).rows]
    assert names == ["PDV at 10,000 fps"]


def test_a_rate_that_columns_do_not_share_stands_at_each_value() -> None:
    """As of a delay at the throughput that was found first; rounds may have found other rates."""
    results = [
        (column, round_, at_rate(rate_fps))
        for column, round_, rate_fps in (("one", 1, 900), ("one", 2, 1100), ("two", 1, 5000))
    ]
    cells = [
        CellResult(column=column, measure="pdv", round=round_, results=(result,))
        for column, round_, result in results
    ]
    table = campaign_table(EXPERIMENT, {"one": {}, "two": {}}, cells)
    (row,) = table.rows
    assert row.name == "PDV"
    assert [value.words for value in row.values] == [
        "84 ns, n = 2, at 900 … 1,100 fps",
        "84 ns, n = 1, at 5,000 fps",
    ]
    lines = csv.DictReader(io.StringIO(table_csv(table)))
    assert [line["rate_fps"] for line in lines] == ["1000.0", "5000"]


def at_rate(rate_fps: int) -> Measurement:
    conditions = sized(84).conditions.model_copy(update={"rate_fps": rate_fps})
    return sized(84).model_copy(update={"conditions": conditions})


def test_bursts_are_told_apart() -> None:
    variants = [variant_of(sized(84, bursts=bursts).conditions) for bursts in (1, 64)]
    assert told_apart(variants) == ["steady", "bursts of 64"]


def test_equal_ones_are_numbered_so_that_none_hides_the_other() -> None:
    cells = [cell("one", sized(84), sized(84), sized(512))]
    (shown,) = as_shown(EXPERIMENT, cells)
    assert shown.series == ("84 B (1)", "84 B (2)", "512 B")


def test_a_status_line_has_the_keys() -> None:
    lines = found([sized(84, 100), sized(84, 50)], summed=False)
    assert lines == ["100 % foreground: PDV 84 ns", "50 % foreground: PDV 84 ns"]


def loss(*values: float, **more: Any) -> Figure:
    return Figure(
        name="frame loss rate",
        unit="%",
        at="90 % (900 fps)",
        direction="forward",
        values=values,
        **more,
    )


def test_a_loss_that_was_never_measured_is_not_0() -> None:
    """Neither in the table nor in a plot nor in its data."""
    missing = measurement(procedure="frame-loss", figures=(loss(missing="no valid trial"),))
    none = measurement(procedure="frame-loss", figures=(loss(0.0),))
    experiment = EXPERIMENT.model_copy(
        update={
            "measure": (EXPERIMENT.measure[0].model_copy(update={"command": "frame-loss"}),),
        }
    )
    cells = [
        CellResult(column=column, measure="frame-loss", round=1, results=(result,))
        for column, result in (("one", missing), ("two", none))
    ]
    table = campaign_table(experiment, {"one": {}, "two": {}}, cells)
    (row,) = table.rows
    assert [(value.number, value.text) for value in row.values] == [
        (None, "no valid trial"),
        (0.0, "0 %"),
    ]
    (chart,) = figure_charts(("one", "two"), cells)
    assert [(each["benchmark"], each["missing"], each["n"]) for each in chart.rows] == [
        (None, "no valid trial", 0),
        (0.0, "", 1),
    ]
    (words,) = (layer for layer in layers_of(chart) if layer["mark"]["type"] == "text")
    assert words["encoding"]["text"]["field"] == "missing"
    again = [cells[0], CellResult(**{**vars(cells[1]), "column": "one", "round": 2})]
    (row,) = campaign_table(experiment, {"one": {}, "two": {}}, again).rows
    assert row.values[0].text == "0 %", "another round has measured it"


def test_an_invalid_trial_has_no_loss(folder: Path) -> None:
    data = read_data(folder)
    assert all(
        (trial.lost_percent is None) == (trial.verdict == "INVALID") for trial in data.trials
    )
