"""The experiments that stand in the documentation."""

import re
from pathlib import Path

HOW_TO = Path(__file__).parents[1] / "docs/how-to"
BLOCK = re.compile(r"^```toml\n(title = .*?)^```", re.MULTILINE | re.DOTALL)  # a whole one


def experiments_of(page: str) -> list[str]:
    """Returns the text of each whole experiment of a page."""
    return BLOCK.findall((HOW_TO / page).read_text())
