"""The shared part of the commands of campaigns: the work of a cell, and the start of a run."""

import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Annotated, TypeVar

import click

import natxy
from natxy.campaign.dask_workers import check_installed, check_scheduler
from natxy.campaign.folder import Asked, CampaignFolder, write_campaign_results
from natxy.campaign.journal import Journal
from natxy.campaign.plan import CampaignPlan, Cell, check_keys, plan_of
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import Watcher, now
from natxy.campaign.testbeds import TestbedsRunner
from natxy.cli import sentences
from natxy.cli.expected import duration_s, repeats_s
from natxy.cli.help import GROUPS
from natxy.cli.narrator import JsonNarrator, Narrator, Pace
from natxy.cli.options import progress_console, result_console
from natxy.cli.series_options import Work
from natxy.cli.verbs import command_of
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError, MeasurementError, NatxyError
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.setting import Setting

T = TypeVar("T")
EventsOption = Annotated[
    bool,
    Setting(
        "json_output",
        "Write what happens to standard output, as one JSON object a line",
        option="json",
    ),
]
MEASURING = [verb for group in ("Measure", "Stateful") for verb in GROUPS[group] if verb != "trial"]
# After an interruption.
TRIAL_LOST = "A trial that had not ended is lost."
CELLS_LOST = "Cells that had not ended are lost, and will be measured again."
OPTION = re.compile(r"`[^`]*`|(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")  # not within commands
NOT_IN_A_CELL = (
    *("testbed", "seed", "output", "json", "json-output", "records", "report", "help"),
    *("quiet", "verbose"),
)


def arguments_of(cell: Cell) -> list[str]:
    """Returns the options of the cell's command, as on a command line."""
    words: list[str] = []
    for name, value in cell.options.items():
        option = f"--{name.replace('_', '-')}"
        if option.removeprefix("--") in NOT_IN_A_CELL:
            raise ConfigurationError(
                f"{_where(cell)}: {name} is not possible here (the campaign sets it)"
            )
        if value is True:
            words.append(option)
        elif isinstance(value, tuple):
            words += [option, ",".join(str(each) for each in value)]
        elif value is not False:
            words += [option, str(value)]
    return words


def command_line(cell: Cell) -> str:
    return sentences.joined(["natxy", cell.measure.command, "TESTBED", *arguments_of(cell)])


def work_of(cell: Cell) -> Work:
    """Returns what the cell's command would do; raises ConfigurationError for a wrong option."""
    if cell.measure.command not in MEASURING:
        raise ConfigurationError(
            f'{_where(cell)}: unknown command "{cell.measure.command}" (expected one of '
            f"{', '.join(MEASURING)})"
        )
    words = [*arguments_of(cell), "--seed", str(cell.seed)]
    _check_switches(cell)
    try:
        work = collected(cell.measure.command, words)
        work.check()
    except click.ClickException as error:
        raise ConfigurationError(f"{_where(cell)}: {_in_keys(error.format_message())}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{_where(cell)}: {_in_keys(error.in_options)}") from None
    return work


def _check_switches(cell: Cell) -> None:
    """Refuses true for an option with a value: it would take the option after it as its value."""
    given = {name.replace("-", "_"): value for name, value in cell.options.items()}
    for option in command_of(cell.measure.command).params:
        name = option.opts[0].removeprefix("--").replace("-", "_")
        value, switch = given.get(name, False), getattr(option, "is_flag", False)
        if value is not False and switch != (value is True):
            expected = "true or false" if switch else "a value"
            raise ConfigurationError(
                f"{_where(cell)}: {name}: {json.dumps(value)} is not possible (expected {expected})"
            )


def _in_keys(sentence: str) -> str:
    """Returns an error with the options' names as an experiment writes them."""
    return OPTION.sub(lambda found: found[1].replace("-", "_") if found[1] else found[0], sentence)


def collected(verb: str, words: Sequence[str]) -> Work:
    """Returns what a measuring command with these options would do."""
    command = command_of(verb)
    with command.make_context(verb, ["TESTBED", *words]) as context:
        work: Work = command.invoke(context)
    return work


def _where(cell: Cell) -> str:
    column = f', column "{cell.column.label}"' if cell.column.label else ""
    return f'measure "{cell.measure.name}"{column}'


def check(plan: CampaignPlan) -> None:
    """Raises ConfigurationError if a cell has a wrong option or testbed, or a key is unknown."""
    check_keys(plan.experiment)
    for cell in plan.cells:
        if cell.round > 1:
            continue
        source = Source(name=_where(cell))
        work = work_of(cell)
        asked = work.asked(source.validated(Testbed, cell.testbed))
        dut_of(asked, source)
        try:
            work.check_traffic(asked, source)
        except ConfigurationError as error:
            raise ConfigurationError(f"{_where(cell)}: {error.in_options}") from None


def durations_s(plan: CampaignPlan) -> list[float]:
    """Returns about how long each cell takes."""
    return of_each(plan, lambda cell: _seconds(cell, duration_s))


def most_repeats_s(plan: CampaignPlan) -> list[float]:
    """Returns how much longer each cell takes at most if trials are INVALID; 0 if unlimited."""
    return of_each(plan, lambda cell: _seconds(cell, repeats_s))


def _seconds(cell: Cell, of: Callable[[Work, Testbed], Fraction]) -> float:
    testbed: Testbed = Source(name=_where(cell)).validated(Testbed, cell.testbed)
    return float(of(work_of(cell), testbed))


def of_each(plan: CampaignPlan, known_of: Callable[[Cell], T]) -> list[T]:
    """Returns what a function says of each cell; it is the same for all rounds of a cell."""
    known: dict[tuple[str, str], T] = {}
    names = [(cell.column.label, cell.measure.name) for cell in plan.cells]
    for name, cell in zip(names, plan.cells, strict=True):
        if name not in known:
            known[name] = known_of(cell)
    return [known[name] for name in names]


def pace_of(plan: CampaignPlan, state: CampaignState, *, testbeds: int = 1) -> Pace:
    """Returns how long the cells that have ended took, and how long the others are planned."""
    try:
        planned_s = {
            cell.key: cell_s for cell, cell_s in zip(plan.cells, durations_s(plan), strict=True)
        }
    except NatxyError:  # a cell that fails, or one of another release; the time is not known then
        planned_s = {}
    return Pace.of(state, planned_s=planned_s, testbeds=testbeds)


def narrator(pace: Pace, *, as_json: bool = False) -> Watcher:
    return JsonNarrator(pace) if as_json else Narrator(console=progress_console, pace=pace)


@dataclass(frozen=True, kw_only=True)
class Further:
    """The testbeds beside the first, on which cells are measured at the same time."""

    plans: tuple[CampaignPlan, ...] = ()  # the cells on each of them
    scheduler: str = ""  # address of Dask's scheduler; empty: one is started

    @property
    def testbeds(self) -> int:
        """Number of all testbeds, the first included."""
        return 1 + len(self.plans)


ALONE = Further()


def further_of(asked: Asked, plan: CampaignPlan, scheduler: str | None) -> Further:
    """Returns the further testbeds. Raises ConfigurationError if there are any and the
    extra for them is not installed.
    """
    if not asked.further:
        if scheduler:
            raise ConfigurationError(
                "--scheduler: has one testbed to measure on (expected two or more in --testbeds)"
            )
        return Further()
    if scheduler:
        check_scheduler(scheduler)
    check_installed()
    return Further(plans=further_plans(asked, plan), scheduler=scheduler or "")


def further_plans(asked: Asked, plan: CampaignPlan) -> tuple[CampaignPlan, ...]:
    """Returns the checked plans of further testbeds, with the cells of `plan` in its order."""
    plans = tuple(
        plan_of(
            asked.experiment,
            testbed,
            plan.seed,
            quick=plan.quick,
            options=plan.options,
            labels=plan.labels,
        )
        for testbed in asked.testbeds[1:]
    )
    for each in plans:
        check(each)
    return plans


def default_folder(path: Path) -> Path:
    return Path("natxy-results") / f"{datetime.now():%Y%m%dT%H%M%S}-{path.stem}"


def start(
    asked: Asked,
    plan: CampaignPlan,
    folder: CampaignFolder,
    command: str,
    *,
    watcher: Watcher | None = None,
    further: Further = ALONE,
    replace: bool = False,
    advises: bool = True,
) -> CampaignState:
    """Runs a new campaign in a new folder, or in that of an earlier run, which it replaces.

    Returns what its journal holds in the end. `advises`: says how it goes on if it is interrupted.
    """
    with folder.locked():
        folder.create(asked, replace=replace)
        header = {
            "natxy_version": natxy.__version__,
            "command": [command],
            "seed": plan.seed,
            "started": now(),
            "experiment": asked.experiment.title,
            "quick": plan.quick,
            "options": plan.options,
            "columns": plan.labels,
            "cells": len(plan.cells),
            "remarks": [each.model_dump(mode="json") for each in asked.remarks],
        }
        with Journal(folder.journal, header, replace=replace) as journal:
            state = CampaignState(header=header)
            return _run(folder, plan, journal, state, watcher, further, advises=advises)


def go_on(
    plan: CampaignPlan,
    folder: CampaignFolder,
    *,
    retries_failed: bool,
    watcher: Watcher | None = None,
    further: Further = ALONE,
    advises: bool = True,
) -> CampaignState:
    """Runs the cells of an interrupted campaign that have not ended; the folder is locked.

    Returns what its journal holds in the end.
    """
    state = read_campaign(folder.journal)
    with Journal.reopened(folder.journal) as journal:
        return _run(
            folder, plan, journal, state, watcher, further, retries=retries_failed, advises=advises
        )


def _run(
    folder: CampaignFolder,
    plan: CampaignPlan,
    journal: Journal,
    state: CampaignState,
    watcher: Watcher | None,
    further: Further,
    *,
    retries: bool = False,
    advises: bool,
) -> CampaignState:
    runner = TestbedsRunner(
        plan=plan,
        further=further.plans,
        scheduler=further.scheduler,
        work_of=work_of,
        dut_of=dut_of,
        journal=journal,
        state=state,
        watcher=watcher or narrator(pace_of(plan, state, testbeds=further.testbeds)),
        retries_failed=retries,
    )
    if plan.quick:
        say("QUICK: SCALED DOWN BY --quick. THE FIGURES SHOW THAT THE CAMPAIGN RUNS, NO MORE.")
    lost = CELLS_LOST if further.plans else TRIAL_LOST
    try:
        runner.run()
        lost = ""
        state = read_campaign(folder.journal)
        write_campaign_results(folder, state)
    except BaseException:
        if lost:
            say(lost)
        if advises:
            sentences.quote(
                progress_console, f"Go on with: natxy resume {shlex.quote(str(folder.path))}"
            )
        raise
    return state


def check_cells(folder: CampaignFolder, state: CampaignState) -> None:
    """Raises MeasurementError if a cell of a campaign that has ended failed."""
    cells = state.cells.values()
    if failed := sum(each.failed for each in cells):
        path = shlex.quote(str(folder.path))
        raise MeasurementError(
            f"{folder.path}: {failed} of {len(cells)} cells failed (expected none; `natxy status "
            f"{path}` shows why, `natxy resume --retry {path}` measures them again)"
        )


def say(line: str) -> None:
    sentences.say(progress_console, line)


def tell(line: str) -> None:
    sentences.say(result_console, line)
