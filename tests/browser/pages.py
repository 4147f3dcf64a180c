"""A report in a browser: how it is opened, and what is wrong with what it shows."""

from collections.abc import Iterator
from pathlib import Path

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

DESKTOP, PHONE = (1280, 900), (390, 844)  # width and height in CSS pixels
SIZES = {"desktop": DESKTOP, "phone": PHONE}
THEMES = ("light", "dark")
PATIENCE_S = 60
MARKS = "svg .mark-symbol, svg .mark-rect, svg .mark-line, svg .mark-area"
# A text of a plot that reaches out of its plot, or that Vega has shortened.
CUT = """
return [...document.querySelectorAll(".chart svg")].flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter(text => {
    const box = text.getBoundingClientRect();
    return text.textContent.endsWith("…")
      || box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map(text => text.textContent);
})"""
WIDER = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("h1, h2, p, li, button, select, svg, summary")]
  .filter(each => each.getBoundingClientRect().right > width + 1).map(each => each.textContent)"""


def opened(browser: Chrome, page: Path, size: tuple[int, int], theme: str) -> None:
    """Opens the page as a person who prefers `theme` sees it."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    drawn(browser, theme)


def drawn(browser: Chrome, theme: str) -> None:
    """Waits until all plots are drawn."""

    def is_drawn(driver: Chrome) -> bool:
        return bool(driver.execute_script("return document.documentElement.dataset.drawn") == theme)

    WebDriverWait(browser, PATIENCE_S).until(is_drawn)


def faults(browser: Chrome) -> Iterator[str]:
    """Yields what is wrong with the page, a sentence each."""
    for chart in browser.find_elements(By.CLASS_NAME, "chart"):
        if not chart.find_elements(By.CSS_SELECTOR, MARKS):
            yield f"{chart.get_attribute('id')} draws nothing"
    for text in browser.execute_script(CUT):
        yield f'a plot cuts the text "{text}"'
    for text in browser.execute_script(WIDER):
        yield f'"{text}" reaches out of the page'
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    if widest > browser.execute_script("return document.documentElement.clientWidth"):
        yield f"the page scrolls aside: it is {widest} pixels wide"
    if browser.execute_script("return performance.getEntriesByType('resource').length"):
        yield "the page loads something"
    log = browser.get_log("browser")  # type: ignore[no-untyped-call]
    yield from (entry["message"] for entry in log)


def has_marks(browser: Chrome, chart: WebElement) -> None:
    WebDriverWait(browser, PATIENCE_S).until(lambda _: chart.find_elements(By.CSS_SELECTOR, MARKS))


def clicked_through(browser: Chrome, theme: str) -> None:
    """Uses every control: each choice of each plot, each folded text, and the other theme."""
    for chart in browser.find_elements(By.CLASS_NAME, "chart"):
        for select in chart.find_elements(By.TAG_NAME, "select"):
            for place in range(len(Select(select).options)):
                Select(select).select_by_index(place)
                has_marks(browser, chart)
    for folded in browser.find_elements(By.TAG_NAME, "details"):
        folded.find_element(By.TAG_NAME, "summary").click()
        assert folded.find_element(By.TAG_NAME, "pre").text.strip()
        folded.find_element(By.TAG_NAME, "summary").click()
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(paper)
    browser.find_element(By.ID, "theme").click()
    drawn(browser, "light" if theme == "dark" else "dark")
    assert browser.execute_script(paper) != before
    browser.find_element(By.ID, "theme").click()
    drawn(browser, theme)


def photographed(browser: Chrome, file: Path) -> None:
    """Writes the whole page as a picture, not only the part that the window shows."""
    height = browser.execute_script("return document.documentElement.scrollHeight")
    metrics = browser.execute_script("return [innerWidth, innerHeight]")
    size = {"width": metrics[0], "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.save_screenshot(str(file))
