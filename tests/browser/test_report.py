"""The HTML report in a browser: it draws each chart, in both themes and on a phone's width, loads
nothing, and its controls do what they say."""

import base64
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from natxy.campaign.report import Report, write_report
from natxy.report.campaign_html import Told, campaign_html
from natxy.report.campaign_table import CampaignTable
from natxy.report.charts import file_name
from natxy.report.trial_charts import trace_chart
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
    photographed,
    printed,
    printed_faults,
)
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64, fake_engine

pytestmark = pytest.mark.long
MOST_OCTETS = 5_000_000
LONG_NAME = (
    "Delay variation at a thousand frames a second, which is more than fits on a phone's line"
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of a campaign, whose names are long, with a file of records."""
    monkeypatch.setenv("NATXY_ENGINE", str(fake_engine(tmp_path)))
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    text = EXPERIMENT.replace('command = "pdv"', f'command = "pdv"\nlabel = "{LONG_NAME}"')
    path.write_text(text + '\n[[row]]\nkind = "ratio to the previous"\nof = "throughput"\n')
    run(path, tmp_path / "campaign")
    frames = tmp_path / "frames.parquet"
    pq.write_table(pa.Table.from_pylist(some_frames()), frames)
    write_report(Report.of(tmp_path / "campaign"), tmp_path / "report", html=True, records=frames)
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
            "computed-ratio-to-the-previous",
            "delays",
            "trials",
            "delay-over-time",
        )
    ], "nobody paused"
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
        {"cell": cell, "number": number, "rate_fps": rate * number % top, "verdict": "PASS"}
        for cell, numbers, rate, top in (("slow", 40, 7, 900), ("fast", last, 7919, 2_000_000))
        for number in range(1, numbers + 1)
    ]
    told = Told(summary="", files={"name": "text"}, machines={}, quick=False, made_by="Natxy")
    table = CampaignTable(title="Searches", columns=(), rows=())
    page = tmp_path / "report.html"
    page.write_text(campaign_html(table, None, [trace_chart(trials)], told))
    opened(browser, page, size, "light")
    assert list(cuts(browser)) == []
    assert clicked_through(browser, "light") == []


def test_a_long_name_is_whole_in_the_legend(browser: Chrome, page: Path) -> None:
    opened(browser, page, PHONE, "light")
    legend = browser.find_element(By.ID, "legend-delays")
    names = [item.text for item in legend.find_elements(By.TAG_NAME, "li")]
    assert [name.removeprefix("■") for name in names] == [
        f"{LONG_NAME}, {size} B, {way}" for size in (84, 512) for way in ("forward", "reverse")
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
    folded = browser.find_element(By.TAG_NAME, "details")
    folded.find_element(By.TAG_NAME, "summary").click()
    assert "title = " in folded.find_element(By.TAG_NAME, "pre").text
    rows = json.loads(browser.find_element(By.ID, "charts").get_attribute("textContent") or "[]")
    assert all(chart["rows"] for chart in rows)


@pytest.mark.parametrize("theme", THEMES)
def test_it_prints_on_paper(browser: Chrome, page: Path, theme: str) -> None:
    opened(browser, page, DESKTOP, theme)
    folded = browser.find_element(By.CLASS_NAME, "folded")
    with printed(browser, theme):
        assert list(printed_faults(browser)) == []
        assert not folded.is_displayed(), "nothing of it was unfolded"
    folded.find_element(By.TAG_NAME, "summary").click()
    with printed(browser, theme):
        assert list(printed_faults(browser)) == []
        assert "title = " in folded.find_element(By.TAG_NAME, "pre").text
    assert base64.b64decode(browser.print_page()).startswith(b"%PDF-")
    assert list(faults(browser)) == [], "on the screen nothing has changed"
