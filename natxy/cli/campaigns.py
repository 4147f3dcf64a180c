"""What the commands of campaigns share: the work of a cell, and what a person sees of a run."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

import natxy
from natxy.campaign.folder import Asked, CampaignFolder
from natxy.campaign.journal import Journal
from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import Runner
from natxy.cli.options import progress_console, result_console
from natxy.cli.progress import SearchDisplay
from natxy.cli.series import COLLECTED, Work
from natxy.cli.verbs import GROUPS, command_of
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.report.bounds import marked
from natxy.statistics import median
from natxy.trial.observer import Observer

MEASURING = [verb for group in ("Measure", "Stateful") for verb in GROUPS[group] if verb != "trial"]
NOT_IN_A_CELL = ("testbed", "seed", "output", "json", "json-output", "records", "report", "help")


def arguments_of(cell: Cell) -> list[str]:
    """Returns the options of the cell's command, as on a command line."""
    words: list[str] = []
    for name, value in cell.options.items():
        option = f"--{name.replace('_', '-')}"
        if option.removeprefix("--") in NOT_IN_A_CELL:
            raise ConfigurationError(
                f"{_where(cell)}: {option} is not possible here (the campaign sets it)"
            )
        if value is True:
            words.append(option)
        elif isinstance(value, tuple):
            words += [option, ",".join(str(each) for each in value)]
        elif value is not False:
            words += [option, str(value)]
    return words


def command_line(cell: Cell) -> str:
    return shlex.join(["natxy", cell.measure.command, "TESTBED", *arguments_of(cell)])


def work_of(cell: Cell) -> Work:
    """Returns what the cell's command would do; raises ConfigurationError for a wrong option."""
    if cell.measure.command not in MEASURING:
        raise ConfigurationError(
            f'{_where(cell)}: unknown command "{cell.measure.command}" (expected one of '
            f"{', '.join(MEASURING)})"
        )
    command = command_of(cell.measure.command)
    words = ["TESTBED", *arguments_of(cell), "--seed", str(cell.seed)]
    collected: list[Work] = []
    token = COLLECTED.set(collected)
    try:
        with command.make_context(cell.measure.command, words) as context:
            command.invoke(context)
    except click.ClickException as error:
        raise ConfigurationError(f"{_where(cell)}: {error.format_message()}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{_where(cell)}: {error}") from None
    finally:
        COLLECTED.reset(token)
    (work,) = collected
    work.check()
    return work


def _where(cell: Cell) -> str:
    column = f', column "{cell.column.label}"' if cell.column.label else ""
    return f'measure "{cell.measure.name}"{column}'


def check(plan: CampaignPlan) -> None:
    """Raises ConfigurationError if a cell has a wrong option or testbed."""
    for cell in plan.cells:
        if cell.round > 1:
            continue
        source = Source(name=_where(cell))
        asked = work_of(cell).asked(source.validated(Testbed, cell.testbed))
        dut_of(asked, source)


def default_folder(path: Path) -> Path:
    return Path("natxy-results") / f"{datetime.now():%Y%m%dT%H%M%S}-{path.stem}"


def start(asked: Asked, plan: CampaignPlan, folder: CampaignFolder, command: str) -> None:
    """Runs a new campaign in a new folder."""
    with folder.locked():
        folder.create(asked)
        header = {
            "natxy_version": natxy.__version__,
            "command": [command],
            "seed": plan.seed,
            "experiment": asked.experiment.title,
            "quick": plan.quick,
            "cells": len(plan.cells),
        }
        with Journal(folder.journal, header) as journal:
            _run(plan, folder, journal, CampaignState(header=header), retries_failed=False)


def go_on(plan: CampaignPlan, folder: CampaignFolder, *, retries_failed: bool) -> None:
    """Runs the cells of an interrupted campaign that have not ended; the folder is locked."""
    state = read_campaign(folder.journal)
    with Journal.reopened(folder.journal) as journal:
        _run(plan, folder, journal, state, retries_failed=retries_failed)


def _run(
    plan: CampaignPlan,
    folder: CampaignFolder,
    journal: Journal,
    state: CampaignState,
    *,
    retries_failed: bool,
) -> None:
    if plan.quick:
        say("QUICK: SCALED DOWN BY --quick. THE FIGURES SHOW THAT THE CAMPAIGN RUNS, NO MORE.")
    runner = Runner(
        plan=plan,
        work_of=work_of,
        dut_of=dut_of,
        journal=journal,
        state=state,
        watcher=Narrator(console=progress_console),
        retries_failed=retries_failed,
    )
    try:
        runner.run()
    except BaseException:
        say(f"Go on with: natxy resume {shlex.quote(str(folder.path))}")
        raise


@dataclass(frozen=True, kw_only=True)
class Narrator:
    """Says what a campaign does, on a console."""

    console: Console

    def cell_started(self, cell: Cell, number: int, count: int) -> None:
        rounds = f", round {cell.round}" if cell.round > 1 else ""
        self._say(f"[{number}/{count}] {cell.title}{rounds}")

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        if error:
            self._say(f"  failed: {error}")
        for result in results:
            self._say(f"  {found(result)}")

    def hook_started(self, when: str, command: Sequence[str]) -> None:
        self._say(f"{when}: {shlex.join(command)}")

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        display: AbstractContextManager[Observer] = (
            SearchDisplay(self.console, title) if self.console.is_terminal else _nobody()
        )
        with display as observer:
            yield observer

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def _nobody() -> Iterator[Observer]:
    yield Observer()


def found(result: Measurement) -> str:
    """Returns the main figures of a result in one line."""
    return ", ".join(
        f"{figure.name}{' ' + figure.at if figure.at else ''} "
        f"{marked(figure, median(figure.values))}{_unit(figure.unit)}"
        for figure in result.figures
        if figure.primary and figure.values
    )


def _unit(unit: str) -> str:
    return f" {unit}" if unit in ("fps", "cps") else ""


def say(line: str) -> None:
    progress_console.print(line, highlight=False, markup=False, soft_wrap=True)


def tell(line: str) -> None:
    result_console.print(line, highlight=False, markup=False, soft_wrap=True)
