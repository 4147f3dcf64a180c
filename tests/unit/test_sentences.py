"""Sentences are wrapped at words on a narrow terminal, but not in a file; commands never are."""

import io
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from natxy.cli import campaigns, dut, run_command, series, trial
from natxy.cli.progress import SearchDisplay
from natxy.cli.sentences import quote, say
from natxy.cli.series_options import SeriesOptions
from natxy.model.remark import Remark, Topic

WORDS = ["The", "gateway's", "CPU", "was", "away", "for", "0.12 %", "of", "the", "time."]
SENTENCE = " ".join(WORDS * 3)


def console(*, is_terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=40, force_terminal=is_terminal, color_system=None)


def printed(on: Console) -> list[str]:
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue().splitlines()


def test_a_narrow_terminal_breaks_lines_between_words() -> None:
    narrow = console(is_terminal=True)
    say(narrow, SENTENCE)
    lines = printed(narrow)
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(line.strip() for line in lines) == SENTENCE


def test_a_file_has_a_line_for_each_sentence() -> None:
    file = console(is_terminal=False)
    say(file, SENTENCE)
    assert printed(file) == [SENTENCE]


def test_a_command_has_one_line_that_can_be_copied() -> None:
    narrow = console(is_terminal=True)
    quote(narrow, SENTENCE)
    assert printed(narrow) == [SENTENCE]


@pytest.mark.parametrize(
    ("module", "console_name", "tells"),
    [
        (campaigns, "progress_console", "say"),
        (campaigns, "result_console", "tell"),
        (dut, "result_console", "_say"),
    ],
)
def test_each_command_breaks_lines_between_words(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, console_name: str, tells: str
) -> None:
    narrow = console(is_terminal=True)
    monkeypatch.setattr(module, console_name, narrow)
    getattr(module, tells)(SENTENCE)
    assert len(printed(narrow)) > 1


def test_a_trial_breaks_lines_between_words(
    engine: list[str], testbed_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = console(is_terminal=True)
    monkeypatch.setattr(trial, "result_console", narrow)
    run_command(["trial", str(testbed_file), "--rate", "1000", "--duration", "0.1"])
    assert printed(narrow)
    assert all(len(line) <= 40 for line in printed(narrow))


def test_remarks_of_a_measurement_and_notes_under_its_table_are_wrapped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    narrow = console(is_terminal=True)
    SearchDisplay(narrow, "a search").remarked(Remark.of(Topic.RESET, way=SENTENCE))
    assert all(len(line) <= 40 for line in printed(narrow))
    narrow = console(is_terminal=True)
    monkeypatch.setattr(series, "result_console", narrow)
    monkeypatch.setattr(series, "verbose_text", lambda *_: ["first", SENTENCE])
    options = SeriesOptions(testbed=Path("testbed.toml"), seed=1, verbose=True)
    series.show([], options)
    series.show_places(options, Path("natxy-results"))
    _, *notes, repeat, folder = printed(narrow)
    assert len(notes) > 1
    assert all(len(line) <= 40 for line in notes)
    assert repeat.startswith("Repeat it: natxy ")
    assert folder == "Journal, JSON and CSV: natxy-results"
