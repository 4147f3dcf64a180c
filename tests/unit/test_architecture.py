"""The table of rooms in docs/architecture.md holds: a room uses only what its row names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([^`]+)` \|.*\|([^|]*)\|$", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
OF_ALL_ROOMS = {"errors", "exact", "runtime_folder", "statistics"}
CLOCK = "run's clock"  # engine/port may use one header of engine/run


def table() -> dict[str, set[str]]:
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    return {
        room: {name.strip() for name in used.split(",") if name.strip()}
        for room, used in rows
        if (ROOT / room).exists()
    }


ROOMS = table()
PYTHON = [room for room in ROOMS if (ROOT / room / "__init__.py").exists()]
CPP = [room for room in ROOMS if room.startswith("engine/")]


def imported(room: Path) -> Iterator[str]:
    """Yields "room" or "room.module" of what a package's files import from natxy."""
    for file in room.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
                if node.module == "natxy":
                    names = [f"natxy.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            yield from (name.split(".")[1] for name in names if name.startswith("natxy."))


PRODUCT = [
    path
    for folder in ("natxy", "engine", "gateway", "plumbing")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".cpp", ".hpp"} and not {"tests", "bench", "fuzz"} & {*path.parts}
]


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in PRODUCT}
    assert len(lines) > 300
    assert {path: count for path, count in lines.items() if count > 350} == {}


def test_every_room_has_a_row() -> None:
    folders = {str(each.parent.relative_to(ROOT)) for each in ROOT.glob("natxy/*/__init__.py")}
    folders |= {
        str(each.relative_to(ROOT))
        for each in ROOT.glob("engine/*/")
        if each.name not in {"tests", "bench", "fuzz"} and list(each.glob("*.?pp"))
    }
    assert folders <= set(ROOMS)


@pytest.mark.parametrize("room", [room for room in PYTHON if room != "natxy/cli"])
def test_a_room_of_the_package_uses_what_its_row_names(room: str) -> None:
    own = Path(room).name
    used = set(imported(ROOT / room)) - OF_ALL_ROOMS - {own}
    assert used <= ROOMS[room], f"{room} uses {', '.join(sorted(used - ROOMS[room]))}"


@pytest.mark.parametrize("room", CPP)
def test_a_room_of_the_engine_uses_what_its_row_names(room: str) -> None:
    own = Path(room).name
    files = [each for each in (ROOT / room).iterdir() if each.suffix in {".hpp", ".cpp"}]
    included = {name for file in files for name in INCLUDE.findall(file.read_text())}
    if CLOCK in ROOMS[room]:
        included -= {"run/clock.hpp"}
    used = {name.partition("/")[0] for name in included} - {own}
    assert used <= ROOMS[room], f"{room} uses {', '.join(sorted(used - ROOMS[room]))}"


def test_the_arrows_point_one_way() -> None:
    arrows = {
        Path(room).name: {name for name in used if name != "all"} for room, used in ROOMS.items()
    }
    left = {room: {each for each in used if each in arrows} for room, used in arrows.items()}
    while left:
        ground = {room for room, used in left.items() if not used & set(left)}
        assert ground, f"a circle among {', '.join(sorted(left))}"
        left = {room: used for room, used in left.items() if room not in ground}
