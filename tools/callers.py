"""Finds out which unit tests call which functions of the package.

Each test file runs once, in its own process. What its tests call is kept in build/mutants until the
file changes. After larger changes of the package, remove that folder.
"""

import ast
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

import hypothesis
import pytest
from mutations import ROOT

FOLDER = ROOT / "build" / "mutants"
PACKAGE = f"{ROOT / 'natxy'}{os.sep}"
PROFILE = "mutants"  # of hypothesis: the same examples each time, and none is made smaller
PYTEST = [
    *("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not long", "--capture=sys"),
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
]
FAILED = 1  # what a process ends with that raises an exception


@dataclasses.dataclass(frozen=True, kw_only=True)
class Test:
    name: str  # pytest's node id
    seconds: float
    called: frozenset[str]  # functions, as `natxy/statistics.py:median`

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


def run_pytest(files: Iterable[str], plugin: object) -> int:
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        PROFILE, derandomize=True, database=None, deadline=None, phases=phases
    )
    return pytest.main([*PYTEST, f"--hypothesis-profile={PROFILE}", *files], plugins=[plugin])


def in_forks(
    tasks: Iterable[tuple[str, Callable[[], int]]], jobs: int
) -> Iterator[tuple[str, int]]:
    """Runs each task in a process of its own, `jobs` at a time.

    Yields its name and what it returned, or the negative number of the signal that ended it.
    """
    running: dict[int, str] = {}
    try:
        for name, task in tasks:
            if len(running) >= jobs:
                yield _ended(running)
            running[_forked(task)] = name
        while running:
            yield _ended(running)
    finally:
        for pid in running:
            _kill(pid)


def _forked(task: Callable[[], int]) -> int:
    if pid := os.fork():
        return pid
    status = FAILED
    try:
        os.setsid()  # so that the programs that it starts can be ended with it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        log = os.open(FOLDER / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = task()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _ended(running: dict[int, str]) -> tuple[str, int]:
    pid, status = os.wait()
    _kill(pid)
    return running.pop(pid), os.waitstatus_to_exitcode(status)


def _kill(pid: int) -> None:
    """Kills a process and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def read_tests(files: Sequence[str], jobs: int) -> list[Test]:
    """Returns the tests of these files that pass; runs the files whose tests are not known yet."""
    (FOLDER / "tests").mkdir(parents=True, exist_ok=True)
    unknown = [file for file in files if not _kept(file).exists()]
    tasks = ((file, functools.partial(_trace, file)) for file in unknown)
    for done, (file, status) in enumerate(in_forks(tasks, jobs), start=1):
        failed = "; a test that failed is not used" if status else ""
        print(f"{done} of {len(unknown)}: ran {file} once{failed}", flush=True)
    return [test for file in files if _kept(file).exists() for test in _read(file)]


def _kept(file: str) -> pathlib.Path:
    digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]
    return FOLDER / "tests" / f"{pathlib.Path(file).stem}-{digest}.json"


def _read(file: str) -> Iterator[Test]:
    for name, seconds, called in json.loads(_kept(file).read_text()):
        yield Test(name=name, seconds=seconds, called=frozenset(called))


def _trace(file: str) -> int:
    tracer = _Tracer()
    status = run_pytest([file], tracer)
    part = _kept(file).with_suffix(".part")
    part.write_text(json.dumps(tracer.found()))
    part.rename(_kept(file))
    return status


class _Tracer:
    """Notes which functions each test calls, and how long it takes.

    What is called while a test is set up counts for all tests of the file, since a fixture may be
    shared.
    """

    def __init__(self) -> None:
        self._codes: dict[str, set[types.CodeType]] = {}
        self._of_all: set[types.CodeType] = set()
        self._noted = self._of_all
        self._seconds: dict[str, float] = {}
        self._bad: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        begin = time.monotonic()
        threading.settrace(self._note)
        sys.settrace(self._note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self._seconds[item.nodeid] = time.monotonic() - begin

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        self._noted = self._codes.setdefault(item.nodeid, set())
        try:
            return (yield)
        finally:
            self._noted = self._of_all

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._bad.add(report.nodeid)

    def found(self) -> list[tuple[str, float, list[str]]]:
        return [
            (name, round(self._seconds[name], 3), sorted(_functions(codes | self._of_all)))
            for name, codes in self._codes.items()
            if name not in self._bad
        ]

    def _note(self, frame: types.FrameType, event: str, argument: Any) -> None:
        self._noted.add(frame.f_code)


def _functions(codes: set[types.CodeType]) -> set[str]:
    return {
        f"{os.path.relpath(code.co_filename, ROOT)}:{code.co_qualname.partition('.<locals>')[0]}"
        for code in codes
        if code.co_filename.startswith(PACKAGE)
    }


@functools.cache
def files_that_import(file: str) -> frozenset[str]:
    """Returns the files of the package and of the unit tests that import a file of the package."""
    module = file.removesuffix(".py").replace("/", ".")
    found = (*ROOT.glob("natxy/**/*.py"), *ROOT.glob("tests/unit/*.py"))
    return frozenset(str(path.relative_to(ROOT)) for path in found if module in _imports(path))


@functools.cache
def _imports(path: pathlib.Path) -> frozenset[str]:
    return frozenset(_names(ast.walk(ast.parse(path.read_text()))))


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for each in nodes:
        if isinstance(each, ast.ImportFrom) and each.module:
            yield each.module
            yield from (f"{each.module}.{alias.name}" for alias in each.names)  # may be modules
        elif isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)


def nearest(
    tests: Sequence[Test], file: str, *, limit_s: float, import_s: float = 0.0
) -> list[Test]:
    """Returns the tests that run for a change of a file, at most as many as take `limit_s`.

    The tests of files that import the changed file come first, and the fastest of them. To import
    a test file takes `import_s`.
    """
    near = files_that_import(file)
    chosen: list[Test] = []
    imported: set[str] = set()
    for test in sorted(tests, key=lambda each: (each.file not in near, each.seconds)):
        needed_s = test.seconds + (0.0 if test.file in imported else import_s)
        if needed_s <= limit_s:
            limit_s -= needed_s
            imported.add(test.file)
            chosen.append(test)
    return chosen
