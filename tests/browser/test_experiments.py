"""The experiments of the documents' tables, scaled down: each is run in its lab, and its report is
opened as a person with a computer or a telephone sees it, in both themes, and clicked through.

Each chart must be drawn, and each published figure must have a measured one beside it, or a
sentence that says why not. `python -m tests.browser.look` does the same with a report that exists.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.browser.pages import report_faults

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
    "tcp/nat44",
)
LIMIT_S = 600  # of one campaign; they take 7 to 230 seconds on two cores

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
    assert report_faults(browser, page, page.parent) == []
    failed = [
        note
        for note in (campaign / "report" / "table.txt").read_text().splitlines()
        if " failed: " in note
    ]
    assert failed == []
