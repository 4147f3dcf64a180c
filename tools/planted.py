#!/usr/bin/env python3
"""Plants the defects of tests/planted, one at a time, and checks that a test catches each.

A defect is planted in a copy of the tree, in build/planted. The test that it names must fail there,
by an assertion and not because the source no longer compiles. Before that, all of these tests must
pass without any defect.
"""

import argparse
import concurrent.futures
import dataclasses
import enum
import os
import pathlib
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence

ROOT = pathlib.Path(__file__).parents[1]
LISTS = ROOT / "tests" / "planted"  # one file a room
COPIES = ROOT / "build" / "planted"
PORT = "natxy_port"  # needs DPDK
ONE_ROOM = ("gateway", "plumbing")  # without rooms inside
LIMIT_S = 120
BUILD_LIMIT_S = 900
SHOWN_LINES = 30
# A test that fails for one of these would fail for any typing error.
NOT_A_FINDING = re.compile(
    r"^E +(SyntaxError|IndentationError|ImportError|ModuleNotFoundError|NameError)\b", re.MULTILINE
)


class Unusable(Exception):
    """The list, or a test that it names, cannot be used."""


class End(enum.Enum):
    CAUGHT = "caught"
    ALIVE = "ALIVE"
    BROKEN = "BROKEN"  # the test could not run, which shows nothing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Defect:
    """A change of one place of a file, and the test that must fail for it.

    The test is a pytest node id or, for C++, the source of a test program and a gtest filter.
    """

    name: str  # what a user would suffer
    file: str
    old: str
    new: str
    test: str

    @property
    def room(self) -> str:
        parts = pathlib.PurePath(self.file).parts
        return parts[0] if parts[0] in ONE_ROOM or len(parts) == 2 else "/".join(parts[:2])

    @property
    def is_cpp(self) -> bool:
        return not self.file.endswith(".py")

    @property
    def program(self) -> str:
        """The source of the C++ test program."""
        return self.test.split()[0]

    @property
    def filter(self) -> str:
        return self.test.split()[1]

    def planted_in(self, text: str) -> str:
        """Returns the text with the defect; raises Unusable if its place is not found once."""
        if (count := text.count(self.old)) != 1:
            raise Unusable(f"{self.name}: `old` is {count} times in {self.file} (expected once)")
        return text.replace(self.old, self.new)


def read_list(path: pathlib.Path) -> list[Defect]:
    return [Defect(**entry) for entry in tomllib.loads(path.read_text())["defect"]]


def read_lists() -> list[Defect]:
    return [defect for path in sorted(LISTS.glob("*.toml")) for defect in read_list(path)]


def in_room(defect: Defect, rooms: Sequence[str]) -> bool:
    return not rooms or any(f"{defect.room}/".startswith(f"{room}/") for room in rooms)


class Copy:
    """A copy of the tree's files, which is brought up to date and never built anew."""

    def __init__(self, number: int) -> None:
        self.folder = COPIES / str(number)
        self.tree = self.folder / "tree"
        listed = output_of(["git", "ls-files", "-z", "-co", "--exclude-standard"])
        wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            self._write(name, (ROOT / name).read_bytes())
            (self.tree / name).chmod((ROOT / name).stat().st_mode)
        for path in self.tree.rglob("*"):
            if path.is_file() and str(path.relative_to(self.tree)) not in wanted:
                path.unlink()

    def plant(self, defect: Defect) -> None:
        text = (ROOT / defect.file).read_text()
        self._write(defect.file, defect.planted_in(text).encode())

    def restore(self, defect: Defect) -> None:
        self._write(defect.file, (ROOT / defect.file).read_bytes())

    def _write(self, name: str, octets: bytes) -> None:
        """Writes a file if it differs, because a build goes by the times of files."""
        path = self.tree / name
        if not path.exists() or path.read_bytes() != octets:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(octets)


class PythonTests:
    """Runs pytest in a copy."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy

    def check(self, defects: Sequence[Defect]) -> None:
        """Raises Unusable unless all tests pass without a defect."""
        status, log = self._run(sorted({defect.test for defect in defects}), LIMIT_S * 5)
        if status != 0:
            raise Unusable(f"The tests must pass without a defect:\n{ending(log)}")

    def end_of(self, defect: Defect) -> tuple[End, str]:
        status, log = self._run([defect.test], LIMIT_S)
        if status == 0:
            return End.ALIVE, ""
        found = status == 1 and " failed" in log and not NOT_A_FINDING.search(log)
        return (End.CAUGHT, "") if found else (End.BROKEN, log)

    def _run(self, tests: Sequence[str], limit_s: float) -> tuple[int | None, str]:
        # Without site (-S), no .pth file of an editable installation comes before the copy.
        packages = [path for path in sys.path if path.endswith("-packages")]
        given = {
            "PYTHONPATH": os.pathsep.join([str(self._copy.tree), *packages]),
            "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc is told from its source by whole seconds
        }
        pytest = [sys.executable, "-S", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        return run([*pytest, *tests], self._copy.tree, limit_s, given)


class CppTests:
    """Builds one test program for each source that a defect names, and runs it."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._project = copy.folder / "project"
        self._build = copy.folder / "build"

    def check(self, defects: Sequence[Defect]) -> None:
        """Raises Unusable unless all tests are there and pass without a defect."""
        programs = sorted({defect.program for defect in defects})
        self._project.mkdir(parents=True, exist_ok=True)
        (self._project / "CMakeLists.txt").write_text("\n".join(self._cmake(programs)) + "\n")
        options = ["-D", "CMAKE_BUILD_TYPE=Debug", "-D", "CMAKE_CXX_FLAGS_DEBUG=-O0"]
        compiler = ["-D", "CMAKE_CXX_COMPILER=clang++-19"]  # compiles in a third of gcc's time
        configure = ["cmake", "-G", "Ninja", "-S", str(self._project), "-B", str(self._build)]
        libraries = {library_of(self._copy.tree / program) for program in programs}
        with_dpdk = "ON" if PORT in libraries else "OFF"
        self._must([*configure, *compiler, *options, "-D", f"NATXY_DPDK={with_dpdk}"])
        self._must(self._building([pathlib.Path(program).stem for program in programs]))
        for defect in defects:
            status, log = self._test(defect)
            if status != 0 or not re.search(r"\[  PASSED  \] [1-9]", log):
                raise Unusable(f"{defect.test} must pass without a defect:\n{ending(log)}")

    def end_of(self, defect: Defect) -> tuple[End, str]:
        command = self._building([pathlib.Path(defect.program).stem])
        status, log = run(command, self._copy.tree, BUILD_LIMIT_S)
        if status != 0:
            return End.BROKEN, log
        status, log = self._test(defect)
        if status == 0:
            return End.ALIVE, ""
        return (End.CAUGHT, "") if "[  FAILED  ]" in log else (End.BROKEN, log)

    def _cmake(self, programs: Sequence[str]) -> Iterator[str]:
        yield "cmake_minimum_required(VERSION 3.25)"
        yield "project(planted LANGUAGES CXX)"
        yield "set(CMAKE_CXX_STANDARD 20)"
        yield "find_program(CCACHE ccache)"  # what is restored needs no compilation
        yield "if(CCACHE)\nset(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})\nendif()"
        yield "find_package(GTest REQUIRED)\nfind_package(nlohmann_json REQUIRED)"
        yield "find_package(Threads REQUIRED)"
        yield f"add_subdirectory({self._copy.tree} natxy EXCLUDE_FROM_ALL)"
        for program in programs:
            source = self._copy.tree / program
            name, sources = source.stem, [source]
            if '"fake_runner.hpp"' in source.read_text():
                sources.append(source.with_name("fake_runner.cpp"))
            library, main = library_of(source), "GTest::gtest_main"
            if library == PORT:  # starts DPDK first
                sources.append(source.with_name("port_main.cpp"))
                main = "GTest::gtest"
            yield f"add_executable({name} {' '.join(map(str, sources))})"
            yield f"target_include_directories({name} PRIVATE {source.parent})"
            examples = self._copy.tree / "schemas" / "examples"
            yield f'target_compile_definitions({name} PRIVATE NATXY_EXAMPLES="{examples}")'
            core = "natxy_core" if library == PORT else ""
            others = f"{core} nlohmann_json::nlohmann_json {main} Threads::Threads"
            yield f"target_link_libraries({name} PRIVATE {library} {others})"

    def _building(self, targets: Sequence[str]) -> list[str]:
        return ["cmake", "--build", str(self._build), "--target", *targets]

    def _test(self, defect: Defect) -> tuple[int | None, str]:
        program = self._build / pathlib.Path(defect.program).stem
        command = [str(program), f"--gtest_filter={defect.filter}"]
        return run(command, self._copy.tree, LIMIT_S)

    def _must(self, command: Sequence[str]) -> None:
        status, log = run(command, self._copy.folder, BUILD_LIMIT_S)
        if status != 0:
            raise Unusable(f"{' '.join(command)} failed:\n{ending(log)}")


def library_of(test: pathlib.Path) -> str:
    """Returns the library with all that a test needs."""
    if test.parent.parent.name == "gateway":
        return "natxy_gateway"
    if "<rte_" in test.read_text():
        return PORT
    first = test.stem.partition("_")[0]
    return {"port": "natxy_neighbours", "requests": "natxy_requests"}.get(first, "natxy_core")


def output_of(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def run(
    command: Sequence[str],
    folder: pathlib.Path,
    limit_s: float,
    environment: dict[str, str] | None = None,
) -> tuple[int | None, str]:
    """Runs a command. Returns its exit status (None: out of time) and its output."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        log, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None, f"It did not end within {limit_s:g} s."
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, log


def ending(log: str) -> str:
    return "\n".join(log.splitlines()[-SHOWN_LINES:])


def ends_of(number: int, defects: Sequence[Defect]) -> list[End]:
    """Plants these defects, all in Python or all in C++, one after another in one copy."""
    copy = Copy(number)
    tests = CppTests(copy) if defects[0].is_cpp else PythonTests(copy)
    tests.check(defects)
    ends = []
    for defect in defects:
        copy.plant(defect)
        try:
            end, log = tests.end_of(defect)
        finally:
            copy.restore(defect)
        print(f"{end.value:8}{defect.room}: {defect.name} ({defect.test})", flush=True)
        if log:
            print(ending(log), flush=True)
        ends.append(end)
    return ends


def lanes_of(defects: Sequence[Defect], jobs: int) -> dict[int, list[Defect]]:
    """Divides the defects: those in C++ have the copy 0, whose build uses all CPUs."""
    lanes = {0: [defect for defect in defects if defect.is_cpp]}
    python = [defect for defect in defects if not defect.is_cpp]
    lanes |= {number + 1: python[number::jobs] for number in range(jobs)}
    return {number: lane for number, lane in lanes.items() if lane}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--room", action="append", default=[], help="only this room, such as engine/flow"
    )
    parser.add_argument("--list", action="store_true", help="show the defects, plant none")
    parser.add_argument("--jobs", type=int, default=1, help="copies at a time [default: 1]")
    arguments = parser.parse_args()
    defects = [each for each in read_lists() if in_room(each, arguments.room)]
    if arguments.list:
        for defect in defects:
            print(f"{defect.room}: {defect.name} ({defect.test})")
        return 0
    try:
        for defect in defects:
            defect.planted_in((ROOT / defect.file).read_text())
        lanes = lanes_of(defects, max(1, arguments.jobs))
        with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
            found = list(pool.map(ends_of, lanes.keys(), lanes.values()))
    except Unusable as reason:
        print(reason)
        return 1
    ends = [end for lane in found for end in lane]
    caught = ends.count(End.CAUGHT)
    print(f"{caught} passed, {len(ends) - caught} failed")
    return 0 if ends and caught == len(ends) else 1


if __name__ == "__main__":
    sys.exit(main())
