"""A gateway that forwards one direction only: every command names the other one, and no figure."""

import os
import shutil
from pathlib import Path

import pytest

from tests.command import natxy
from tests.valid import Done, valid_run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="DPDK needs root")
TESTBED = """
[tester]
lateness_tolerance_us = 1000000    # what arrives is the subject, not when
warm_up = "neighbours"             # the probes' warm-up would end before the first trial
[traffic]
left_ip_version = 4
right_ip_version = 4
{connections}
[dut]
kind = "calibration"
realtime = true
poll_gap_limit_us = 1e9
faults = [{{kind = "loss", direction = "{direction}", every = 1}}]
{nat}
"""
CONNECTIONS = "[connections]\ncount = 100\nrate_fps = 10000\nsample = {sample}\n"
NAT = 'nat = {mapping = "address-and-port-dependent", entries = 1000}'
SHORT = ("--drain", "0.05", "--settle", "0", "--seed", "1", "--retry-time", "20")
AT_RATE = ("--rate", "5000", "--repetitions", "1")
ONCE = ("--repetitions", "1")
COMMANDS = {
    # At lower rates there would be too few frames for a machine that is busy.
    "throughput": (*("--max-rate", "20000", "--error", "1000"), "--duration", "0.1", *ONCE),
    "frame-loss": ("--rates", "5000", "--duration", "0.1"),
    "latency": (*AT_RATE, "--duration", "0.1", "--tags", "10"),
    "pdv": (*AT_RATE, "--duration", "0.1"),
    "ipdv": (*AT_RATE, "--duration", "0.1"),
    "recovery": ("--throughput", "5000", "--duration", "0.1", "--repetitions", "1"),
}


def said(folder: Path, verb: str, *options: str, direction: str, sample: int | None = None) -> str:
    """Returns the error of a command that must fail."""
    stateful = sample is not None
    path = folder / "testbed.toml"
    path.write_text(
        TESTBED.format(
            direction=direction,
            connections=CONNECTIONS.format(sample=sample) if stateful else "",
            nat=NAT if stateful else "",
        )
    )
    results = folder / "results"

    def attempt() -> Done:
        shutil.rmtree(results, ignore_errors=True)  # of an attempt that was not valid
        return natxy(verb, str(path), *SHORT, *options, "--output", str(results))

    done = valid_run(attempt)
    assert done.returncode == 1, done.stdout
    assert not (results / "results.csv").exists()
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_stateless_gateway(verb: str, tmp_path: Path) -> None:
    error = said(tmp_path, verb, *COMMANDS[verb], direction="reverse")
    assert "reverse: none of " in error
    assert "came to the tester's left port" in error
    assert "neighbour" in error


def test_the_initiators_direction_of_a_stateful_gateway(tmp_path: Path) -> None:
    error = said(tmp_path, "throughput", *COMMANDS["throughput"], direction="forward", sample=0)
    assert "No connection could be created through the gateway" in error


@pytest.mark.parametrize("sample", [0, 50])
def test_the_replies_of_a_stateful_gateway(sample: int, tmp_path: Path) -> None:
    options = COMMANDS["throughput"]
    error = said(tmp_path, "throughput", *options, direction="reverse", sample=sample)
    assert "reverse" in error or "replies" in error


def test_connections_whose_replies_never_come(tmp_path: Path) -> None:
    options = ("--validated", "--max-rate", "20000", "--error", "1000", *ONCE)
    error = said(tmp_path, "establishment", *options, direction="reverse", sample=0)
    assert "answered" in error or "reverse: none of " in error
