"""Runs the cells of a campaign one after another; each trial is in the journal before the next.

The commands of an experiment (its hooks) are run without a shell.

A notice says what disturbs its cells, and what happens to its testbeds.
"""

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from natxy.campaign.fewer_runs import shortened
from natxy.campaign.journal import Records, provenance
from natxy.campaign.kept_lab import KeptLab
from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.records import AFTER, BEFORE, CampaignState, CellEnd, CellRecord, HookRecord
from natxy.dut.base import Dut
from natxy.errors import DutError, NatxyError, StorageError
from natxy.model.coded import Fact, Sentences, Statement
from natxy.model.measurement import Measurement
from natxy.model.remark import Remark, Remarks
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.program_output import OutputTooLong, run
from natxy.trial.observer import Observer
from natxy.trial.past import Past
from natxy.trial.session import Session
from natxy.trial.setup import set_up

SHOWN = 2000  # characters of a command's output that the journal keeps


class Event(Sentences):
    # Of testbeds on one machine.
    SHARED_CPU = (
        "CPU {cpu} has several users ({who}): their figures disturb each other (expected other "
        "CPUs in tester.cores and dut.gateway_cpu)."
    )
    SHARED_TABLE = (
        "Cells set {sizes} different sizes of the connection tracking table, which all labs of a "
        "machine share. Cells that run at once then make each other fail (expected equal "
        "conntrack_entries and hash_size in all cells, or testbeds on different machines)."
    )
    # Of the processes of testbeds.
    TESTBED_LEFT = (
        "The process of testbed {where} has left ({address}); its cell is measured again by the "
        "next free testbed process."
    )
    TESTBED_STARTED_AGAIN = (
        "The process of testbed {where} has left ({address}), and a new one has come; the cell of "
        "the first one is measured again."
    )
    TESTBED_CAME = "A process of testbed {where} has come ({address})."
    NO_TESTBED = "There is no testbed process left; the campaign goes on when one comes."


Notice = Statement[Event, Fact]  # `where` is the number of a testbed


class Work(Protocol):
    """A measurement that a command with its options asks for."""

    def asked(self, testbed: Testbed) -> Testbed:
        """Returns the testbed with the command's options."""

    def results(
        self, session: Session, display: Callable[[str], AbstractContextManager[Observer]]
    ) -> Iterator[Measurement]:
        """Measures one after another; `display` gets the title of each, and observes it."""


class Watcher:
    """Shows what a campaign does; this one shows nothing."""

    def cell_started(self, left: Sequence[Cell], number: int, count: int) -> None:
        """Shows the first of the cells that are left; it has a number, from 1, among all cells."""

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None: ...

    def hook_started(self, when: str, command: Sequence[str]) -> None: ...

    def remarked(self, remark: Remark | Notice) -> None:
        """Shows a remark that is not about one cell."""

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        """Returns what shows the progress of a measurement."""
        del title
        yield Observer()


@dataclass(kw_only=True)
class Runner:
    """Runs the cells of a plan; by itself, it keeps their records, and shows nothing."""

    plan: CampaignPlan
    work_of: Callable[[Cell], Work]
    dut_of: Callable[[Testbed, Source], Dut]
    journal: Records = field(default_factory=Records)
    state: CampaignState = field(default_factory=lambda: CampaignState(header={}))
    watcher: Watcher = field(default_factory=Watcher)
    retries_failed: bool = False
    testbed: int = 1  # on which cells are measured
    _column: str | None = field(default=None, init=False)  # that the DUT is prepared for
    _begun: str = field(default="", init=False)  # the cell that began last
    _lab: KeptLab = field(default_factory=KeptLab, init=False)

    def run(self) -> None:
        """Runs the cells that have not ended; a cell that fails leaves its sentence."""
        cells = enumerate(self.plan.cells, start=1)
        left = [(number, cell) for number, cell in cells if self._open(cell)]
        hooks = self.plan.experiment.hooks
        done = self.state.after  # more than none if it was interrupted in these commands
        for remark in self._remarks if left else ():
            self.watcher.remarked(remark)
        if left:
            self._hooks(BEFORE, hooks.before)
            with self._lab:
                self._cells(left)
            done = 0
        self._hooks(AFTER, hooks.after[done:])

    @property
    def _remarks(self) -> Remarks:
        """Remarks on all results of the campaign, with which it began."""
        lines = map(json.dumps, self.state.header.get("remarks", ()))
        return tuple(map(Remark.model_validate_json, lines))

    def run_alone(self, cell: Cell, number: int) -> None:
        """Runs one cell, with the commands of its column around it."""
        with self._lab:
            self._cell(cell, number, leaves=True)

    def _cells(self, left: Sequence[tuple[int, Cell]]) -> None:
        for done, (number, cell) in enumerate(left):
            self._tell_of_start(left[done:])
            following = [after.column.label for _, after in left[done + 1 : done + 2]]
            self._cell(cell, number, leaves=following != [cell.column.label])

    def _tell_of_start(self, left: Sequence[tuple[int, Cell]]) -> None:
        """Tells the watcher that the first of the cells that are left starts."""
        number, _ = left[0]
        self.watcher.cell_started([cell for _, cell in left], number, len(self.plan.cells))

    def _open(self, cell: Cell) -> bool:
        known = self.state.cells.get(cell.key)
        if known is None or known.end is None:
            return True
        return self.retries_failed and known.failed

    def _cell(self, cell: Cell, number: int, *, leaves: bool) -> None:
        """Measures a cell; the last one of a column `leaves` it, before its end is written."""
        past = Past(self.state.past_of(cell.key), shortened)
        results: list[Measurement] = []
        error = ""
        try:
            self._enter_column(cell)
            with self._set_up(cell) as (session, work):
                self._begin(cell, number, session)
                results += self._measure(session, work, past)
        except StorageError:
            raise
        except NatxyError as failure:
            error = failure.in_options
            if self._begun != cell.key:
                self._begin(cell, number, None)
        if leaves and (failed := self._leave_column()):
            error = f"{error}; {failed}" if error else f"{failed} (the results are kept)"
        end = CellEnd(key=cell.key, error=error, ended=now())
        try:
            self.journal.append(*results, end)
        finally:  # what was measured is shown in spite of a full disk
            self.watcher.cell_ended(cell, results, error)

    @contextmanager
    def _set_up(self, cell: Cell) -> Iterator[tuple[Session, Work]]:
        source = Source(name=f'column "{cell.column.label}"')
        testbed: Testbed = source.validated(Testbed, cell.testbed)
        work = self.work_of(cell)
        asked = work.asked(testbed)
        dut = self._lab.fitting(self.dut_of(asked, source))
        with set_up(asked, source, dut, running=self._lab.running) as session:
            if cell.column.cores is not None:
                session.dut.set_cores(cell.column.cores)
            yield session, work

    def _measure(self, session: Session, work: Work, past: Past) -> list[Measurement]:
        goes_on = replace(session.with_observer(self.journal), past=past)
        results = [
            result.model_copy(update={"remarks": (*result.remarks, *self._remarks)})
            for result in work.results(goes_on, self.watcher.measuring)
        ]
        past.check_read()
        return results

    def _begin(self, cell: Cell, number: int, session: Session | None) -> None:
        begun = CellRecord(
            key=cell.key,
            number=number,
            column=cell.column.label,
            measure=cell.measure.name,
            round=cell.round,
            seed=cell.seed,
            started=now(),
            testbed=self.testbed,
            provenance={} if session is None else provenance(session, seed=cell.seed, command=[]),
        )
        self._begun = cell.key
        self.journal.append(begun)

    def _enter_column(self, cell: Cell) -> None:
        if self._column == cell.column.label:
            return
        hooks = self.plan.experiment.hooks
        self._hooks("before_column", (*hooks.before_column, *cell.column.before))
        self._column = cell.column.label

    def _leave_column(self) -> str:
        """Ends the column's lab; returns what failed, which takes no result away, or nothing."""
        self._lab.drop()
        if self._column is None:
            return ""
        self._column = None
        try:
            self._hooks("after_column", self.plan.experiment.hooks.after_column)
        except DutError as failure:
            return failure.in_options
        return ""

    def _hooks(self, when: str, commands: Sequence[Sequence[str]]) -> None:
        for command in commands:
            self.watcher.hook_started(when, command)
            done = run_hook(when, command, self.plan.experiment.hooks.timeout_s)
            self.journal.append(done)
            check_hook(done)


def now() -> str:
    """Returns the time of day, as the journal has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_hook(when: str, command: Sequence[str], timeout_s: float) -> HookRecord:
    """Runs a command to its end; raises DutError if it cannot be started or takes too long."""
    begin_s = time.monotonic()
    try:
        done = run(command, timeout_s=timeout_s, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        raise DutError(
            f"{when}: `{shlex.join(command)}` did not end within {timeout_s:g} s"
        ) from None
    except OutputTooLong as error:
        raise DutError(f"{when}: `{shlex.join(command)}` {error}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DutError(f"{when}: `{shlex.join(command)}` cannot be run: {reason}") from None
    return HookRecord(
        when=when,
        command=tuple(command),
        status=done.status,
        output=done.output[-SHOWN:],
        seconds=time.monotonic() - begin_s,
    )


def check_hook(hook: HookRecord) -> None:
    """Raises DutError if the command failed."""
    if hook.status != 0:
        last = hook.output.strip().splitlines()[-1:] or ["no output"]
        raise DutError(
            f"{hook.when}: `{shlex.join(hook.command)}` ended with status {hook.status}: {last[0]}"
        )
