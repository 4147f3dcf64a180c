"""The pages of a running campaign: on loopback, as the journal is now, and nothing else."""

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from natxy.cli.serve import served
from natxy.errors import ConfigurationError
from natxy.report.live_page import LiveCell, live_page
from tests.unit.campaigns import run
from tests.unit.serve import running


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        text: str = answer.read().decode()
        return text


@pytest.fixture
def folder(experiment: Path, tmp_path: Path) -> Path:
    run(experiment, tmp_path / "campaign")
    return tmp_path / "campaign"


def test_a_browser_sees_the_cells_and_the_report(folder: Path) -> None:
    with running(served(folder)) as address:
        text = read(address)
        assert "8 of 8 cells ended, 0 failed" in text
        assert "throughput, 84 B, round 2" in text
        assert "throughput 50,000 fps" in text
        assert 'id="chart-throughput"' in read(f"{address}/report.html")


@pytest.mark.parametrize("path", ["/journal.jsonl.gz", "/../../etc/passwd", "/report.html/x"])
def test_nothing_else_can_be_read(folder: Path, path: str) -> None:
    with running(served(folder)) as address, pytest.raises(urllib.error.HTTPError) as refused:
        read(address + path)
    with refused.value as answer:
        assert answer.code == 404


def test_what_runs_and_what_failed_stand_out() -> None:
    cells = [
        LiveCell(name="throughput", said="350,000 fps", state="", ended=True),
        LiveCell(name="pdv", said="failed: <died>", state="failed", ended=True),
        LiveCell(name="latency", said="12 trials", state="running", ended=False),
    ]
    text = live_page("Rates & delays", cells, has_report=False)
    assert "2 of 3 cells ended, 1 failed" in text
    assert '<tr class="running"><td>3</td><td>latency</td><td>12 trials</td></tr>' in text
    assert "failed: &lt;died&gt;" in text
    assert "Rates &amp; delays" in text
    assert "report.html" not in text


def test_it_listens_on_loopback_unless_asked(folder: Path) -> None:
    with served(folder) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_and_a_folder_of_nothing_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    with served(folder) as server:
        taken = int(server.server_address[1])
        with pytest.raises(ConfigurationError, match="cannot be listened on"):
            served(folder, port=taken)
    with pytest.raises(ConfigurationError, match="holds no campaign"):
        served(tmp_path)
