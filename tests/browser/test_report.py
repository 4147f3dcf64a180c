"""The HTML report in a browser: it draws each chart, in both themes and on a phone's width, loads
nothing, and its controls do what they say."""

import json
import re
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from natxy.campaign.data import read_data
from natxy.campaign.report import write_report
from natxy.model.measurement import Figure
from natxy.model.trial_spec import Direction
from natxy.report.campaign_html import campaign_html
from natxy.report.cell_figures import CellResult
from natxy.report.charts import Chart, distribution_charts, file_name, time_chart, trace_chart
from natxy.report.figure_charts import figure_charts
from natxy.report.table_rows import CampaignTable, Row, Spread, Value
from tests.browser.gallery import kept
from tests.browser.pages import (
    DESKTOP,
    PATIENCE_S,
    PHONE,
    SIZES,
    THEMES,
    clicked_through,
    cuts,
    faults,
    opened,
    pages_on_a4,
    photographed,
    printed,
    printed_faults,
)
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64, fake_engine
from tests.unit.heat import cell, maps
from tests.unit.measurement_report import measurement

pytestmark = pytest.mark.long
MOST_OCTETS = 5_000_000
LONG_NAME = (
    "Delay variation at a thousand frames a second, which is more than fits on a phone's line"
)


# The lines of a place, as they are shown.
LINES = """
const place = document.querySelector(arguments[0]), range = document.createRange(), lines = {};
const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode())
  for (let at = 0; at < node.length; at += 1) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const {bottom, height} = range.getBoundingClientRect(), line = Math.round(bottom);
    if (height) lines[line] = (lines[line] || "") + node.data[at];
  }
return Object.values(lines).map(line => line.replaceAll("\\u00a0", " "))"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of a campaign, whose names are long, with a file of records."""
    monkeypatch.setenv("NATXY_ENGINE", str(fake_engine(tmp_path)))
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    text = EXPERIMENT.replace('command = "pdv"', f'command = "pdv"\nlabel = "{LONG_NAME}"')
    path.write_text(text + '\n[[row]]\nkind = "dispersion"\nof = "throughput"\n')
    run(path, tmp_path / "campaign")
    frames = tmp_path / "frames.parquet"
    pq.write_table(pa.Table.from_pylist(some_frames()), frames)
    write_report(read_data(tmp_path / "campaign"), tmp_path / "report", html=True, records=frames)
    return tmp_path / "report" / "report.html"


def some_frames() -> list[dict[str, object]]:
    """The records of two trials, as far as a plot reads them."""
    return [
        {
            "trial": trial,
            "frame_size_bytes": 84,
            "phase": "test",
            "direction": direction,
            "status": "received",
            "departure_ns": number * 1e6,
            "delay_ns": 20_000.0 + number % 7 * 1000,
        }
        for trial in (1, 2)
        for direction in ("forward", "reverse")
        for number in range(500)
    ]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_each_chart_is_drawn(
    browser: Chrome, page: Path, size: tuple[int, int], theme: str
) -> None:
    assert page.stat().st_size < MOST_OCTETS
    opened(browser, page, size, theme)
    charts = browser.find_elements(By.CLASS_NAME, "chart")
    assert [chart.get_attribute("id") for chart in charts] == [
        f"chart-{key}"
        for key in (
            "throughput",
            file_name(LONG_NAME),
            "computed-dispersion",
            "delays",
            "trials",
            "over-time",
            "delay-over-time",
        )
    ]
    assert list(faults(browser)) == []
    assert clicked_through(browser, theme) == []
    assert list(faults(browser)) == []
    photographed(browser, page.with_name(f"{size[0]}-{theme}.png"))


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("last", [137, 149, 156])
def test_a_choice_cuts_no_label(
    browser: Chrome, tmp_path: Path, size: tuple[int, int], last: int
) -> None:
    """The second search has more trials, and rates with more digits, than the first."""
    trials = [
        {
            "cell": cell,
            "quantity": "frames a second",
            "repetition": 1,
            "number": number,
            "tried": 1 + rate * number % top,
            "result": top / 2,
            "verdict": "PASS",
        }
        for cell, numbers, rate, top in (("slow", 40, 7, 900), ("fast", last, 7919, 2_000_000))
        for number in range(1, numbers + 1)
    ]
    opened(browser, page_of(tmp_path, trace_chart(trials)), size, "light")
    assert list(cuts(browser)) == []
    assert clicked_through(browser, "light") == []


def page_of(folder: Path, *charts: Chart) -> Path:
    """Writes a report of these plots alone."""
    table = CampaignTable(title="Plots", columns=(), rows=())
    page = folder / "report.html"
    page.write_text(campaign_html({"table": table}, charts, files={"name": "text"}))
    return page


def test_a_narrow_page_tears_no_word_of_the_command_and_no_value(
    browser: Chrome, tmp_path: Path
) -> None:
    command = "natxy throughput bed.toml --profile quick --foreground-share 60 --both-directions"
    spread = Spread(n=3, minimum=0.0223, maximum=0.0657, deviation=0.0217, unit="s")
    rows = tuple(
        Row(
            name="reset time",
            figure="reset time",
            direction=way,
            values=(Value(number=1.0, text=f"≤ {number} ms", spread=spread),),
        )
        for way, number in zip(get_args(Direction), (43.2, 43.3), strict=True)
    )
    table = CampaignTable(title="Reset", columns=("",), rows=rows)
    page = tmp_path / "report.html"
    page.write_text(campaign_html({"table": table}, [], head={"Command": command}))
    opened(browser, page, PHONE, "light")
    place = browser.find_element(By.CSS_SELECTOR, "dl.head dd")
    assert place.text.split() == command.split(), "it can be copied"
    assert place.rect["height"] > 1.5 * 16 * 1.5, "it has several lines"
    lines = browser.execute_script(LINES, "dl.head dd")
    assert [word for line in lines for word in line.split()] == command.split()
    shown = browser.execute_script(LINES, "table.summary td:last-child")
    assert all(part in " ".join(shown) for part in ("± 21.7 ms", "n = 3", "65.7 ms]"))
    ends = {line.split()[-1] for line in shown if line.strip()}
    assert not ends & {"±", "=", "n", "65.7", "→", "←", "≤"}
    assert browser.find_elements(By.TAG_NAME, "thead") == [], "no column has a name"


def test_a_map_has_a_field_for_each_pair_the_darker_the_more(
    browser: Chrome, tmp_path: Path
) -> None:
    """Four sizes and flows; the last one has no valid trial."""
    opened(browser, page_of(tmp_path, *maps(cell("", (84, 512), (10, 100)))), DESKTOP, "light")
    place = "#chart-overload-map svg"
    fields = browser.find_elements(By.CSS_SELECTOR, f"{place} .mark-rect.role-mark path")
    words = browser.find_elements(By.CSS_SELECTOR, f"{place} .mark-text.role-mark text")
    assert [each.text for each in words] == ["≥ 1.19k", "119", "≥ 195", "?"]
    shades = [
        sum(map(int, re.findall(r"\d+", field.value_of_css_property("fill")))) for field in fields
    ]
    assert shades[0] < shades[2] < shades[1], "1,190, 195 and 119 frames a second"
    columns = [round(each.rect["x"]) for each in fields]
    assert columns[0] == columns[2] < columns[1]
    assert fields[0].rect["y"] < fields[2].rect["y"], "84 octets stand above 512"
    assert list(faults(browser)) == []
    assert "≥ 1.19k" in kept(browser, "4-map", "overload")


def test_each_quantity_has_its_panel_over_time(browser: Chrome, tmp_path: Path) -> None:
    known = {"cell": "a", "verdict": "PASS", "median_us": 10.0, "p999_us": 20.0}
    trials = [
        {
            **known,
            "at_s": at,
            "rate_of": "frames a second",
            "rate_fps": 1000,
            "result": None,
            "lost_percent": 0.0,
            "busy_percent": 10.0 * at,
            "paused_ms": 0,
            "away_ms": 2,
        }
        for at in range(5)
    ]
    opened(browser, page_of(tmp_path, time_chart(trials)), PHONE, "light")
    panels = browser.find_elements(By.CSS_SELECTOR, "#chart-over-time .mark-symbol.role-mark")
    counts = [len(each.find_elements(By.TAG_NAME, "path")) for each in panels]
    assert counts == [5, 10, 5, 5]
    cpu = panels[2].find_elements(By.TAG_NAME, "path")
    heights = [point.rect["y"] for point in cpu]
    assert heights == sorted(heights, reverse=True), "it grows"
    lefts = [[p.find_elements(By.TAG_NAME, "path")[-1].rect["x"] for p in panels]]
    assert max(lefts[0]) - min(lefts[0]) < 2, "one axis of time"
    legend = browser.find_element(By.ID, "legend-over-time").text
    assert "busiest CPU of the gateway" in legend
    assert list(faults(browser)) == []
    assert "away, ms" in kept(browser, "4-time", "Over time")


def losses(*percent: float | None) -> list[Figure]:
    """Frame loss rates at 1,000, 2,000 ... frames a second; None: no trial was valid."""
    return [
        Figure(
            name="frame loss rate",
            unit="%",
            at=f"{rate_fps:,} fps",
            at_value=rate_fps,
            at_unit="fps",
            values=() if loss is None else (loss,),
            missing="no valid trial" if loss is None else "",
        )
        for rate_fps, loss in zip(range(1000, 9000, 1000), percent, strict=False)
    ]


def test_a_line_of_losses_has_a_gap_and_a_mark_where_nothing_is_known(
    browser: Chrome, tmp_path: Path
) -> None:
    """RFC 2544 section 26.3: a line from 0 to 100 %; a rate without a valid trial is no 0 %."""
    result = measurement(
        procedure="frame-loss", title="Frame loss rate", figures=tuple(losses(0, 10, None, 50, 100))
    )
    cell = CellResult(column="a", measure="frame-loss", round=1, results=(result,))
    page = page_of(tmp_path, *figure_charts(("a",), [cell]))
    opened(browser, page, DESKTOP, "light")
    (line,) = browser.find_elements(By.CSS_SELECTOR, "#chart-frame-loss svg .mark-line path")
    drawn = line.get_attribute("d") or ""
    assert (drawn.count("M"), drawn.count("L")) == (2, 2), "two pieces of two points each"
    points = browser.find_elements(By.CSS_SELECTOR, "#chart-frame-loss svg .mark-symbol path")
    assert len(points) == 4
    (mark,) = browser.find_elements(
        By.CSS_SELECTOR, "#chart-frame-loss svg .mark-text.role-mark text"
    )
    assert mark.text == "?"
    axis = browser.find_elements(By.CSS_SELECTOR, "#chart-frame-loss svg .role-axis-label text")
    assert {"0", "100"} <= {label.text for label in axis}
    heights = [point.rect["y"] for point in points]
    assert heights == sorted(heights, reverse=True)
    assert list(faults(browser)) == []
    assert "frame loss rate, %" in kept(browser, "3-loss", "Frame loss rate")


def test_throughput_is_a_line_below_that_of_the_media(browser: Chrome, tmp_path: Path) -> None:
    """RFC 2544 section 26.1: over the frame size; the media's line is dashed."""
    results = []
    for size in (84, 512, 1518):
        media = {"frame_size_bytes": size, "theoretical_fps": 125_000_000 // (size + 20)}
        conditions = measurement().conditions.model_copy(update=media)
        figure = Figure(name="throughput", unit="fps", values=(6e7 / (size + 20),))
        results.append(
            measurement(
                procedure="throughput", title="Throughput", conditions=conditions, figures=(figure,)
            )
        )
    cell = CellResult(column="a", measure="throughput", round=1, results=tuple(results))
    opened(browser, page_of(tmp_path, *figure_charts(("a",), [cell])), DESKTOP, "light")
    place = "#chart-throughput svg .mark-line.role-mark path"
    ours, media_line = browser.find_elements(By.CSS_SELECTOR, place)
    assert media_line.value_of_css_property("stroke-dasharray") != "none"
    assert ours.value_of_css_property("stroke-dasharray") == "none"
    assert media_line.rect["y"] < ours.rect["y"], "no gateway is above the media"
    assert abs(media_line.rect["width"] - ours.rect["width"]) < 2
    assert list(faults(browser)) == []
    assert "octets" in kept(browser, "3-sizes", "Throughput")


def test_a_dot_stands_at_its_value_with_its_range(browser: Chrome, tmp_path: Path) -> None:
    """Three values of one gateway, and a lower bound of another, on one axis."""
    figures = {
        "a": Figure(name="throughput", unit="fps", values=(100_000.0, 300_000.0, 400_000.0)),
        "b": Figure(name="throughput", unit="fps", values=(200_000.0,), lower_bound=(True,)),
    }
    cells = [
        CellResult(
            column=column,
            measure="throughput",
            round=1,
            results=(measurement(procedure="throughput", title="Throughput", figures=(figure,)),),
        )
        for column, figure in figures.items()
    ]
    opened(browser, page_of(tmp_path, *figure_charts(("a", "b"), cells)), DESKTOP, "light")
    first, second = browser.find_elements(By.CSS_SELECTOR, "#chart-throughput .mark-symbol path")
    (rule,) = browser.find_elements(By.CSS_SELECTOR, "#chart-throughput .role-mark.mark-rule line")
    middles = [dot.rect["x"] + dot.rect["width"] / 2 for dot in (first, second)]
    share = (middles[0] - rule.rect["x"]) / rule.rect["width"]
    assert abs(share - 2 / 3) < 0.03, "from 100,000 to 400,000, 300,000 is at two thirds"
    assert middles[1] < middles[0]
    assert (first.get_attribute("d") or "") != (second.get_attribute("d") or ""), "a bound"
    assert "▶ lower bound" in browser.find_element(By.TAG_NAME, "main").text
    legend = browser.find_element(By.ID, "legend-throughput")
    assert legend.text == "", "the axis has the names"
    assert "frames a second" in kept(browser, "3-dots", "Throughput")


@pytest.mark.parametrize(("size", "columns"), [(DESKTOP, 2), (PHONE, 1)], ids=list(SIZES))
def test_gateways_have_a_panel_each_as_many_in_a_row_as_there_is_room(
    browser: Chrome, tmp_path: Path, size: tuple[int, int], columns: int
) -> None:
    gateways = {"router", "tayga", "jool", "nat44"}
    rows = [
        {"panel": panel, "curve": "pdv, forward", "delay_us": 10.0 + at, "share": 1 - 10**-at}
        for panel in sorted(gateways)
        for at in range(1, 6)
    ]
    opened(browser, page_of(tmp_path, *distribution_charts(rows)), size, "light")
    texts = browser.find_elements(By.CSS_SELECTOR, "#chart-delays svg text")
    places = {text.text: text.rect for text in texts if text.text in gateways}
    assert set(places) == gateways
    assert len({round(place["y"]) for place in places.values()}) == 4 / columns
    assert list(faults(browser)) == []
    assert "99.999" in kept(browser, f"4-delays-{size[0]}", "Delays")


def test_a_long_name_is_whole_in_the_legend(browser: Chrome, page: Path) -> None:
    opened(browser, page, PHONE, "light")
    legend = browser.find_element(By.ID, "legend-delays")
    names = [item.text for item in legend.find_elements(By.TAG_NAME, "li")]
    assert [name.removeprefix("■") for name in names] == [
        f"{LONG_NAME}, {way}" for way in ("forward", "reverse")
    ]


def test_the_controls_do_what_they_say(browser: Chrome, page: Path) -> None:
    opened(browser, page, DESKTOP, "light")

    def points() -> list[str]:
        marks = browser.find_elements(By.CSS_SELECTOR, "#chart-trials svg .mark-symbol path")
        return [mark.get_attribute("aria-label") or "" for mark in marks]

    cells = Select(browser.find_element(By.CSS_SELECTOR, "#chart-trials select"))
    before = points()
    assert before
    cells.select_by_index(1)
    WebDriverWait(browser, PATIENCE_S).until(lambda _: points() != before)
    assert "FAIL" in kept(browser, "4-search", "Trials")
    folded = browser.find_element(By.CSS_SELECTOR, ".folded details")
    folded.find_element(By.TAG_NAME, "summary").click()
    assert "title = " in folded.find_element(By.TAG_NAME, "pre").text
    rows = json.loads(browser.find_element(By.ID, "charts").get_attribute("textContent") or "[]")
    assert all(chart["rows"] for chart in rows)


@pytest.mark.parametrize("theme", THEMES)
def test_it_prints_on_paper(browser: Chrome, page: Path, theme: str) -> None:
    opened(browser, page, DESKTOP, theme)
    folded = browser.find_element(By.CLASS_NAME, "folded")
    cells = Select(browser.find_element(By.CSS_SELECTOR, "#chart-trials select"))
    cells.select_by_index(1)
    chosen = browser.find_element(By.ID, "shown-trials")
    assert not chosen.is_displayed(), "the control says it"
    with printed(browser, theme):
        assert list(printed_faults(browser)) == []
        assert chosen.text == cells.options[1].get_attribute("value"), "paper has no control"
        assert folded.find_element(By.CLASS_NAME, "paper").is_displayed(), "the versions"
        assert LONG_NAME in kept(browser, f"8-paper-{theme}", "Delays")
    folded.find_element(By.TAG_NAME, "summary").click()
    with printed(browser, theme):
        assert list(printed_faults(browser)) == []
        assert "title = " in folded.find_element(By.TAG_NAME, "pre").text
    assert pages_on_a4(browser) > 1
    assert list(faults(browser)) == [], "on the screen nothing has changed"
