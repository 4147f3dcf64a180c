"""The command `natxy`: one file a verb, and what is the same for all of them.

This file imports nothing that takes time, so that an interrupt of the start finds `main`.
"""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

SIITPERF = "siitperf-"  # what begins the names by which siitperf's users call its programs
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: everything is cleaned up as after Ctrl-C."""


def main() -> None:
    # Before a verb runs, nothing is to be cleaned up: a signal ends the process, and no import
    # is left half done by an exception.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    arguments = arguments_of(sys.argv)
    _import(arguments)
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    sys.exit(run(arguments))


def _import(arguments: Sequence[str]) -> None:
    """Imports what these arguments need."""
    from natxy.cli.verbs import VERBS, function_of

    if arguments and arguments[0] in VERBS:
        function_of(arguments[0])


def arguments_of(words: Sequence[str]) -> list[str]:
    """What comes behind `natxy`, also where the program was called siitperf-tp."""
    name = os.path.basename(words[0])
    if name.startswith(SIITPERF):
        from natxy.siitperf.arguments import LAST

        if name.removeprefix(SIITPERF) in LAST:
            return ["siitperf", name.removeprefix(SIITPERF), *words[1:]]
    return list(words[1:])


def run(arguments: Sequence[str]) -> int:
    """The exit status; what went wrong is one sentence on standard error."""
    import click

    from natxy.cli.verbs import invoke
    from natxy.errors import NatxyError

    try:
        invoke(arguments)
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
        # The reader of standard output has gone; nothing is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(sentence: str, status: int) -> int:
    print(f"natxy: {sentence}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first one interrupts, further ones do not interrupt the cleaning up."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated
