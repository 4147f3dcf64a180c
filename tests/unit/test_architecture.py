"""The table of rooms in docs/architecture.md holds: a room uses only what its row names."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import natxy

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| `([^`]+)` \|.*\|([^|]*)\|$", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
OF_ALL_ROOMS = {
    "errors",
    "exact",
    "installed",
    "interrupts",
    "line_process",
    "program_output",
    "runtime_folder",
    "setting",
    "statistics",
    "visible",
    "whole_file",
}
BY_NAME = re.compile(r"\b(import_module|iter_modules|__import__)\(")
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
CPP = [room for room in ROOMS if room.startswith("engine/") or room in {"gateway", "plumbing"}]
NOT_THE_PRODUCT = {"tests", "bench", "fuzz"}


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields all nodes but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from nodes(node)


def modules(file: Path) -> Iterator[str]:
    """Yields what a file imports from natxy: "natxy.dut.config", or a name in such a module."""
    for node in nodes(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("natxy."))


def imported(files: Iterable[Path]) -> set[str]:
    """Returns the rooms, and the modules beside them, that files of the package import."""
    return {name.split(".")[1] for file in files for name in modules(file)}


PRODUCT = [
    path
    for folder in ("natxy", "engine", "gateway", "plumbing")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".cpp", ".hpp"} and not NOT_THE_PRODUCT & {*path.parts}
]


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in PRODUCT}
    assert len(lines) > 300
    assert {path: count for path, count in lines.items() if count > 350} == {}


def test_no_test_imports_a_test() -> None:
    """What tests share has a file of its own, so that a test can change without others."""
    imports = re.compile(r"^\s*(from|import) tests\.([\w.]+\.)?test_\w+", re.MULTILINE)
    files = (ROOT / "tests").rglob("*.py")
    assert [path.name for path in files if imports.search(path.read_text())] == []


def test_every_room_has_a_row() -> None:
    folders = {str(each.parent.relative_to(ROOT)) for each in ROOT.glob("natxy/*/__init__.py")}
    folders |= {
        str(each.relative_to(ROOT))
        for each in ROOT.glob("engine/*/")
        if each.name not in NOT_THE_PRODUCT and list(each.glob("*.?pp"))
    }
    assert folders <= set(ROOMS)


@pytest.mark.parametrize("room", [room for room in PYTHON if room != "natxy/cli"])
def test_a_room_of_the_package_uses_what_its_row_names(room: str) -> None:
    own = Path(room).name
    used = imported((ROOT / room).rglob("*.py")) - OF_ALL_ROOMS - {own}
    assert used <= ROOMS[room], f"{room} uses {', '.join(sorted(used - ROOMS[room]))}"


def test_the_files_beside_the_rooms_use_what_the_page_says() -> None:
    beside = {file.stem: imported([file]) for file in (ROOT / "natxy").glob("*.py")}
    assert ROOMS["natxy/api.py"] == {"all but cli"}
    assert "cli" not in beside.pop("api")
    assert ROOMS["natxy/pytest_plugin.py"] == {"all"}
    beside.pop("pytest_plugin")
    assert set(beside) == OF_ALL_ROOMS | {"__init__"}
    assert [file for file, used in beside.items() if not used <= OF_ALL_ROOMS] == []


def test_no_file_of_the_package_uses_itself_through_others() -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in (ROOT / "natxy").rglob("*.py")
    }
    uses = {
        name: {module for each in modules(file) for module in (each, each.rpartition(".")[0])}
        for name, file in files.items()
    }
    by_name = {name for name, file in files.items() if BY_NAME.search(file.read_text())}
    assert by_name == {"natxy", "natxy.cli.verbs"}, "these load others by their names, not shown"
    uses["natxy"] |= {*natxy.HOMES.values()}
    left = {name: (used & set(files)) - {name} for name, used in uses.items()}
    assert not circle(left)


@pytest.mark.parametrize("room", CPP)
def test_a_room_in_cpp_includes_what_its_row_names(room: str) -> None:
    """So the gateway shares no code about frames with the engine."""
    own = Path(room).name
    files = [path for path in PRODUCT if (ROOT / room) in path.parents]
    assert files
    included = {name for file in files for name in INCLUDE.findall(file.read_text())}
    if CLOCK in ROOMS[room]:
        included -= {"run/clock.hpp"}
    used = {name.partition("/")[0] for name in included} - {own}
    assert used <= ROOMS[room], f"{room} uses {', '.join(sorted(used - ROOMS[room]))}"


def test_the_arrows_point_one_way() -> None:
    arrows = {
        Path(room).name: {name for name in used if name != "all"} for room, used in ROOMS.items()
    }
    assert not circle(arrows)


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Returns all that uses itself through others, and what uses it; empty if nothing does."""
    left = dict(arrows)
    while ground := {name for name, used in left.items() if not used & set(left)}:
        left = {name: used for name, used in left.items() if name not in ground}
    return sorted(left)
