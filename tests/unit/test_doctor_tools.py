"""The doctor starts the engine, because one that was built for another processor is there, too."""

import re
from pathlib import Path

import pytest

from natxy.doctor.finding import Finding, Grade
from natxy.doctor.tools import engine
from natxy.tester.command import VARIABLE, find_engine


def examined(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Finding:
    program = folder / "natxy-engine"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(program))
    return engine()


def test_an_engine_that_starts_is_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variant is named, which differs from processor to processor."""
    version = "natxy-engine 0.1.0, DPDK 22.11.11, x86-64-v3"
    script = f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}"\n'
    finding = examined(tmp_path, script, monkeypatch)
    assert finding.grade is Grade.GOOD
    assert finding.state == f"{tmp_path / 'natxy-engine'}: {version}"


def test_the_installed_engine_names_its_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NATXY_VARIANT", raising=False)
    state = engine().state
    assert state.startswith(str(find_engine()))
    assert re.search(r", x86-64-v[34]$", state)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\nkill -ILL $$\n", "was built for another processor (expected one that"),
        ("#!/bin/sh\nkill -SEGV $$\n", "was ended by signal 11"),
        ("#!/bin/sh\nexit 127\n", "ended with status 127"),
        ("#!/not/there\n", "does not start: "),
    ],
)
def test_an_engine_that_does_not_start_is_none(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = examined(tmp_path, script, monkeypatch)
    assert finding.grade is Grade.IMPOSSIBLE
    assert words in finding.state
    assert finding.remedy.startswith("# reinstall natxy")


def test_a_processor_that_the_engine_refuses_is_told_with_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "natxy-engine: this processor lacks instructions of x86-64-v3 (expected others)"
    finding = examined(tmp_path, f"#!/bin/sh\necho '{sentence}' >&2\nexit 2\n", monkeypatch)
    assert finding.grade is Grade.IMPOSSIBLE
    assert finding.state.endswith(f"ended with status 2: {sentence}")
    assert finding.remedy == "# the state above says what it expects"


def test_a_variant_that_is_not_built_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATXY_VARIANT", "x86-64-v9")
    finding = engine()
    assert finding.grade is Grade.IMPOSSIBLE
    assert 'NATXY_VARIANT: unknown value "x86-64-v9" (expected ' in finding.state
