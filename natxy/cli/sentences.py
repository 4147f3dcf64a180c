"""Sentences and commands as the consoles print them."""

from rich.console import Console


def say(console: Console, sentence: str) -> None:
    """Prints a sentence: wrapped at words on a terminal, as one line in a file or a pipe."""
    _print(console, sentence, soft_wrap=not console.is_terminal)


def quote(console: Console, line: str) -> None:
    """Prints a command or a path without line breaks, so that a person can copy it."""
    _print(console, line, soft_wrap=True)


def _print(console: Console, line: str, *, soft_wrap: bool) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=soft_wrap)
