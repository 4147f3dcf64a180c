"""The documentation as a site: it is built without the package, and is searched from its files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.pages import DESKTOP, PATIENCE_S

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
# Refuses the package in every process that has this folder in its path.
WITHOUT_PACKAGE = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name == "natxy":
            raise ImportError("the site is built without the package")
sys.meta_path.insert(0, Refusing())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(WITHOUT_PACKAGE)
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder / "built"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder), "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        timeout=300,
    )
    return folder / "built"


def test_the_search_works_in_a_file(site: Path, browser: Chrome) -> None:
    browser.set_window_size(*DESKTOP)  # a narrow page hides the field behind a button
    browser.get((site / "index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]").send_keys(
        "dispersion"
    )
    found = WebDriverWait(browser, PATIENCE_S).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
    )
    pages = [each.get_attribute("href") or "" for each in found]
    assert any("glossary.html" in page for page in pages)
    assert all(page.startswith("file://") for page in pages)


def test_the_reference_has_each_measurement_with_its_keywords(site: Path) -> None:
    page = " ".join((site / "reference" / "api.html").read_text().split())
    for name in ("throughput", "tear_down", "back_to_back"):
        assert re.search(rf'id="natxy\.measurements\.Measurements\.{name}"', page)
    assert "frame_size_bytes" in page
    assert "the throughput, which is searched for first" in page
    assert ":::" not in page
