"""The cells of a campaign, or the figures of a comparison, as JUnit's XML, which CI systems read.

There is one test case for each cell. One that failed is a failure; one that was not measured is
skipped.
"""

from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree as ET

from natxy.report.cell_figures import CellResult
from natxy.report.comparison import Difference, worse
from natxy.report.comparison_text import interval, words
from natxy.report.found_words import main_words
from natxy.report.results_json import SCALED_DOWN
from natxy.visible import one_line

CellName = tuple[str, str, int]  # measurement, column, round


def junit(
    title: str, shown: Sequence[CellResult], not_measured: Sequence[CellName] = (), *, quick: bool
) -> str:
    """Returns the text of the file; it has no text that XML cannot hold.

    `shown` are the cells of a campaign, with the rates that are shown.
    """
    cases = [*map(_measured, shown), *(_skipped(*each) for each in not_measured)]
    root, of_suite = _suites(title, cases, sum(map(_seconds, shown)))
    if begun := min((cell.started for cell in shown if cell.started), default=""):
        of_suite.set("timestamp", datetime.fromisoformat(begun).isoformat(timespec="seconds"))
    known = {"name": SCALED_DOWN, "value": str(quick).lower()}
    ET.SubElement(ET.SubElement(of_suite, "properties"), "property", known)
    of_suite.extend(cases)
    return _text(root)


def comparison_junit(
    title: str, differences: Sequence[Difference], share: float, reasons: Sequence[str]
) -> str:
    """Returns a comparison as a file: a test case for each figure, and one for the job, which fails
    for these reasons. A figure fails if it is worse by more than the share."""
    failing = worse(differences, share)
    cases = []
    for each in differences:
        case = _case(each.measure, " ".join(words(each)))
        told = f"{each.change * 100:+,.1f} % {interval(*each.interval)}"
        if each in failing:
            _fail(case, f"worse: {told}")
        elif each.reason:
            ET.SubElement(case, "skipped", {"message": one_line(each.reason)})
        ET.SubElement(case, "system-out").text = one_line(f"{each.verdict}: {told}")
        cases.append(case)
    job = _case("comparison", "the whole table")
    if reasons:
        _fail(job, "; ".join(reasons))
    cases.append(job)
    root, of_suite = _suites(title, cases, 0.0)
    of_suite.extend(cases)
    return _text(root)


def _suites(
    title: str, cases: Sequence[ET.Element], seconds: float
) -> tuple[ET.Element, ET.Element]:
    """Returns the root and its empty suite, with the counts of the cases."""
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.find("skipped") is not None for case in cases),
        "time": f"{seconds:.3f}",
    }
    named = {"name": one_line(title), **{name: str(of) for name, of in counts.items()}}
    root = ET.Element("testsuites", named)
    return root, ET.SubElement(root, "testsuite", named)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _fail(case: ET.Element, why: str) -> None:
    failure = ET.SubElement(case, "failure", {"message": one_line(why)})
    failure.text = one_line(why)


def _measured(cell: CellResult) -> ET.Element:
    case = _cell_case(cell.measure, cell.column, cell.round)
    case.set("time", f"{_seconds(cell):.3f}")
    if cell.error:
        _fail(case, cell.error)
    if cell.results:
        lines = [
            ": ".join(filter(None, (series, main_words(result, summed=cell.summed))))
            for series, result in cell.told
        ]
        ET.SubElement(case, "system-out").text = "\n".join(map(one_line, lines))
    return case


def _skipped(measure: str, column: str, round_: int) -> ET.Element:
    case = _cell_case(measure, column, round_)
    ET.SubElement(case, "skipped", {"message": "was not measured"})
    return case


def _cell_case(measure: str, column: str, round_: int) -> ET.Element:
    return _case(measure, ", ".join(filter(None, (column, f"round {round_}"))))


def _case(measure: str, name: str) -> ET.Element:
    return ET.Element("testcase", {"classname": one_line(measure), "name": one_line(name)})


def _seconds(cell: CellResult) -> float:
    """Returns how long a cell took; 0: it is not known."""
    if not (cell.started and cell.ended):
        return 0.0
    begun, ended = map(datetime.fromisoformat, (cell.started, cell.ended))
    return (ended - begun).total_seconds()
