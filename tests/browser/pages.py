"""A report in a browser: how it is opened, and what is wrong with what it shows."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.print_page_options import PrintOptions
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.published_figures import unexplained

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
# Vega draws a choice before the browser's next frame.
NEXT_FRAME = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done()))"""
WIDER = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("h1, h2, p, li, button, select, svg, summary")]
  .filter(each => each.getBoundingClientRect().right > width + 1).map(each => each.textContent)"""


# The published table and what is said below it: names of its columns, its rows, its notes.
BESIDE = """
const heads = [...document.querySelectorAll("h2")];
const head = heads.find(each => each.textContent.endsWith("and measured here"));
if (!head) return null;
const texts = nodes => [...nodes].map(node => node.textContent.replaceAll("\u00a0", " "));
const found = {columns: [], rows: [], notes: []};
const parts = [...head.parentElement.children];
const below = parts.slice(parts.indexOf(head) + 1);
for (const part of below) {
  if (part.tagName === "H2") break;
  if (part.tagName === "UL") found.notes.push(...texts(part.querySelectorAll("li")));
  for (const table of part.querySelectorAll("table")) {
    found.columns = texts(table.querySelectorAll("thead th")).slice(1);
    for (const row of table.tBodies[0].rows) {
      const [name, ...values] = texts(row.cells);
      found.rows.push([name, values]);
    }
  }
}
return found"""
# Tables that cannot be read by scrolling aside within their own box.
STUCK = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("table")].filter(table => {
  const box = table.closest(".wide");
  if (!box || box.getBoundingClientRect().right > width + 1) return true;
  box.scrollLeft = table.scrollWidth;
  const last = table.rows[0].lastElementChild.getBoundingClientRect().right;
  box.scrollLeft = 0;
  return last > box.getBoundingClientRect().right + 1;
}).map(table => table.rows[0].textContent)"""
GRID = """
const paper = getComputedStyle(document.body).backgroundColor;
return [...document.querySelectorAll(".chart svg .role-axis-grid line")].map(line => {
  const style = getComputedStyle(line);
  return [style.stroke, Number(style.strokeOpacity) * Number(style.opacity), paper];
})"""
# What reaches out of the paper or is cut, what only a screen can use, and the plots' colours.
ON_PAPER = """
const edge = document.body.getBoundingClientRect().right + 1;
const shown = [...document.querySelectorAll("*")].filter(each => each.getClientRects().length);
const texts = nodes => nodes.map(each => `${each.tagName} ${each.textContent.slice(0, 60)}`);
return {
  paper: getComputedStyle(document.body).backgroundColor,
  beyond: texts(shown.filter(each => each.matches("h1, h2, p, li, th, td, pre, svg")
    && each.getBoundingClientRect().right > edge)),
  cut: texts(shown.filter(each => each.matches(".wide, pre")
    && getComputedStyle(each).overflowX !== "visible")),
  controls: texts(shown.filter(each => each.matches("button, select, input"))),
  colours: [...new Set([...document.querySelectorAll(".chart svg text")]
    .map(each => getComputedStyle(each).fill))],
  small: [...document.querySelectorAll(".chart svg text")].map(each => {
    const {a, b} = each.getScreenCTM();
    return [each.textContent, parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b)];
  }),
}"""
# The colours of a plot's points, or of its lines if it has none, beside those of its legend.
COLOURS = """
return [...document.querySelectorAll(".chart")].map(chart => {
  const name = chart.id.replace("chart-", "");
  const signs = [...document.querySelectorAll(`#legend-${name} li span`)];
  const points = [...chart.querySelectorAll(".mark-symbol.role-mark path")];
  const lines = [...chart.querySelectorAll(".mark-line.role-mark path")];
  return [name, signs.map(each => getComputedStyle(each).color),
    (points.length ? points : lines).map(each => getComputedStyle(each))
      .map(style => style.stroke === "none" ? style.fill : style.stroke)];
})"""
PAPER_PX = 680  # width of A4 between margins of 15 mm
PT_OF_PX = 0.75
LEAST_PT = 7.0  # of a letter in a plot
LEAST_OF_TEXT = 4.5  # contrast of text and paper (WCAG 2.2, level AA)
LEAST_CONTRAST = 1.3  # of a grid line and the paper (WCAG 2.2, contrast ratio); 1: it is not seen


@contextmanager
def chromium() -> Iterator[Chrome]:
    """Yields a browser without a window."""
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


def report_faults(browser: Chrome, page: Path, pictures: Path | None = None) -> list[str]:
    """Returns what is wrong with a report: as it is opened and after each control was used, in both
    themes and on both screens. A picture of each is written into the folder `pictures`."""
    wrong: list[str] = []
    for size, pixels in SIZES.items():
        for theme in THEMES:
            opened(browser, page, pixels, theme)
            found = [*faults(browser), *clicked_through(browser, theme), *faults(browser)]
            wrong += [f"{size}, {theme}: {fault}" for fault in dict.fromkeys(found)]
            if pictures is not None:
                photographed(browser, pictures / f"{page.parents[1].name}-{size}-{theme}.png")
    return [*wrong, *published_faults(browser)]


def published_faults(browser: Chrome) -> Iterator[str]:
    """Yields the published figures of the open report that nothing stands beside."""
    beside = browser.execute_script(BESIDE)
    if beside is None:
        yield "there is no published table"
    else:
        yield from unexplained(beside["columns"], beside["rows"], beside["notes"])


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
    charts = browser.find_elements(By.CLASS_NAME, "chart")
    if not charts:
        yield "there is no chart"
    for chart in charts:
        if not chart.find_elements(By.CSS_SELECTOR, MARKS):
            yield f"{chart.get_attribute('id')} draws nothing"
    for stroke, opacity, paper in browser.execute_script(GRID):
        if (seen := contrast(stroke, opacity, paper)) < LEAST_CONTRAST:
            yield f"a grid line of {stroke} on {paper} has a contrast of {seen:.2f}"
            break
    for table in browser.execute_script(STUCK):
        yield f'the table "{table}" reaches out of its box'
    yield from cuts(browser)
    for text in browser.execute_script(WIDER):
        yield f'"{text}" reaches out of the page'
    widest = browser.execute_script("return document.documentElement.scrollWidth")
    if widest > browser.execute_script("return document.documentElement.clientWidth"):
        yield f"the page scrolls aside: it is {widest} pixels wide"
    if browser.execute_script("return performance.getEntriesByType('resource').length"):
        yield "the page loads something"
    log = browser.get_log("browser")  # type: ignore[no-untyped-call]
    yield from (entry["message"] for entry in log)


def cuts(browser: Chrome) -> Iterator[str]:
    """Yields the texts of plots that are cut, a sentence each."""
    for text in browser.execute_script(CUT):
        yield f'a plot cuts the text "{text}"'


@contextmanager
def printed(browser: Chrome, theme: str) -> Iterator[None]:
    """Shows the open page as it is printed: as narrow as paper, but not drawn anew for it."""
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_script(f"document.body.style.width = '{PAPER_PX}px'")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
        browser.execute_script("document.body.style.width = ''")


def printed_faults(browser: Chrome) -> Iterator[str]:
    """Yields what is wrong with the page on paper, a sentence each."""
    found = browser.execute_script(ON_PAPER)
    for text in found["beyond"]:
        yield f'"{text}" reaches out of the paper'
    for text in found["cut"]:
        yield f'"{text}" is cut'
    for text in found["controls"]:
        yield f'"{text}" is printed, and nobody can use it'
    if found["paper"] != "rgb(255, 255, 255)":
        yield f"the paper is {found['paper']}"
    for colour in found["colours"]:
        if (seen := contrast(colour, 1, found["paper"])) < LEAST_OF_TEXT:
            yield f"a plot's text of {colour} has a contrast of {seen:.2f}"
    for text, pixels in found["small"]:
        if pixels * PT_OF_PX < LEAST_PT:
            yield f'"{text}" has letters of {pixels * PT_OF_PX:.2f} pt'
    for name, legend, marks in browser.execute_script(COLOURS):
        if legend and not set(marks) <= set(legend):
            yield f"the legend of {name} has {legend}, its marks have {marks}"


def pages_on_a4(browser: Chrome) -> int:
    """Returns how many sheets of A4 the open page takes, with the browser's margins of 1 cm."""
    options = PrintOptions()
    options.page_width, options.page_height = 21.0, 29.7
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(browser.print_page(options))))


def contrast(line: str, opacity: float, paper: str) -> float:
    """Returns the contrast ratio of two CSS colours, the first of which may let the other through
    (WCAG 2.2, relative luminance)."""
    below = _parts(paper)
    drawn = [opacity * a + (1 - opacity) * b for a, b in zip(_parts(line), below, strict=True)]
    darker, lighter = sorted((_luminance(drawn), _luminance(below)))
    return (lighter + 0.05) / (darker + 0.05)


def _parts(colour: str) -> list[float]:
    """Returns red, green and blue, from 0 to 1, of `rgb(13, 17, 23)`."""
    return [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]


def _luminance(parts: list[float]) -> float:
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def has_marks(browser: Chrome, chart: WebElement) -> None:
    WebDriverWait(browser, PATIENCE_S).until(lambda _: chart.find_elements(By.CSS_SELECTOR, MARKS))


def clicked_through(browser: Chrome, theme: str) -> list[str]:
    """Uses every control: each choice of each plot, each folded text, and the other theme. Returns
    which texts a choice has cut."""
    found: list[str] = []
    for chart in browser.find_elements(By.CLASS_NAME, "chart"):
        for select in chart.find_elements(By.TAG_NAME, "select"):
            for place in range(len(Select(select).options)):
                Select(select).select_by_index(place)
                browser.execute_async_script(NEXT_FRAME)
                has_marks(browser, chart)
                found += cuts(browser)
    for folded in browser.find_elements(By.TAG_NAME, "details"):
        folded.find_element(By.TAG_NAME, "summary").click()
        assert folded.find_element(By.CSS_SELECTOR, "pre, table, p").text.strip()
        folded.find_element(By.TAG_NAME, "summary").click()
    paper = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(paper)
    browser.find_element(By.ID, "theme").click()
    drawn(browser, "light" if theme == "dark" else "dark")
    assert browser.execute_script(paper) != before
    browser.find_element(By.ID, "theme").click()
    drawn(browser, theme)
    return found


def photographed(browser: Chrome, file: Path) -> None:
    """Writes the whole page as a picture, not only the part that the window shows."""
    metrics = browser.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
    size = {"width": metrics[0], "height": metrics[1], "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_script("scrollTo(0, 0)")
    browser.save_screenshot(str(file))
