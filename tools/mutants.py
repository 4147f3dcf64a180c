#!/usr/bin/env python3
"""Makes one small change of the source at a time, and counts those that no unit test notices.

A mutant is `caught` if a test fails or does not end, and `ALIVE` if none fails. It is BROKEN, and
not counted, if it cannot be imported. The tests that run are those that call the changed function,
from test files that import a file of ROOMS, and no more than take 20 s, beginning with the files
that import the changed file. A mutant that only other tests notice counts as alive.
"""

import argparse
import functools
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Sequence

import pytest
from callers import FOLDER, Test, files_that_import, in_forks, nearest, read_tests, run_pytest
from mutations import ROOT, Mutant, mutants_of

ROOMS = {
    "search": ["natxy/statistics.py", "natxy/search/*.py"],
    "procedure": ["natxy/measure/*.py", "natxy/procedure/*.py"],
}
MOST_ALIVE = {"search": 0.1, "procedure": 0.2}  # shares; a run with more of them fails
SAMPLE = {"procedure": 400}  # of a room with more mutants, only so many are made
SEED = 1
# What takes long to import, and imports no file of ROOMS.
PRELOADED = ("rich.console", "click", "natxy.model.trial_record", "natxy.model.published")
TESTS_S = 20.0
IMPORT_S = 2.0  # to import a test file, about
MEMORY_BYTES = 4 * 2**30
ENDS = FOLDER / "ends"  # one line for each mutant that a run has judged
ALIVE, CAUGHT, BROKEN = "ALIVE", "caught", "BROKEN"
KEPT = {"none": (), "caught": (CAUGHT, BROKEN), "all": (CAUGHT, BROKEN, ALIVE)}
STATUSES = {ALIVE: 10, CAUGHT: 11}  # of processes
ENDLESS = (-signal.SIGALRM, -signal.SIGPROF)


class Judge:
    """A plugin of pytest: calls `judge` with the collected tests, instead of running them."""

    def __init__(self, judge: Callable[[dict[str, pytest.Item]], None]) -> None:
        self._judge = judge

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._judge({item.nodeid: item for item in session.items})
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(STATUSES[CAUGHT])


class Patch(importlib.abc.MetaPathFinder):
    """Imports a file's mutant in its place."""

    def __init__(self, mutant: Mutant) -> None:
        self._module = mutant.file.removesuffix(".py").replace("/", ".")
        self._path = str(ROOT / mutant.file)
        self._loader = _Loader(self._module, self._path)
        self._loader.code = mutant.compiled()

    def find_spec(
        self, name: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._module:
            return None
        return importlib.util.spec_from_file_location(name, self._path, loader=self._loader)


class _Loader(importlib.machinery.SourceFileLoader):
    code: types.CodeType

    def get_code(self, fullname: str) -> types.CodeType:
        return self.code


def run(tests: Sequence[Test], items: dict[str, pytest.Item]) -> None:
    """Runs the tests and ends the process; a test that fails has ended it before."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    following: list[Test | None] = [*tests[1:], None]
    for test, next_test in zip(tests, following, strict=True):
        signal.setitimer(signal.ITIMER_PROF, 5 + 5 * test.seconds)  # CPU time: for endless loops
        signal.setitimer(signal.ITIMER_REAL, 60 + 20 * test.seconds)
        item, next_item = items[test.name], items[next_test.name] if next_test else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
    os._exit(STATUSES[ALIVE])


def run_imported(mutant: Mutant, tests: Sequence[Test]) -> int:
    """Judges a mutant of what a file does when it is imported, in this process."""
    sys.meta_path.insert(0, Patch(mutant))
    files = dict.fromkeys(test.file for test in tests)
    return run_pytest(files, Judge(functools.partial(run, tests)))


def run_patched(
    mutant: Mutant,
    functions: Sequence[types.FunctionType],
    tests: Sequence[Test],
    items: dict[str, pytest.Item],
) -> int:
    """Judges a mutant of functions that were imported before, in this process."""
    changed = {_place(code): code for code in codes_in(mutant.compiled())}
    for function in functions:
        function.__code__ = changed[_place(function.__code__)]
    run(tests, items)
    return 0


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def imported_functions() -> dict[str, list[types.FunctionType]]:
    found: dict[str, list[types.FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType):
            file = os.path.relpath(each.__code__.co_filename, ROOT)
            found.setdefault(f"{file}:{each.__code__.co_qualname}", []).append(each)
    return found


def tests_of(mutant: Mutant, tests: Sequence[Test]) -> list[Test]:
    if mutant.function:
        found = [test for test in tests if mutant.function in test.called]
    else:
        files = {mutant.file, *files_that_import(mutant.file)}
        found = [test for test in tests if {test.file, *map(file_of, test.called)} & files]
    import_s = 0.0 if mutant.function else IMPORT_S
    return nearest(found, mutant.file, limit_s=TESTS_S, import_s=import_s)


def file_of(function: str) -> str:
    return function.partition(":")[0]


def note(mutant: str, end: str) -> None:
    print(f"{end:8}{mutant}", file=sys.__stdout__, flush=True)
    with ENDS.open("a") as file:
        file.write(f"{end} {mutant}\n")


def end_of(status: int) -> str:
    ends = {status: end for end, status in STATUSES.items()} | dict.fromkeys(ENDLESS, CAUGHT)
    return ends.get(status, BROKEN)


def judge(mutants: Sequence[Mutant], jobs: int) -> None:
    tests = read_tests(test_files(), jobs)
    used = {str(mutant): tests_of(mutant, tests) for mutant in mutants}
    for mutant in mutants:
        if not used[str(mutant)]:
            note(str(mutant), ALIVE)
    tested = [mutant for mutant in mutants if used[str(mutant)]]
    # While none of the package's files that change is imported yet.
    tasks = (
        (str(mutant), functools.partial(run_imported, mutant, used[str(mutant)]))
        for mutant in tested
        if not mutant.function
    )
    for name, status in in_forks(tasks, jobs):
        note(name, end_of(status))
    rest = [mutant for mutant in tested if mutant.function]
    files = {test.file for mutant in rest for test in used[str(mutant)]}
    if not rest:
        return
    plugin = Judge(functools.partial(judge_functions, rest, used, jobs))
    if run_pytest(sorted(files), plugin) != pytest.ExitCode.OK:
        sys.exit("The tests could not be collected.")


def judge_functions(
    mutants: Sequence[Mutant],
    used: dict[str, list[Test]],
    jobs: int,
    items: dict[str, pytest.Item],
) -> None:
    functions = imported_functions()
    gc.freeze()  # the processes share this memory
    tasks = (
        (
            str(each),
            functools.partial(run_patched, each, functions[each.function], used[str(each)], items),
        )
        for each in mutants
    )
    for name, status in in_forks(tasks, jobs):
        note(name, end_of(status))


def names_of(room: str) -> list[str]:
    files = sorted(path for pattern in ROOMS[room] for path in ROOT.glob(pattern))
    return [str(path.relative_to(ROOT)) for path in files]


def test_files() -> list[str]:
    found = {file for room in ROOMS for name in names_of(room) for file in files_that_import(name)}
    return sorted(file for file in found if file.startswith("tests/unit/test_"))


def sampled(room: str) -> tuple[list[Mutant], int]:
    """Returns the mutants of a room that are made, and how many there are."""
    mutants = [
        each for name in names_of(room) for each in mutants_of(name, (ROOT / name).read_text())
    ]
    count = min(SAMPLE.get(room, len(mutants)), len(mutants))
    return random.Random(SEED).sample(mutants, count), len(mutants)


def read_ends() -> dict[str, str]:
    lines = ENDS.read_text().splitlines() if ENDS.exists() else []
    return {mutant: end for end, _, mutant in (line.partition(" ") for line in lines)}


def summary(room: str) -> bool:
    """Prints a room's figure. Returns whether few enough mutants are alive."""
    mutants, total = sampled(room)
    found = [read_ends().get(str(mutant)) for mutant in mutants]
    alive, decided = found.count(ALIVE), found.count(ALIVE) + found.count(CAUGHT)
    share = alive / decided if decided else 0.0
    print(
        f"{room}: alive {alive} of {decided} decided ({share:.1%}), sampled from {total:,}; "
        f"{found.count(BROKEN)} broken, {found.count(None)} not judged"
    )
    return share <= MOST_ALIVE[room]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", action="append", choices=ROOMS, help="only this room")
    parser.add_argument("--file", action="append", help="only mutants of this file")
    parser.add_argument(
        "--keep",
        choices=KEPT,
        default="none",
        help="keep what earlier runs found: of mutants that were caught, or of all [default: none]",
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time [default: 1]")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends the processes, too
    os.chdir(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    before = read_ends()
    mutants = [
        mutant
        for room in arguments.room or ROOMS
        for mutant in sampled(room)[0]
        if not arguments.file or mutant.file in arguments.file
        if before.get(str(mutant)) not in KEPT[arguments.keep]
    ]
    for name in PRELOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        judge(mutants, max(1, arguments.jobs))
    few = [summary(room) for room in arguments.room or ROOMS]
    return 0 if all(few) else 1


if __name__ == "__main__":
    sys.exit(main())
