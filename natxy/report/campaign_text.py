"""A campaign's table as text in the layout of the draft, Markdown, CSV and LaTeX."""

import re
from collections.abc import Sequence

from natxy.report.campaign_table import CampaignTable
from natxy.report.csv_text import csv_text
from natxy.report.one_line import one_line
from natxy.report.results_json import SCALED_DOWN

COLUMNS = (
    *("measurement", "row", "series", "column", "value"),
    *("unit", "rates", "bound", "text", SCALED_DOWN),
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
}


def text(table: CampaignTable) -> str:
    rows = _cells(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [*_warning(table), one_line(table.title), ""]
    for name, *values in rows:
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        lines.append("  ".join((name.ljust(widths[0]), *cells)).rstrip())
    notes = ["", *map(one_line, table.notes)] if table.notes else []
    return "\n".join([*lines, *notes]) + "\n"


def markdown(table: CampaignTable) -> str:
    head, *rows = ([_marked_down(cell) for cell in row] for row in _cells(table))
    lines = [
        *_warning(table),
        f"**{_marked_down(table.title)}**",
        "",
        _piped(head),
        _piped(["---", *["---:"] * (len(head) - 1)]),
    ]
    notes = ["", *[f"- {_marked_down(note)}" for note in table.notes]] if table.notes else []
    return "\n".join([*lines, *map(_piped, rows), *notes]) + "\n"


def _marked_down(words: str) -> str:
    """Returns a text in which Markdown sees neither HTML nor marks of its own."""
    return MARKDOWN.sub(r"\\\g<0>", one_line(words).replace("&", "&amp;"))


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(table: CampaignTable) -> str:
    """Returns a table environment; it needs no package."""
    head, *rows = ([_escaped(cell) for cell in row] for row in _cells(table))
    lines = [
        *(f"% {line}" for line in _warning(table) if line),
        r"\begin{table}",
        rf"  \caption{{{_escaped(' '.join((*_warning(table)[:1], table.title)))}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"    \hline",
        f"    {' & '.join(head)} \\\\",
        r"    \hline",
        *[f"    {' & '.join(row)} \\\\" for row in rows],
        r"    \hline",
        r"  \end{tabular}",
        r"\end{table}",
        # Behind the table, since there may be more than a page takes.
        *([r"{\footnotesize"] if table.notes else []),
        *[rf"{_escaped(note)}\par" for note in table.notes],
        *(["}"] if table.notes else []),
    ]
    return "\n".join(lines) + "\n"


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
                "column": column,
                "value": "" if value.number is None else repr(value.number),
                "unit": row.unit,
                "rates": row.rates,
                "bound": "" if value.number is None else value.bound,
                "text": value.text,
                SCALED_DOWN: bool(table.warning),
            }
            for row in table.rows
            for column, value in zip(table.columns, row.values, strict=True)
        ),
    )


def _cells(table: CampaignTable) -> list[list[str]]:
    head = ["", *table.columns]
    rows = [[row.name, *[value.text for value in row.values]] for row in table.rows]
    return [[one_line(cell) for cell in row] for row in (head, *rows)]


def _warning(table: CampaignTable) -> list[str]:
    return [table.warning.upper(), ""] if table.warning else []
