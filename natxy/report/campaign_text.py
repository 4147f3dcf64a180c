"""A campaign's table as text in the layout of the draft, Markdown, CSV and LaTeX."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from natxy.report.cell_figures import Place
from natxy.report.results_csv import csv_text
from natxy.report.results_json import SCALED_DOWN
from natxy.report.summary_table import summary_table
from natxy.report.table_rows import CampaignTable, Notes, Row, Spread, Value
from natxy.visible import one_line

PLACE = ("frame_size_bytes", "foreground_percent", "rate_fps")  # RFC 2544 section 26, RFC 8219
COLUMNS = (
    *("measurement", "row", "series", "direction", "column", *PLACE),
    *("value", "minimum", "maximum", "standard_deviation", "n", "error"),
    *("unit", "rates", "statistic", "bound", "text", SCALED_DOWN),
)
# Marks of Markdown, and the beginnings of a list or a heading.
MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~#!]|(?<!\S)[-+=](?=\s|$)|(?<=\d)[.)](?=\s)")
# Signs that LaTeX reads as commands, or that its usual fonts lack.
LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # at the start of a row, an option of the last one
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "µ": r"$\mu$",
    "…": r"\dots{}",
    "±": r"$\pm$",
}
NUMBER = re.compile(r"(?<![\w.])-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(?![\w.])")


def text(table: CampaignTable) -> str:
    rows = _cells(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [*_warning(table), one_line(table.title), ""]
    for name, *values in rows:
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        lines.append("  ".join((name.ljust(widths[0]), *cells)).rstrip())
    for heading, notes in table.notes.items():
        lines += ["", *([heading] if heading else []), *map(one_line, notes)]
    return "\n".join(lines) + "\n"


def summary_text(table: CampaignTable) -> str:
    """Returns the summary for a terminal, a line for each direction; of the notes, only those about
    cells that failed."""
    summary = summary_table(table)
    rows = tuple(line for row in summary.rows for line in _lines(row))
    failed: Notes = {"": table.notes[""]} if "" in table.notes else {}
    return text(replace(summary, rows=rows, notes=failed))


def _lines(row: Row) -> Iterator[Row]:
    """Yields a row for each line of the longest value; only the first one has the name."""
    lines = [value.text.split("\n") for value in row.values]
    for number, words in enumerate(zip_longest(*lines, fillvalue="")):
        values = tuple(Value(text=each) for each in words)
        yield Row(name=row.title if number == 0 else "", values=values)


def markdown(table: CampaignTable) -> str:
    head, *rows = ([marked_down(cell) for cell in row] for row in _cells(table))
    lines = [
        *_warning(table),
        f"**{marked_down(table.title)}**",
        "",
        piped(head),
        piped(["---", *["---:"] * (len(head) - 1)]),
    ]
    lines += map(piped, rows)
    for heading, notes in table.notes.items():
        lines += ["", *([f"**{heading}**", ""] if heading else [])]
        lines += [f"- {marked_down(note)}" for note in notes]
    return "\n".join(lines) + "\n"


def marked_down(words: str) -> str:
    """Returns a text in which Markdown sees neither HTML nor marks of its own."""
    return MARKDOWN.sub(r"\\\g<0>", one_line(words).replace("&", "&amp;"))


def piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(table: CampaignTable) -> str:
    """Returns a table environment, which needs booktabs and siunitx."""
    head = [_escaped(one_line(cell)) for cell in ("", *table.columns)]
    label = re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-") or "table"
    lines = [
        *(f"% {line}" for line in _warning(table) if line),
        r"% \usepackage{booktabs, siunitx}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_escaped(one_line(' '.join((*_warning(table)[:1], table.title))))}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(head)} \\\\",
        r"    \midrule",
        *[f"    {line} \\\\" for row in table.rows for line in _latex_lines(row)],
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
        # Behind the table, since there may be more than a page takes.
        *_latex_notes(table),
    ]
    return "\n".join(lines) + "\n"


def _latex_lines(row: Row) -> Iterator[str]:
    """Yields the values, and below them in small letters how far those of a figure lie apart, a
    line for each part, so that several columns fit a page."""
    yield " & ".join((_escaped(one_line(row.title)), *(_numbers(each.text) for each in row.values)))
    parts = [each.spread.parts if each.spread else () for each in row.values]
    for below in zip_longest(*parts, fillvalue=""):
        small = [rf"\scriptsize {_numbers(words)}" if words else "" for words in below]
        yield " & ".join(("", *small))


def _numbers(words: str) -> str:
    r"""Returns words whose numbers are those of siunitx: "{[}\num{394000} \dots{} ... {]}"."""
    return NUMBER.sub(
        lambda found: rf"\num{{{found[0].replace(',', '')}}}", _escaped(one_line(words))
    )


def _latex_notes(table: CampaignTable) -> Iterator[str]:
    if not table.notes:
        return
    yield r"{\footnotesize"
    for heading, notes in table.notes.items():
        yield from (rf"{_escaped(one_line(note))}\par" for note in filter(None, (heading, *notes)))
    yield "}"


def _escaped(words: str) -> str:
    # Two hyphens would be printed as one dash: "--quick".
    shown = (LATEX.get(sign, sign if sign.isprintable() else " ") for sign in words)
    return "".join(shown).replace("--", "-{}-").replace("--", "-{}-")


def table_csv(table: CampaignTable) -> str:
    """Returns one row for each value, with its place, number, unit, bound and text, and whether the
    campaign was scaled down. A cell without a number has no bound."""
    return csv_text(
        COLUMNS,
        (
            {
                "measurement": row.group,
                "row": row.name,
                "series": row.series,
                "direction": row.direction or "",
                "column": column,
                **_place(value.place),
                "value": "" if value.number is None else repr(value.number),
                **_spread(value.spread),
                "unit": row.unit,
                "rates": row.rates,
                "statistic": row.statistic or "",
                "bound": "" if value.number is None else value.bound,
                "text": value.text,
                SCALED_DOWN: bool(table.warning),
            }
            for row in table.rows
            for column, value in zip(table.columns, row.values, strict=True)
        ),
    )


def _place(of: Place | None) -> dict[str, Any]:
    if of is None:
        return {}
    return {name: "" if (known := getattr(of, name)) is None else known for name in PLACE}


def _spread(of: Spread | None) -> dict[str, Any]:
    if of is None:
        return {}
    known = (of.minimum, of.maximum, of.deviation, of.error)
    numbers = ["" if number is None else repr(number) for number in known]
    names = ("minimum", "maximum", "standard_deviation", "error")
    return {**dict(zip(names, numbers, strict=True)), "n": of.n}


def _cells(table: CampaignTable) -> list[list[str]]:
    head = ["", *table.columns]
    rows = [[row.title, *(value.words for value in row.values)] for row in table.rows]
    return [[one_line(cell) for cell in row] for row in (head, *rows)]


def _warning(table: CampaignTable) -> list[str]:
    return [table.warning.upper(), ""] if table.warning else []
