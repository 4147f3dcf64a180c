"""A local cluster of two workers with the fake engine: what it finds is known bit by bit."""

import json
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import LocalCluster, Security

from natxy.campaign.data import read_data
from natxy.campaign.journal import read_journal
from natxy.campaign.report import table_of
from natxy.cli import run_command
from tests.unit.campaign import what_counts
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64
from tests.workers import PATIENCE_S, awaited, kill_parent_of, listening, started

NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
CELLS = 8


@pytest.fixture
def experiment(tmp_path: Path, engine: list[str]) -> Path:
    (tmp_path / "testbed.toml").write_text(NAT64)
    (tmp_path / "other.toml").write_text(NAT64.replace("cores = [0]", "cores = [1]"))
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def on_both(experiment: Path, folder: Path) -> list[str]:
    testbeds = ",".join(str(experiment.with_name(name)) for name in ("testbed.toml", "other.toml"))
    return [*NATXY, "run", str(experiment), "--testbeds", testbeds, "--output", str(folder)]


def kinds_in(folder: Path) -> list[str]:
    return [record["record"] for record in read_journal(folder / "journal.jsonl.gz")]


def test_two_testbeds_find_what_one_finds(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "one")
    subprocess.run(on_both(experiment, tmp_path / "two"), check=True, timeout=PATIENCE_S)
    assert what_counts(tmp_path / "two") == what_counts(tmp_path / "one")
    kinds = kinds_in(tmp_path / "two")
    begun = [at for at, kind in enumerate(kinds) if kind == "cell"]
    ended = [at for at, kind in enumerate(kinds) if kind == "cell-end"]
    assert len(begun) == CELLS
    assert begun[1:] == [at + 1 for at in ended[:-1]], "the records of a cell stand together"
    data = read_data(tmp_path / "two")
    assert {cell.testbed for cell in data.cells} == {1, 2}
    assert len(data.machines) == 2
    assert "testbed-2.toml" in data.files
    notes = [note for note in table_of(data).notes[""] if note.startswith("Measured by testbed")]
    assert len(notes) == 2
    assert sum(note.count("round") for note in notes) >= 4, "each cell is named"


@pytest.mark.long  # Dask waits for a worker that is gone
def test_a_cell_whose_worker_is_killed_is_measured_by_another(
    experiment: Path, tmp_path: Path
) -> None:
    """With a settle time, a cell lasts so long that its worker dies before its end."""
    slower = EXPERIMENT.replace("duration = 0.01", "duration = 0.01, settle = 0.1")
    experiment.write_text(slower.replace("rounds = 2", "rounds = 1"))
    run(experiment, tmp_path / "one")
    told = tmp_path / "told.jsonl"
    command = [*on_both(experiment, tmp_path / "killed"), "--json"]
    with told.open("wb") as output, started(command, output=output) as process:
        kill_parent_of(awaited(process.pid, "fake_engine.py"))
        assert {place.ip for place in listening(process.pid)} == {"127.0.0.1"}
        assert process.wait(timeout=PATIENCE_S) == 0
    assert what_counts(tmp_path / "killed") == what_counts(tmp_path / "one")
    assert kinds_in(tmp_path / "killed").count("cell") == CELLS / 2, "whole cells alone"
    events = map(json.loads, told.read_text().splitlines())
    remarks = [event["sentence"] for event in events if event["event"] == "remark"]
    assert any("The process of testbed" in said and "has left" in said for said in remarks)


def test_testbeds_without_a_worker_end_the_campaign_at_its_start(
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A scheduler runs already, without workers."""
    monkeypatch.setattr("natxy.campaign.dask_workers.WAIT_S", 1)
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as cluster:
        words = on_both(experiment, tmp_path / "two")[len(NATXY) :]
        assert run_command([*words, "--scheduler", cluster.scheduler_address]) == 1
    said = capsys.readouterr().err
    assert f"{cluster.scheduler_address}: testbeds 1 and 2 have no process after 1 s" in said
    assert "--name 1 --nthreads 1 --resources testbed=1" in said


def test_everything_that_listens_asks_for_a_certificate(experiment: Path, tmp_path: Path) -> None:
    """Workers run as root what they are sent, and other users reach the loopback interface."""
    slower = EXPERIMENT.replace("duration = 0.01", "duration = 0.01, settle = 0.5")
    experiment.write_text(slower.replace("rounds = 2", "rounds = 1"))
    with started(on_both(experiment, tmp_path / "two")) as process:
        awaited(process.pid, "fake_engine.py")
        places = listening(process.pid)
        assert len(places) == 5, "a scheduler, and for each testbed a process and its nanny"
        assert {place.ip for place in places} == {"127.0.0.1"}
        for place in places:
            assert not answer_in_plain_text(place.ip, place.port), place
            assert asks_for_a_certificate(place.ip, place.port), place


def answer_in_plain_text(host: str, port: int) -> bytes:
    with socket.create_connection((host, port), timeout=PATIENCE_S) as client:
        client.sendall(b"GET /status HTTP/1.0\r\n\r\n")
        try:
            return client.recv(4096)
        except ConnectionResetError:
            return b""


def asks_for_a_certificate(host: str, port: int) -> bool:
    """Tells whether a client without a certificate is refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((host, port), timeout=PATIENCE_S) as client:
        try:
            with context.wrap_socket(client) as secured:
                secured.recv(1)
        except ssl.SSLError as error:
            return "CERTIFICATE_REQUIRED" in str(error)
    return False


def test_a_testbed_process_that_listens_to_the_network_without_tls_is_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler is reached by 127.0.0.1 here, but by every other machine as well."""
    with LocalCluster(n_workers=0, host="0.0.0.0", dashboard_address=None) as cluster:
        port = cluster.scheduler_address.rpartition(":")[2]
        words = on_both(experiment, tmp_path / "two")[len(NATXY) :]
        assert run_command([*words, "--scheduler", f"tcp://127.0.0.1:{port}"]) == 2
    said = capsys.readouterr().err
    assert "--scheduler: one of its nodes listens at tcp://" in said
    assert "without TLS" in said


def test_a_scheduler_with_tls_needs_the_certificate(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    security = Security.temporary()
    with LocalCluster(n_workers=0, security=security, dashboard_address=None) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        words = on_both(experiment, tmp_path / "two")[len(NATXY) :]
        assert run_command([*words, "--scheduler", cluster.scheduler_address]) == 2
    assert "cannot be reached: TLS expects" in capsys.readouterr().err
