"""The plots of trials and delays, the data of all plots, and the size of a report."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from natxy.campaign.data import read_data
from natxy.campaign.delay_curves import Histograms, add_delays, curves_of, own_trials
from natxy.campaign.delay_files import delay_course
from natxy.campaign.folder import read_asked
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import CampaignPlan, plan_of
from natxy.campaign.report import charts_of, rate_quantity, table_of, write_report
from natxy.cli import run_command
from natxy.errors import ConfigurationError
from natxy.model.reason import Code
from natxy.report.charts import LOSS, NOISE, distribution_charts, time_chart, trace_chart
from natxy.report.drawings import specification
from natxy.report.report_files import HEAD, LIST, write_data
from tests.unit.campaigns import planned, run
from tests.unit.drawings import layers_of
from tests.unit.reasons import a_reason

MOST_OCTETS = 5_000_000  # of a report of 1,000 trials
TRIALS = 1_000


def traced(**more: Any) -> dict[str, Any]:
    known = {
        "cell": "a",
        "quantity": "connections",
        "number": 1,
        "repetition": 1,
        "rate_of": "connections a second",
        "tried": 1000,
        "result": 900.0,
        "verdict": "PASS",
    }
    known |= {
        "lost_percent": 0.0,
        "rate_fps": 1000,
        "median_us": None,
        "p999_us": None,
        "busy_percent": None,
    }
    return {**known, "at_s": 0.5, "paused_ms": 0.0, "away_ms": 1.5, **more}


def test_a_trace_has_what_was_tried_its_verdict_and_the_result() -> None:
    trials = [traced(), traced(number=2, tried=None, verdict="FAIL"), traced(cell="b")]
    chart = trace_chart(trials)
    points, quantity, found = layers_of(chart)
    encoding = points["encoding"]
    assert [encoding[of]["field"] for of in ("x", "y", "color", "shape")] == [
        "nth",
        "tried",
        "verdict",
        "verdict",
    ]
    assert quantity["encoding"]["text"]["field"] == "quantity", "it may differ from cell to cell"
    assert encoding["y"]["scale"]["type"] == "log", "a search grows by factors"
    shapes = encoding["shape"]["scale"]
    assert dict(zip(shapes["domain"], shapes["range"], strict=True)) == {
        "PASS": "circle",
        "FAIL": "cross",
    }, "without colours they can be told apart as well; no trial was INVALID"
    assert encoding["x"]["scale"]["zero"] is False, "there is no trial 0"
    assert chart.title.endswith("; dashed: the result")
    assert "dashed" not in trace_chart([traced(result=None)]).title
    assert (found["mark"]["type"], found["encoding"]["y"]["field"]) == ("rule", "line")
    spec = specification(chart)
    assert spec["transform"] == [{"filter": "datum.search == chosen_search"}]
    (choice,) = (each for each in spec["params"] if each["name"] == "chosen_search")
    assert (choice["bind"]["options"], choice["value"]) == (["a", "b"], "a")


def test_each_search_of_a_cell_can_be_chosen() -> None:
    """A rate is searched first, then, in each repetition, another quantity, which is shown
    first."""
    trials = [
        traced(number=1, tried=10, quantity="rate"),
        traced(number=2, tried=20, quantity="rate"),
        *(
            traced(number=number, tried=number, repetition=1 + (number > 4))
            for number in range(3, 7)
        ),
    ]
    rows = trace_chart(trials).rows
    assert [(row["search"], row["nth"], row["result"]) for row in rows] == [
        ("a, for connections, repetition 1", 1, 900.0),
        ("a, for connections, repetition 1", 2, 900.0),
        ("a, for connections, repetition 2", 1, 900.0),
        ("a, for connections, repetition 2", 2, 900.0),
        ("a, for rate", 1, None),
        ("a, for rate", 2, None),
    ]
    again = [traced(number=number, tried=number) for number in (1, 2, 1, 2)]
    assert [row["search"] for row in trace_chart(again).rows] == [
        *["a, search 2"] * 2,  # its result is the cell's
        *["a, search 1"] * 2,
    ]
    delays = [traced(number=number, repetition=number) for number in (1, 2, 3)]
    assert {row["search"] for row in trace_chart(delays).rows} == {"a"}, "that is no search"


@pytest.mark.parametrize(
    ("command", "units", "said"),
    [
        ("throughput", {"fps"}, "frames a second per direction"),
        ("tear-down", {"cps"}, "connections a second"),
        ("capacity", {"connections"}, "connections a second"),
        ("churn", {"fps"}, "frames a second per direction"),
        ("churn", {"cps"}, "connections a second"),
        ("churn", set(), "frames or connections a second"),
    ],
)
def test_a_rate_is_of_what_was_searched(command: str, units: set[str], said: str) -> None:
    assert rate_quantity(command, units) == said


def test_a_search_for_connections_is_traced_by_their_number(
    experiment: Path, tmp_path: Path
) -> None:
    """A capacity is searched at one rate, with more and more connections."""
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    (search, other) = data.plan.experiment.measure
    counting = search.model_copy(update={"command": "capacity", "label": search.name})
    asked = data.plan.experiment.model_copy(update={"measure": (counting, other)})
    made = (4000, 4000, *range(5000, 5000 + len(data.trials)))
    trials = tuple(replace(trial, made=n) for trial, n in zip(data.trials, made, strict=False))
    changed = replace(data, plan=replace(data.plan, experiment=asked), trials=trials)
    charts = {chart.key: chart for chart in charts_of(changed, table_of(changed))}
    rows = charts["trials"].rows
    counted = [row for row in rows if row["quantity"] == "connections"]
    assert counted
    assert {(row["measure"], row["tried"] == row["made"]) for row in counted} == {
        ("throughput", True)
    }
    others = {(row["measure"], row["quantity"]) for row in rows if row not in counted}
    assert ("throughput", "connections a second") in others, "R0 is searched first"
    assert ("pdv", "frames a second per direction") in others
    assert {row["rate_of"] for row in counted} == {"connections a second"}


def test_a_search_of_a_series_is_named_by_its_point(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    cell = next(each for each in data.cells if each.measure == "throughput")
    (result,) = cell.results
    points = tuple(
        result.figures[0].model_copy(update={"at": at, "values": (value,)})
        for at, value in (("1 flow", 5.0), ("10 flows", 4.0))
    )
    series = replace(cell, results=(result.model_copy(update={"figures": points}),))
    one = replace(data.trials[0], measure=cell.measure, column=cell.column, round=1, series="")
    trials = tuple(replace(one, number=number) for number in (1, 2, 1))
    shown = replace(data, cells=(series,), trials=trials)
    rows = next(each.rows for each in charts_of(shown, table_of(shown)) if each.key == "trials")
    name = f"throughput, {cell.column}, round 1"
    found = [(f"{name}, 1 flow", 5.0)] * 2 + [(f"{name}, 10 flows", 4.0)]
    assert [(row["search"], row["result"]) for row in rows] == found
    shorter = replace(shown, trials=trials[:2])  # the series was interrupted
    rows = next(each.rows for each in charts_of(shorter, table_of(shorter)) if each.key == "trials")
    assert {row["search"] for row in rows} == {name}


def test_the_result_of_a_search_stands_among_its_trials(experiment: Path, tmp_path: Path) -> None:
    """Per direction, as the trials have it, also where the table has the sum of both."""
    written = experiment.read_text()
    experiment.write_text(written.replace('"throughput"', '"throughput"\nboth_directions = true'))
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    charts = {chart.key: chart for chart in charts_of(data, table_of(data))}
    rows = charts["trials"].rows
    assert {row["result"] for row in rows if row["measure"] == "throughput"} == {50_000}
    assert {row["result"] for row in rows if row["measure"] == "pdv"} == {None}
    assert charts["throughput"].rows[0]["benchmark"] == 100_000


def test_rate_delay_cpu_and_pauses_have_a_panel_each_over_one_time() -> None:
    known = {"rate_fps": 1000, "median_us": 12.0, "p999_us": 90.0, "busy_percent": 50.0}
    other = {"rate_fps": 100_000, "median_us": None, "p999_us": None, "busy_percent": 0.0}
    chart = time_chart([traced(**known), traced(**other, at_s=2.0, away_ms=0.0)])
    assert [(row["quantity"], row["what"], row["value"]) for row in chart.rows] == [
        ("connections a second", "rate", 1000),
        ("delay, µs", "median delay", 12.0),
        ("delay, µs", "99.9th percentile of the delays", 90.0),
        ("CPU, %", "busiest CPU of the gateway", 50.0),
        (NOISE, "gateway without its CPU", 1.5),
        ("connections a second", "rate", 100_000),
        ("CPU, %", "busiest CPU of the gateway", 0.0),
    ], "what is not known has no point, and who was not away none either"
    strips = specification(chart)["vconcat"]
    assert [each["title"]["text"] for each in strips] == [
        "connections a second",
        "delay, µs",
        "CPU, %",
        NOISE,
    ]
    encodings = [each["layer"][0]["encoding"] for each in strips]
    assert {tuple(each["x"]["scale"]["domain"]) for each in encodings} == {(0, 2.0)}
    assert {each["y"]["title"] for each in encodings} == {None}, "longer than a strip is high"
    kinds = [each["y"]["scale"].get("type") for each in encodings]
    assert kinds == ["log", None, None, None], "rates grow by factors"


def test_loss_has_a_panel_where_no_search_lost_by_design() -> None:
    of = {"verdict": "FAIL", "lost_percent": 0.25}
    chart = time_chart([traced(**of), traced(**of, result=None), traced(result=None)])
    assert [row["value"] for row in chart.rows if row["quantity"] == LOSS] == [0.25]


def curve(panel: str, *points: tuple[float, float]) -> list[dict[str, Any]]:
    of = {"panel": panel, "curve": "pdv, forward", "series": ""}
    return [{**of, "delay_us": delay, "share": share} for delay, share in points]


def test_delays_have_an_axis_of_nines_and_a_panel_for_each_gateway() -> None:
    """The tail, which a gateway is judged by, takes as much room as the rest."""
    rows = [*curve("a", (10.0, 0.0), (20.0, 0.99), (30.0, 1.0)), *curve("b", (15.0, 0.9))]
    (chart,) = distribution_charts(rows)
    assert [row["frames_per_later"] for row in chart.rows] == [1, 100, None, 10]
    assert chart.rows[2]["delay_us"] == 30, "the data have the longest delay"
    spec = specification(chart)
    assert spec["facet"]["field"] == "panel"
    assert spec["facet"]["sort"] == ["a", "b"]
    x = spec["spec"]["encoding"]["x"]
    assert x["field"] == "frames_per_later"
    assert x["scale"] == {"type": "log", "domain": [1, 100_000], "clamp": True, "nice": False}
    y = spec["spec"]["encoding"]["y"]
    assert (y["scale"]["domain"], y["axis"]["values"]) == ([10, 50], [10, 20, 50])
    assert "tagged" not in chart.title
    (alone,) = distribution_charts(curve("", (10.0, 0.0), (20.0, 0.99)), tagged=True)
    assert "tagged" in alone.title
    assert "facet" not in specification(alone)


def record(rate_fps: int, *buckets: tuple[float, float, int]) -> dict[str, Any]:
    kinds = {"foreground": {"delay": {"buckets": buckets}}, "background": None}
    return {"rate_fps": rate_fps, "result": {"streams": [{"direction": "forward", "kinds": kinds}]}}


def plan_for(command: str, tmp_path: Path, testbed_file: Path) -> CampaignPlan:
    path = tmp_path / "experiment.toml"
    path.write_text(
        f'title = "x"\ntestbed = "{testbed_file}"\n[[measure]]\ncommand = "{command}"\n'
    )
    asked = read_asked(path)
    return plan_of(asked.experiment, asked.testbed, 1)


def test_delays_of_all_trials_of_a_cell_are_one_distribution(
    tmp_path: Path, testbed_file: Path
) -> None:
    plan = plan_for("latency", tmp_path, testbed_file)
    found: Histograms = {}
    add_delays(found, plan.cells[0].key, record(1000, (10_000, 11_000, 3)))
    add_delays(found, plan.cells[0].key, record(1000, (10_000, 11_000, 5), (20_000, 21_000, 2)))
    add_delays(found, "another cell", record(1000, (1e6, 2e6, 1000)))
    (curve,) = curves_of(found, plan)
    assert curve.points == ((10.0, 0.0), (11.0, 0.8), (21.0, 1.0))


@pytest.mark.parametrize(
    ("numbers", "measurements", "own"),
    [
        ([1, 2, 3], 1, {0, 1, 2}),  # at a given rate
        ([1, 2, 3, 1, 2], 1, {3, 4}),  # after a search
        ([1, 1, 1, 2], 1, {2, 3}),  # after the searches for phase 1 and for the rate
        ([1, 2, 1, 2, 1, 1, 2, 3], 2, {2, 3, 5, 6, 7}),  # at two frame sizes
        ([1, 2], 0, set()),  # it was interrupted
        ([], 1, set()),
    ],
)
def test_trials_of_a_search_are_not_those_of_the_measurement(
    numbers: list[int], measurements: int, own: set[int]
) -> None:
    assert own_trials(numbers, measurements) == own


def test_delays_are_those_of_the_measurements_own_trials(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for the rate has a trial at the very rate of the measurement."""
    text = experiment.read_text().replace("{ rate = 1000 }", "{}").replace("rounds = 2", "")
    experiment.write_text(text)
    added: Counter[str] = Counter()
    monkeypatch.setattr(
        "natxy.campaign.data.add_delays", lambda _, key, *trial: added.update([key])
    )
    run(experiment, tmp_path / "campaign")
    data = read_data(tmp_path / "campaign")
    measured = [cell for cell in data.cells if cell.measure == "pdv"]
    assert len(added) == len(measured) == 2
    for cell in measured:
        counts, rate_fps = cell.results[0].counts, cell.results[0].conditions.rate_fps
        trials = [
            each for each in data.trials if (each.measure, each.column) == ("pdv", cell.column)
        ]
        searched = trials[: -counts.trials]
        assert rate_fps in [each.rate_fps for each in searched], "the traces have the search"
        assert added[json.dumps([cell.column, "pdv", 1])] == counts.trials - counts.invalid_trials


def frames(*changes: dict[str, object]) -> pa.Table:
    frame = {"trial": 1, "frame_size_bytes": 84, "phase": "test", "direction": "forward"}
    frame |= {"status": "received", "departure_ns": 0.0, "delay_ns": 1000.0}
    return pa.Table.from_pylist([{**frame, **change} for change in changes])


def test_delays_over_time_are_read_from_records(tmp_path: Path) -> None:
    table = frames(
        {"departure_ns": 0.0, "delay_ns": 1000.0},
        {"departure_ns": 1.0, "delay_ns": 2000.0},
        {"departure_ns": 2.0, "delay_ns": 3000.0},
        {"departure_ns": 1.0, "delay_ns": 9000.0, "status": "late"},
        {"departure_ns": 1.0, "delay_ns": 9000.0, "phase": "establish"},
        {"departure_ns": 1e9, "delay_ns": 7000.0},
        {"departure_ns": 1e9, "delay_ns": 5000.0, "direction": "reverse", "trial": 2},
    )
    path = tmp_path / "frames.parquet"
    pq.write_table(table, path)
    found = delay_course(path)
    assert [(row["trial"], row["direction"], row["at_s"]) for row in found] == [
        ("trial 1, 84 B", "forward", 0.0),
        ("trial 1, 84 B", "forward", 1.0),
        ("trial 2, 84 B", "reverse", 1.0),
    ]
    assert (found[0]["minimum_us"], found[0]["median_us"], found[0]["maximum_us"]) == (1, 2, 3)


def test_a_file_that_holds_no_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frames.parquet"
    path.write_text("nothing")
    with pytest.raises(ConfigurationError, match="expected a file that records wrote"):
        delay_course(path)


def test_a_report_plots_a_file_of_records(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "campaign")
    path = tmp_path / "frames.parquet"
    pq.write_table(frames({}, {"departure_ns": 1e9}), path)
    words = [str(tmp_path / "campaign"), "--records", str(path), "--no-html"]
    assert run_command(["report", *words]) == 0
    made = tmp_path / "campaign" / "report" / "data" / "delay-over-time.csv"
    assert len(made.read_text().splitlines()) == 3


def test_the_data_of_each_plot_can_be_read_in_one_line(experiment: Path, tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    run(experiment, folder)
    data = read_data(folder)
    charts = [chart for chart in charts_of(data, table_of(data)) if chart.rows]
    write_data(charts, tmp_path, scaled_down=False)
    assert {chart.key for chart in charts} >= {"throughput", "pdv", "trials", "delays"}
    for chart in charts:
        wanted = pd.DataFrame(chart.rows).assign(scaled_down=False)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{chart.key}.parquet"), wanted)
        text = pd.read_csv(tmp_path / f"{chart.key}.csv")
        pd.testing.assert_frame_equal(filled(text), filled(wanted), check_dtype=False)
        with (tmp_path / f"{chart.key}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == len(chart.rows)


def filled(frame: Any) -> Any:
    """Returns a table whose unknown values are empty texts, which a CSV file cannot tell apart."""
    return frame.astype(object).where(frame.notna(), "")


def test_a_plot_without_data_has_no_file(experiment: Path, tmp_path: Path) -> None:
    """It is not drawn either. The files of an earlier report are of other trials."""
    run(experiment, tmp_path / "campaign")
    made = tmp_path / "report" / "data"
    made.mkdir(parents=True)
    for ending in ("csv", "parquet"):
        (made / f"gone.{ending}").write_text("of an earlier report")
    names_of_earlier = "data/gone.csv\ndata/gone.parquet\n../kept.csv\n"
    (tmp_path / "report" / LIST).write_text(f"{HEAD}\n{names_of_earlier}")
    (tmp_path / "kept.csv").touch()
    (made / "own.csv").write_text("nobody has listed it")
    write_report(read_data(tmp_path / "campaign"), tmp_path / "report", html=False)
    names = {path.name for path in made.iterdir()}
    assert {"trials.csv", "trials.parquet"} <= names
    assert not {"gone.csv", "gone.parquet"} & names
    assert "own.csv" in names
    assert (tmp_path / "kept.csv").exists(), "it is not in the folder"
    _, *listed = (tmp_path / "report" / LIST).read_text().splitlines()
    assert {"table.txt", "junit.xml", "data/trials.csv"} <= set(listed)
    assert all((tmp_path / "report" / name).is_file() for name in listed)
    assert all(path.stat().st_size > 1 for path in made.iterdir())


@pytest.mark.long
def test_a_report_of_a_thousand_trials_is_small(experiment: Path, tmp_path: Path) -> None:
    """Two cells are measured; the journal has them for 25 columns, with 20 trials in each, each
    disturbed, and with delays as varied as those of a real gateway."""
    whole = experiment.read_text().replace("rounds = 2", "")
    experiment.write_text(whole.replace("[84, 512]", "[84]"))
    folder = tmp_path / "campaign"
    run(experiment, folder)
    columns = range(84, 109)
    (folder / "experiment.toml").write_text(whole.replace("[84, 512]", str(list(columns))))
    journal = folder / "journal.jsonl.gz"
    header, *records = read_journal(journal)
    keys = {cell.title: cell.key for cell in planned(folder / "experiment.toml").cells}
    lines = [header, *(line for size in columns for line in of_column(records, f"{size} B", keys))]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    journal.write_bytes(gzip.compress(text.encode()))
    data = read_data(folder)
    assert len(data.trials) == TRIALS
    assert len(data.delays) == 2 * len(columns)
    assert min(len(curve.points) for curve in data.delays) > 50
    write_report(read_data(folder), tmp_path / "report", html=True)
    assert (tmp_path / "report" / "report.html").stat().st_size < MOST_OCTETS


def of_column(
    records: list[dict[str, Any]], column: str, keys: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Yields the records of a campaign of one column, as those of another column, with the first
    trial of each cell as often as a share of TRIALS."""
    cell: dict[str, Any] = {}
    is_first = True
    for each in records:
        if each["record"] == "cell":
            is_first = True
            cell = {**each, "column": column, "key": keys[f"{each['measure']}, {column}"]}
            yield cell
        elif each["record"] == "cell-end":
            yield {**each, "key": cell["key"]}
        elif each["record"] == "trial":
            if is_first:
                disturb(each)
                yield from ({**each, "number": n + 1} for n in range(TRIALS // len(keys)))
            is_first = False
        else:
            yield each


def disturb(trial: dict[str, Any]) -> None:
    """Gives a trial pauses, an absence, a long reason, and delays of 400 buckets."""
    trial |= {"away_ns": 1234567.8, "fail_reason": a_reason(Code.HELD_BACK).model_dump(mode="json")}
    for stream in trial["result"]["streams"]:
        stream["pauses"]["total_ns"] = 2345678.9
        for kind in filter(None, stream["kinds"].values()):
            kind["delay"]["buckets"] = [[n, n + 1, 10] for n in range(10_000, 10_400)]
