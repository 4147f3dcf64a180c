"""What the terminal shows of texts that others wrote, and standard streams that are odd or lost."""

import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text

from natxy.cli import run_command
from natxy.cli.progress import SearchDisplay
from natxy.cli.sentences import console_of, joined, quote, say
from natxy.cli.streams import Shown
from natxy.cli.verbs import VERBS
from natxy.dut.commanded import show_on_stderr
from natxy.visible import visible
from tests.command import natxy

Captured = pytest.CaptureFixture[str]
# ESC and its 8-bit form, carriage return, backspace, DEL, next line, bidi, zero width, tags.
OBEYED = "\x1b\x9b\r\b\x07\x0b\x0c\x00\x7f\x85\u200b\u2028\u202e\u2066\u200f\ufeff\U000e0041\ud800"
HOSTILE = f"a{OBEYED}[2K[red]:smile:[link=http://x]b"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def is_shown_whole(text: str) -> bool:
    """Returns whether nothing of OBEYED is there as itself, and nothing is lost."""
    return not set(OBEYED) & set(text) and visible(HOSTILE) in text.replace("\n", "")


def test_each_character_that_is_not_seen_is_escaped() -> None:
    shown = visible(OBEYED)
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == OBEYED
    assert visible("é µ ● Lencse Gábor\n\t日本") == "é µ ● Lencse Gábor\n\t日本"


def test_json_stays_what_it_is() -> None:
    for ascii_only in (True, False):
        text = json.dumps({"title": HOSTILE}, ensure_ascii=ascii_only)
        assert json.loads(visible(text)) == {"title": HOSTILE}


@pytest.mark.parametrize("terminal", [True, False])
def test_consoles_show_what_others_wrote(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    """Sentences, tables and their titles, on a terminal and in a file."""
    monkeypatch.setenv("TERM", "xterm")
    out = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", Shown(out))
    console = console_of(width=2000)
    assert console.is_terminal == terminal
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    ways: tuple[Any, ...] = (say, quote, lambda console, text: console.print(text), _print_table)
    for print_it in ways:
        out.seek(0)
        out.truncate()
        print_it(console, table if print_it is _print_table else HOSTILE)
        plain = out.getvalue().replace("\x1b[3m", "").replace("\x1b[0m", "").replace("\x1b[1m", "")
        assert is_shown_whole(plain), repr(out.getvalue())


def _print_table(console: Any, table: Any) -> None:
    console.print(table)


@pytest.mark.parametrize("say_it", [say, quote])
def test_a_sentence_is_one_line(monkeypatch: pytest.MonkeyPatch, say_it: Any) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    say_it(console_of(width=120), "title\nNeeds: no privileges\r\n.")
    assert out.getvalue() == "title\\u000aNeeds: no privileges\\u000d\\u000a.\n"


def test_a_command_of_a_gateway_is_shown_beside_a_live_panel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rich's own proxy drops what is before a carriage return, and obeys colours."""
    terminal = _Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Shown(terminal))
    with SearchDisplay(console_of(stderr=True, width=4000), "title"):
        show_on_stderr("start", f"rm -rf / {HOSTILE}\x1b[8m\rtrue")
    said = terminal.getvalue()
    assert f"dut.start: rm -rf / {visible(HOSTILE)}\\u001b[8m\\u000dtrue" in said
    assert "\x1b[8m" not in said
    assert "\x1b[?25l" in said  # the panel's own


def test_each_line_of_a_gateways_command_has_its_key(capsys: Captured) -> None:
    show_on_stderr("start", "true\ndut.stop: echo")
    assert capsys.readouterr().err == "dut.start: true\ndut.start: dut.stop: echo\n"


def test_a_command_is_shown_as_a_shell_would_read_it() -> None:
    assert joined(["sh", "-c", "a b"]) == "sh -c 'a b'"
    assert joined(["x\x1b[2K\ny\\'"]) == "$'x\\u001b[2K\\ny\\\\\\''"
    assert joined(["\\u001b"]) == "'\\u001b'"


EXPERIMENT = """\
title = "t\\u001b[2K\\rx\\nNeeds: no privileges."
testbed = "testbed.toml"
options = {{profile = "quick"}}
hooks = {{before = [["echo", "\\u001b[1A\\u001b[2K"]]}}
[[column]]
label = "l\\u202e[red]"
before = [["touch", "/tmp/x\\n\\u001b[8m"]]
[[measure]]
command = "pdv"
"""


def test_plan_shows_all_that_runs(tmp_path: Path, testbed_file: Path, capsys: Captured) -> None:
    del testbed_file
    experiment = tmp_path / "experiment.toml"
    experiment.write_text(EXPERIMENT.format())
    assert run_command(["plan", str(experiment)]) == 0
    out = capsys.readouterr().out
    lines = out.split("\n")
    assert lines[0].startswith("t\\u001b[2K\\u000dx\\u000aNeeds: no privileges.: 1 cells")
    assert "before: echo $'\\u001b[1A\\u001b[2K'" in lines
    assert "before_column: touch $'/tmp/x\\n\\u001b[8m'" in lines
    assert "l\\u202e[red]" in out
    assert sum(line.startswith("Needs") for line in lines) == 1


def test_plan_shows_the_commands_of_gateways(
    tmp_path: Path, testbed_file: Path, capsys: Captured
) -> None:
    """Also those that only a column has."""
    testbed_file.write_text(
        testbed_file.read_text() + '[dut]\nkind = "command"\nstart = "a\\u001b[2K\\ntrue"\n'
    )
    (tmp_path / "experiment.toml").write_text(
        'title = "t"\ntestbed = "testbed.toml"\noptions = {profile = "quick"}\n'
        '[[measure]]\ncommand = "pdv"\n'
        '[[column]]\nlabel = "A"\n[[column]]\nlabel = "B"\ntestbed = {dut = {reset = "rm x"}}\n'
        '[[column]]\nlabel = "C"\n'
        'testbed = {dut = {kind = "ssh", host = "h", recipe = "tayga-nat64", variables = '
        '{six = "a", four = "b"}}}\n'
    )
    status = run_command(["plan", str(tmp_path / "experiment.toml")])
    said = capsys.readouterr()
    assert status == 0, said.err
    lines = said.out.split("\n")
    for line in ("dut.start: a\\u001b[2K", "dut.start: true", "dut.reset: rm x"):
        assert lines.count(line) == 1
    assert any(line.startswith("dut.recipe: tayga-nat64 as root on h ") for line in lines)


def test_an_error_is_one_visible_line(tmp_path: Path, capsys: Captured) -> None:
    name = tmp_path / "a\x1b[2K\nnatxy: all is well"
    assert run_command(["throughput", str(name)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "a\\u001b[2K\\u000anatxy: all is well" in said


# Each is done in the process of the command before it begins.


def _closed(*numbers: int) -> None:
    for number in numbers:
        os.close(number)
        setattr(sys, ("stdin", "stdout", "stderr")[number], None)


def _no_input() -> None:
    _closed(0)


def _no_output() -> None:
    _closed(1)


def _no_errors() -> None:
    _closed(2)


def _nothing() -> None:
    _closed(0, 1, 2)


def _without_reader() -> None:
    for stream in (1, 2):
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, stream)
        os.close(writing)


def _full(*numbers: int) -> None:
    for number in numbers:
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)


def _full_output() -> None:
    _full(1)


def _full_errors() -> None:
    _full(2)


def _in(encoding: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding=encoding, errors="strict")  # type: ignore[union-attr]


def _ascii() -> None:
    _in("ascii")


def _latin_1() -> None:
    _in("iso-8859-1")


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def _no_folder() -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir("/tmp/natxy-test-deleted")
    os.chdir("/tmp/natxy-test-deleted")
    os.rmdir("/tmp/natxy-test-deleted")


def _no_home() -> None:
    for name in ("HOME", "PATH", "TMPDIR", "TERM", "LANG", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)


ODD: list[Callable[[], None]] = [
    *(_no_input, _no_output, _no_errors, _nothing, _without_reader, _full_output, _full_errors),
    *(_ascii, _latin_1, _few_files, _no_folder, _no_home),
]
STREAMS_OF_ONE = [("dut", odd) for odd in ODD]
ABSENT = "absent/é●\udcff\x1b.toml"
WITHOUT_FILE = ("demo", "self-test", "doctor", "init")  # they would measure, or write it


@pytest.mark.parametrize(
    ("verb", "odd"),
    [*STREAMS_OF_ONE, *((verb, odd) for verb in VERBS for odd in (_nothing, _latin_1))],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_no_command_answers_odd_streams_with_a_traceback(
    verb: str, odd: Callable[[], None]
) -> None:
    arguments = ["--help"] if verb in WITHOUT_FILE else [ABSENT]
    done = natxy(verb, *arguments, before=odd, timeout_s=60)
    assert "Traceback" not in done.stderr + done.stdout
    assert "\x1b" not in done.stderr + done.stdout
    assert done.returncode in (0, 1, 2)


def test_who_cannot_write_the_result_is_told_and_who_cannot_write_progress_goes_on() -> None:
    done = natxy("dut", "list", before=_full_output)
    assert done.returncode == 1
    assert done.stderr == "natxy: standard output: cannot be written: No space left on device\n"
    assert natxy("dut", "list", before=_full_errors).returncode == 0
    assert natxy("dut", "list", before=_no_output).returncode == 0


def test_few_open_files_are_refused_at_the_start() -> None:
    done = natxy("dut", "list", before=_few_files)
    assert done.returncode == 2
    assert done.stderr == "natxy: open files: 8 are too few (expected `ulimit -n` of 64 or more)\n"


def test_letters_that_a_terminal_lacks_are_escaped() -> None:
    said = natxy("dut", "list", before=_ascii).stdout
    assert said.isascii()
    assert natxy("throughput", "é.toml", before=_ascii).stderr.startswith("natxy: \\u00e9.toml: ")
