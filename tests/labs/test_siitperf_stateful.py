"""Scripts of siitperf's users for stateful gateways, unmodified, and labs on this machine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.labs.siitperf_stateful import CONF, NAMESPACE, NAT44
from tests.valid import valid_run, with_and_without_noise

SEARCH = Path(__file__).with_name("siitperf-stateful-search.sh")
CAPACITY = Path(__file__).with_name("siitperf-capacity.sh")
# What the scripts print: where the tester has not printed a number, a line has a hole.
LINES = re.compile(
    r"R \d+: (preliminary \d+ of \d+|Error: .+)"
    r"|\d+: forward \d+ of \d+, reverse \d+ of \d+"
    r"|\d+: preliminary \d+ of \d+(, reverse \d+ of \d+)?"
    r"|(Maximum connection establishment rate|Throughput|Capacity): \d+"
)
NAT64_CONF = """\
IPv6-L-Real 2001:2::107
IPv6-R-Virt 2001:2:0:1000::198.19.0.2
IPv4-L-Virt 0.0.0.0 # the gateway's choice
IPv4-R-Real 0.0.0.0 # the one that IPv6-R-Virt has in it
"""
NAT64 = NAMESPACE + "driver = 'nat64'\n[traffic]\navoid_zero_checksum = true\n"
# Who is late by more sends a burst that is more than the bucket holds.
CALIBRATION = """\
[tester]
cores = [0]
lateness_tolerance_us = 15000
[dut]
kind = 'calibration'
poll_gap_limit_us = 15000
"""
# An absence of 25 ms is 63 frames at 2500 a second, one less than excuse a loss: a table that is
# one entry short fails in noise, too.
SLOW_CALIBRATION = CALIBRATION.replace("15000", "25000")
PHASE_1 = "84 500 1 300 2 2 2000 {} 2000 200 1300"
PER_CONNECTION = 'mapping = "address-and-port-dependent"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As siitperf's users have it: siitperf.conf, and build/ with the program."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "siitperf-tp").symlink_to(Path(sys.executable).parent / "natxy")
    (tmp_path / "siitperf.conf").write_text(CONF)
    shutil.copy(SEARCH, tmp_path / "search.sh")
    shutil.copy(CAPACITY, tmp_path / "capacity.sh")
    monkeypatch.setenv("NATXY_TESTBED", str(tmp_path / "place.toml"))
    return tmp_path


def run(folder: Path, testbed: str, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "place.toml").write_text(testbed)
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, timeout=900
    )


def lines_of(folder: Path, testbed: str, words: str) -> list[str]:
    """Of a test that is not invalid; without what is free."""
    done = valid_run(lambda: run(folder, testbed, "./build/siitperf-tp", *words.split()))
    return [line for line in done.stdout.splitlines() if not line.startswith("Info: ")]


def printed(folder: Path, testbed: str, *command: str) -> str:
    """What a script prints; no line of it has a hole."""
    done = valid_run(lambda: run(folder, testbed, *command))
    assert done.returncode == 0, done.stdout + done.stderr + (folder / "temp.out").read_text()
    assert [line for line in done.stdout.splitlines() if not LINES.fullmatch(line)] == []
    return done.stdout


def search(folder: Path, testbed: str, *arguments: str) -> str:
    return printed(folder, testbed, "./search.sh", *arguments)


def found(said: str, figure: str) -> int:
    match = re.search(rf"^{figure}: (\d+)$", said, re.MULTILINE)
    assert match, said
    return int(match[1])


@pytest.mark.long
def test_a_script_measures_the_kernels_nat44(folder: Path) -> None:
    said = search(folder, NAT44, "2000", "40000", "10000", "4000", "1000")
    assert found(said, "Maximum connection establishment rate") >= 5000
    assert found(said, "Throughput") >= 1000


@pytest.mark.long
def test_a_script_finds_the_rate_at_which_connections_begin_to_fail(folder: Path) -> None:
    """A thousand connections: 6000 a second pass, and a hundred more at once."""
    nat = f"nat = {{{PER_CONNECTION}, entries = 8000, new_per_s = 6000, depth = 100}}\n"
    said = search(folder, CALIBRATION + nat, "1000", "15000", "3750", "4000", "2000")
    made = dict(re.findall(r"^R (\d+): preliminary (\d+) of 1000$", said, re.MULTILINE))
    assert list(made) == ["7500", "3750"]
    assert 850 <= int(made["7500"]) < 1000
    assert re.search(
        rf"^R 7500: Error: Failed to fill state table \(.*{made['7500']}.*1000\)",
        said,
        re.MULTILINE,
    )
    assert found(said, "Maximum connection establishment rate") == 3750
    assert found(said, "Throughput") == 2000


@pytest.mark.long
@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_a_script_finds_both_rates_in_noise_as_without(folder: Path) -> None:
    """A thousand connections come through a bucket of a hundred and 6000 a second at up to 6660 a
    second, and a second of replies through one of a hundred and 3000 a second at up to 3100. Of the
    rates that the script tries, 6375 and 3000 are the last ones below."""
    nat = f"nat = {{{PER_CONNECTION}, entries = 8000, new_per_s = 6000, depth = 100}}\n"
    limit = "{kind = 'rate_limit', direction = 'reverse', rate_fps = 3000, depth = 100}"
    testbed = f"{CALIBRATION}{nat}faults = [{limit}]\n"
    said = search(folder, testbed, "1000", "12000", "400", "4000", "200")
    assert 0.9 * 6660 <= found(said, "Maximum connection establishment rate") <= 1.1 * 6375
    assert 0.9 * 3100 <= found(said, "Throughput") <= 1.1 * 3000


@pytest.mark.long
@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize("replacement", ["refuse", "overwrite-oldest"])
def test_a_script_finds_the_capacity_exactly(replacement: str, folder: Path) -> None:
    """A full table refuses in phase 1 what is new, or forgets what only the responder can miss."""
    (folder / "siitperf.conf").write_text(
        CONF.replace("Fwd-dport-max 83", "Fwd-dport-max 87").replace(
            "Responder-ports 3", "Responder-ports 1\nForward 0"
        )
    )
    nat = f"nat = {{{PER_CONNECTION}, entries = 3000, replacement = '{replacement}'}}\n"
    said = printed(folder, SLOW_CALIBRATION + nat, "./capacity.sh", "2000", "8000", "2500")
    assert said.splitlines()[-1] == "Capacity: 3000"
    phase_1 = dict(re.findall(r"^(\d+): preliminary (\d+) of", said, re.MULTILINE))
    assert phase_1["3001"] == ("3000" if replacement == "refuse" else "3001")


def all_came(sent: int) -> list[str]:
    """Of a second at 500 frames a second in each direction."""
    sides = [("Preliminary", sent), ("Forward", 500), ("Reverse", 500)]
    return [
        f"{side} frames {how}: {frames}" for side, frames in sides for how in ("sent", "received")
    ]


def test_a_table_that_is_too_small_is_not_filled(folder: Path) -> None:
    # So slowly that five hundred connections are more than can have come while it was away for a
    # twentieth of the test: its own record says only for how long in all.
    small = CALIBRATION + f"nat = {{{PER_CONNECTION}, entries = 1500}}\n"
    lines = lines_of(folder, small, PHASE_1.format(1501))
    assert lines[:2] == ["Preliminary frames sent: 2000", "Preliminary frames received: 1500"]
    assert len(lines) == 3
    assert re.match(r"Error: Failed to fill state table \(.*1500.*1501\)", lines[2])


@pytest.mark.long
def test_a_table_of_as_many_entries_as_are_asked_for_is_enough(folder: Path) -> None:
    small = CALIBRATION + f"nat = {{{PER_CONNECTION}, entries = 1500}}\n"
    enough = all_came(2000)
    enough[1] = "Preliminary frames received: 1500"
    assert lines_of(folder, small, PHASE_1.format(1500)) == enough


def test_the_initiator_may_be_on_the_right(folder: Path) -> None:
    """Its ports do not vary there: one connection, which each frame repeats."""
    (folder / "siitperf.conf").write_text(
        CONF.replace("Stateful 1", "Stateful 2")
        .replace("Enumerate-ports 3", "Enumerate-ports 0")
        .replace("Responder-ports 3", "Responder-ports 1")
    )
    testbed = CALIBRATION + f"nat = {{{PER_CONNECTION}}}\n"
    assert lines_of(folder, testbed, "84 500 1 100 2 2 100 100 1000 300 500") == all_came(100)


def test_addresses_that_are_not_said_are_inferred(folder: Path) -> None:
    """Stateful NAT64; half of the frames are background."""
    versions = ("IP-L-Vers 4", "IP-R-Vers 4", "IPv4-L-Real", "IPv4-R-Real")
    kept = [line for line in CONF.splitlines() if not line.startswith(versions)]
    (folder / "siitperf.conf").write_text("\n".join(kept) + "\n" + NAT64_CONF)
    assert lines_of(folder, NAT64, "84 500 1 300 2 1 1000 500 5000 200 400") == all_came(1000)


@pytest.mark.parametrize(
    ("t_ms", "global_ms"), [(300, 50), pytest.param(50, 300, marks=pytest.mark.long)]
)
def test_each_phase_waits_for_its_own_timeout(t_ms: int, global_ms: int, folder: Path) -> None:
    """A frame takes 100 ms: what leaves in a phase's last 50 ms is too late for 50 ms.

    A tester that was away at the end of a phase waits a little longer."""
    slow = f"nat = {{{PER_CONNECTION}}}\nfaults = [{{kind = 'delay', ns = 100000000}}]\n"
    words = f"84 1000 1 {global_ms} 2 2 1000 900 1000 {t_ms} 1300"
    lines = lines_of(folder, CALIBRATION + slow, words)
    came = {line.split()[0]: int(line.split()[3]) for line in lines if "received" in line}
    assert set(came) == {"Preliminary", "Forward", "Reverse"}
    for side, frames in came.items():
        if (t_ms if side == "Preliminary" else global_ms) == 300:
            assert frames == 1000
        else:
            assert 930 <= frames <= 970
