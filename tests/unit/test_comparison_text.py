"""The drawing of a comparison, its Markdown, and its test cases."""

from xml.etree import ElementTree

import pytest

from natxy.report.comparison import compared
from natxy.report.comparison_text import HALF, MOST_NAMES, drawing, markdown, untold
from natxy.report.junit import comparison_junit
from tests.unit.campaign_report import cell

RUNS = [[cell("slow", 100, 101), cell("same", 100, 101), cell("bound", 100, 101)]] * 3
AFTER = [[cell("slow", 80, 81), cell("same", 101, 102), cell("bound", 90, 91, lower=True)]] * 3
FOUND = compared(RUNS, AFTER)


def test_a_line_is_an_interval_beside_0() -> None:
    axis, *lines = drawing(FOUND).split("\n")
    left = axis.index(" 0 ") + 1 - HALF
    slow, same, bound = (line[left : left + 2 * HALF + 1] for line in lines)
    assert [line.split()[-1] for line in lines] == ["worse", "shown", "told"]
    assert slow[HALF] == "│", "0 is outside"
    assert slow.index("├") < slow.index("●") < slow.index("┤") < HALF
    assert same.index("├") < HALF < same.index("●") < same.index("┤")
    assert same[HALF] == "┼"
    assert bound[2 * HALF] == "┤", "nobody knows how far it reaches"


def test_markdown_has_each_figure_and_escapes_what_others_wrote() -> None:
    text = markdown("a | b <i>", ("base", "head"), FOUND, ["*note*"])
    assert text.startswith("### a \\| b \\<i\\>\n")
    assert text.endswith("- \\*note\\*\n")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(FOUND)
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}


@pytest.mark.parametrize(("figures", "end"), [(MOST_NAMES, "b3"), (MOST_NAMES + 2, "b3; 2 more")])
def test_a_note_names_the_first_figures(figures: int, end: str) -> None:
    names = [f"b{number}" for number in range(figures)]
    before = [[cell(name, 100, 101) for name in names]] * 3
    after = [[cell(name, 90, 91, lower=True) for name in names]] * 3
    (note,) = untold(compared(before, after))
    assert note.startswith("Cannot be told, because the second value is a lower bound: ")
    assert note.replace(" throughput", "").endswith(end)


@pytest.mark.parametrize(("share", "failed"), [(0.05, ["slow"]), (0.5, [])])
def test_a_figure_that_is_worse_by_more_fails(share: float, failed: list[str]) -> None:
    reasons = ["Worse"] * len(failed)
    (suite,) = ElementTree.fromstring(comparison_junit("t", FOUND, share, reasons))
    *figures, job = suite.iter("testcase")
    of = {each.attrib["name"].split()[0]: [part.tag for part in each] for each in figures}
    assert [name for name, tags in of.items() if "failure" in tags] == failed
    assert "skipped" in of["bound"]
    assert bool(list(job)) is bool(failed)
    assert suite.attrib["failures"] == str(2 * len(failed))
