"""The commands of `natxy`: the file of a command is imported when it runs."""

import difflib
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click

import natxy
from natxy.cli.declared import COMPLETE, CONTEXTS, all_declared, declared
from natxy.cli.help import GROUPS, help_of, list_of_commands, short_help_of

VERBS = [verb for verbs in GROUPS.values() for verb in verbs]
# The file of a command has its name, but for these.
AT_A_RATE = ("latency", "pdv", "ipdv", "frame-loss", "back-to-back", "recovery", "reset")
FILES = {
    **dict.fromkeys(AT_A_RATE, "measurements"),
    **dict.fromkeys((*GROUPS["Stateful"], "scale-up"), "stateful"),
    "resume": "run",
}
SHORT, LONG = "-h", "--help"


def invoke(arguments: Sequence[str]) -> None:
    """Runs the command, or prints the help or the version that is asked for."""
    if COMPLETE in os.environ:
        from natxy.cli.completion import complete

        complete(os.environ[COMPLETE])
    elif text := answer(arguments):
        print(text.rstrip("\n"))
    else:
        verb, *words = arguments
        _run(command_of(verb), words)


def _run(command: click.Command, words: Sequence[str]) -> None:
    """Runs the command without click's `main`, which would turn an interrupt into a status.

    A command that measures returns its work.
    """
    with command.make_context(f"natxy {command.name}", list(words)) as context:
        work = command.invoke(context)
        if work is not None:
            from natxy.cli.series import run_series  # only commands that measure need its modules

            run_series(work)


def answer(arguments: Sequence[str]) -> str:
    """Returns the text that is asked for without a measurement; empty: a command is to be run."""
    first, *rest = arguments or (SHORT,)
    if first in ("-V", "--version"):
        return f"natxy {natxy.__version__}"
    if first in (SHORT, LONG):
        return list_of_commands(short=first == SHORT)
    if first == "help":
        return answer((rest[0], LONG) if rest else (LONG,))
    if first.startswith("-"):
        raise click.NoSuchOption(first)
    if first not in VERBS:
        raise click.UsageError(_unknown(first))
    wanted = help_in(first, rest)
    if not wanted:
        return ""
    return (short_help_of if wanted == SHORT else help_of)(all_declared()[first])


def help_in(verb: str, words: Sequence[str]) -> str:
    """Returns which help these words of a command ask for; empty: none."""
    options = words[:1] if verb in CONTEXTS else words  # of siitperf's words, the rest are values
    asked = [word for word in options if word in (SHORT, LONG)]
    return asked[0] if asked else ""


def _unknown(verb: str) -> str:
    near = difflib.get_close_matches(verb.lower(), VERBS, n=1)
    expected = near[0] if near else "one of those that `natxy --help` lists"
    return f'unknown command "{verb}" (expected {expected})'


def command_of(verb: str) -> click.Command:
    function = function_of(verb)
    return declared(verb, function).command(function)


def function_of(verb: str) -> Callable[..., Any]:
    """Returns a verb's function, which has the verb's name."""
    name = verb.replace("-", "_")
    module = import_module(f"natxy.cli.{FILES.get(verb, name)}")
    function: Callable[..., Any] = getattr(module, name)
    return function
