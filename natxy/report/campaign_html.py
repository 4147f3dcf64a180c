"""A campaign's report as one HTML file, which loads nothing from a network."""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from natxy.errors import ConfigurationError
from natxy.report.charts import Chart, dots_at_each_place
from natxy.report.html_text import in_script, style
from natxy.report.reading import how_to_read
from natxy.report.summary_table import summary_table
from natxy.report.table_rows import CampaignTable
from natxy.visible import visible

# What the page may load: nothing from elsewhere. The charts are drawn by scripts inside it.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:"
)
TIES = re.compile(r"(?<=\d) (?=[%µa-zG])|(?<=[→←≥≤±=]) |(?<=\bn) (?==)")  # blanks
QUICK = "Scaled down by --quick: the figures show that the campaign runs, no more."

PART = """<div class="natxy"><style>.natxy small { display: block; }</style>
<h3>{{ table.title }}</h3>
{% if table.warning %}<p><strong>{{ table.warning }}</strong></p>{% endif %}
{{ rows_of(table, "", true) }}
<details><summary>Notes</summary>{{ notes_of(table) }}</details></div>
"""


@dataclass(frozen=True, kw_only=True)
class Told:
    """The texts of a report beside its tables and charts."""

    head: Mapping[str, str]  # who, when, where, how, by their names
    files: Mapping[str, str]  # names and texts: experiment.toml
    machines: Mapping[str, Any]  # what measured, by a title
    quick: bool
    made_by: str  # "Natxy 0.1.0"
    written: Sequence[str] = ()  # files beside the page; empty: it stands alone


def campaign_html(tables: Mapping[str, CampaignTable], charts: Sequence[Chart], told: Told) -> str:
    """Returns the page; `tables` are those of a Report, by their names."""
    jinja2, vl_convert = libraries()
    page = _page(jinja2)
    drawn = [chart for chart in charts if chart.is_drawn]
    machines = {name: json.dumps(about, indent=2) for name, about in told.machines.items()}
    summary = summary_table(tables["table"])
    text: str = page.render(
        policy=POLICY,
        style=style(),
        quick=QUICK if told.quick else "",
        summary=summary,
        reading=how_to_read((summary, *tables.values())),
        **{"published": None, "further": None, "counted": None, **tables},
        charts=drawn,
        head=told.head,
        versions=[text for text in map(_versions, told.machines.values()) if text],
        folded={**told.files, **machines},
        made_by=told.made_by,
        written=told.written,
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
    return (files("natxy.report") / "report.html").read_text(encoding="utf-8")


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
