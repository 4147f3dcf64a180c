"""`natxy siitperf tp|lat|pdv`: siitperf's commands, also under their own names."""

import sys
from typing import Annotated

import click

from natxy.cli.streams import shortened
from natxy.setting import Argument
from natxy.siitperf.program import run_siitperf


def siitperf(
    words: Annotated[
        list[str] | None,
        Argument("words", metavar="tp|lat|pdv ARGUMENTS"),
    ] = None,
) -> None:
    """Run one test like siitperf's tp, lat or pdv, with ./siitperf.conf.

    Examples:
        natxy siitperf tp 84 100000 60 2000 2 2
    """
    status = run_siitperf(list(words or ()), say=_say, warn=_warn)
    if status:
        sys.stdout.flush()
        raise click.exceptions.Exit(status)


def _say(line: str) -> None:
    print(shortened(line))


def _warn(sentence: str) -> None:
    print(f"Warning: {shortened(sentence)}", file=sys.stderr, flush=True)
