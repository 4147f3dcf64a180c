"""A script of siitperf's users, unmodified, by three symbolic links and a lab on this machine."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.valid import valid_run, with_and_without_noise

SCRIPT = Path(__file__).with_name("siitperf-search.sh")
SCAN = Path(__file__).with_name("siitperf-scan.sh")
# What the search prints: where the tester has not printed a number, a line has a hole.
LINES = re.compile(r"\d+: forward \d+ of \d+, reverse \d+ of \d+|Throughput: \d+")
COMMANDS = ("siitperf-tp", "siitperf-lat", "siitperf-pdv")
CONF = """\
# Fig. 2 of siitperf's design paper: a stateless NAT64
IP-L-Vers 6 # Left Sender fg. IP ver.
IP-R-Vers 4 # Right Sender fg. IP ver.

IPv6-L-Real 2001:2::2
IPv6-L-Virt :: # currently not used
IPv6-R-Real 2001:2:0:8000::2
IPv6-R-Virt 2001:2:0:1000::2
IPv4-L-Real 0.0.0.0 # currently unused
IPv4-L-Virt 198.18.0.2
IPv4-R-Real 198.19.0.2
IPv4-R-Virt 0.0.0.0 # currently unused

MAC-L-Tester a0:36:9f:c5:fa:1c
MAC-R-Tester a0:36:9f:c5:fa:1e
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a

Forward 1 # Left to Right is active
Reverse 1 # Right to Left is active
Num-L-Nets 1
Num-R-Nets 1

CPU-L-Send 2 # Left Sender
CPU-R-Recv 4 # Right Receiver
CPU-R-Send 6 # Right Sender
CPU-L-Recv 8 # Left Receiver
MEM-Channels 2
Promisc 0
"""
# Trials of whole seconds, under the common policy, on a machine that does other things as well:
# what is tested here are the lines, what they are worth is tested in tests/accuracy. Who was away
# for longer spoils a trial, as a bucket is emptied by what has come meanwhile.
TESTER = "[tester]\ncores = [0]\nlateness_tolerance_us = 40000\n"
TAYGA = TESTER + (
    "[traffic]\navoid_zero_checksum = true\n[dut]\nkind = 'namespace'\ndriver = 'tayga'\n"
)
CALIBRATION = TESTER + "[dut]\nkind = 'calibration'\npoll_gap_limit_us = 40000\nfaults = [{}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As siitperf's users have it: siitperf.conf, and build/ with the programs."""
    (tmp_path / "build").mkdir()
    for name in COMMANDS:
        (tmp_path / "build" / name).symlink_to(Path(sys.executable).parent / "natxy")
    (tmp_path / "siitperf.conf").write_text(CONF)
    shutil.copy(SCRIPT, tmp_path / "search.sh")
    shutil.copy(SCAN, tmp_path / "scan.sh")
    monkeypatch.setenv("NATXY_TESTBED", str(tmp_path / "place.toml"))
    return tmp_path


def run(folder: Path, testbed: str, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "place.toml").write_text(testbed)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, timeout=300
    )


def measured(folder: Path, testbed: str, command: str) -> dict[str, float]:
    """The figures of a valid test, by what stands before the colon."""
    done = valid_run(lambda: run(folder, testbed, *command.split()))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("Info: ")]
    matches = [re.fullmatch(r"((?:Forward|Reverse) [\w ]+): (\d+(?:\.\d+)?)", x) for x in lines]
    assert all(matches), lines
    return {match[1]: float(match[2]) for match in matches if match}


def search(folder: Path, testbed: str, *arguments: str) -> str:
    done = valid_run(lambda: run(folder, testbed, "./search.sh", *arguments))
    assert done.returncode == 0, done.stdout + done.stderr + (folder / "temp.out").read_text()
    assert [line for line in done.stdout.splitlines() if not LINES.fullmatch(line)] == []
    return done.stdout


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_script_finds_the_rate_at_which_a_gateway_begins_to_lose(folder: Path) -> None:
    """1800 frames a second pass; more do only as long as the bucket lasts."""
    limit = CALIBRATION.format('{kind = "rate_limit", rate_fps = 1800, depth = 100}')
    said = search(folder, limit, "84", "3500", "900")
    rates = {int(line.split(":")[0]): line for line in said.splitlines() if line[0].isdigit()}
    assert list(rates) == [1750, 2625]
    assert "forward 1750 of 1750, reverse 1750 of 1750" in rates[1750]
    lost = re.search(r"forward (\d+) of 2625, reverse (\d+) of 2625", rates[2625])
    assert lost
    # 1800 and the bucket's 100, less what a full bucket could not take while nobody sent.
    assert all(1820 <= int(number) <= 1902 for number in lost.groups())
    assert said.splitlines()[-1] == "Throughput: 1750"


@pytest.mark.long
@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_script_finds_the_rate_in_noise_as_without(folder: Path) -> None:
    """1800 frames a second and a full bucket of a hundred: a second at up to 1900 passes. Of the
    rates that the script tries, 1886 is the last one below."""
    limit = CALIBRATION.format('{kind = "rate_limit", rate_fps = 1800, depth = 100}')
    said = search(folder, limit, "84", "3500", "50")
    found = re.fullmatch(r"Throughput: (\d+)", said.splitlines()[-1])
    assert found
    assert 0.9 * 1900 <= int(found[1]) <= 1.1 * 1886


def table(folder: Path, name: str) -> list[list[float]]:
    """Without head and first column; no cell is empty."""
    head, *rows = csv.reader((folder / name).read_text().splitlines())
    assert rows
    assert [row for row in rows if len(row) != len(head) or "" in row] == []
    return [[float(cell) for cell in row[1:]] for row in rows]


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_script_fills_its_tables(folder: Path) -> None:
    """Each fifth forward frame is lost and counts as the longest delay that it can have had: 1200
    ms of a test of a second, or of a second behind the delay. All others take 40 ms."""
    slow = CALIBRATION.format(
        '{kind = "delay", ns = 40000000}, {kind = "loss", direction = "forward", every = 5}'
    )
    done = run(folder, slow, "./scan.sh", "2000", "500", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert table(folder, "frame-loss.csv") == [[20.0, 0.0]]
    for forward_tl, forward_wcl, reverse_tl, reverse_wcl in table(folder, "latency.csv"):
        assert 40 <= forward_tl < 60
        assert forward_wcl == 1200
        assert 40 <= reverse_tl <= reverse_wcl < 100
    for forward, reverse in table(folder, "pdv.csv"):
        assert forward == pytest.approx(1160, abs=2)
        assert 0 <= reverse < 60


@pytest.mark.long
def test_a_script_finds_what_passes_tayga(folder: Path) -> None:
    said = search(folder, TAYGA, "128", "1000", "500")
    assert said.splitlines()[-1] == "Throughput: 500"


@pytest.mark.long
def test_latency_of_a_fixed_delay_is_in_milliseconds(folder: Path) -> None:
    delay = CALIBRATION.format('{kind = "delay", ns = 40000000}')
    found = measured(folder, delay, "./build/siitperf-lat 84 500 2 500 2 2 1 400")
    assert found["Forward frames sent"] == found["Forward frames received"] == 1000
    for side in ("Forward", "Reverse"):
        assert 40 <= found[f"{side} TL"] <= found[f"{side} WCL"]
        assert found[f"{side} TL"] < 60


@pytest.mark.long
def test_pdv_of_two_delays_is_their_difference(folder: Path) -> None:
    two = CALIBRATION.format('{kind = "delay", pattern_ns = [1000000, 301000000]}')
    found = measured(folder, two, "./build/siitperf-pdv 84 500 1 900 2 2 0")
    for side in ("Forward", "Reverse"):
        assert 300 * 0.95 <= found[f"{side} PDV"] <= 300 * 1.2


@pytest.mark.long
def test_a_frame_timeout_takes_late_frames_for_lost(folder: Path) -> None:
    """Each second frame is later than it."""
    two = CALIBRATION.format('{kind = "delay", pattern_ns = [1000000, 501000000]}')
    found = measured(folder, two, "./build/siitperf-pdv 84 500 1 900 2 2 300")
    assert found == {
        "Forward frames sent": 500,
        "Forward frames received": 250,
        "Reverse frames sent": 500,
        "Reverse frames received": 250,
    }


def test_warnings_are_on_standard_error_and_stop_no_script(folder: Path) -> None:
    done = run(folder, TAYGA, *["./build/siitperf-tp", "84", "100", "1", "100", "2", "1"])
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout
    for key in ("MEM-Channels", "Promisc", "CPU-L-Send", "MAC-L-DUT"):
        assert f"Warning: {key}" in done.stderr
    assert not re.search("Error:|invalid|state table", done.stderr)
