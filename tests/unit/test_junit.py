"""The cells of a campaign as JUnit's XML, as a CI system reads it."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.plan import Cell
from natxy.campaign.report import write_report
from natxy.cli import run_command
from natxy.cli.narrator import Narrator
from natxy.report.junit import junit
from tests.unit.campaign_report import cell
from tests.unit.campaigns import run

START, END = "2026-11-30T04:26:00+00:00", "2026-11-30T04:27:30+00:00"


def read(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()


def test_a_cell_is_a_test_case_and_one_that_failed_a_failure() -> None:
    cells = [
        cell("one", 1000.0, started=START, ended=END),
        cell("two", error="the gateway died", started=START, ended=START),
    ]
    root = ElementTree.fromstring(junit("t", cells, [("pdv", "one", 2)], quick=False))
    (of_suite,) = root
    for each in (root, of_suite):
        found = {name: each.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
        assert found == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert of_suite.attrib["timestamp"] == START
    assert (of_suite.attrib["name"], of_suite.attrib["time"]) == ("t", "90.000")
    passed, failed, skipped = of_suite.iter("testcase")
    assert (passed.attrib["classname"], passed.attrib["name"]) == ("throughput", "one, round 1")
    assert passed.attrib["time"] == "90.000"
    assert [each.tag for each in passed] == ["system-out"]
    assert passed[0].text == "throughput 1,000 fps per direction (0.832 Mbit/s)"
    assert [each.tag for each in failed] == ["failure"]
    assert failed[0].attrib["message"] == failed[0].text == "the gateway died"
    assert (skipped.attrib["classname"], skipped.attrib["name"]) == ("pdv", "one, round 2")
    assert [each.tag for each in skipped] == ["skipped"]


def test_a_report_has_one_with_the_rates_of_its_table(experiment: Path, tmp_path: Path) -> None:
    written = experiment.read_text()
    experiment.write_text(written.replace('"throughput"', '"throughput"\nboth_directions = true'))
    run(experiment, tmp_path / "campaign")
    write_report(read_data(tmp_path / "campaign"), tmp_path / "report", html=False)
    cases = list(read(tmp_path / "report" / "junit.xml").iter("testcase"))
    assert len(cases) == 8
    assert [case.attrib["name"] for case in cases[:4]] == [
        f"{size} B, round {round_}" for size in (84, 512) for round_ in (1, 2)
    ]
    assert cases[0][0].text == "throughput 100,000 fps sum of both directions (0.0832 Gbit/s)"


def test_cells_of_an_interrupted_campaign_are_failed_or_skipped(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Narrator, left: Sequence[Cell], number: int, count: int) -> None:
        if number == 3:
            raise KeyboardInterrupt
        started(self, left, number, count)

    started = Narrator.cell_started
    monkeypatch.setattr(Narrator, "cell_started", interrupted)
    folder = CampaignFolder(path=tmp_path / "campaign")
    assert run_command(["run", str(experiment), "--output", str(folder.path)]) != 0
    write_report(read_data(folder.path), tmp_path / "report", html=False)
    root = read(tmp_path / "report" / "junit.xml")
    assert int(root.attrib["tests"]) == 8
    assert int(root.attrib["skipped"]) + int(root.attrib["failures"]) == 6
