"""A plugin of pytest: tests measure a gateway, and their figures are compared with an earlier run.

pytest loads it wherever Natxy is installed, so nothing else of Natxy is imported before a test
measures or an option asks for it.
"""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from natxy.api import Testbed
    from natxy.campaign.data import CampaignData

SAVE, COMPARE, FAIL_IF = "--natxy-save", "--natxy-compare", "--natxy-fail-if"
FOLDER = "natxy"  # property of a test's report: where the test's results are
OTHER_THAN_A_NAME = re.compile(r"[^\w.=\[\]]+")
LONGEST = 100  # characters of a folder's name


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("natxy", "figures of gateways (natxy)")
    # Absolute: a process of pytest-xdist may have another working folder.
    group.addoption(
        SAVE,
        metavar="DIR",
        type=os.path.abspath,
        help="New folder, in which each test that measures has a folder with its results",
    )
    group.addoption(
        COMPARE,
        metavar="DIR",
        type=os.path.abspath,
        help="Compare the figures with those of an earlier run, which was saved in this folder",
    )
    group.addoption(
        FAIL_IF,
        metavar="worse-by=PERCENT",
        help=f"With {COMPARE}: end with status 1 if a main figure is worse by more than a share, "
        "as with `natxy compare --fail-if`",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuses wrong options before anything is measured."""
    if hasattr(config, "workerinput"):
        return  # a process of pytest-xdist
    saved, base, fail_if = (config.getoption(each) for each in (SAVE, COMPARE, FAIL_IF))
    if saved and Path(saved).exists():
        raise pytest.UsageError(f"{SAVE}: {saved} exists already (expected a new folder)")
    if base and not Path(base).is_dir():
        raise pytest.UsageError(f"{COMPARE}: {base} is no folder (expected one of {SAVE})")
    if fail_if and not base:
        raise pytest.UsageError(f"{FAIL_IF}: compares nothing (expected {COMPARE} beside it)")
    config.pluginmanager.register(
        _Run(base=Path(base) if base else None, share=_share_of(fail_if)), "natxy-run"
    )


@pytest.fixture
def natxy_testbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Callable[[str | Path], Testbed]":
    """Returns a function that reads a testbed's file, by its path from the test's own folder, as a
    natxy.Testbed that keeps the results of each measurement."""
    from natxy.api import Testbed

    saved = request.config.getoption(SAVE)
    folder = Path(saved or tmp_path_factory.mktemp("natxy")) / _name_of(request.node.nodeid)
    request.node.user_properties.append((FOLDER, str(folder)))
    return lambda path: Testbed(request.path.parent / path, output=folder)


def _name_of(test: str) -> str:
    """Returns the name of a test's folder: "test_nat64.py-test_rate[84]".

    Other tests' names may differ only in what a name of a file cannot hold.
    """
    plain = test.replace("/", "-").replace("::", "-")
    name = OTHER_THAN_A_NAME.sub("-", plain)
    if name == plain and len(name) <= LONGEST and "-" not in test:
        return name
    return f"{name[:LONGEST]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


def _share_of(fail_if: str | None) -> float | None:
    if fail_if is None:
        return None
    from natxy.cli.compare import share_of
    from natxy.errors import ConfigurationError

    try:
        return share_of(fail_if, FAIL_IF)
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from None


@dataclass(kw_only=True, eq=False)  # pytest has its plugins in sets
class _Run:
    """Knows where the tests of this run have their results, and compares them at its end."""

    base: Path | None
    share: float | None  # by which a figure may be worse; None: nothing fails
    folders: dict[str, Path] = field(default_factory=dict)  # by the test's name
    said: str = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        known = dict(report.user_properties)
        if FOLDER in known:
            self.folders[report.nodeid] = Path(str(known[FOLDER]))

    @pytest.hookimpl(tryfirst=True)  # before pytest removes its temporary folders
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.folders and self.share is None:
            return
        from natxy.errors import NatxyError

        try:
            failed = self._compare(self.base) if self.base else self._show()
        except NatxyError as error:
            self.said, failed = f"{error}\n", self.share is not None
        if failed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.said:
            terminalreporter.section("figures of gateways (natxy)")
            terminalreporter.write(self.said)

    def _show(self) -> bool:
        """Says what each test has found; nothing fails."""
        from natxy.report.found_words import found

        now = _measured(self.folders)
        for cell in now.cells if now else ():
            for words in (*found(cell.results, summed=False), *filter(None, [cell.error])):
                self.said += f"{cell.column}: {words}\n"
        return False

    def _compare(self, base: Path) -> bool:
        """Compares the run with an earlier one; tells if that fails it."""
        from natxy.cli.compare import Comparison, table_of
        from natxy.cli.sentences import console_of
        from natxy.errors import ConfigurationError
        from natxy.report.comparison import LEVEL, RUN_VARIATION

        now = _measured(self.folders)
        before = _measured({test: base / _name_of(test) for test in self.folders})
        if now is None or before is None:
            raise ConfigurationError(
                f"{base if now else 'this run'}: has no figures of these tests "
                f"(expected some, to compare {base} with this run)"
            )
        comparison = Comparison(
            before=[before],
            after=[now],
            shown_as=before.plan.experiment,
            variation=RUN_VARIATION,
            level=LEVEL,
        )
        comparison.check_common()
        reasons = [] if self.share is None else list(comparison.reasons(self.share))
        console = console_of()
        with console.capture() as captured:
            console.print(table_of(comparison.differences, comparison.names))
            for line in (*comparison.notes(), *reasons):
                console.print(line)
        self.said = captured.get()
        return bool(reasons or (self.share is not None and comparison.failed))


def _measured(folders: dict[str, Path]) -> "CampaignData | None":
    """Returns the measurements of tests as one campaign, whose columns are the tests."""
    from natxy.campaign.data import read_data
    from natxy.campaign.journal import FILE_NAME

    known = [
        (test, journal.parent.name, read_data(journal.parent))
        for test, folder in folders.items()
        for journal in sorted(folder.glob(f"*/{FILE_NAME}"))
    ]
    if not known:
        return None
    cells = tuple(
        replace(cell, column=test, measure=name)
        for test, name, data in known
        for cell in data.cells
    )
    folder = next(iter(folders.values())).parent
    return replace(known[0][2], folder=folder, cells=cells)
