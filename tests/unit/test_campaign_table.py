"""Rows that say how full the gateway's connection tracking table is."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from natxy.model.experiment import Experiment
from natxy.model.measurement import ConnectionConditions, Figure
from natxy.report.campaign_html import campaign_html
from natxy.report.campaign_table import campaign_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.cell_figures import CellResult
from natxy.report.figure_charts import computed_charts
from natxy.report.table_rows import CampaignTable, Row
from tests.unit.measurement_report import measurement

FOLDER = Path(__file__).parents[2] / "experiments"
BUCKETS, ENTRIES = "connections per hash bucket", "connections per entry"


def conditions(count: int | None, **table: Any) -> ConnectionConditions:
    return ConnectionConditions(
        initiator="left",
        count=count,
        rate_fps=1000,
        order="pseudorandom",
        ranges="",
        initiator_order="",
        responder_order="",
        **table,
    )


def cell(column: str, of: ConnectionConditions | None, *more: Figure, **said: Any) -> CellResult:
    """A cell of a rate, with the conditions of its connections."""
    rate = Figure(name="a rate", unit="cps", values=(100_000.0,))
    conditions = measurement().conditions.model_copy(update={"connections": of})
    result = measurement(conditions=conditions, figures=(rate, *more))
    known: dict[str, Any] = {"measure": "establishment", "round": 1} | said
    return CellResult(column=column, results=(result,), **known)


def experiment(*rows: dict[str, str], measure: dict[str, Any] | None = None) -> Experiment:
    """Two columns, whose testbeds have 1,000 and 3,000 connections."""
    return Experiment.model_validate(
        {
            "title": "How full",
            "testbed": "testbed.toml",
            "column": ({"label": "few"}, {"label": "many"}),
            "measure": ({"command": "establishment"} | (measure or {}),),
            "row": tuple({"of": "establishment"} | row for row in rows),
        }
    )


TESTBEDS = {"few": {"connections": {"count": 1000}}, "many": {"connections": {"count": 3000}}}
BOTH = experiment({"kind": BUCKETS}, {"kind": ENTRIES})


def filled(of: Experiment, *cells: CellResult) -> list[Row]:
    return [row for row in campaign_table(of, TESTBEDS, cells).rows if row.kind]


def test_the_row_of_mp_table_12_has_its_printed_values() -> None:
    asked = read_asked(FOLDER / "mp-table-12.toml")
    assert asked.published is not None
    published = asked.published.rows["connections_per_hash_entry"]
    testbeds = plan_of(asked.experiment, asked.testbed, 1).conditions
    cells = [
        cell(
            label,
            conditions(testbed["connections"]["count"], hash_size=testbed["dut"]["hash_size"]),
        )
        for label, testbed in testbeds.items()
    ]
    table = campaign_table(asked.experiment, testbeds, cells)
    (row,) = (row for row in table.rows if row.kind == BUCKETS)
    assert row.name == published.label
    numbers = [value.number for value in row.values]
    assert numbers == [pytest.approx(value, abs=5e-5) for value in published.values]
    assert row.values[0].text == "0.3815"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_each_experiment_has_the_row_that_its_document_has(path: Path) -> None:
    asked = read_asked(path)
    assert asked.published is not None
    theirs = asked.published.rows.get("connections_per_hash_entry")
    names = [row.name for row in asked.experiment.row if row.kind == BUCKETS]
    assert names == ([] if theirs is None else [theirs.label])


def test_buckets_and_entries_differ() -> None:
    table = {"hash_size": 4000, "table_entries": 2000}
    buckets, entries = filled(BOTH, cell("few", conditions(1000, **table)))
    assert [value.number for value in buckets.values] == [0.25, None], "many was not measured"
    assert [value.number for value in entries.values] == [0.5, None]
    assert entries.name == "establishment connections per entry"


def test_a_table_of_unknown_size_leaves_the_field_empty() -> None:
    of = conditions(1000, hash_size=4000)
    buckets, entries = filled(BOTH, cell("few", of), cell("many", None))
    assert [value.text for value in buckets.values] == ["0.25", ""]
    assert [value.text for value in entries.values] == ["", ""]
    again = cell("few", conditions(1000, hash_size=8000), round=2)
    (changed, _) = filled(BOTH, cell("few", of), again)
    assert changed.values[0].text == "", "its size was another one in the second round"


def test_connections_that_were_counted_come_before_those_asked_for() -> None:
    """MP Table 23: phase 1 sent 4,000,000 frames, and many of them repeated a connection."""
    made = Figure(name="connections", unit="connections", values=(2_528_332.0,), primary=False)
    of = conditions(4_000_000, hash_size=524_288)
    (buckets, _) = filled(BOTH, cell("few", of), cell("many", of, made))
    assert [value.text for value in buckets.values] == ["7.629", "4.822"]


def test_the_ending_ratio_is_that_of_the_last_frames_of_phase_1() -> None:
    """MP Table 23 has it in percent; only an order with repetition has the figure."""
    asked = read_asked(FOLDER / "mp-table-23.toml")
    testbeds = plan_of(asked.experiment, asked.testbed, 1).conditions
    drawn = Figure(
        name="ending new connection ratio", unit="%", values=(36.7, 36.79, 36.9), primary=False
    )
    cells = [
        cell("Linear enumeration", conditions(4_000_000)),
        cell("Pseudorandom, 4M", conditions(4_000_000), drawn),
    ]
    table = campaign_table(asked.experiment, testbeds, cells)
    (row,) = (row for row in table.rows if row.kind == "ending ratio")
    assert [value.text for value in row.values] == ["", "36.79 %", "", ""]
    charts = {chart.key: chart for chart in computed_charts(table)}
    ending = charts["computed-ending-ratio"]
    named = {"column": "Pseudorandom, 4M", "row": row.name, "unit": "%"}
    point = {**named, "value": 36.79, "bound": "exact"}
    assert ending.rows == [point]
    assert ending.words["axis"] == "%"


def memory(octets: float, *, upper: bool = False) -> Figure:
    return Figure(
        name="memory per connection",
        unit="octets",
        values=(octets,),
        upper_bound=(upper,),
        primary=False,
    )


def test_a_row_shows_a_figure_that_is_not_a_main_one() -> None:
    """Memory per connection: the median of the rounds, or a bound with its sign."""
    of = experiment({"kind": "figure", "figure": "memory per connection"})
    cells = [
        *(cell("few", None, memory(octets)) for octets in (384.0, 400.0, 385.0)),
        cell("many", None, memory(320.0, upper=True)),
    ]
    (row,) = filled(of, *cells)
    assert (row.name, row.unit) == ("establishment memory per connection", "octets")
    assert [value.text for value in row.values] == ["385", "≤ 320"]
    (unmeasured,) = filled(of, cell("few", None))
    assert [value.text for value in unmeasured.values] == ["", ""]


def test_figures_of_different_units_have_a_plot_each() -> None:
    loss = Figure(name="lost frames", unit="frames", values=(7.0,), primary=False)
    delay = Figure(name="minimum delay", unit="ns", values=(2500.0,), primary=False)
    of = experiment(*({"kind": "figure", "figure": name} for name in (loss.name, delay.name)))
    charts = computed_charts(campaign_table(of, TESTBEDS, [cell("few", None, loss, delay)]))
    shown = {each.key: (each.title, each.rows[0]["value"]) for each in charts}
    assert shown == {
        "computed-figure-frames": ("Computed: figure frames", 7),
        "computed-figure-µs": ("Computed: figure µs", 2.5),
    }


def test_a_row_of_a_figure_needs_its_name() -> None:
    with pytest.raises(ValueError, match=r'is missing: kind = "figure" needs it'):
        experiment({"kind": "figure"})


def test_a_figure_can_be_named_and_keeps_its_sign() -> None:
    capacity = Figure(
        name="capacity", unit="connections", values=(1500.0,), lower_bound=(True,), primary=False
    )
    of = experiment({"kind": ENTRIES, "figure": "capacity"})
    at_size = conditions(1000, table_entries=2000)
    (entries,) = filled(of, cell("few", at_size, capacity), cell("many", at_size))
    assert [value.text for value in entries.values] == ["≥ 0.75", ""], "many has no such figure"


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        ({}, "0.25"),
        ({"options": {"counts": "10,20"}}, ""),
        ({"testbed": {"connections": {"count": 2000}}}, "0.5"),
    ],
    ids=["of-the-testbed", "of-a-series", "of-the-measurement"],
)
def test_tear_down_has_the_connections_of_its_testbed(measure: dict[str, Any], shown: str) -> None:
    """Its result does not keep their number, since it can be a series of them."""
    of = experiment({"kind": BUCKETS}, measure=measure)
    (buckets,) = filled(of, cell("few", conditions(None, hash_size=4000)))
    assert buckets.values[0].text == shown


def shown_in(table: CampaignTable) -> dict[str, str]:
    return {
        "text": text(table),
        "Markdown": markdown(table),
        "CSV": table_csv(table),
        "LaTeX": latex(table),
        "HTML": campaign_html({"table": table}, []),
    }


def test_the_row_is_in_each_format_and_has_a_plot() -> None:
    cells = [cell("few", conditions(1000, hash_size=4000))]
    table = campaign_table(BOTH, TESTBEDS, cells)
    for name, made in shown_in(table).items():
        assert f"establishment {BUCKETS}" in made, name
    lines = list(csv.DictReader(io.StringIO(table_csv(table))))
    (line,) = (line for line in lines if line["row"].endswith(BUCKETS) and line["column"] == "few")
    assert (line["value"], line["unit"], line["text"]) == ("0.25", "times", "0.25")
    (chart,) = computed_charts(table)
    assert chart.key == "computed-connections-per-hash-bucket"
    assert len(chart.rows) == 1
