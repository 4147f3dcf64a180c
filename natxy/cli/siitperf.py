"""`natxy siitperf tp|lat|pdv`: siitperf's commands, also by their own names."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click
import typer

from natxy.siitperf.arguments import LAST
from natxy.siitperf.program import run_siitperf

PREFIX = "siitperf-"
# siitperf's arguments are positional: one that begins with - is no option but a wrong value.
CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def arguments_of(words: Sequence[str]) -> list[str]:
    """What comes behind `natxy`, also where the program was called siitperf-tp."""
    name = Path(words[0]).name
    if name.startswith(PREFIX) and name.removeprefix(PREFIX) in LAST:
        return ["siitperf", name.removeprefix(PREFIX), *words[1:]]
    return list(words[1:])


def siitperf(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="tp|lat|pdv ARGUMENTS", click_type=click.UNPROCESSED),
    ] = None,
) -> None:
    """Run one test as siitperf does, by ./siitperf.conf."""
    status = run_siitperf(list(words or ()), say=print, warn=_warn)
    if status:
        sys.stdout.flush()
        raise typer.Exit(status)


def _warn(sentence: str) -> None:
    print(f"Warning: {sentence}", file=sys.stderr, flush=True)
