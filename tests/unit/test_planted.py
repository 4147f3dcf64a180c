"""The lists of planted defects fit the source and the tests; tools/planted.py plants them."""

import ast
import re
from pathlib import Path

import pytest

from tools import planted

ROOT = Path(__file__).parents[2]
FILES = sorted(planted.LISTS.glob("*.toml"))
DEFECTS = planted.read_lists()
MACRO = r"^(?:TYPED_)?TEST(?:_F|_P)?\({suite}, {test}\)"


def rooms_with_source() -> set[str]:
    """Returns the rooms of the map that have source files."""
    found = {f"engine/{each.parent.name}" for each in ROOT.glob("engine/*/*.hpp")}
    found -= {f"engine/{room}" for room in ("bench", "fuzz", "tests")}
    found |= {f"natxy/{each.parent.name}" for each in ROOT.glob("natxy/*/__init__.py")}
    return found | set(planted.ONE_ROOM)


def test_every_room_has_defects() -> None:
    assert rooms_with_source() <= {defect.room for defect in DEFECTS}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_list_has_its_rooms_defects_in_their_places(file: Path) -> None:
    for defect in planted.read_list(file):
        assert defect.room.replace("/", "-") == file.stem, defect.name
        text = (ROOT / defect.file).read_text()
        assert defect.planted_in(text) != text, defect.name


def test_names_are_different() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_tests_that_a_list_names_exist(file: Path) -> None:
    for defect in planted.read_list(file):
        found = cpp_test_exists(defect) if defect.is_cpp else python_test_exists(defect.test)
        assert found, f"{defect.name}: {defect.test}"


def python_test_exists(test: str) -> bool:
    path, _, name = test.partition("::")
    parsed = ast.parse((ROOT / path).read_text())
    names = {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}
    return name.partition("[")[0] in names


def cpp_test_exists(defect: planted.Defect) -> bool:
    named = re.search(r"(\w+)\.(\w+)", defect.filter)
    assert named is not None, defect.test
    suite, test = named.groups()
    macro = re.compile(MACRO.format(suite=suite, test=test), re.MULTILINE)
    return macro.search((ROOT / defect.program).read_text()) is not None


def test_a_defect_needs_one_place() -> None:
    defect = planted.Defect(name="It bursts.", file="a.py", old="1", new="2", test="t.py::t")
    assert defect.planted_in("x = 1") == "x = 2"
    for text in ("x = 3", "x = 11"):
        with pytest.raises(planted.Unusable, match="expected once"):
            defect.planted_in(text)


@pytest.mark.parametrize(
    ("file", "room"),
    [
        ("engine/run/sender.hpp", "engine/run"),
        ("gateway/nat/nat.cpp", "gateway"),
        ("natxy/statistics.py", "natxy"),
        ("natxy/search/mlr.py", "natxy/search"),
    ],
)
def test_a_room_is_a_folder_of_the_map(file: str, room: str) -> None:
    defect = planted.Defect(name="It bursts.", file=file, old="1", new="2", test="t.py::t")
    assert defect.room == room
    assert planted.in_room(defect, [room])
    assert planted.in_room(defect, [])
    assert not planted.in_room(defect, [f"{room[:-1]}"])
