"""Writes a picture of a report: `python -m tests.browser.gallery REPORT PICTURE`.

With a heading behind it, such as "Summary", the picture has this section alone; without, the page
from its top to the end of the summary. With "--parts", it has all parts, shortened and numbered.
"""

import base64
import sys
from pathlib import Path

from selenium.webdriver import Chrome

from tests.browser.pages import chromium, opened

SIZE = (1100, 900)
PARTS = "--parts"
# The top and the end of a section, in pixels of the page; the next heading ends it.
SECTION = """
const heads = [...document.querySelectorAll("h2")];
const at = heads.findIndex(each => each.textContent.startsWith(arguments[0]));
if (at < 0) return null;
const top = arguments[1] ? heads[at].getBoundingClientRect().top + scrollY - 8 : 0;
const next = heads[at + 1] || document.querySelector("footer");
return [top, next.getBoundingClientRect().top + scrollY - 12];"""
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
return [0, document.querySelector("footer").getBoundingClientRect().top + scrollY - 12];"""


def photograph(browser: Chrome, page: Path, picture: Path, heading: str) -> None:
    opened(browser, page.resolve(), SIZE, "light")
    if heading == PARTS:
        found = browser.execute_script(SHORTEN)
    else:
        found = browser.execute_script(SECTION, heading or "Summary", bool(heading))
    if found is None:
        sys.exit(f'{page}: has no heading that begins with "{heading}" (expected one)')
    top, end = found
    clip = {"x": 0, "y": top, "width": SIZE[0], "height": end - top, "scale": 1}
    shot = {"format": "png", "clip": clip, "captureBeyondViewport": True}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", shot)["data"]
    picture.write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    with chromium() as chrome:
        photograph(chrome, Path(sys.argv[1]), Path(sys.argv[2]), " ".join(sys.argv[3:]))
