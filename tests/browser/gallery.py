"""Writes a picture of a report: `python -m tests.browser.gallery REPORT PICTURE`.

With a heading behind it, such as "Summary", the picture has this section alone; without, the page
from its top to the end of the summary. With "--parts", it has all parts, shortened and numbered.
"""

import base64
import sys
from pathlib import Path

from selenium.webdriver import Chrome

from tests.browser.pages import NEXT_FRAME, chromium, opened, photographed

SIZE = (1100, 900)
PARTS = "--parts"
POINTS = Path(__file__).parents[2] / "build" / "test" / "points"
LEAST_INK = 0.002  # of the pixels; a plot of two thin lines has 0.01
# The top and the end of a section, in pixels of the page, and its text; the next heading ends it.
SECTION = """
const heads = [...document.querySelectorAll("h2")];
const at = heads.findIndex(each => each.textContent.startsWith(arguments[0]));
if (at < 0) return null;
const top = arguments[1] ? heads[at].getBoundingClientRect().top + scrollY - 8 : 0;
const next = heads[at + 1] || document.querySelector("footer");
const range = document.createRange();
range.setStartBefore(arguments[1] ? heads[at] : document.body.firstChild);
range.setEndBefore(next);
return [top, next.getBoundingClientRect().top + scrollY - 12, range.toString()];"""
INK = """
const [data, done] = arguments, image = new Image();
image.onload = () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const {buffer} = context.getImageData(0, 0, image.width, image.height).data;
  const pixels = new Uint32Array(buffer);
  done(pixels.filter(each => each !== pixels[0]).length / pixels.length);
};
image.src = "data:image/png;base64," + data;"""
# Leaves one plot, some rows and some notes, and numbers the parts.
SHORTEN = """
const heads = [...document.querySelectorAll("main h2")];
const plots = heads.filter(each => each.nextElementSibling?.matches(".legend"));
const until = each => {
  const all = [each];
  while (all.at(-1).nextElementSibling && !all.at(-1).nextElementSibling.matches("h2, section"))
    all.push(all.at(-1).nextElementSibling);
  return all;
};
plots.slice(1).flatMap(until).forEach(each => each.remove());
document.querySelectorAll("tbody").forEach(
  body => [...body.rows].slice(7).forEach(each => each.remove()));
document.querySelectorAll("main ul:not(.legend)").forEach(
  list => [...list.children].slice(2).forEach(each => each.remove()));
const figures = heads.find(each => each.textContent === "All figures");
const notes = heads.find(each => /^(Deviations|Notes)/.test(each.textContent));
const parts = [document.querySelector("h1"), heads[0], plots[0], figures, notes, heads.at(-1)];
parts.forEach((part, index) => {
  const badge = document.createElement("b");
  badge.textContent = index + 1;
  badge.style.cssText = `display: inline-block; min-width: 1.5em; margin-right: .5em;
    font-size: 18px; line-height: 1.5em; text-align: center; border-radius: 1em;
    background: #b00; color: #fff`;
  part?.prepend(badge);
});
return [0, document.querySelector("footer").getBoundingClientRect().top + scrollY - 12, ""];"""


def photograph(browser: Chrome, page: Path, picture: Path, heading: str) -> None:
    opened(browser, page.resolve(), SIZE, "light")
    taken(browser, picture, heading)


def taken(browser: Chrome, picture: Path, heading: str) -> str:
    """Writes a picture of a section of the open page; returns the section's text."""
    # In a window that is lower than its page, a picture of it all would lay the page out anew.
    metrics = browser.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
    size = {"width": metrics[0], "height": metrics[1] + SIZE[1], "deviceScaleFactor": 1}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "mobile": False})
    browser.execute_async_script(NEXT_FRAME)
    if heading == PARTS:
        found = browser.execute_script(SHORTEN)
    else:
        found = browser.execute_script(SECTION, heading or "Summary", bool(heading))
    if found is None:
        sys.exit(f'{picture}: no heading begins with "{heading}" (expected one)')
    top, end, text = found
    width = browser.execute_script("return document.body.getBoundingClientRect().right")
    clip = {"x": 0, "y": top, "width": width, "height": end - top, "scale": 1}
    shot = {"format": "png", "clip": clip}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", shot)["data"]
    picture.write_bytes(base64.b64decode(data))
    return str(text).replace("\N{NO-BREAK SPACE}", " ")


def kept(browser: Chrome, name: str, heading: str = "") -> str:
    """Keeps a picture of a section of the open page, in which there must be something; returns the
    section's text."""
    text = taken(browser, picture := point(name), heading)
    assert ink(browser, picture) > LEAST_INK, picture
    return text


def kept_whole(browser: Chrome, name: str) -> None:
    """Keeps a picture of an open page that is no report, and leaves the page."""
    photographed(browser, picture := point(name))
    browser.get("about:blank")
    assert ink(browser, picture) > LEAST_INK, picture


def point(name: str) -> Path:
    POINTS.mkdir(parents=True, exist_ok=True)
    return POINTS / f"{name}.png"


def ink(browser: Chrome, picture: Path) -> float:
    """Returns the share of a picture's pixels that have another colour than its corner."""
    data = base64.b64encode(picture.read_bytes()).decode()
    return float(browser.execute_async_script(INK, data))


if __name__ == "__main__":
    with chromium() as chrome:
        photograph(chrome, Path(sys.argv[1]), Path(sys.argv[2]), " ".join(sys.argv[3:]))
