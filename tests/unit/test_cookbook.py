"""docs/how-to/cookbook.md has a session of each gateway that Natxy starts itself, and names each
recipe that nobody has run."""

import re
import tomllib
from pathlib import Path

import pytest

from natxy.cli.verbs import VERBS
from tools.samples import EXAMPLE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/cookbook.md").read_text()
RECIPES = sorted((ROOT / "natxy/recipes").glob("*.toml"))
SESSIONS = [each["arguments"].split() for each in EXAMPLE.finditer(PAGE)]


def drivers() -> set[str]:
    """Returns the drivers of the testbeds that the sessions measure."""
    testbeds = [tomllib.loads((ROOT / testbed).read_text()) for _, testbed, *_ in SESSIONS]
    return {testbed["dut"]["driver"] for testbed in testbeds}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: str(each.stem))
def test_each_recipe_has_a_session_or_is_said_to_have_none(recipe: Path) -> None:
    written = tomllib.loads(recipe.read_text())
    if "lab" in written:
        assert written["lab"]["driver"] in drivers()
    else:
        assert written["tried"] == "never"
        (row,) = re.findall(r"^\| (.*) \| never run here", PAGE, re.MULTILINE)
        assert f"`{recipe.stem}`" in row


def test_each_session_shows_what_its_command_printed() -> None:
    for example in EXAMPLE.finditer(PAGE):
        assert example["arguments"].split()[0] in VERBS
        assert len(example[0].splitlines()) > 5, example["arguments"]
