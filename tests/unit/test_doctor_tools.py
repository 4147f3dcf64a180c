"""The doctor starts the engine, because one that was built for another processor is there, too."""

from pathlib import Path

import pytest

from natxy.doctor.finding import Finding, Grade
from natxy.doctor.tools import engine
from natxy.tester.command import VARIABLE


def examined(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Finding:
    program = folder / "natxy-engine"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(program))
    return engine()


def test_an_engine_that_starts_is_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = examined(tmp_path, '#!/bin/sh\n[ "$1" = --version ]\n', monkeypatch)
    assert (finding.grade, finding.state) == (Grade.GOOD, str(tmp_path / "natxy-engine"))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\nkill -ILL $$\n", "was built for another processor (expected `make install`"),
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
    assert finding.remedy == "run make install here"
