"""`natxy bench` with two labs at once: their trials alternate, and nothing is left behind."""

import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

from natxy.campaign.journal import read_journal
from natxy.cli import run_command
from natxy.dut.process import within
from tests.labs.trials import NATXY

EXPERIMENT = """\
title = "Speed"
testbed = "testbed.toml"
options = { profile = "quick", duration = 0.01, repetitions = 5, retry_time = 0 }
[[measure]]
command = "frame-loss"
options = { rates = "1k" }
"""
TESTBED = """\
[tester]
cores = [0]
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "namespace"
driver = "kernel-router"
"""
ROUNDS = 2


def bench_words(folder: Path, *, more: str = "") -> list[str]:
    (folder / "experiment.toml").write_text(EXPERIMENT + more)
    (folder / "testbed.toml").write_text(TESTBED)
    sides = (f"sh -c {shlex.quote(f'echo {side} >> {folder}/log')}" for side in ("base", "head"))
    words = ["bench", str(folder / "experiment.toml")]
    for side, command in zip(("--base", "--head"), sides, strict=True):
        words += [side, command]
    return [*words, "--rounds", str(ROUNDS), "--output", str(folder / "speed")]


def trials(folder: Path, number: int) -> list[str]:
    """The sides of the round's trials, in the order in which these began."""
    found = [
        (record["started"], side)
        for side in ("base", "head")
        for record in read_journal(folder / "speed" / f"{side}-{number}" / "journal.jsonl.gz")
        if record["record"] == "trial"
    ]
    return [side for _, side in sorted(found)]


def namespaces() -> set[str]:
    return {path.name for path in Path("/run/netns").glob("natxy-*")}


def test_the_trials_of_both_alternate(tmp_path: Path) -> None:
    before = namespaces()
    assert run_command(bench_words(tmp_path)) in (0, 1)
    assert trials(tmp_path, 1) == ["base", "head"] * 5
    assert trials(tmp_path, 2) == ["head", "base"] * 5
    assert (tmp_path / "log").read_text().split() == ["base", "head", "base"]
    assert len(json.loads((tmp_path / "speed/comparison.json").read_text())["figures"]) == 2
    assert within(5, lambda: namespaces() <= before)


def test_each_lab_starts_with_its_own_version(tmp_path: Path) -> None:
    """A second cell starts its lab after the other version was installed."""
    second = EXPERIMENT[EXPERIMENT.index("[[") :] + 'label = "again"\n'
    assert run_command(bench_words(tmp_path, more=second)) in (0, 1)
    in_first, in_second = ["base", "head"] * 2, ["head", "base"] * 2
    assert (tmp_path / "log").read_text().split() == [*in_first, *in_second[1:]]


def test_one_at_a_time_if_asked(tmp_path: Path) -> None:
    assert run_command([*bench_words(tmp_path), "--apart"]) in (0, 1)
    assert trials(tmp_path, 1) == ["base"] * 5 + ["head"] * 5


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    before = namespaces()
    words = bench_words(tmp_path)
    experiment = tmp_path / "experiment.toml"
    experiment.write_text(experiment.read_text().replace("0.01", "3"))
    process = subprocess.Popen(
        [*NATXY, *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert within(30, lambda: len(namespaces() - before) == 4)  # after the first trial
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert "The same command with --output" in said
    assert within(5, lambda: namespaces() <= before)
    assert "base" in trials(tmp_path, 1)  # the trial that had ended is kept
