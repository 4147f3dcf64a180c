"""A campaign's table, its formats, its charts, and the comparison of two campaigns."""

import csv
import dataclasses
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.head import head_of
from natxy.campaign.plan import plan_of
from natxy.campaign.report import beside_of, charts_of, table_of, tables_of, write_report
from natxy.cli import run_command
from natxy.cli.campaigns import check, start
from natxy.errors import ConfigurationError
from natxy.model.measurement import Figure
from natxy.report.beside import beside
from natxy.report.campaign_html import QUICK, campaign_html
from natxy.report.campaign_table import campaign_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.cell_figures import CellResult, found_figures
from natxy.report.report_files import LIST
from tests.unit.campaign_report import SCALE_UP, TESTBEDS, cell
from tests.unit.campaigns import planned, run
from tests.unit.conftest import NAT64
from tests.unit.measurement_report import measurement as some_measurement

# draft-lencse-v6ops-transition-scalability-03, Figure 2: medians and extremes in kfps, both ways.
PUBLISHED = {"1 cores": (413.9, 414.9, 416.1), "2 cores": (740.6, 742.3, 746.9)}
FORWARDING = {"1 cores": 910.9, "2 cores": 1523.0}


def cells() -> list[CellResult]:
    measured = [
        cell(column, *[each * 1000 / 2 for each in values]) for column, values in PUBLISHED.items()
    ]
    measured += [
        cell(column, value * 1000 / 2, measure="forwarding") for column, value in FORWARDING.items()
    ]
    return [*measured, cell("4 cores", error="the gateway died")]


def test_the_table_has_what_figure_2_of_the_draft_has() -> None:
    table = campaign_table(SCALE_UP, TESTBEDS, cells())
    rows = {row.name: [value.number for value in row.values] for row in table.rows}
    assert rows["num. CPU cores"] == [1, 2, 4]
    assert rows["throughput"] == [414_900, 742_300, None]
    (row,) = (row for row in table.rows if row.name == "throughput")
    spreads = [each.spread for each in row.values if each.spread]
    assert [each.minimum for each in spreads] == [413_900, 740_600]
    assert [each.maximum for each in spreads] == [416_100, 746_900]
    assert [each.n for each in spreads] == [3, 3]
    assert rows["throughput relative scale-up"][:2] == [1, pytest.approx(0.895, abs=5e-4)]
    assert rows["throughput ratio to forwarding"][:2] == [
        pytest.approx(0.455, abs=1e-3),
        pytest.approx(0.488, abs=1e-3),
    ]
    assert rows["throughput ratio to the previous"] == [
        None,
        pytest.approx(742.3 / 414.9),
        None,
    ]
    assert rows["throughput dispersion"][0] == pytest.approx((416.1 - 413.9) / 414.9 * 100)
    assert rows["per core"][1] == pytest.approx(371_150)
    assert table.notes == {"": ("throughput, column 4 cores, round 1 failed: the gateway died",)}
    texts = {row.name: [value.text for value in row.values] for row in table.rows}
    assert texts["throughput"] == ["414,900", "742,300", "failed"]
    words = [value.words for value in row.values]
    assert words[0].startswith("414,900 [413,900 … 416,100], n = 3")
    assert words[2] == "failed"


def test_rounds_are_taken_together() -> None:
    again = [cell("1 cores", 1000.0), CellResult(**{**vars(cell("1 cores", 3000.0)), "round": 2})]
    table = campaign_table(SCALE_UP, TESTBEDS, again)
    (row,) = (row for row in table.rows if row.name == "throughput")
    spread = row.values[0].spread
    assert spread is not None
    assert (spread.minimum, row.values[0].number, spread.maximum) == (2000, 4000, 6000)


def test_a_bound_stays_a_bound() -> None:
    table = campaign_table(SCALE_UP, TESTBEDS, [cell("1 cores", 1000.0, lower=True)])
    texts = {row.name: row.values[0].text for row in table.rows}
    assert texts["throughput"] == "≥ 2,000"
    assert texts["per core"] == "≥ 2,000"
    rows = csv.DictReader(io.StringIO(table_csv(table)))
    bounds = {row["row"]: row["bound"] for row in rows if row["column"] == "1 cores"}
    assert (bounds["throughput"], bounds["per core"]) == ("lower", "lower")
    assert bounds["throughput relative scale-up"] == "exact", "of a figure to itself"


def test_figures_beside_the_main_ones_have_a_table_of_their_own(
    experiment: Path, tmp_path: Path
) -> None:
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    tables = tables_of(data)
    main, further = ({row.figure for row in tables[name].rows} for name in ("table", "further"))
    assert {"throughput", "pdv PDV"} & main
    assert {"pdv minimum delay", "minimum delay"} & further
    assert not main & further
    write_report(data, tmp_path / "report", html=True)
    assert "further figures" in (tmp_path / "report" / "report.html").read_text()
    assert (tmp_path / "report" / "further.csv").exists()


def test_the_formats_have_the_same_values() -> None:
    table = campaign_table(SCALE_UP, TESTBEDS, cells())
    shown = text(table).splitlines()
    title = "throughput, fps sum of both directions"
    (line,) = (line for line in shown if line.startswith(title))
    assert line.index("414,900 [413,900 … 416,100], n = 3") < line.index("742,300 [740,600 … 746,")
    assert line.endswith("failed")
    assert line.index("failed") + len("failed") == len(shown[2]), "columns are aligned"
    (line,) = (line for line in markdown(table).splitlines() if line.startswith(f"| {title}"))
    cells_of = [each.strip() for each in line.strip("|").split("|")]
    assert cells_of[0] == title
    assert cells_of[1].startswith(r"414,900 \[413,900 … 416,100\], n \= 3")
    assert cells_of[3] == "failed"
    rows = list(csv.DictReader(io.StringIO(table_csv(table))))
    throughputs = [row for row in rows if row["row"] == "throughput"]
    names = ("column", "value", "minimum", "maximum", "n", "unit", "statistic", "bound")
    assert {tuple(row[name] for name in names) for row in throughputs} == {
        ("1 cores", "414900.0", "413900.0", "416100.0", "3", "fps", "median", "exact"),
        ("2 cores", "742300.0", "740600.0", "746900.0", "3", "fps", "median", "exact"),
        ("4 cores", "", "", "", "", "fps", "median", ""),
    }


def test_a_latex_table_has_a_caption_a_label_rules_and_numbers_of_siunitx() -> None:
    """It needs booktabs and siunitx, and says so; below a figure its spread stands in small
    letters, so that several columns fit a page."""
    made = latex(campaign_table(SCALE_UP, TESTBEDS, cells())).splitlines()
    assert made[0] == r"% \usepackage{booktabs, siunitx}"
    assert [line.strip() for line in made[1:7]] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Scale up \& more}",
        r"\label{tab:scale-up-more}",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
    ]
    at = next(
        place for place, line in enumerate(made) if line.strip().startswith("throughput, fps")
    )
    assert made[at].strip() == (
        r"throughput, fps sum of both directions & \num{414900} & \num{742300} & failed \\"
    )
    assert (
        made[at + 1]
        .strip()
        .startswith(
            r"& \scriptsize {[}\num{413900} \dots{} \num{416100}{]} & \scriptsize {[}\num{740600}"
        )
    )
    assert made[at + 2].strip().startswith(r"& \scriptsize n = \num{3} & \scriptsize n = \num{3} &")
    whole = "\n".join(made)
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}", r"\end{table}"):
        assert whole.count(rule) == 1
    assert whole.count("{") == whole.count("}")
    in_table = made[made.index(r"    \midrule") + 1 : made.index(r"    \bottomrule")]
    assert {line.replace(r"\&", "").count("&") for line in in_table} == {3}
    assert all(line.endswith(r" \\") for line in in_table)


def test_a_report_of_a_campaign_has_its_data(experiment: Path, tmp_path: Path) -> None:
    """The rates of its plot are those of its table: the sum of both directions."""
    written = experiment.read_text()
    sums = written.replace('"throughput"', '"throughput"\nboth_directions = true')
    experiment.write_text(sums)
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    table = table_of(data)
    charts = {chart.key: chart for chart in charts_of(data, table)}
    assert [row.name for row in table.rows] == [
        "throughput",
        "→ PDV at 1,000 fps",
        "← PDV at 1,000 fps",
    ]
    assert [row["column"] for row in charts["throughput"].rows] == ["84 B", "512 B"]
    assert {row["median"] for row in charts["throughput"].rows} == {100_000}
    assert [value.number for value in table.rows[0].values] == [100_000, 100_000]
    assert len(charts["trials"].rows) == len(data.trials) > 40
    assert {(row["panel"], row["curve"]) for row in charts["delays"].rows} == {
        (f"{size} B", f"pdv, {way}") for size in (84, 512) for way in ("forward", "reverse")
    }
    assert [curve.column for curve in data.delays] == ["84 B", "84 B", "512 B", "512 B"], (
        "as in the experiment, not in the order that was drawn"
    )
    shares = [point[1] for point in data.delays[0].points]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    head = head_of(data)
    assert "; 8 of 8 cells; seed 7" in head["Trials"]
    assert head["Trials"].startswith(f"{len(data.trials):,}, all valid; ")


FOLDER = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("quick", [False, True])
def test_each_experiment_of_a_document_can_be_planned(path: Path, quick: bool) -> None:
    asked = read_asked(path)
    plan = plan_of(asked.experiment, asked.testbed, 1, quick=quick)
    check(plan)
    assert asked.published is not None
    assert asked.published.traffic.rates == "sum of directions" or not any(
        measure.both_directions for measure in asked.experiment.measure
    )


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize(("name", "cells"), [("guest/jool", 14), ("tcp/nat44", 8)])
def test_the_other_experiments_can_be_planned(name: str, cells: int, quick: bool) -> None:
    asked = read_asked(FOLDER / f"{name}.toml")
    plan = plan_of(asked.experiment, asked.testbed, 1, quick=quick)
    check(plan)
    assert len(plan.cells) == cells


def test_a_published_table_stands_beside_what_was_measured() -> None:
    asked = read_asked(FOLDER / "sd-figure-02.toml")
    assert asked.published is not None
    shown = ("1 core", "4 cores")
    measured = [
        cell("1 core", 200_000, 210_000, 220_000),
        cell("1 core", 500_000, measure="router", lower=True),
    ]
    found = found_figures(asked.experiment, measured)
    table = beside(asked.experiment, shown, asked.published, found)
    rows = [(row.name, [value.text for value in row.values]) for row in table.rows]
    name = "throughput median (throughput)"
    at = rows.index((f"{name}, published", ["414,900", "1,379,000"]))
    assert rows[at + 1] == (f"{name}, here", ["420,000", ""])
    assert rows[at + 2] == (f"{name}, here / published", ["1.01", ""])
    shown_here = dict(rows)
    name = "throughput median (router)"
    assert shown_here[f"{name}, here"] == ["≥ 1,000,000", ""]
    ratio = shown_here[f"{name}, here / published"]
    assert ratio == ["≥ 1.1", ""], "a bound's ratio is a bound"
    assert any("Dell PowerEdge" in note for note in table.notes[""])
    assert any("does not state: frame size" in note for note in table.notes[""])


def test_units_of_a_document_are_used() -> None:
    """MP Table 16 has deletion times in seconds; SD Figure 6 has a unit for each column."""
    tear_down = read_asked(FOLDER / "mp-table-16.toml")
    times = Figure(name="full table deletion time", unit="s", values=(0.5,), primary=False)
    rate = Figure(name="connection tear-down rate", unit="cps", values=(1e6,))
    taken = Figure(name="deletion time", unit="s", values=(0.25,), primary=False)
    result = some_measurement(procedure="tear-down", figures=(rate, times, taken))
    cells_of = [CellResult(column="400,000", measure="tear-down", round=1, results=(result,))]
    found = found_figures(tear_down.experiment, cells_of)
    assert tear_down.published is not None
    table = beside(tear_down.experiment, ("400,000",), tear_down.published, found)
    texts = {row.name: row.values[0].text for row in table.rows}
    assert texts["Filled table deletion time median (s), here"] == "0.5"
    assert texts["Connections deltion time (s), here"] == "0.25", "as it is printed"
    assert texts["Connection tear down rate (cps), here"] == "1,000,000"


def test_a_misprint_is_put_right_and_named() -> None:
    asked = read_asked(FOLDER / "mp-table-23.toml")
    assert asked.published is not None
    found = found_figures(asked.experiment, [])
    table = beside(asked.experiment, ("Linear enumeration",), asked.published, found)
    assert any(
        note.startswith("Misprint in destination_ports, column 3, 4") for note in table.notes[""]
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('{ row = "nothing", of = "throughput" }', '"nothing" is not published'),
        ('{ row = "throughput_median", of = "throughput", columns = [6] }', "has no column 6"),
        ('{ row = "throughput_median", of = "latency" }', 'names the measurement "latency"'),
        ('{ row = "throughput_median", of = "throughput", columns = [1, 2] }', "expected 1"),
    ],
)
def test_a_pair_that_fits_nothing_is_refused(wrong: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "testbed.toml").write_text(NAT64)
    published = FOLDER / "published" / "sd-figure-02.toml"
    path = tmp_path / "experiment.toml"
    path.write_text(
        'title = "x"\ntestbed = "testbed.toml"\nmeasure = [{ command = "throughput" }]\n'
        f'[published]\nfile = "{published}"\npair = [{wrong}]\n'
    )
    with pytest.raises(ConfigurationError, match=sentence):
        read_asked(path)


def test_a_campaign_keeps_what_was_published(experiment: Path, tmp_path: Path) -> None:
    published = FOLDER / "published" / "sd-figure-02.toml"
    named = f'[published]\nfile = "{published}"\n'
    pairs = 'pair = [{ row = "throughput_median", of = "throughput" }]\n'
    experiment.write_text(experiment.read_text() + named + pairs)
    folder = tmp_path / "campaign"
    run(experiment, folder)
    data = read_data(folder)
    assert (folder / "published.toml").read_text() == published.read_text()
    table = table_of(data)
    shown = beside_of(data, table)
    assert shown is not None
    assert shown.rows[1].values[0].number is not None
    page = campaign_html({"table": table, "published": shown}, [])
    assert "SD Figure 2" in page
    host = f"none, {os.cpu_count()} CPU"
    write_report(read_data(folder), tmp_path / "report", html=True)
    for name in ("published.txt", "published.md", "published.tex", "report.html"):
        written = (tmp_path / "report" / name).read_text()
        assert f"Measured here: the gateway. Machine of the tester: {host}" in written, name


def test_a_measurement_has_a_device_of_its_own() -> None:
    asked = read_asked(FOLDER / "sd-figure-02.toml")
    plan = plan_of(asked.experiment, asked.testbed, 1)
    router = next(cell for cell in plan.cells if cell.measure.name == "router")
    assert router.testbed["dut"] == {"kind": "namespace", "driver": "kernel-router"}
    assert "connections" not in router.testbed
    assert plan.conditions["4 cores"]["dut"]["driver"] == "nat44-iptables"
    assert plan.conditions["4 cores"]["cores"] == 4
    blocks = [cell.column.cores for cell in plan.cells]
    assert blocks == sorted(blocks, key=lambda cores: cores or 0), "a number of cores is left once"


@pytest.mark.usefixtures("engine")
def test_a_measurement_has_a_report_as_well(testbed_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pdv"
    words = [str(testbed_file), "--rate", "1000", "--profile", "quick", "--duration", "0.01"]
    words += ["--repetitions", "2", "--output", str(folder), "--report"]
    assert run_command(["pdv", *words]) == 0
    assert "PDV" in (folder / "report" / "table.txt").read_text()
    page = (folder / "report" / "report.html").read_text()
    assert page.count('class="chart"') >= 3, "figures, delays, trials"
    assert (folder / "report" / "data" / "delays.parquet").exists()


def test_the_report_of_what_is_no_measurement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no campaign"):
        write_report(read_data(tmp_path), tmp_path / "report", html=False)


def test_figures_of_one_point_in_each_column_are_in_one_row() -> None:
    asked = read_asked(FOLDER / "mp-table-16.toml")

    def found(column: str, connections: str, rate_cps: float) -> CellResult:
        figure = Figure(
            name="connection tear-down rate", unit="cps", at=connections, values=(rate_cps,)
        )
        result = some_measurement(procedure="tear-down", figures=(figure,))
        return CellResult(column=column, measure="tear-down", round=1, results=(result,))

    cells_of = [found("400,000", "2,000 connections", 1e6), found("4,000,000", "20,000", 2e6)]
    conditions = plan_of(asked.experiment, asked.testbed, 1).conditions
    table = campaign_table(asked.experiment, conditions, cells_of)
    rows = {row.name: [value.number for value in row.values] for row in table.rows}
    assert rows["connection tear-down rate"] == [1e6, 2e6, None]


def test_a_campaign_that_was_scaled_down_says_so_in_each_format() -> None:
    table = dataclasses.replace(campaign_table(SCALE_UP, TESTBEDS, cells()), warning="Scaled down")
    for made in (text, markdown, latex):
        assert "SCALED DOWN" in made(table).splitlines()[0]
    assert r"\caption{SCALED DOWN Scale up \& more}" in latex(table), "a paper shows it as well"


def test_a_quick_campaign_says_so_in_each_file_of_its_report(
    experiment: Path, tmp_path: Path
) -> None:
    published = f'[published]\nfile = "{FOLDER / "published" / "sd-figure-02.toml"}"\n'
    pairs = 'pair = [{ row = "throughput_median", of = "throughput" }]\n'
    experiment.write_text(experiment.read_text() + published + pairs)
    plan = planned(experiment, quick=True, options={"duration": 0.01, "repetitions": 1})
    folder = CampaignFolder(path=tmp_path / "campaign")
    start(read_asked(experiment), plan, folder, "natxy run")
    made = tmp_path / "report"
    write_report(read_data(folder.path), made, html=True)
    listed = made / LIST  # names of files, and nothing that was measured
    files = [path for path in made.rglob("*") if path.is_file() and path != listed]
    unmarked = [path.name for path in files if not says_it_is_quick(path)]
    assert unmarked == []
    assert {path.suffix for path in files} == set(SAYS_QUICK), "each kind was looked at"
    assert [entry["scaled_down"] for entry in results_of(folder.path)] == [True] * len(plan.cells)


def first_line(path: Path) -> bool:
    return "SCALED DOWN BY --QUICK" in path.read_text().splitlines()[0]


def caption(path: Path) -> bool:
    """LaTeX makes a dash of two hyphens."""
    (line,) = (line for line in path.read_text().splitlines() if r"\caption" in line)
    return "SCALED DOWN BY -{}-QUICK: THE FIGURES SHOW" in line


def last_column(path: Path) -> bool:
    read = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    return read.columns[-1] == "scaled_down" and bool(read["scaled_down"].all())


def property_of(path: Path) -> dict[str, str]:
    (found,) = ElementTree.parse(path).iter("property")
    return found.attrib


SAYS_QUICK: dict[str, Callable[[Path], bool]] = {
    ".txt": first_line,
    ".md": first_line,
    ".tex": caption,
    ".html": lambda path: f'<p class="quick">{QUICK}</p>' in path.read_text(),
    ".svg": lambda path: "Scaled down by --quick" in path.read_text(),
    ".pdf": lambda path: says_it_is_quick(path.with_suffix(".svg")),  # of which it is made
    ".csv": last_column,
    ".parquet": last_column,
    ".hgrm": lambda path: path.read_text().splitlines()[-1] == f"# {QUICK}",
    ".xml": lambda path: property_of(path) == {"name": "scaled_down", "value": "true"},
}


def says_it_is_quick(path: Path) -> bool:
    return SAYS_QUICK[path.suffix](path)


def results_of(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())
    return entries


def test_a_whole_campaign_was_not_scaled_down_and_says_how_it_deviates(
    experiment: Path, tmp_path: Path
) -> None:
    run(experiment, tmp_path / "campaign")
    write_report(read_data(tmp_path / "campaign"), tmp_path / "report", html=False)
    for ending in ("txt", "md", "tex"):
        shown = (tmp_path / "report" / f"table.{ending}").read_text()
        assert "throughput, fps per direction" in shown
        assert "Deviations from the RFCs" in shown
        assert "Trials of " in shown
        assert "not 60 s" in shown
    for path in (tmp_path / "report").rglob("*.csv"):
        assert not pd.read_csv(path)["scaled_down"].any(), path.name
    of_suite = property_of(tmp_path / "report" / "junit.xml")
    assert of_suite == {"name": "scaled_down", "value": "false"}
    assert {entry["scaled_down"] for entry in results_of(tmp_path / "campaign")} == {False}
