"""The command `natxy`: one file a verb, and the table of them."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import click
import typer

from natxy.cli.back_to_back import back_to_back
from natxy.cli.capacity import capacity
from natxy.cli.degradation import degradation
from natxy.cli.demo import demo
from natxy.cli.doctor import doctor
from natxy.cli.establishment import establishment
from natxy.cli.frame_loss import frame_loss
from natxy.cli.init import init
from natxy.cli.ipdv import ipdv
from natxy.cli.latency import latency
from natxy.cli.overload import overload
from natxy.cli.pdv import pdv
from natxy.cli.recovery import recovery
from natxy.cli.reset import reset
from natxy.cli.scale_up import scale_up
from natxy.cli.self_test import self_test
from natxy.cli.siitperf import CONTEXT as SIITPERF_CONTEXT
from natxy.cli.siitperf import arguments_of, siitperf
from natxy.cli.tear_down import tear_down
from natxy.cli.throughput import throughput
from natxy.cli.trial import trial
from natxy.cli.version import print_version
from natxy.errors import NatxyError

VERBS: dict[str, Callable[..., Any]] = {
    "demo": demo,
    "doctor": doctor,
    "self-test": self_test,
    "init": init,
    "trial": trial,
    "throughput": throughput,
    "latency": latency,
    "pdv": pdv,
    "ipdv": ipdv,
    "frame-loss": frame_loss,
    "back-to-back": back_to_back,
    "recovery": recovery,
    "reset": reset,
    "overload": overload,
    "establishment": establishment,
    "capacity": capacity,
    "tear-down": tear_down,
    "scale-up": scale_up,
    "degradation": degradation,
}
INTERRUPTED = 130
TERMINATED = 143

app = typer.Typer(
    callback=print_version,
    help="Benchmarks IPv4/IPv6 gateways: translators, NATs, routers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for name, verb in VERBS.items():
    app.command(name)(verb)
app.command("siitperf", context_settings=SIITPERF_CONTEXT)(siitperf)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: everything is cleaned up as after Ctrl-C."""


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    sys.exit(run(arguments_of(sys.argv)))


def run(arguments: Sequence[str]) -> int:
    """The exit status; what went wrong is one sentence on standard error."""
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
        # The reader of standard output has gone; nothing is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _invoke(arguments: list[str]) -> None:
    """Not click's own `main`, which makes a status of an interrupt before it can be told."""
    command = typer.main.get_command(app)
    with command.make_context("natxy", arguments) as context:
        command.invoke(context)


def _complain(sentence: str, status: int) -> int:
    print(f"natxy: {sentence}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first one interrupts, further ones do not interrupt the cleaning up."""
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated
