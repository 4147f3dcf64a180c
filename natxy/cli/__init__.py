"""The command `natxy`: `verbs.py` lists its subcommands, of which each has a file.

This file imports nothing that takes time, so that an interrupt of the start finds `main`.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from natxy.dut.interrupts import SIGNALS

SIITPERF = "siitperf-"  # prefix of the program names that siitperf's users call
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)  # of standard output
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
    arguments = arguments_of(sys.argv)
    _import(arguments)
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # by nohup; SIGPIPE by Python
            signal.signal(number, _interrupt)
    sys.exit(run_command(arguments))


def _import(arguments: Sequence[str]) -> None:
    """Imports what these arguments need."""
    from natxy.cli.verbs import VERBS, function_of

    if arguments and arguments[0] in VERBS:
        function_of(arguments[0])


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
    import click

    from natxy.cli.verbs import invoke
    from natxy.errors import NatxyError

    try:
        status = _status_of(invoke, arguments)
        sys.stdout.flush()
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except NatxyError as error:
        return _complain(error.in_options, error.exit_status)
    except Terminated as end:
        return _complain("ended by a signal; everything is cleaned up", TERMINATED + end.number)
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
    return status


def _status_of(invoke: Callable[[Sequence[str]], object], arguments: Sequence[str]) -> int:
    """Runs a command and returns the exit status that it asks for."""
    import click

    try:
        invoke(arguments)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _discard_output() -> None:
    """Sends standard output nowhere, so that Python's last flush of it cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(sentence: str, status: int) -> int:
    print(f"natxy: {sentence}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raises at the first signal; further ones are ignored while everything is cleaned up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
