"""Consoles, and how they print sentences and commands."""

import shlex
from collections.abc import Sequence

import rich.text
from rich.console import Console

from natxy.cli.streams import one_line
from natxy.visible import visible

# Rich drops some control characters and passes on others, such as ESC.
rich.text.strip_control_codes = visible  # type: ignore[assignment,attr-defined]


def console_of(*, stderr: bool = False, width: int | None = None) -> Console:
    """Returns a console that reads nothing into a text: [red] in a label is five characters."""
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def joined(command: Sequence[str]) -> str:
    r"""Returns a command as a shell reads it; a word with an ESC is $'\u001b' there."""
    return " ".join(map(_word, command))


def _word(word: str) -> str:
    if one_line(visible(word)) == word:
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"$'{visible(escaped)}'"


def say(console: Console, sentence: str, *, style: str | None = None) -> None:
    """Prints a sentence: wrapped at words on a terminal, as one line in a file or a pipe."""
    _print(console, one_line(sentence), soft_wrap=not console.is_terminal, style=style)


def quote(console: Console, line: str) -> None:
    """Prints a command or a path without line breaks, so that a person can copy it."""
    _print(console, one_line(line), soft_wrap=True)


def say_lines(console: Console, text: str) -> None:
    """Prints a text that consists of lines."""
    _print(console, text, soft_wrap=not console.is_terminal)


def _print(console: Console, line: str, *, soft_wrap: bool, style: str | None = None) -> None:
    console.print(line, soft_wrap=soft_wrap, style=style)
