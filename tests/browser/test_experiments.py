"""The experiments of the documents' tables, scaled down: each is run in its lab, and its report is
opened as a person with a computer or a telephone sees it, in both themes, and clicked through."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.pages import SIZES, THEMES, clicked_through, faults, opened, photographed

ROOT = Path(__file__).parents[2]
NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
EXPERIMENTS = (
    "sd-figure-02",
    "sd-figure-06",
    "mp-table-12",
    "mp-table-13",
    "mp-table-14",
    "mp-table-15",
    "mp-table-16",
    "mp-table-23",
    "sp-table-02",
    "sp-figure-06",
)
LIMIT_S = 600  # of one campaign; they take 7 to 80 seconds on two cores

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="a lab needs root"),
]


def natxy(*words: str) -> None:
    done = subprocess.run(
        [*NATXY, *words], capture_output=True, text=True, check=False, cwd=ROOT, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_report_of_an_experiment(browser: Chrome, name: str, tmp_path: Path) -> None:
    campaign = tmp_path / name
    natxy("run", f"experiments/{name}.toml", "--quick", "--output", str(campaign))
    natxy("report", str(campaign))
    page = campaign / "report" / "report.html"
    wrong: list[str] = []
    for size, pixels in SIZES.items():
        for theme in THEMES:
            opened(browser, page, pixels, theme)
            headings = [each.text for each in browser.find_elements(By.TAG_NAME, "h2")]
            assert "Results" in headings
            assert any("and measured here" in heading for heading in headings)
            clicked_through(browser, theme)
            wrong += [f"{size}, {theme}: {fault}" for fault in faults(browser)]
            photographed(browser, page.with_name(f"{name}-{size}-{theme}.png"))
    assert wrong == []
