"""`natxy bench` with two labs at once: their trials alternate, and nothing is left behind."""

import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

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
left_ip_version = 6
right_ip_version = 4
avoid_zero_checksum = true
[dut]
kind = "namespace"
driver = "tayga"
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
    (figure,) = json.loads((tmp_path / "speed/comparison.json").read_text())["figures"]
    assert (figure["figure"], figure["campaigns"]) == ("forwarding rate 1,000 fps", [2, 2])
    assert within(5, lambda: namespaces() <= before)


@pytest.mark.parametrize(
    ("more", "testbed", "options"),
    [
        ("", TESTBED, ("--apart",)),
        # Trials of different cells would alternate.
        (EXPERIMENT[EXPERIMENT.index("[[") :] + 'label = "again"\n', TESTBED, ()),
        # Of the kernel, no two versions run at once.
        ("", TESTBED.replace('"tayga"', '"kernel-router"').replace("= 6", "= 4"), ()),
        ('[hooks]\nbefore = [["true"]]\n', TESTBED, ()),
    ],
    ids=["apart", "two-cells", "kernel", "hooks"],
)
def test_one_at_a_time(tmp_path: Path, more: str, testbed: str, options: tuple[str, ...]) -> None:
    words = bench_words(tmp_path, more=more)
    (tmp_path / "testbed.toml").write_text(testbed)
    assert run_command([*words, *options]) in (0, 1)
    cells = 1 + ("label" in more)
    assert trials(tmp_path, 1) == ["base"] * 5 * cells + ["head"] * 5 * cells


def test_what_was_measured_in_turn_does_not_go_on_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = bench_words(tmp_path)
    assert run_command(words) in (0, 1)
    assert run_command([*words, "--apart"]) == 2
    assert "--apart" in capsys.readouterr().err


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
