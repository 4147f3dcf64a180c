"""What a label or a message may hold: no format of a report takes it for more than text."""

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Topic
from natxy.report.campaign_html import campaign_html, table_html
from natxy.report.campaign_text import latex, markdown, table_csv, text
from natxy.report.cell_figures import CellResult
from natxy.report.charts import Chart, file_name, named_apart, trace_chart
from natxy.report.figure_charts import figure_charts
from natxy.report.html_text import live_page
from natxy.report.junit import junit
from natxy.report.report_files import rows_csv, write_data
from natxy.report.results_csv import results_csv
from natxy.report.table_rows import CampaignTable, Row, Spread, Value
from natxy.visible import one_line
from tests.unit.measurement_report import measurement

FORMULAS = [
    "=1+2",
    "=cmd|' /C calc'!A0",
    "+1+2",
    "-2+3",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "＝1",
    "＋1+1",
    "－1+1",
    "＠SUM(1)",
    "-",
]
NUMBERS = [-1.5, -3, 0.0, float("-inf"), 2e-9, None, True]
TEXTS_OF_NUMBERS = ["-1.46 µs", "-12.5 %", "-1,234.5", "+3", "-4.2e-05", "-0"]
NASTY = [
    "<script>alert(1)</script>",
    "<!-- ",
    "[x](javascript:alert(1))",
    "![x](http://evil.example/x.png)",
    "a | b",
    r"a \| b",
    "two\nlines",
    "carriage\rreturn",
    "a\u2028b",
    "\x1b[2K\x1b[1A",
    "`code",
    "*bold*",
    "# head",
    "- item",
    "1. item",
    "&lt;b&gt;",
    r"\input{/etc/passwd}",
    "[2em] option",
    "* star",
    "\u202edlrow",
]


def table(*labels: str, note: str = "a note", title: str = "title") -> CampaignTable:
    row = Row(name="figure", values=tuple(Value(number=-1.0, text="-1") for _ in labels))
    named = tuple(Row(name=label, values=row.values) for label in labels)
    return CampaignTable(title=title, columns=labels, rows=(row, *named), notes={"": (note,)})


def plot(key: str, title: str, *rows: dict[str, Any]) -> Chart:
    """A plot of delays over time, which needs no more than its data."""
    return Chart(key=key, title=title, kind="course", rows=list(rows), words={"choice": "trial"})


def cells_of(written: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(written)))


def is_formula(cell: str) -> bool:
    """As a spreadsheet has it, which takes a number for one."""
    try:
        float(cell)
    except ValueError:
        return cell.strip()[:1] in tuple("=+-@＝＋－＠") and cell not in TEXTS_OF_NUMBERS
    return False


@pytest.mark.parametrize("label", FORMULAS)
def test_no_cell_of_a_csv_file_is_a_formula(label: str) -> None:
    result = measurement(
        remarks=(Remark.of(Topic.RESET, way=label),),
        figures=(Figure(name=label, at=label, unit="ns", values=(-1.0,)),),
    )
    written = [
        table_csv(table(label, note=label)),
        results_csv([result]),
        rows_csv([{"column": label, "median": -1.5}]),
    ]
    for each in written:
        cells = [cell for row in cells_of(each) for cell in row]
        assert not list(filter(is_formula, cells)), each
        assert any(one_line(label) in cell for cell in cells), "it can still be read"


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_stay_numbers(number: Any) -> None:
    (_, row) = cells_of(rows_csv([{"value": number, "other": 1}]))
    assert row[0] == ("" if number is None else str(number))


@pytest.mark.parametrize("shown", TEXTS_OF_NUMBERS)
def test_texts_of_numbers_stay_as_they_are(shown: str) -> None:
    assert cells_of(rows_csv([{"text": shown}]))[1] == [shown]


@pytest.mark.parametrize("label", NASTY)
def test_markdown_and_text_have_one_line_for_each_row(label: str) -> None:
    shown = table(label, "other", note=label, title=label)
    plain = CampaignTable(title="t", columns=("a", "b"), rows=shown.rows, notes={"": ("n",)})
    for made in (markdown, text):
        assert len(made(shown).splitlines()) == len(made(plain).splitlines())
    for line in text(shown).splitlines():
        assert line.isprintable()


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


@pytest.mark.parametrize("label", NASTY)
def test_markdown_shows_a_label_as_it_is(label: str) -> None:
    """As GitHub's renderer reads it: no element but those of the table, and the very text."""
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    made = renderer.render(markdown(table(label, "other", note=label, title=label)))
    tags = Tags()
    tags.feed(made)
    assert set(tags.found) <= {
        *("p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li")
    }
    shown = HeldText()
    shown.feed(made)
    assert shown.text.count(one_line(label)) == 4, "title, head, row and note"


@pytest.mark.parametrize("columns", [("",), ("router",)])
def test_a_page_has_a_head_row_where_columns_have_names(columns: tuple[str, ...]) -> None:
    rows = (Row(name="PDV", values=(Value(text="≤ 1.96 ms"),)),)
    made = table_html(CampaignTable(title="PDV", columns=columns, rows=rows))
    assert ("<thead>" in made) is bool(columns[0])
    assert "≤\N{NO-BREAK SPACE}1.96\N{NO-BREAK SPACE}ms" in made, "in one line"


class HeldText(HTMLParser):
    """The text of a page."""

    text = ""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("label", NASTY)
def test_latex_takes_no_label_for_a_command(label: str) -> None:
    made = latex(table(label, note=label, title=label))
    rows = [line.strip() for line in made.splitlines()]
    assert not [row for row in rows if row.startswith(("[", "*"))], "an option of the row above"
    for line in rows:
        for command in ("\\input", "\\def", "\\write"):
            assert command not in line
    assert made.count("\n") == latex(table("a", note="n", title="t")).count("\n")


def test_a_page_takes_no_label_for_an_element() -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    machine = {"host": {"name": evil}, "dut": {"software": evil}, "natxy_version": evil}
    trial = dict.fromkeys(("cell", "quantity", "verdict", "repetition", "result"), evil)
    trials = [{**trial, "number": n, "tried": 1} for n in (1, 2)]
    drawn = replace(trace_chart(trials), key=file_name(evil), title=evil)
    evil_table = table(evil, note=evil, title=evil)
    spread = Spread(n=2, minimum=1, maximum=2, unit="fps", at=evil, wire=evil)
    figures = [
        replace(row, figure=evil, values=(replace(row.values[0], text=evil, spread=spread),))
        for row in evil_table.rows
    ]
    evil_table = replace(evil_table, rows=tuple(figures), notes={evil: (evil,)})
    tables = {"table": evil_table, "published": evil_table, "counted": evil_table}
    texts, machines = {evil: evil}, {evil: machine}
    made = campaign_html(tables, [drawn], head=texts, files=texts, machines=machines)
    plain = campaign_html({"table": table("a")}, [])
    for element in ("<img", "</script>"):
        assert made.count(element) == plain.count(element)
    cell = {"name": evil, "said": evil, "state": "", "ended": True}
    assert "<img" not in live_page({"title": evil, "cells": [cell]})


LABELS = [
    *("IPv4 UDP", "IPv4-UDP", "ipv4-udp", "trials", "delays", "pauses", "Trials"),
    *("..//", ".hidden", "../../etc/passwd", "/", "", "CON", "é", "e\u0301", "ﬁ", "fi"),
    *("x" * 500, "x" * 501, "日本語" * 100, "a\0b", "-rf", "throughput", "throughput-2"),
]


def test_each_plot_has_a_file_of_its_own_that_can_be_found(tmp_path: Path) -> None:
    plots = [plot("trials", "built in", {"of": "trials"})]
    plots += [plot(file_name(label), label, {"of": label}) for label in LABELS]
    named = named_apart(plots)
    assert named[0].key == "trials", "the names of built-in plots are fixed"
    names = [each.key.casefold() for each in named]
    assert len(set(names)) == len(names)
    folder = tmp_path / "data"
    write_data(named, folder, scaled_down=False)
    made = {path.name for path in folder.iterdir()}
    assert {f"{each.key}.csv" for each in named} <= made
    assert not [name for name in made if name.startswith((".", "-"))]
    assert list(tmp_path.iterdir()) == [folder]
    for each in named:
        with (folder / f"{each.key}.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        assert row["of"].lstrip("'") == one_line(each.rows[0]["of"]), each.key


def test_the_plot_of_a_label_is_not_that_of_the_trials() -> None:
    figure = Figure(name="throughput", unit="fps", values=(1.0,))
    cells = [
        CellResult(column="", measure=name, round=1, results=(measurement(figures=(figure,)),))
        for name in ("IPv4 UDP", "IPv4-UDP")
    ]
    keys = [each.key for each in named_apart(figure_charts(("",), cells))]
    assert keys == ["IPv4-UDP", "IPv4-UDP-2"]


def test_the_page_says_which_file_has_the_data_of_a_plot() -> None:
    rows = [{"trial": "1", "direction": "forward", "at_s": second} for second in (0, 1)]
    plots = named_apart([plot("a", "A", *rows), plot("A", "A", *rows)])
    written = ("data/a.csv", "table.txt", "100%.hgrm")
    made = campaign_html({"table": table("a")}, plots, written=written)
    for name in ("a.csv", "A-2.csv", "a.svg", "A-2.pdf"):
        assert f'<a href="data/{name}">data/{name}</a>' in made
    listed = made.partition("<summary>All files</summary>")[2]
    for name, address in (("table.txt", "table.txt"), ("100%.hgrm", "100%25.hgrm")):
        assert f'<a href="{address}">{name}</a>' in listed
    alone = campaign_html({"table": table("a")}, plots)
    assert "<a href" not in alone, "a page that is served has no files beside it"


def test_a_single_value_has_no_plot() -> None:
    """It is in the table; its data are in a file nevertheless."""
    made = campaign_html({"table": table("a")}, [plot("a", "A", {"x": 1})])
    assert 'class="chart"' not in made


@pytest.mark.parametrize("label", NASTY)
def test_junit_takes_no_label_for_an_element(label: str) -> None:
    figure = Figure(name=label, unit="ns", values=(1.0,))
    result = measurement(figures=(figure,))
    cells = [
        CellResult(column=label, measure=label, round=1, results=(result,)),
        CellResult(column="b", measure="m", round=1, results=(), error=label),
    ]
    root = ElementTree.fromstring(junit(label, cells, [(label, label, 1)], quick=False))
    assert root.attrib["name"] == one_line(label)
    (case, failed, skipped) = root.iter("testcase")
    assert case.attrib["classname"] == skipped.attrib["classname"] == one_line(label)
    assert one_line(label) in (case[0].text or "")
    assert failed[0].attrib["message"] == one_line(label)
