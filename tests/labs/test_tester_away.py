"""A receiver that is kept from its core does not make frames late that came in time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from natxy.campaign.journal import read_journal

ROOT = Path(__file__).parents[2]
NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
RECEIVER = 1  # the CPU of the second worker, which has the right port
TESTBED = """
[tester]
cores = [0, 1]
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "namespace"
"""
RATE_FPS = 20_000
OPTIONS = ("--direction", "forward", "--frame-timeout", "0.01", "--max-rate", str(RATE_FPS))
SHORT = ("--profile", "quick", "--error", "5%", "--repetitions", "3", "--seed", "5")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="sender and receiver have a CPU each")
@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize(
    "noise", [f"20% --pieces 20ms-20ms --cpus {RECEIVER}"], indirect=True, ids=["receiver"]
)
def test_a_receiver_that_was_away_does_not_lower_the_figure(tmp_path: Path) -> None:
    """Each absence is twice the frame timeout, and three trials of four have one."""
    path = tmp_path / "testbed.toml"
    path.write_text(TESTBED)
    results = os.fspath(tmp_path / "results")
    done = subprocess.run(
        [*NATXY, "throughput", str(path), *SHORT, *OPTIONS, "--output", results],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    *_, result = read_journal(tmp_path / "results" / "journal.jsonl.gz")
    (found,) = result["figures"]
    for rate_fps, lower_bound in zip(found["values"], found["lower_bound"], strict=True):
        share = 0.25 if lower_bound else 0.9
        assert rate_fps > share * RATE_FPS, done.stderr
