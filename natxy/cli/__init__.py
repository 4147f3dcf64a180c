"""The command `natxy`: a table of its subcommands, of which each has a file."""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import click
import typer

from natxy.cli.version import print_version
from natxy.errors import NatxyError

VERBS = (  # as `natxy --help` lists them
    "demo",
    "doctor",
    "self-test",
    "init",
    "trial",
    "throughput",
    "latency",
    "pdv",
    "ipdv",
    "frame-loss",
    "back-to-back",
    "recovery",
    "reset",
    "overload",
    "establishment",
    "capacity",
    "tear-down",
    "scale-up",
    "degradation",
    "siitperf",
)
# siitperf's arguments are positional: one that begins with - is a wrong value, not an option.
CONTEXTS = {"siitperf": {"ignore_unknown_options": True, "allow_interspersed_args": False}}
SIITPERF = "siitperf-"  # prefix of the program names that siitperf's users call
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)  # of standard output
INTERRUPTED = 130
TERMINATED = 143


def app_of(verbs: Iterable[str]) -> typer.Typer:
    """The command with these verbs: importing all takes a second, of which one needs a part."""
    app = typer.Typer(
        callback=print_version,
        help="Benchmarks IPv4/IPv6 gateways: translators, NATs, routers.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for verb in verbs:
        app.command(verb, context_settings=CONTEXTS.get(verb))(function_of(verb))
    return app


def function_of(verb: str) -> Callable[..., Any]:
    """Returns a command's function, which has the command's name, as has its file."""
    name = verb.replace("-", "_")
    function: Callable[..., Any] = getattr(import_module(f"natxy.cli.{name}"), name)
    return function


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, after which everything is cleaned up as after Ctrl-C."""


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    sys.exit(run(arguments_of(sys.argv)))


def arguments_of(words: Sequence[str]) -> list[str]:
    """Returns the arguments of `natxy`, also where the program was called as siitperf-tp."""
    name = Path(words[0]).name
    if name.startswith(SIITPERF):
        from natxy.siitperf.arguments import LAST

        if name.removeprefix(SIITPERF) in LAST:
            return ["siitperf", name.removeprefix(SIITPERF), *words[1:]]
    return list(words[1:])


def run(arguments: Sequence[str]) -> int:
    """Runs a command, prints an error as one sentence, and returns the exit status."""
    try:
        _invoke(list(arguments))
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except NatxyError as error:
        return _complain(str(error), error.exit_status)
    except Terminated:
        return _complain("ended by a signal; everything is cleaned up", TERMINATED)
    except KeyboardInterrupt:
        return _complain("interrupted; everything is cleaned up", INTERRUPTED)
    except BrokenPipeError:
        _discard_output()  # its reader has gone and needs no message
        return 1
    except OSError as error:
        if error.errno not in UNWRITABLE or error.filename is not None:
            raise
        _discard_output()
        return _complain(f"standard output: cannot be written: {error.strerror}", 1)
    return 0


def _discard_output() -> None:
    """Sends standard output nowhere, so that Python's last flush of it cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _invoke(arguments: list[str]) -> None:
    """Runs the command without click's `main`, which would turn an interrupt into a status."""
    asked = arguments[:1] if arguments[:1] and arguments[0] in VERBS else VERBS
    command = typer.main.get_command(app_of(asked))
    with command.make_context("natxy", arguments) as context:
        command.invoke(context)


def _complain(sentence: str, status: int) -> int:
    print(f"natxy: {sentence}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raises at the first signal; further ones are ignored while everything is cleaned up."""
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated
