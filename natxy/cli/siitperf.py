"""`natxy siitperf tp|lat|pdv`: siitperf's commands, also under their own names."""

import sys
from typing import Annotated

import click
import typer

from natxy.cli.streams import shortened
from natxy.siitperf.program import run_siitperf


def siitperf(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="tp|lat|pdv ARGUMENTS", click_type=click.UNPROCESSED),
    ] = None,
) -> None:
    """Run one test like siitperf's tp, lat or pdv, with ./siitperf.conf."""
    status = run_siitperf(list(words or ()), say=_say, warn=_warn)
    if status:
        sys.stdout.flush()
        raise typer.Exit(status)


def _say(line: str) -> None:
    print(shortened(line))


def _warn(sentence: str) -> None:
    print(f"Warning: {shortened(sentence)}", file=sys.stderr, flush=True)
