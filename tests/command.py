"""Runs the command `natxy` in processes of their own, in which the package is imported already.

A process that imports takes 0.7 s before it begins, and the suite starts hundreds. The programs
are also started by their names, where that is the subject (tests/labs/test_siitperf.py).
"""

import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.context import ForkServerContext
from pathlib import Path

from natxy.cli import main
from natxy.cli.verbs import VERBS
from tests.programs import ROOT
from tests.valid import Done

IMPORTED = ["__main__", __name__, *(f"natxy.cli.{verb.replace('-', '_')}" for verb in VERBS)]


def natxy(
    *arguments: str, timeout_s: float = 300, before: Callable[[], None] | None = None
) -> Done:
    """Runs `natxy` in the folder of the project; returns its status and what it printed.

    The new process calls `before` first, which is a function of a module.
    """
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder) / "output", Path(folder) / "errors"
        process = _server().Process(
            target=_run, args=(arguments, output, errors, dict(os.environ), before)
        )
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["natxy", *arguments], timeout_s)
        said = [each.read_text(errors="replace") for each in (output, errors)]
        return Done(["natxy", *arguments], process.exitcode, *said)


@functools.cache
def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def _run(
    arguments: tuple[str, ...],
    output: Path,
    errors: Path,
    environment: dict[str, str],
    before: Callable[[], None] | None,
) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for path, stream in ((os.devnull, 0), (output, 1), (errors, 2)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), stream)
    if before is not None:
        before()
    sys.argv = ["natxy", *arguments]
    main()
