"""Makes natxy/measurements.pyi: the methods of natxy.Testbed with their keywords and their help."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator

from natxy.procedure.defaults import MEASURES
from natxy.procedure.keywords import help_of, keywords

HEAD = '''\
"""The measurements of natxy.Testbed, for type checkers and editors.

Written by tools/reference.py (make reference); do not edit.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

from natxy.campaign.loaded import Results
from natxy.measure.table_size import Size
from natxy.procedure.degradation import Column
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import MlrGoal
from natxy.search.settings import LossTolerance
from natxy.trial.bursts import Bursts

class Measurements:
    """Each measurement of a testbed as a method; all arguments are given by name."""
'''
WIDTH = 100
INDENT = " " * 8


def stubs() -> str:
    text = HEAD + "".join(f"{line}\n" for name in MEASURES for line in _method(name))
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "measurements.pyi", "-"]
    return subprocess.run(ruff, input=text, text=True, stdout=subprocess.PIPE, check=True).stdout


def _method(name: str) -> Iterator[str]:
    yield from ("", f"    def {name}(self, *,")
    for each in keywords(MEASURES[name]).values():
        yield f"{INDENT}{each.name}: {each.type} | None = None,"
    yield "    ) -> Results:"
    for line in f'"""{help_of(name)}'.splitlines():
        yield from _wrapped(line)
    yield f'{INDENT}"""'


def _wrapped(line: str) -> list[str]:
    text = line.lstrip()
    indent = INDENT + " " * (len(line) - len(text))
    further = f"{indent}    " if indent != INDENT else indent
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=further) or [""]
