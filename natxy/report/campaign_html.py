"""A campaign's report as one HTML file, which loads nothing from a network."""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from string import Template
from typing import Any

from natxy.errors import ConfigurationError
from natxy.report.campaign_table import CampaignTable, Row
from natxy.report.charts import Chart
from natxy.report.html_text import page_text

# What the page may load: nothing from elsewhere. The charts are drawn by scripts inside it.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:"
)
QUICK = "Scaled down by --quick: the figures show that the campaign runs, no more."


@dataclass(frozen=True, kw_only=True)
class Told:
    """The texts of a report beside its table and charts."""

    summary: str  # one sentence
    files: Mapping[str, str]  # names and texts: experiment.toml
    machines: Mapping[str, Any]  # what measured, by a title
    quick: bool
    made_by: str  # "Natxy 0.1.0"


def campaign_html(
    table: CampaignTable, published: CampaignTable | None, charts: Sequence[Chart], told: Told
) -> str:
    page = Template((files("natxy.report") / "report.html").read_text(encoding="utf-8"))
    drawn = [chart for chart in charts if chart.rows]
    return page.substitute(
        policy=POLICY,
        title=page_text(table.title),
        body="\n".join(_body(table, published, drawn, told)),
        footer=page_text(told.made_by),
        charts=_in_script(json.dumps([asdict(chart) for chart in drawn], ensure_ascii=False)),
        bundle=bundle().replace("</script", r"<\/script"),
    )


def bundle() -> str:
    """Returns the JavaScript that draws the charts."""
    try:
        import vl_convert
    except ImportError:
        raise ConfigurationError(
            "natxy report: the HTML report needs vl-convert-python (expected "
            "`pip install natxy[report]`)"
        ) from None
    return _bundle_of(vl_convert)


@functools.cache
def _bundle_of(vl_convert: Any) -> str:
    """Takes 1.5 s, and is the same for each report."""
    text: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return text


def _in_script(text: str) -> str:
    """Returns JSON that cannot end the script element that holds it."""
    return text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")


def _body(
    table: CampaignTable, published: CampaignTable | None, charts: Sequence[Chart], told: Told
) -> Iterator[str]:
    if told.quick:
        yield f'<p class="quick">{page_text(QUICK)}</p>'
    yield f"<p>{page_text(told.summary)}</p>"
    yield "<h2>Results</h2>"
    yield from _table(table)
    if published is not None:
        yield f"<h2>{page_text(published.title)}</h2>"
        if published.rows:
            yield from _table(published)
        yield from _list(published.notes)
    for chart in charts:
        yield f"<h2>{page_text(chart.title)}</h2>"
        yield f'<ul class="legend" id="legend-{page_text(chart.key)}"></ul>'
        yield f'<div class="chart" id="chart-{page_text(chart.key)}"></div>'
        yield f'<p class="soft">Data: data/{page_text(chart.key)}.csv</p>'
    if table.notes:
        yield "<h2>Notes</h2>"
        yield from _list(table.notes)
    yield '<section class="folded">'  # is printed as far as it is unfolded
    yield "<h2>Configuration</h2>"
    for name, text in told.files.items():
        yield _folded(name, text)
    for name, described in told.machines.items():
        yield _folded(name, json.dumps(described, indent=2))
    yield "</section>"


def _list(lines: Sequence[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{page_text(line)}</li>" for line in lines)
    yield "</ul>"


def _folded(name: str, text: str) -> str:
    return f"<details><summary>{page_text(name)}</summary><pre>{page_text(text)}</pre></details>"


def _table(table: CampaignTable) -> Iterator[str]:
    yield '<div class="wide"><table>'
    heads = "".join(f"<th>{page_text(column)}</th>" for column in ("", *table.columns))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in table.rows:
        cells = "".join(f"<td>{page_text(value.text)}</td>" for value in row.values)
        yield f"<tr{_class(row)}><td>{page_text(row.name)}</td>{cells}</tr>"
    yield "</tbody></table></div>"


def _class(row: Row) -> str:
    if row.main:
        return ' class="main"'
    return "" if row.group or row.unit else ' class="condition"'
