"""The cells of a campaign as JUnit's XML, which CI systems read: one test case for each cell.

A cell that failed is a failure; one that was not measured is skipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree as ET

from natxy.report.cell_figures import CellResult
from natxy.report.found_words import main_words
from natxy.report.results_json import SCALED_DOWN
from natxy.visible import one_line

CellName = tuple[str, str, int]  # measurement, column, round


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The cells of a campaign, as a suite of tests has them."""

    title: str
    cells: Sequence[CellResult]  # with the rates that are shown
    not_measured: Sequence[CellName] = ()
    quick: bool


def junit(suite: Cases) -> str:
    """Returns the text of the file; it has no text that XML cannot hold."""
    cases = [*map(_measured, suite.cells), *(_skipped(*each) for each in suite.not_measured)]
    counts = {
        "tests": len(cases),
        "failures": sum(bool(cell.error) for cell in suite.cells),
        "errors": 0,
        "skipped": len(suite.not_measured),
        "time": f"{sum(map(_seconds, suite.cells)):.3f}",
    }
    named = {"name": one_line(suite.title), **{name: str(of) for name, of in counts.items()}}
    root = ET.Element("testsuites", named)
    of_suite = ET.SubElement(root, "testsuite", named)
    if begun := min((cell.started for cell in suite.cells if cell.started), default=""):
        of_suite.set("timestamp", datetime.fromisoformat(begun).isoformat(timespec="seconds"))
    known = {"name": SCALED_DOWN, "value": str(suite.quick).lower()}
    ET.SubElement(ET.SubElement(of_suite, "properties"), "property", known)
    of_suite.extend(cases)
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _measured(cell: CellResult) -> ET.Element:
    case = _case(cell.measure, cell.column, cell.round)
    case.set("time", f"{_seconds(cell):.3f}")
    if cell.error:
        failure = ET.SubElement(case, "failure", {"message": one_line(cell.error)})
        failure.text = one_line(cell.error)
    if cell.results:
        lines = [
            ": ".join(filter(None, (series, main_words(result, summed=cell.summed))))
            for series, result in cell.told
        ]
        ET.SubElement(case, "system-out").text = "\n".join(map(one_line, lines))
    return case


def _skipped(measure: str, column: str, round_: int) -> ET.Element:
    case = _case(measure, column, round_)
    ET.SubElement(case, "skipped", {"message": "was not measured"})
    return case


def _case(measure: str, column: str, round_: int) -> ET.Element:
    name = ", ".join(filter(None, (column, f"round {round_}")))
    return ET.Element("testcase", {"classname": one_line(measure), "name": one_line(name)})


def _seconds(cell: CellResult) -> float:
    """Returns how long a cell took; 0: it is not known."""
    if not (cell.started and cell.ended):
        return 0.0
    begun, ended = map(datetime.fromisoformat, (cell.started, cell.ended))
    return (ended - begun).total_seconds()
