"""Published figures without a measured one beside them: a sentence says why."""

from pathlib import Path

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.plan import plan_of, quickly
from natxy.campaign.report import beside_of, table_of
from natxy.cli.campaigns import start
from natxy.model.measurement import Figure
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.report.beside import _ours, beside, labels_of
from natxy.report.cell_figures import CellResult, found_figures
from natxy.report.table_rows import CampaignTable
from tests.published_figures import unexplained
from tests.unit.measurement_report import measurement

FOLDER = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))


def made(path: Path, *cells: CellResult, quick: bool = False) -> CampaignTable:
    asked = read_asked(path)
    assert asked.published is not None
    shown = quickly(asked.experiment) if quick else asked.experiment
    columns = [column.label for column in shown.columns]
    found = found_figures(asked.experiment, cells)
    return beside(asked.experiment, columns, asked.published, found)


def wrong(table: CampaignTable, *, notes: bool = True) -> list[str]:
    rows = [(row.name, [value.text for value in row.values]) for row in table.rows]
    return list(unexplained(table.columns, rows, table.notes[""] if notes else ()))


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_nothing_was_measured_and_every_figure_says_so(path: Path, quick: bool) -> None:
    table = made(path, quick=quick)
    assert wrong(table) == []
    assert wrong(table, notes=False), "the check can fail"


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_each_published_row_stands_in_the_table_or_in_a_sentence(path: Path) -> None:
    published = read_asked(path).published
    assert published is not None
    table = made(path, quick=True)
    labels = {key: set[str]() for key in published.rows}
    for pair, label in labels_of(read_asked(path).experiment, published).items():
        labels[pair.row].add(label)
    names = {row.name for row in table.rows}
    notes = [note for note in table.notes[""] if note.startswith("Published, and")]
    for key, row in published.rows.items():
        shown = labels[key] and {f"{label}, published" for label in labels[key]} <= names
        said = any(row.label in note for note in notes)
        assert row.role == "setting" or shown or said


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_no_two_rows_have_one_name(path: Path) -> None:
    """SD Figure 2 prints "throughput median" for the gateway, and for a router."""
    names = [row.name for row in made(path).rows]
    assert len(set(names)) == len(names)


def test_rows_of_one_label_are_told_apart_by_what_differs() -> None:
    (name, *_) = (row.name for row in made(FOLDER / "mp-table-10.toml").rows)
    assert name == "Median (ms) (forward), published"
    (name, *_) = (row.name for row in made(FOLDER / "mp-table-09.toml").rows)
    assert name == "Median (ms) (typical latency, forward), published"
    (name, *_) = (row.name for row in made(FOLDER / "mp-table-12.toml").rows)
    assert "(" not in name.replace("(cps)", "")


def test_each_published_table_has_an_experiment() -> None:
    published = {path.stem for path in (FOLDER / "published").glob("*.toml")}
    assert {path.stem for path in EXPERIMENTS} == published


@pytest.mark.usefixtures("engine")
def test_the_tester_alone_is_measured_without_a_gateway(tmp_path: Path) -> None:
    """SP Table 5, with an engine that passes up to 50,000 frames a second."""
    asked = read_asked(FOLDER / "sp-table-05.toml")
    plan = plan_of(asked.experiment, asked.testbed, 1, quick=True, options={"duration": 0.01})
    for each in plan.cells:
        testbed: Testbed = asked.testbed_source.validated(Testbed, each.testbed)
        TrafficPlan(testbed=testbed, source=asked.testbed_source).check()
    folder = CampaignFolder(path=tmp_path / "campaign")
    start(asked, plan, folder, "natxy run")
    data = read_data(folder.path)
    conditions = [result.conditions for each in data.cells for result in each.results]
    assert [of.frame_timeout_s for of in conditions] == [0, 0.01]
    assert {(of.networks, of.direction) for of in conditions} == {("256", "both")}
    table = beside_of(data, table_of(data))
    assert table is not None
    assert wrong(table) == []
    here = next(row for row in table.rows if row.name == "median (fps), here")
    assert all(40_000 < (value.number or 0) <= 50_000 for value in here.values)


def cell(column: str, *rates: float, error: str = "") -> CellResult:
    figure = Figure(name="throughput", unit="fps", values=rates)
    results = (measurement(procedure="throughput", figures=(figure,)),) if rates else ()
    return CellResult(column=column, measure="throughput", round=1, results=results, error=error)


def test_the_sentence_has_the_reason() -> None:
    table = made(
        FOLDER / "sd-figure-02.toml",
        cell("1 core", 100.0),
        cell("2 cores", error="the gateway died."),
    )
    notes = [note for note in table.notes[""] if note.startswith("Not measured here")]
    assert (
        "Not measured here: column 2 cores: throughput median (throughput); throughput min "
        "(throughput); throughput max (throughput): throughput failed: the gateway died."
    ) in notes
    assert any("establishment has not been measured in this column" in note for note in notes)
    measured = [note for note in notes if "column 1 core: throughput" in note]
    assert all("router has not been measured" in note for note in measured)


def test_columns_that_quick_leaves_out_are_named() -> None:
    notes = made(FOLDER / "sd-figure-02.toml", quick=True).notes[""]
    assert notes[0] == (
        "Published, and left out of this campaign: columns 2 cores; 4 cores; 8 cores; 16 cores."
    )


def test_a_document_that_draws_its_figures_is_said_to() -> None:
    (note, *_) = made(FOLDER / "sp-figure-06.toml").notes[""]
    assert "draws the figures and prints no numbers" in note


@pytest.mark.parametrize("statistic", ["", "mean"])
def test_a_mean_is_a_bound_as_soon_as_one_value_is(statistic: str) -> None:
    """The largest value is a lower bound, above the mean and below the mean that is unknown."""
    bursts = Figure(
        name="longest burst",
        unit="frames",
        values=(1000.0, 4000.0),
        lower_bound=(False, True),
        statistic="mean",
    )
    assert _ours(bursts, statistic, "frames").text == "≥ 2,500"
    assert _ours(bursts, "minimum", "frames").text == "1,000"


def test_an_uncertain_figure_stands_in_parentheses() -> None:
    """MP Table 11 prints such a figure so."""
    figure = Figure(name="connection tear-down rate", unit="cps", values=(2000.0,))
    assert _ours(figure, "median", "cps").text == "2,000"
    uncertain = figure.model_copy(update={"uncertain": True, "lower_bound": (True,)})
    assert _ours(uncertain, "median", "cps").text == "(≥ 2,000)"


def test_a_figure_whose_error_is_as_large_as_itself_is_a_bound_here_as_well() -> None:
    """As in the table of the campaign; another statistic of it stays as it is."""
    delay = Figure(name="PDV", unit="ns", values=(2e6, 3e6, 9e6), errors=(1e6, 4e6, 2e6))
    assert _ours(delay, "median", "ms").text == "≤ 7"
    assert _ours(delay, "maximum", "ms").text == "9"
