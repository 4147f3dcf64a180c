"""A receiver that is kept from its core does not make frames late that came in time."""

import os
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.journal import read_journal
from tests.command import natxy
from tests.valid import Done

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
PATIENCE = ("--retry-time", "3")
SHORT = ("--profile", "quick", "--error", "5%", "--repetitions", "3", "--seed", "5")
pytestmark = [
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="sender and receiver have a CPU each"),
    pytest.mark.usefixtures("noise"),
    pytest.mark.parametrize(
        "noise", [f"5% --pieces 20ms-20ms --cpus {RECEIVER}"], indirect=True, ids=["receiver"]
    ),
]


def measured(folder: Path, command: str, *options: str) -> Done:
    path = folder / "testbed.toml"
    path.write_text(TESTBED)
    return natxy(command, str(path), *options, "--output", os.fspath(folder / "results"))


def figures(folder: Path) -> list[dict[str, Any]]:
    *_, result = read_journal(folder / "results" / "journal.jsonl.gz")
    found: list[dict[str, Any]] = result["figures"]
    return found


def test_a_receiver_that_was_away_does_not_lower_the_figure(tmp_path: Path) -> None:
    """Each absence is twice the frame timeout."""
    done = measured(tmp_path, "throughput", *SHORT, *OPTIONS, *PATIENCE)
    assert done.returncode == 0, done.stderr
    (found,) = figures(tmp_path)
    for rate_fps, lower_bound in zip(found["values"], found["lower_bound"], strict=True):
        share = 0.25 if lower_bound else 0.9
        assert rate_fps > share * RATE_FPS, done.stderr


def test_a_receiver_that_was_away_makes_no_variation_of_the_gateways(tmp_path: Path) -> None:
    """A router's delays vary by less than a millisecond, an absence makes 20 of them. The figure is
    that of a trial without an absence, or refused."""
    quick = ("--profile", "quick", "--repetitions", "1", "--seed", "5")
    done = measured(tmp_path, "pdv", *quick, "--direction", "forward", "--rate", "500", *PATIENCE)
    if done.returncode:
        assert "trials at 500 frames a second were invalid" in done.stderr
        return
    (found,) = (figure for figure in figures(tmp_path) if figure["name"] == "PDV")
    (value_ns,), (error_ns,) = found["values"], found["errors"]
    assert error_ns < value_ns or value_ns < 1e6
    assert value_ns - error_ns < 2e6, done.stdout
