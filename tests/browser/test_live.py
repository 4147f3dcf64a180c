"""The page of a running campaign in a browser: what it draws of the trials that it is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import Journal, read_journal
from natxy.cli.serve import served
from tests.browser.pages import PATIENCE_S, SIZES, THEMES, photographed
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64, fake_engine
from tests.unit.serve import running

pytestmark = pytest.mark.long


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CampaignFolder]:
    """A campaign that runs, whose journal ends within a cell, before its last trial."""
    monkeypatch.setenv("NATXY_ENGINE", str(fake_engine(tmp_path)))
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    run(path, tmp_path / "campaign")
    folder = CampaignFolder(path=tmp_path / "campaign")
    with folder.locked():
        yield folder


# The number of lines that the number of the tenth cell takes beside a long text.
LINES_OF_NUMBER = """
known.cells = Array(12).fill({...known.cells[0], said: "word ".repeat(200)});
show();
const range = document.createRange();
range.selectNodeContents(byId("cells").rows[9].cells[0]);
return range.getClientRects().length"""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_a_trial_is_drawn_as_soon_as_it_has_ended(
    browser: Chrome, campaign: CampaignFolder, size: str, theme: str
) -> None:
    records = list(read_journal(campaign.journal))
    last = max(place for place, each in enumerate(records) if each["record"] == "trial")
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    with Journal(campaign.journal, records[0], replace=True) as journal:
        journal.append_written(records[1:last])
        with running(served(campaign.path)) as address:
            browser.get(address)
            before = len(browser.find_elements(By.CSS_SELECTOR, "#strips svg:first-child text"))
            journal.append_written(records[last : last + 1])
            drawn = WebDriverWait(browser, PATIENCE_S)
            drawn.until(lambda _: len(rates(browser)) > before)
            photographed(browser, campaign.path / f"live-{size}-{theme}.png")
            assert browser.find_element(By.CSS_SELECTOR, "tr.running").text
            now = browser.find_element(By.ID, "now").text
            assert "verdict" in now
            assert "median delay" in now
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width
            assert browser.execute_script("return document.documentElement.dataset.theme") == theme
            assert browser.execute_script(LINES_OF_NUMBER) == 1, "10 is one number"
            log = browser.get_log("browser")  # type: ignore[no-untyped-call]
            assert [each["message"] for each in log] == []
            browser.get("about:blank")


def rates(browser: Chrome) -> list[object]:
    """Returns the texts of the strip of rates: its title, its ends, and a sign for each trial."""
    return list(browser.find_elements(By.CSS_SELECTOR, "#strips svg:first-child text"))
