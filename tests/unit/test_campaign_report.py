"""A campaign's table, its formats, its charts, and the comparison of two campaigns."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.cli.compare import share_of
from natxy.cli.report import charts_of, table_of, told
from natxy.errors import ConfigurationError
from natxy.model.experiment import Experiment
from natxy.model.measurement import Figure, Measurement
from natxy.report.campaign_table import CellResult, campaign_table
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.comparison import compared, mann_whitney_p, missing, smallest_p, worse
from tests.unit.test_campaign import experiment, run  # noqa: F401
from tests.unit.test_measurement_report import measurement as some_measurement

SCALE_UP = Experiment.model_validate_json(
    json.dumps(
        {
            "title": "Scale up & more",
            "testbed": "testbed.toml",
            "vary": [{"key": "dut.cores", "values": [1, 2, 4], "label": "{} cores"}],
            "measure": [
                {"command": "throughput", "both_directions": True},
                {"command": "throughput", "label": "forwarding", "both_directions": True},
            ],
            "header": [{"key": "dut.cores", "label": "num. CPU cores"}],
            "row": [
                {"kind": "relative scale-up", "of": "throughput", "x": "dut.cores"},
                {"kind": "ratio to the previous", "of": "throughput"},
                {"kind": "ratio", "of": "throughput", "to": "forwarding"},
                {"kind": "dispersion", "of": "throughput"},
                {"kind": "per", "of": "throughput", "x": "dut.cores", "label": "per core"},
            ],
        }
    )
)
TESTBEDS: dict[str, dict[str, Any]] = {f"{n} cores": {"dut": {"cores": n}} for n in (1, 2, 4)}
# draft-lencse-v6ops-transition-scalability-03, Figure 2: medians and extremes in kfps, both ways.
PUBLISHED = {"1 cores": (413.9, 414.9, 416.1), "2 cores": (740.6, 742.3, 746.9)}
FORWARDING = {"1 cores": 910.9, "2 cores": 1523.0}


def measurement(*values: float, lower: bool = False) -> Measurement:
    figure = Figure(
        name="throughput", unit="fps", values=values, lower_bound=(lower,) * len(values)
    )
    return some_measurement(procedure="throughput", figures=(figure,))


def cell(column: str, *values: float, measure: str = "throughput", **more: Any) -> CellResult:
    lower = more.pop("lower", False)
    results = (measurement(*values, lower=lower),) if values else ()
    return CellResult(column=column, measure=measure, round=1, results=results, **more)


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
    assert rows["throughput median"] == [414_900, 742_300, None]
    assert rows["throughput min"] == [413_900, 740_600, None]
    assert rows["throughput max"] == [416_100, 746_900, None]
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
    assert table.notes == ("throughput, column 4 cores, round 1 failed: the gateway died",)
    texts = {row.name: [value.text for value in row.values] for row in table.rows}
    assert texts["throughput median"] == ["414,900", "742,300", "failed"]


def test_rounds_are_taken_together() -> None:
    again = [cell("1 cores", 1000.0), CellResult(**{**vars(cell("1 cores", 3000.0)), "round": 2})]
    table = campaign_table(SCALE_UP, TESTBEDS, again)
    rows = {row.name: row.values[0].number for row in table.rows}
    assert (rows["throughput min"], rows["throughput max"]) == (2000, 6000)


def test_a_bound_stays_a_bound() -> None:
    table = campaign_table(SCALE_UP, TESTBEDS, [cell("1 cores", 1000.0, lower=True)])
    texts = {row.name: row.values[0].text for row in table.rows}
    assert texts["throughput median"] == "≥ 2,000"
    assert texts["per core"] == "≥ 2000"


def test_the_formats_have_the_same_values() -> None:
    table = campaign_table(SCALE_UP, TESTBEDS, cells())
    shown = text(table).splitlines()
    assert len({len(line) for line in shown[3:6]}) == 1, "columns are aligned"
    assert "| throughput median | 414,900 | 742,300 | failed |" in markdown(table)
    assert r"throughput median & 414,900 & 742,300 & failed \\" in latex(table)
    assert r"\caption{Scale up \& more}" in latex(table)
    rows = list(csv.DictReader(io.StringIO(table_csv(table))))
    assert {(row["column"], row["value"]) for row in rows if row["row"] == "throughput median"} == {
        ("1 cores", "414900.0"),
        ("2 cores", "742300.0"),
        ("4 cores", ""),
    }


def test_a_report_of_a_campaign_has_its_data(experiment: Path, tmp_path: Path) -> None:  # noqa: F811
    run(experiment, tmp_path / "campaign")
    data = read_data(CampaignFolder(path=tmp_path / "campaign"))
    table = table_of(data)
    charts = {chart.key: chart for chart in charts_of(data, table)}
    assert [row.name for row in table.rows][:2] == ["throughput median", "throughput min"]
    assert {row["column"] for row in charts["throughput"].rows} == {"84 B", "512 B"}
    assert len(charts["trials"].rows) == len(data.trials) > 40
    assert {row["curve"] for row in charts["delays"].rows} == {
        f"pdv, {size} B, {way}" for size in (84, 512) for way in ("forward", "reverse")
    }
    shares = [point[1] for point in data.delays[0].points]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert "4 of 8" not in told(data).summary
    assert told(data).summary.startswith("8 of 8 cells")


def test_equal_gateways_do_not_differ() -> None:
    assert mann_whitney_p([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]) == 1


def test_what_differs_in_all_values_differs() -> None:
    assert mann_whitney_p([1, 2, 3, 4], [11, 12, 13, 14]) == pytest.approx(2 / 70)
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(3, 3) == pytest.approx(0.1)


def test_many_values_are_drawn_and_the_draw_is_always_the_same() -> None:
    one, other = [float(n) for n in range(15)], [n + 1.5 for n in range(15)]
    assert mann_whitney_p(one, other) == mann_whitney_p(one, other)
    assert 0.2 < mann_whitney_p(one, other) <= 1


def test_a_slower_gateway_is_worse_and_a_faster_one_is_not() -> None:
    slow = [cell("a", 90, 91, 92, 93)]
    fast = [cell("a", 100, 101, 102, 103)]
    assert [each.figure for each in worse(compared(fast, slow), 0.05)] == ["throughput"]
    assert not worse(compared(slow, fast), 0.05)
    assert not worse(compared(fast, slow), 0.15), "it is worse by 10 %"


def test_too_few_repetitions_and_bounds_prove_nothing() -> None:
    few = compared([cell("a", 100, 101, 102)], [cell("a", 1, 2, 3)])
    assert "too few" in few[0].doubt
    bound = compared([cell("a", 9, 9, 9, 9)], [cell("a", 5, 5, 5, 5, lower=True)])
    assert bound[0].doubt == "the second value is a lower bound"
    assert not worse(few, 0)
    assert not worse(bound, 0)


def test_what_one_campaign_lacks_is_named() -> None:
    assert list(missing([cell("a", 1)], [cell("b", 1)])) == [
        "throughput a throughput 84 B: only in the first campaign",
        "throughput b throughput 84 B: only in the second campaign",
    ]


def test_the_share_of_fail_if() -> None:
    assert share_of("worse-by=5%") == 0.05
    assert share_of(None) is None
    with pytest.raises(ConfigurationError, match="expected worse-by=5%"):
        share_of("5")
