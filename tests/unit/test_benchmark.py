"""The benchmark of repetitions: their median, or their mean where the RFC says so."""

import csv
import io
import json
from typing import Any

import pytest
from rich.console import Console

from natxy.cli.narrator import described
from natxy.model.experiment import Experiment
from natxy.model.measurement import Figure, Measurement
from natxy.report.campaign_table import campaign_table
from natxy.report.campaign_text import table_csv
from natxy.report.cell_figures import CellResult, as_shown
from natxy.report.comparison import compared
from natxy.report.figure_charts import figure_charts
from natxy.report.found_words import found
from natxy.report.gateway_table import gateway_table
from natxy.report.numbers import with_bound
from natxy.report.result_text import brief_text
from natxy.report.results_csv import results_csv
from tests.unit.drawings import layers_of
from tests.unit.measurement_report import measurement

VALUES = (10.0, 20.0, 90.0)  # median 20, mean 40
EXPERIMENT = Experiment.model_validate_json(
    json.dumps(
        {
            "title": "t",
            "testbed": "testbed.toml",
            "column": [{"label": "a"}],
            "measure": [{"command": "throughput", "label": "some", "both_directions": True}],
        }
    )
)


def figure(**more: Any) -> Figure:
    given: dict[str, Any] = {"name": "back-to-back frames", "unit": "frames", "values": VALUES}
    return Figure(**{**given, "statistic": "mean", **more})


def cell(*figures: Figure, **more: Any) -> CellResult:
    return CellResult(column="a", measure="some", round=1, results=(result(*figures, **more),))


def result(*figures: Figure, **more: Any) -> Measurement:
    return measurement(procedure="back-to-back", figures=figures, **more)


def test_a_mean_is_the_benchmark_wherever_it_is_shown() -> None:
    """RFC 9004 sections 6.3 and 6.4, RFC 2544 section 26.5, RFC 6201 section 1.4."""
    cells = as_shown(EXPERIMENT, [cell(figure())])
    table = campaign_table(EXPERIMENT, {"a": {}}, cells)
    (row,) = table.rows
    assert row.title == "some back-to-back frames at 10,000 fps, mean"
    assert row.values[0].number == 40
    assert row.values[0].words == "40 [10 … 90] ± 43.6, n = 3", "RFC 9004 section 6.4"
    (line,) = csv.DictReader(io.StringIO(table_csv(table)))
    assert (line["value"], line["statistic"]) == ("40.0", "mean")
    assert float(line["standard_deviation"]) == pytest.approx(43.589)
    (chart,) = figure_charts(("a",), cells)
    (dots,) = (each for each in layers_of(chart) if each["mark"]["type"] == "point")
    assert dots["encoding"]["x"]["field"] == "benchmark"
    assert [(row["benchmark"], row["statistic"]) for row in chart.rows] == [(40, "mean")]
    (difference,) = compared([cells], [cells])
    assert (difference.before, difference.after) == (40, 40)
    assert found([result(figure())], summed=False) == ["back-to-back frames 40"]
    (entry,) = csv.DictReader(io.StringIO(results_csv([result(figure())])))
    assert (entry["statistic"], entry["mean"]) == ("mean", "40.0")


def printed(*tables: Any) -> str:
    console = Console(file=(text := io.StringIO()), width=160)
    for each in tables:
        console.print(each)
    return text.getvalue()


def test_tables_name_the_benchmark() -> None:
    for benchmark, other in (("mean", "median"), ("median", "mean")):
        figures = (figure(statistic=benchmark), figure(statistic=benchmark, name="implied"))
        _, head, *_ = brief_text([measurement(figures=figures)], 160)
        assert benchmark in head
        assert other not in head
    assert "back-to-back frames, mean" in printed(gateway_table("g", [result(figure())]))


@pytest.mark.parametrize(
    ("lower", "statistic", "bound"),
    [
        ((False, False, True), "mean", "lower"),
        ((False, False, True), "median", "exact"),
        ((True, False, False), "median", "lower"),
        ((), "mean", "exact"),
    ],
)
def test_a_bound_in_any_repetition_bounds_a_mean(
    lower: tuple[bool, ...], statistic: str, bound: str
) -> None:
    assert figure(lower_bound=lower, statistic=statistic).benchmark_bound == bound


def test_a_rate_is_the_same_in_each_place_and_says_what_it_counts() -> None:
    """It was 240,000 fps in `run`, `status` and `serve`, and 480,000 in the report."""
    of = measurement(
        procedure="throughput",
        figures=(Figure(name="throughput", unit="fps", values=(240_000.0,)),),
    )
    assert of.conditions.direction == "both"
    cells = [CellResult(column="a", measure="some", round=1, results=(of,))]
    (row, *_) = campaign_table(EXPERIMENT, {"a": {}}, cells).rows
    assert (row.values[0].text, row.rates) == ("480,000", "sum of both directions")
    assert row.title == "some throughput, fps sum of both directions"
    both = "throughput 480,000 fps sum of both directions (0.399 Gbit/s)"
    assert found([of], summed=True) == [both]
    assert found([of], summed=False) == ["throughput 240,000 fps per direction (0.2 Gbit/s)"]
    shown = as_shown(EXPERIMENT, cells)
    (difference,) = compared([shown], [shown])
    assert (difference.before, difference.rates) == (480_000, "sum of both directions")
    (chart,) = figure_charts(("a",), shown)
    assert chart.rows[0]["rates"] == "sum of both directions"
    assert chart.words["axis"] == "throughput, frames a second, sum of both directions"
    (entry,) = csv.DictReader(io.StringIO(results_csv([of])))
    assert (entry["median"], entry["rates"]) == ("240000.0", "per direction")


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ({"name": "PDV", "unit": "ns", "errors": (70.0, 20.0, 90.0)}, (90.0, "upper")),
        ({"name": "typical latency", "unit": "ns", "errors": (9.0,) * 3}, (20.0, "exact")),
        ({"name": "maximum IPDV", "unit": "ns", "errors": (30.0,) * 3}, (50.0, "upper")),
        ({"name": "minimum IPDV", "unit": "ns", "errors": (30.0,) * 3}, (20.0, "exact")),
        ({"name": "frame loss rate", "unit": "%", "errors": (90.0,) * 3}, (100.0, "upper")),
        ({"name": "throughput", "unit": "fps", "lower_bound": (True,) * 3}, (20.0, "lower")),
    ],
)
def test_an_error_as_large_as_its_figure_makes_a_bound_everywhere(
    known: dict[str, Any], shown: tuple[float, str]
) -> None:
    """The figure is at most the sum of both."""
    of = Figure(**{"name": "", "values": (20.0, 10.0, 90.0), **known})
    assert with_bound(of) == shown
    (entry,) = csv.DictReader(io.StringIO(results_csv([result(of)])))
    assert (float(entry["benchmark"]), entry["bound"]) == shown
    assert entry["median"] == "20.0", "the statistics are those of the values"
    (told,) = described([of])
    assert (told["benchmark"], told["bound"], told["median"]) == (*shown, 20.0)
