"""The symptoms of docs/troubleshooting.md are words that Natxy prints."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
SYMPTOM = re.compile(r"^\| (?!symptom|---)(.*?) \|", re.MULTILINE)
SOURCES = [*(ROOT / "natxy").rglob("*.py"), *(ROOT / "engine").rglob("*.[ch]pp")]
# Literals that the compiler joins are joined here, too.
PRINTED = re.sub(r'["\']\s*\n\s*f?["\']', "", "\n".join(each.read_text() for each in SOURCES))
SHORTEST = 7
NOT_PRINTED = {"vlans", "kill -9"}  # what a person wrote


def quoted() -> list[str]:
    """Returns the parts of each quotation between the words that differ, which are "…"."""
    words = (quote for row in SYMPTOM.findall(PAGE) for quote in re.findall(r"`([^`]+)`", row))
    parts = (part.strip() for each in words if each not in NOT_PRINTED for part in each.split("…"))
    return sorted({part for part in parts if len(part) >= SHORTEST})


@pytest.mark.parametrize("words", quoted())
def test_each_symptom_is_printed(words: str) -> None:
    assert words in PRINTED
