"""The HTML report in a browser: it draws each chart, in both themes and on a phone's width, loads
nothing, and its controls do what they say."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from natxy.campaign.report import write_report
from tests.unit.conftest import engine  # noqa: F401
from tests.unit.test_campaign import experiment, run  # noqa: F401

pytestmark = pytest.mark.long
DESKTOP, PHONE = (1280, 900), (390, 844)  # width and height in CSS pixels
PATIENCE_S = 60
MOST_OCTETS = 5_000_000


@pytest.fixture
def page(experiment: Path, tmp_path: Path) -> Path:  # noqa: F811
    run(experiment, tmp_path / "campaign")
    write_report(tmp_path / "campaign", tmp_path / "report", html=True)
    return tmp_path / "report" / "report.html"


@pytest.fixture
def browser() -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def opened(browser: Chrome, page: Path, size: tuple[int, int], theme: str) -> None:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    drawn(browser, theme)


def drawn(browser: Chrome, theme: str) -> None:
    def is_drawn(driver: Chrome) -> bool:
        return bool(driver.execute_script("return document.documentElement.dataset.drawn") == theme)

    WebDriverWait(browser, PATIENCE_S).until(is_drawn)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_each_chart_is_drawn(
    browser: Chrome, page: Path, size: tuple[int, int], theme: str
) -> None:
    assert page.stat().st_size < MOST_OCTETS
    opened(browser, page, size, theme)
    charts = browser.find_elements(By.CSS_SELECTOR, ".chart")
    assert len(charts) == 4, "two measurements, delays, trials; nobody paused"
    for chart in charts:
        assert chart.find_elements(
            By.CSS_SELECTOR, "svg .mark-symbol, svg .mark-rect, svg .mark-line"
        )
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    assert widest <= size[0], "the page scrolls down, not aside"
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    log = browser.get_log("browser")  # type: ignore[no-untyped-call]
    said = [entry["message"] for entry in log]
    assert said == []
    browser.save_screenshot(str(page.with_name(f"{size[0]}-{theme}.png")))


def test_the_controls_do_what_they_say(browser: Chrome, page: Path) -> None:
    opened(browser, page, DESKTOP, "light")
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(paper)
    browser.find_element(By.ID, "theme").click()
    drawn(browser, "dark")
    assert browser.execute_script(paper) != light

    def points() -> list[str]:
        marks = browser.find_elements(By.CSS_SELECTOR, "#chart-trials svg .mark-symbol path")
        return [mark.get_attribute("aria-label") or "" for mark in marks]

    cells = Select(browser.find_element(By.CSS_SELECTOR, "#chart-trials select"))
    before = points()
    assert before
    cells.select_by_index(1)
    WebDriverWait(browser, PATIENCE_S).until(lambda _: points() != before)
    folded = browser.find_element(By.CSS_SELECTOR, "details")
    folded.find_element(By.TAG_NAME, "summary").click()
    assert "title = " in folded.find_element(By.TAG_NAME, "pre").text
    rows = json.loads(browser.find_element(By.ID, "charts").get_attribute("textContent") or "[]")
    assert all(chart["rows"] for chart in rows)
