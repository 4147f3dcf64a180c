"""Each plot as a picture of its own, for papers and slides: SVG and PDF."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from natxy.report.charts import Chart
from natxy.report.drawing_parts import Look, shown, values_of
from natxy.report.drawings import specification
from natxy.report.one_line import one_line
from natxy.whole_file import whole_file, write_whole

# The column of a paper with two: 3.5 inches of 96 px, in which 10 px are 7.5 pt.
COLUMN = Look(is_alone=True, width_px=336, font_px=10)
LETTER_PX = 6.0  # the mean width of a title's letter, with room for other fonts


def picture(chart: Chart, *said: str, look: Look = COLUMN) -> dict[str, Any]:
    """Returns a plot with its data, its legend and, in place of what the page writes around it, a
    title with what is said of it."""
    clean = _printable(chart)
    drawn = specification(clean, look)
    letters = int(look.width_px / LETTER_PX)
    said = (*map(one_line, said), one_line(chart.title), *_left_out(chart))
    title, *below = [line for each in said for line in textwrap.wrap(each, letters)] or [""]
    return drawn | {
        "data": {"values": clean.rows},
        "title": {
            "text": title,
            "subtitle": below,
            "anchor": "start",
            "fontSize": look.font_px + 1,
            "subtitleFontSize": look.font_px,
        },
        "background": "white",  # to be read on a dark page as well
        "config": drawn["config"] | {"aria": False},  # who cannot see it reads its data
    }


def _left_out(chart: Chart) -> list[str]:
    """Says how many of the values that a reader of the page chooses from the picture has."""
    names = values_of(chart.words["choice"], chart) if "choice" in chart.words else []
    left = len(names) - len(shown(names))
    return [f"The first {len(names) - left} of {len(names)}"] if left else []


def _printable(chart: Chart) -> Chart:
    """Returns a chart whose labels have no sign that XML cannot hold."""
    rows = [{name: _text(value) for name, value in row.items()} for row in chart.rows]
    words = {
        name: list(map(_text, value)) if isinstance(value, list) else _text(value)
        for name, value in chart.words.items()
    }
    return replace(chart, rows=rows, words=words)


def _text(value: Any) -> Any:
    return one_line(value) if isinstance(value, str) and not value.isprintable() else value


def write_pictures(charts: Sequence[Chart], folder: Path, *said: str) -> list[Path]:
    """Writes each plot that the page shows, and returns the files."""
    import vl_convert

    written = []
    for chart in (each for each in charts if each.is_drawn):
        files = [folder / f"{chart.key}.{ending}" for ending in ("svg", "pdf")]
        svg = vl_convert.vegalite_to_svg(picture(chart, *said))
        write_whole(files[0], svg + "\n")
        with whole_file(files[1]) as temporary:
            temporary.write_bytes(vl_convert.svg_to_pdf(svg))
        written += files
    return written
