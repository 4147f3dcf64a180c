"""A campaign's report as one HTML file, which loads nothing from a network.

*How to read it* explains the marks and terms that occur in its tables, each once.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

import natxy
from natxy.errors import ConfigurationError
from natxy.report.charts import Chart, dots_at_each_place
from natxy.report.html_text import in_script, style
from natxy.report.summary_table import FIRST_LOSS, summary_table
from natxy.report.table_rows import CampaignTable, Row, Spread, Value
from natxy.visible import visible

MEANINGS: Mapping[str, str] = {
    "→, ←": "left to right, right to left",
    "[a … b]": "lowest and highest of the repetitions",
    "n": "number of repetitions that count",
    "n = 1 of 5": "number of repetitions that count, and of those planned",
    "± a": "standard deviation of the repetitions",
    "≥ a": "at least a (lower bound): the notes say what limits it",
    "≤ a": "at most a (upper bound), by the error of a value or by noise",
    "measured": "the values themselves, without their errors",
    "(a)": "uncertain: the notes say why",
    "no valid trial": "nothing is known at this point",
    "typical latency": "median of the tagged frames' delays",
    "worst-case latency": "99.9th percentile of the tagged frames' delays",
    "PDV": "99.9th percentile of the delays minus the shortest delay",
    "IPDV": "delay of a frame minus that of the frame before it",
    FIRST_LOSS: "between a rate without loss and the lowest with one that noise does not explain",
    "of the media": "share of the frame rate that the slower link carries",
}
BOUNDS = {"lower": "≥ a", "upper": "≤ a"}
ONE_WAY = ("latency", "PDV", "delay")  # figures whose errors only lengthen them
# What the page may load: nothing from elsewhere. The charts are drawn by scripts inside it.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:"
)
TIES = re.compile(r"(?<=\d) (?=[%µa-zG])|(?<=[→←≥≤±=]) |(?<=\bn) (?==)")  # blanks
QUICK = "Scaled down by --quick: the figures show that the campaign runs, no more."
NONE: Mapping[str, Any] = {}
PART = """<div class="natxy"><style>.natxy small { display: block; }</style>
<h3>{{ table.title }}</h3>
{% if table.warning %}<p><strong>{{ table.warning }}</strong></p>{% endif %}
{{ rows_of(table, "", true) }}
<details><summary>Notes</summary>{{ notes_of(table) }}</details></div>
"""


def campaign_html(
    tables: Mapping[str, CampaignTable],
    charts: Sequence[Chart],
    *,
    head: Mapping[str, str] = NONE,
    files: Mapping[str, str] = NONE,
    machines: Mapping[str, Any] = NONE,
    written: Sequence[str] = (),
) -> str:
    """Returns the page; `tables` are those of a report, by their names.

    `head` says who, when, where and how, `files` has the texts of what was asked for, `machines`
    what measured. `written` are files beside the page; empty: it stands alone.
    """
    jinja2, vl_convert = libraries()
    page = _page(jinja2)
    drawn = [chart for chart in charts if chart.is_drawn]
    machine_texts = {name: json.dumps(about, indent=2) for name, about in machines.items()}
    summary = summary_table(tables["table"])
    text: str = page.render(
        policy=POLICY,
        style=style(),
        quick=tables["table"].warning,
        summary=summary,
        reading=how_to_read((summary, *tables.values())),
        **{"published": None, "further": None, "counted": None, **tables},
        charts=drawn,
        head=head,
        versions=[text for text in map(_versions, machines.values()) if text],
        folded={**files, **machine_texts},
        made_by=f"Natxy {natxy.__version__}",
        written=written,
        data=in_script(json.dumps(list(map(_drawn, drawn)), ensure_ascii=False)),
        bundle=_bundle_of(vl_convert).replace("</script", r"<\/script"),
    )
    return text


def _versions(machine: Mapping[str, Any]) -> str:
    """Returns what measured, and what was measured, in one line: paper has nothing to unfold."""
    host, tester = machine.get("host") or {}, machine.get("tester") or {}
    versions = {"Natxy": machine.get("natxy_version"), "Python": host.get("python")}
    duts = [each.get("dut") or {} for each in machine.get("gateways") or [machine]]
    said = (
        *(host.get("name"), tester.get("cpu_model"), host.get("system")),
        *(f"{name} {version}" for name, version in versions.items() if version),
        tester.get("dpdk_version"),
        *(dut.get(name) for dut in duts for name in ("software", "kernel")),
    )
    return "; ".join(dict.fromkeys(filter(None, said)))


def _drawn(chart: Chart) -> dict[str, Any]:
    """Returns a chart as the page's script draws it; needs the libraries."""
    from natxy.report.drawings import specification

    # The axis of such dots has the names that a legend would have; a map has its values in it.
    named = chart.kind == "heat" or (chart.kind == "dots" and dots_at_each_place(chart) == 1)
    return {
        "key": chart.key,
        "kind": chart.kind,
        "has_legend": not named,
        "spec": specification(chart),
        "rows": chart.rows,
    }


def libraries() -> tuple[Any, Any]:
    try:
        import altair  # noqa: F401  # the drawings need it
        import jinja2
        import vl_convert
    except ImportError as error:
        raise ConfigurationError(
            f"natxy report: the HTML report needs {error.name} (expected "
            "`pip install natxy[report]`)"
        ) from None
    return jinja2, vl_convert


def table_html(table: CampaignTable) -> str:
    """Returns a table with its notes as a part of another page, such as a notebook."""
    jinja2, _ = libraries()
    macros, _, _ = _template().partition("<!doctype html>")
    part = _environment(jinja2).from_string(f"{macros}{PART}")
    text: str = part.render(table=table)
    return text


def _page(jinja2: Any) -> Any:
    return _environment(jinja2).from_string(_template())


def _template() -> str:
    return (resources.files("natxy.report") / "report.html").read_text(encoding="utf-8")


def _environment(jinja2: Any) -> Any:
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
    )
    environment.filters["tied"] = _tied
    return environment


def _tied(text: str) -> str:
    """Returns a text in which no line ends between a number and its unit, or behind a sign."""
    return TIES.sub("\N{NO-BREAK SPACE}", text)


def _shown(value: Any) -> Any:
    """Returns a text without what nobody sees; the lines of a file may have any ends."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return visible(value.replace("\r\n", "\n")) if is_text else value


@functools.cache
def _bundle_of(vl_convert: Any) -> str:
    """Returns the JavaScript that draws the charts; it takes 1.5 s, and is the same for each."""
    text: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return text


def how_to_read(tables: Iterable[CampaignTable]) -> dict[str, str]:
    """Returns what each mark and term means that occurs in the tables."""
    rows = [row for table in tables for row in table.rows]
    seen = {mark for row in rows for mark in _marks(row)}
    found = {"a figure": statistics} if (statistics := _statistics(rows)) else {}
    found |= {mark: meaning for mark, meaning in MEANINGS.items() if mark in seen}
    if errors := _errors(rows):
        found["error"] = errors
    if "n = 1 of 5" in found:
        found.pop("n", None)
    return found


def _marks(row: Row) -> Iterator[str]:
    if row.direction is not None:
        yield "→, ←"
    yield from _terms(row.figure)
    for value in row.values:
        yield BOUNDS.get(value.bound, "")
        yield "(a)" if value.is_uncertain else ""
        yield value.text if value.number is None else ""  # why there is no figure
        if value.spread is not None:
            yield from _marks_of(value.spread)
            if value.place is not None and value.place.media_fps:
                yield "of the media"


def _terms(figure: str) -> Iterator[str]:
    """Yields the terms of a figure's name: "median IPDV" has one."""
    yield figure
    yield from figure.split()
    if figure.startswith(FIRST_LOSS):
        yield FIRST_LOSS


def _marks_of(spread: Spread) -> Iterator[str]:
    yield "n = 1 of 5" if spread.n < spread.planned else "n"
    if spread.minimum != spread.maximum:
        yield "[a … b]"
    if spread.deviation is not None and spread.n > 1:
        yield "± a"
    if spread.measured:
        yield "measured"


def _statistics(rows: Iterable[Row]) -> str:
    of_several = [row for row in rows if any(_n(value) > 1 for value in row.values)]
    means = {row.statistic == "mean" for row in of_several}
    if len(means) > 1:
        return "the median of its repetitions, or their mean where its row says so"
    return "".join(f"the {'mean' if is_mean else 'median'} of its repetitions" for is_mean in means)


def _n(value: Value) -> int:
    return value.spread.n if value.spread else 0


def _errors(rows: Iterable[Row]) -> str:
    of = [row for row in rows if any(each.spread and each.spread.error for each in row.values)]
    if not of:
        return ""
    kinds = {bool(set(ONE_WAY) & set(row.figure.split())) for row in of}
    words = ["by how much a value may be wrong at most"]
    if True in kinds:
        words.append(
            "a delay can only be too long" if False in kinds else "it can only be too long"
        )
    if any(row.unit == "%" for row in of):
        words.append("points are percentage points")
    return "; ".join(words)
