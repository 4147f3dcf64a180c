"""What a reader looks for first in a report: each is there, and its picture in `build/test/points`.

The tests of plots and of paper keep their pictures there, too.
"""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from natxy.campaign.data import read_data
from natxy.campaign.report import table_of, write_report
from natxy.cli.serve import served
from natxy.report.summary_table import MOST_ROWS
from tests.browser.gallery import SIZE, kept, kept_whole
from tests.browser.pages import DESKTOP, PATIENCE_S, opened, pages_on_a4
from tests.unit.campaigns import run
from tests.unit.conftest import NAT64, fake_engine
from tests.unit.series import KEYS, measured_series
from tests.unit.serve import running

pytestmark = pytest.mark.long
DEMO = """\
title = "Gateways in network namespaces of this machine"
testbed = "testbed.toml"
seed = 7
options = { profile = "quick", duration = 0.01 }

[[column]]
label = "Linux router, IPv4"

[[column]]
label = "Linux router, IPv6"

[[column]]
label = "tayga, stateless NAT64"

[[column]]
label = "Linux, stateful NAT44"

[[measure]]
command = "throughput"
both_directions = true
options = { error = "5%", max_rate = 200000, repetitions = 3 }

[[measure]]
command = "latency"
options = { rate = 1000, repetitions = 3 }

[[measure]]
command = "pdv"
options = { rate = 1000, repetitions = 3 }

[[measure]]
command = "frame-loss"
options = { rates = [20000, 40000, 80000, 160000], repetitions = 1 }
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign like the demo's, with its report."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "testbed.toml").write_text(NAT64)
    (folder / "experiment.toml").write_text(DEMO)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NATXY_ENGINE", str(fake_engine(folder)))
        run(folder / "experiment.toml", folder / "campaign")
    write_report(read_data(folder / "campaign"), folder / "campaign" / "report", html=True)
    return folder / "campaign"


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured_series(tmp_path_factory.mktemp("series"))


def show(browser: Chrome, folder: Path) -> None:
    opened(browser, folder / "report" / "report.html", SIZE, "light")


def test_each_size_and_mix_has_its_row_and_its_delays(browser: Chrome, series: Path) -> None:
    show(browser, series)
    rows, delays = kept(browser, "1-columns", "All figures"), kept(browser, "2-delays", "Delays")
    assert all(f"→ PDV {key}, at 1,000 fps" in rows and key in delays for key in KEYS)


def test_the_head_says_what_when_where_and_whether_it_conforms(browser: Chrome, demo: Path) -> None:
    show(browser, demo)
    text = kept(browser, "5-head")
    for name in ("Gateway", "Tester", "Traffic", "When", "Command", "Conformity", "Trials"):
        assert name in text
    assert "Does not conform" in text


def test_the_summary_is_short_and_each_note_stands_once(browser: Chrome, demo: Path) -> None:
    show(browser, demo)
    assert "n = 3" in kept(browser, "6-all-figures", "All figures")
    kept(browser, "6-figures", "Summary")
    kept(browser, "6-notes", "Deviations")
    rows = browser.find_elements(By.CSS_SELECTOR, "table.summary tbody tr")
    assert 1 < len(rows) <= MOST_ROWS
    found = browser.find_elements(By.CSS_SELECTOR, "main ul:not(.legend) li")
    notes = [each.text for each in found]
    assert 1 < len(notes) == len(set(notes))


def test_a_running_campaign_has_the_figure_of_the_report(browser: Chrome, demo: Path) -> None:
    show(browser, demo)
    figure = table_of(read_data(demo)).rows[0].values[0].text
    assert figure in kept(browser, "7-report", "Summary")
    with running(served(demo)) as address:
        browser.get(address)
        told = f"throughput {figure} fps sum of both directions"
        WebDriverWait(browser, PATIENCE_S).until(
            lambda page: told in page.find_element(By.TAG_NAME, "body").text
        )
        kept_whole(browser, "7-serve")


def test_a_report_like_the_demos_takes_at_most_six_sheets_of_paper(
    browser: Chrome, demo: Path
) -> None:
    opened(browser, demo / "report" / "report.html", DESKTOP, "light")
    assert 1 < pages_on_a4(browser) <= 6


def test_each_plot_has_its_data_and_pictures_and_delays_are_histograms(
    browser: Chrome, demo: Path
) -> None:
    browser.get((demo / "report" / "data").as_uri())
    shown = browser.find_element(By.TAG_NAME, "body").text
    for ending in ("csv", "parquet", "svg", "pdf", "hgrm"):
        assert f".{ending}" in shown
    kept_whole(browser, "9-data")
