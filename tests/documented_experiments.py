"""The experiments that stand in the documentation."""

import re
import shlex
from pathlib import Path

HOW_TO = Path(__file__).parents[1] / "docs/how-to"
RUN = re.compile(r"^\|.*\| `natxy (run .*?)` \|", re.MULTILINE)
BLOCK = re.compile(r"^```toml\n(title = .*?)^```", re.MULTILINE | re.DOTALL)  # a whole one


def experiments_of(page: str) -> list[str]:
    """Returns the text of each whole experiment of a page."""
    return BLOCK.findall((HOW_TO / page).read_text())


def runs_of(page: str) -> list[list[str]]:
    """Returns the words of each `natxy run` in the tables of a page."""
    return [shlex.split(command) for command in RUN.findall((HOW_TO / page).read_text())]
