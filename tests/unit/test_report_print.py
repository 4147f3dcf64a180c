"""Tests of the HTML report on paper; tests/browser/test_report.py looks at it."""

import re

import pytest

from natxy.report.campaign_html import campaign_html
from natxy.report.html_text import style
from natxy.report.table_rows import CampaignTable

STYLE = style()
DARK = ':root[data-theme="dark"]'


def rules(medium: str) -> dict[str, str]:
    """The declarations of a medium, by each of their selectors."""
    found: dict[str, str] = {}
    for _, start in [match.span() for match in re.finditer(rf"@media {medium} {{", STYLE)]:
        depth, end = 1, start
        while depth:
            depth += {"{": 1, "}": -1}.get(STYLE[end], 0)
            end += 1
        inside = re.sub(r"/\*.*?\*/", "", STYLE[start : end - 1])
        for selectors, declarations in re.findall(r"([^{}]+){([^{}]*)}", inside):
            for selector in re.split(r", (?![^(]*\))", selectors.strip()):
                found[selector] = found.get(selector, "") + declarations
    return found


@pytest.mark.parametrize("control", ["button", ".vega-bind", "details:not([open])"])
def test_what_only_a_screen_can_use_is_not_printed(control: str) -> None:
    assert "display: none" in rules("print")[control]


@pytest.mark.parametrize("box", [".wide", "pre"])
def test_what_scrolls_on_a_screen_is_whole_on_paper(box: str) -> None:
    assert "overflow: visible" in rules("print")[box]


def test_the_dark_colours_are_those_of_the_screen_alone() -> None:
    assert DARK in rules("screen")
    assert STYLE.count(DARK) == 1


def test_what_measured_and_was_measured_is_printed_though_it_is_folded() -> None:
    machine = {
        "natxy_version": "0.1.0",
        "host": {"name": "box", "python": "3.11.2"},
        "tester": {"dpdk_version": "DPDK 24.11"},
        "dut": {"software": "tayga 0.9.2", "kernel": "Linux 6.12"},
    }
    table = CampaignTable(title="", columns=(), rows=())
    about = {"Machine": machine}
    page = campaign_html({"table": table}, [], files={"a": "b"}, machines=about)
    section = page.partition('<section class="folded">')[2].partition("</section>")[0]
    said = "box; Natxy 0.1.0; Python 3.11.2; DPDK 24.11; tayga 0.9.2; Linux 6.12"
    assert f'<p class="paper">{said}</p>' in section
    assert "display: block" in rules("print")[".paper"]
    assert ".folded" not in " ".join(rules("print"))
    assert "<details>" in section
