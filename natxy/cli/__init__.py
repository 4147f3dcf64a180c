"""The command `natxy`: `verbs.py` lists its subcommands.

This file imports nothing that takes time, so that an interrupt of the start finds `main`.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from natxy.cli import limits, streams
from natxy.interrupts import SIGNALS

SIITPERF = "siitperf-"  # prefix of the program names that siitperf's users call
INTERRUPTED = 130
TERMINATED = 128  # and the signal's number, as shells have it


class Terminated(KeyboardInterrupt):
    """A signal that ends a process, after which everything is cleaned up as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main() -> None:
    # Before a verb runs, nothing is to be cleaned up: a signal ends the process, and no import
    # is left half done by an exception.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    streams.prepare()
    arguments = arguments_of(sys.argv)
    if status := _answered(lambda: _import(arguments)):
        sys.exit(status)
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # by nohup; SIGPIPE by Python
            signal.signal(number, _interrupt)
    sys.exit(run_command(arguments))


def _import(arguments: Sequence[str]) -> int:
    """Imports what these arguments need."""
    limits.raise_open_files()
    from natxy.cli.verbs import VERBS, function_of, help_in

    if arguments and arguments[0] in VERBS and not help_in(arguments[0], arguments[1:]):
        function_of(arguments[0])
    return 0


def arguments_of(words: Sequence[str]) -> list[str]:
    """Returns the arguments of `natxy`, also where the program was called as siitperf-tp."""
    name = os.path.basename(words[0])
    if name.startswith(SIITPERF):
        from natxy.siitperf.arguments import LAST

        if name.removeprefix(SIITPERF) in LAST:
            return ["siitperf", name.removeprefix(SIITPERF), *words[1:]]
    return list(words[1:])


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command, prints an error as one sentence, and returns the exit status."""
    from natxy.cli.verbs import invoke

    with streams.shown():
        return _answered(lambda: _status_of(invoke, arguments))


def _answered(work: Callable[[], int]) -> int:
    """Returns the exit status of this work, whose error is printed as one sentence."""
    try:
        status = work()
        sys.stdout.flush()
    except Terminated as end:
        return _complain("ended by a signal; everything is cleaned up", TERMINATED + end.number)
    except KeyboardInterrupt:
        return _complain("interrupted; everything is cleaned up", INTERRUPTED)
    except BrokenPipeError:
        streams.discard(sys.stdout)  # its reader has gone and needs no message
        return 1
    except streams.OutputLost as error:
        streams.discard(sys.stdout)
        return _complain(f"standard output: cannot be written: {error.strerror}", 1)
    except Exception as error:
        if known := _sentence_of(error):
            return _complain(*known)
        raise
    return status


def _sentence_of(error: Exception) -> tuple[str, int] | None:
    """Returns the sentence and the exit status for an error; None: it is a defect of Natxy."""
    if limit := limits.reached_by(error):
        return limit, 1
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return f"{where}{error.strerror or error}", 1
    import click

    from natxy.errors import NatxyError

    if isinstance(error, NatxyError):
        return error.in_options, error.exit_status
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    return None


def _status_of(invoke: Callable[[Sequence[str]], object], arguments: Sequence[str]) -> int:
    """Runs a command and returns the exit status that it asks for."""
    import click

    try:
        invoke(arguments)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _complain(sentence: str, status: int) -> int:
    print(f"natxy: {streams.shortened(streams.one_line(sentence))}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raises at the first signal; further ones are ignored while everything is cleaned up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
