"""`natxy bench`: base and head in turn, what goes on after an interruption, files and status."""

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from natxy.campaign.journal import read_journal
from natxy.cli import run_command
from tests.unit.cli import complaint
from tests.unit.conftest import NAT64

Captured = pytest.CaptureFixture[str]
EXPERIMENT = """\
title = "Speed"
testbed = "testbed.toml"
options = { profile = "quick", repetitions = 2, duration = 0.01 }
[[measure]]
command = "throughput"
options = { error = "2%", max_rate = 200000, direction = "forward" }
"""


class Gateway:
    """A gateway whose version is the number in a file; the engine that fakes it reads the file."""

    def __init__(self, folder: Path, engine: Path) -> None:
        self.folder, self.output = folder, folder / "speed"
        self.capacity, self.log = folder / "capacity", folder / "log"
        self.experiment = folder / "experiment.toml"
        self.experiment.write_text(EXPERIMENT)
        (folder / "testbed.toml").write_text(NAT64)
        wrapper = folder / "engine"
        wrapper.write_text(
            f'#!/bin/sh\nFAKE_CAPACITY_FPS=$(cat {self.capacity}) exec {engine} "$@"\n'
        )
        wrapper.chmod(0o755)
        self.engine = wrapper

    def install(self, capacity_fps: int) -> str:
        words = f"echo {capacity_fps} > {self.capacity}; echo {capacity_fps} >> {self.log}"
        return f"sh -c {shlex.quote(words)}"

    def bench(self, base: int, head: int, *more: str, rounds: int = 2) -> int:
        sides = ("--base", self.install(base), "--head", self.install(head))
        output = ("--output", str(self.output), "--rounds", str(rounds))
        return run_command(["bench", str(self.experiment), *sides, *output, *more])

    @property
    def installed(self) -> list[int]:
        return [int(line) for line in self.log.read_text().split()]


@pytest.fixture
def gateway(tmp_path: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch) -> Gateway:
    made = Gateway(tmp_path, Path(engine[1]))
    monkeypatch.setenv("NATXY_ENGINE", str(made.engine))
    return made


def test_a_slower_head_fails_and_is_measured_in_turn(gateway: Gateway) -> None:
    assert gateway.bench(100_000, 60_000) == 1
    assert gateway.installed == [100_000, 60_000, 100_000]
    (figure,) = json.loads((gateway.output / "comparison.json").read_text())["figures"]
    assert (figure["verdict"], figure["campaigns"]) == ("worse", [2, 2])
    assert figure["change"] == pytest.approx(-0.4, abs=0.02)
    (suite,) = ElementTree.parse(gateway.output / "junit.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "2")
    text = (gateway.output / "summary.md").read_text()
    assert "| figure | base | head | change | interval | verdict | runs for 5 % |" in text
    assert "**worse**" in text
    assert text.count("●") == 1


def test_a_faster_or_equal_head_passes(gateway: Gateway) -> None:
    assert gateway.bench(60_000, 100_000) == 0
    (suite,) = ElementTree.parse(gateway.output / "junit.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "0")
    gateway.output = gateway.folder / "equal"
    assert gateway.bench(60_000, 60_000) == 0


def test_what_is_measured_is_not_measured_again(gateway: Gateway) -> None:
    assert gateway.bench(100_000, 60_000, "--fail-if", "worse-by=50%") == 0
    assert gateway.bench(100_000, 60_000, "--fail-if", "worse-by=50%", rounds=3) == 0
    assert gateway.installed == [100_000, 60_000, 100_000, 100_000, 60_000]
    journal = gateway.output / "head-3" / "journal.jsonl.gz"
    (header, *_) = read_journal(journal)
    assert header["command"][0].startswith(gateway.install(60_000) + " && natxy run ")


def test_a_folder_of_other_versions_is_refused(gateway: Gateway, capsys: Captured) -> None:
    assert gateway.bench(100_000, 100_000) == 0
    capsys.readouterr()
    assert gateway.bench(100_000, 60_000) == 2
    assert "head-1: was measured with another command" in capsys.readouterr().err
    gateway.experiment.write_text(EXPERIMENT.replace("2%", "3%"))
    assert gateway.bench(100_000, 100_000) == 2
    assert gateway.installed == [100_000] * 3


def test_a_version_that_cannot_be_installed_ends_it(gateway: Gateway, capsys: Captured) -> None:
    fails = "sh -c 'echo no compiler; false'"
    words = ["bench", str(gateway.experiment), "--base", fails, "--head", fails]
    assert run_command([*words, "--output", str(gateway.output)]) == 1
    assert "ended with status 1: no compiler" in capsys.readouterr().err
    assert not gateway.output.exists()


def test_a_cell_that_fails_is_measured_once_more(gateway: Gateway) -> None:
    """The first engine of each campaign dies, and each second one measures."""
    flag, ran = gateway.folder / "flag", gateway.engine.read_text()
    line = f"if [ -e {flag} ]; then rm {flag}; exit 1; fi\n"
    gateway.engine.write_text(ran.replace("#!/bin/sh\n", f"#!/bin/sh\n{line}"))
    fails = f"sh -c 'touch {flag}; echo 60000 > {gateway.capacity}'"
    sides = ("--base", gateway.install(60_000), "--head", fails)
    output = ("--output", str(gateway.output), "--rounds", "2")
    assert run_command(["bench", str(gateway.experiment), *sides, *output]) == 0


def test_a_head_that_fails_has_a_summary_with_the_reason(gateway: Gateway) -> None:
    flag, ran = gateway.folder / "flag", gateway.engine.read_text()
    gateway.engine.write_text(ran.replace("#!/bin/sh\n", f"#!/bin/sh\n[ ! -e {flag} ] || exit 1\n"))
    sides = ("--base", f"rm -f {flag}", "--head", f"touch {flag}")
    gateway.capacity.write_text("60000")
    output = ("--output", str(gateway.output), "--rounds", "2")
    assert run_command(["bench", str(gateway.experiment), *sides, *output]) == 1
    assert "throughput failed: " in (gateway.output / "summary.md").read_text()
    (suite,) = ElementTree.parse(gateway.output / "junit.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "1")
    assert json.loads((gateway.output / "comparison.json").read_text())["figures"] == []


@pytest.mark.parametrize(
    ("more", "where"),
    [
        (("--rounds", "1"), "--rounds"),
        (("--fail-if", "5%"), "--fail-if"),
        (("--head", ""), "--head"),
        (("--head", "'"), "--head"),
    ],
)
def test_what_is_refused_before_anything_runs(
    gateway: Gateway, capsys: Captured, more: tuple[str, ...], where: str
) -> None:
    words = ("bench", gateway.experiment, "--base", "true", "--head", "true", *more)
    assert complaint(capsys, *words).startswith(where)
