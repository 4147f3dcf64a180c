"""A comparison as text: the cells of its table, a drawing of the changes, and Markdown.

The drawing consists of characters. The summary of a CI job shows no picture of its own files, and
Mermaid's charts have no intervals; characters are shown by every forge, and in its log as well.
"""

import math
from collections.abc import Iterator, Sequence

from natxy.report.campaign_text import marked_down, piped
from natxy.report.change import MOST_RUNS
from natxy.report.comparison import Difference
from natxy.report.numbers import SIGNS, quantity
from natxy.visible import one_line

SOUGHT = 0.05  # the change for which the number of runs is told
HALF = 20  # characters on each side of 0 in a drawing
WIDEST = 1.0  # share at the end of a drawing; what lies farther out is at its edge
NARROWEST = 0.01
MOST_NAMES = 4  # in a note; JSON has the reason of each figure


def cells(each: Difference) -> list[str]:
    """Returns the values before and after, and the change."""
    values = zip(each.bounds, (each.before, each.after), strict=True)
    told = [SIGNS[bound] + quantity(value, each.unit) for bound, value in values]
    return [*told, f"{each.change * 100:+,.1f} %"]


def words(each: Difference) -> list[str]:
    """Returns the column, if there are several, and the figure with its measurement and unit."""
    figure = f"{each.figure}, {each.unit} {each.rates}" if each.rates else each.figure
    measure = "" if each.measure in each.figure else f"{each.measure}: "
    return list(filter(None, (each.column, measure + figure)))


def interval(low: float, high: float) -> str:
    """Returns an interval as [-9.1 ... -6.8 %], or the side of it that is known."""
    open_low, open_high = low in (-1.0, -math.inf), high == math.inf
    if open_low and open_high:
        return ""
    if open_low:
        return f"[≤ {_percentage(high)} %]"
    if open_high:
        return f"[≥ {_percentage(low)} %]"
    return f"[{_percentage(low)} ... {_percentage(high)} %]"


def _percentage(share: float) -> str:
    return f"{share * 100:+,.{1 if abs(share) < 1 else 0}f}"


def untold(differences: Sequence[Difference]) -> Iterator[str]:
    """Yields why figures cannot be judged, each reason once."""
    figures: dict[str, list[str]] = {}
    for each in differences:
        if each.reason:
            figures.setdefault(each.reason, []).append(f"{each.figure} {each.column}".strip())
    for reason, names in figures.items():
        left = len(names) - MOST_NAMES
        shown = [*names[:MOST_NAMES], *([f"{left} more"] if left > 0 else [])]
        yield f"Cannot be told, because {reason}: {'; '.join(shown)}"


def needed(each: Difference) -> str:
    """Returns how many runs of each gateway find a change by `SOUGHT`."""
    runs = each.of.runs_for(SOUGHT, each.first_level)
    return f"> {MOST_RUNS}" if runs is None else str(runs)


def drawing(differences: Sequence[Difference]) -> str:
    """Returns a line for each figure: its interval, with the change in it, beside 0."""
    if not differences:
        return ""
    ends = [abs(end) for each in differences for end in (each.change, *each.interval)]
    widest = max((end for end in ends if end < WIDEST), default=WIDEST)
    scale = max(NARROWEST, math.ceil(widest * 100) / 100)
    names = [one_line(" ".join(words(each))).replace("`", "'") for each in differences]
    left = max(map(len, names))
    edges = (f"{-scale * 100:+.0f} %", "0", f"{scale * 100:+.0f} %")
    axis = f"{edges[0]:<{HALF}}{edges[1]}{edges[2]:>{HALF}}"
    lines = [
        f"{name:<{left}}  {_bar(each, scale)}  {each.verdict}"
        for name, each in zip(names, differences, strict=True)
    ]
    return "\n".join([f"{'':<{left}}  {axis}", *lines])


def _bar(each: Difference, scale: float) -> str:
    def place(share: float) -> int:
        return HALF + round(max(-1.0, min(1.0, share / scale)) * HALF)

    low, high = map(place, each.interval)
    line = ["─" if low <= at <= high else " " for at in range(2 * HALF + 1)]
    line[HALF] = "┼" if low <= HALF <= high else "│"
    line[low], line[high] = "├", "┤"
    line[place(each.change)] = "●"
    return "".join(line)


def markdown(
    title: str, names: tuple[str, str], differences: Sequence[Difference], notes: Sequence[str]
) -> str:
    """Returns the summary of a CI job; `names` are those of both gateways."""
    head = ("figure", *names, "change", "interval", "verdict", f"runs for {SOUGHT * 100:g} %")
    rows = (
        [
            " ".join(words(each)),
            *cells(each),
            interval(*each.interval),
            f"**{each.verdict}**" if each.tells else each.verdict,
            needed(each),
        ]
        for each in differences
    )
    lines = [f"### {marked_down(title)}", "", piped(head), piped(["---", *["---:"] * 6])]
    for figure, *others, verdict, runs in rows:
        lines.append(piped([*map(marked_down, (figure, *others)), verdict, marked_down(runs)]))
    lines += ["", "```text", drawing(differences), "```", ""]
    return "\n".join([*lines, *(f"- {marked_down(note)}" for note in notes)]) + "\n"
