"""A campaign's table as text in the layout of the draft, Markdown, CSV and LaTeX."""

import csv
import io
from collections.abc import Sequence

from natxy.report.campaign_table import CampaignTable
from natxy.report.results_json import SCALED_DOWN

COLUMNS = ("measurement", "row", "column", "value", "unit", "bound", "text", SCALED_DOWN)
# Signs that LaTeX reads as commands, or that its usual fonts lack.
LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
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
    lines = [*_warning(table), table.title, ""]
    for name, *values in rows:
        cells = (value.rjust(width) for value, width in zip(values, widths[1:], strict=True))
        lines.append("  ".join((name.ljust(widths[0]), *cells)).rstrip())
    notes = ["", *table.notes] if table.notes else []
    return "\n".join([*lines, *notes]) + "\n"


def markdown(table: CampaignTable) -> str:
    head, *rows = ([cell.replace("|", "\\|") for cell in row] for row in _cells(table))
    lines = [
        *_warning(table),
        f"**{table.title}**",
        "",
        _piped(head),
        _piped(["---", *["---:"] * (len(head) - 1)]),
    ]
    notes = ["", *[f"- {note}" for note in table.notes]] if table.notes else []
    return "\n".join([*lines, *map(_piped, rows), *notes]) + "\n"


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
    """Returns one row for each value: measurement, row, column, number, unit, bound and text, and
    whether the campaign was scaled down. A cell without a number has no bound."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in table.rows:
        for column, value in zip(table.columns, row.values, strict=True):
            number = "" if value.number is None else repr(value.number)
            bound = value.bound if number else ""
            words = (row.group, row.name, column, number, row.unit, bound, value.text)
            writer.writerow((*words, bool(table.warning)))
    return out.getvalue()


def _cells(table: CampaignTable) -> list[list[str]]:
    head = ["", *table.columns]
    return [head, *[[row.name, *[value.text for value in row.values]] for row in table.rows]]


def _warning(table: CampaignTable) -> list[str]:
    return [table.warning.upper(), ""] if table.warning else []
