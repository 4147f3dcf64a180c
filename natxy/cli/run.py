"""`natxy run` and `natxy resume`: run a campaign, and go on with an interrupted one."""

from pathlib import Path
from typing import Annotated

from natxy.campaign.folder import Asked, CampaignFolder, read_asked
from natxy.campaign.plan import CampaignPlan, plan_again, plan_of
from natxy.campaign.records import CampaignState, read_campaign
from natxy.cli.campaigns import (
    EventsOption,
    check,
    check_cells,
    default_folder,
    further_of,
    go_on,
    narrator,
    pace_of,
    start,
    tell,
)
from natxy.cli.options import SeedOption, repeat_command, seed_of
from natxy.errors import ConfigurationError
from natxy.model.experiment_sections import Options
from natxy.setting import Argument, Setting

ExperimentArgument = Annotated[Path, Argument("experiment", "Experiment file (TOML)", "EXPERIMENT")]
QuickOption = Annotated[
    bool,
    Setting(
        "quick",
        "Scale the campaign down to a small machine: short trials, and what [quick] in the file "
        "says. The figures are no results",
        short="Short trials; the figures are no results",
    ),
]

TestbedsOption = Annotated[
    str | None,
    Setting(
        "testbeds",
        "Equal testbeds on which cells are measured at the same time, such as a.toml,b.toml",
        "FILE,...",
        default="the experiment's testbed",
        short="Equal testbeds that measure at the same time",
    ),
]
SchedulerOption = Annotated[
    str | None,
    Setting(
        "scheduler",
        "With several testbeds: address of a Dask scheduler whose processes measure, for example "
        "tls://10.0.0.1:8786",
        "ADDRESS",
        default="processes on this machine are started",
    ),
]


DutOption = Annotated[
    Path | None,
    Setting(
        "dut",
        "Testbed file whose [dut] and [tester] replace those of the experiment's testbed, to "
        "measure another gateway",
        "FILE",
        default="the testbed's gateway",
        short="Testbed of another gateway to measure",
    ),
]

OwnOptions = Annotated[
    list[str] | None,
    Setting(
        "option",
        "Option of every measurement, such as rate=5000; may be repeated",
        "NAME=VALUE",
        default="those of the experiment",
        short="Option of every measurement; may be repeated",
    ),
]
FolderArgument = Annotated[Path, Argument("folder", "Folder of the campaign", "DIR")]


def asked_of(experiment: Path, testbeds: str | None, dut: Path | None) -> Asked:
    """Reads the experiment on the gateways that the options name."""
    if testbeds and dut:
        raise ConfigurationError("--dut: is not possible beside --testbeds (expected one of them)")
    return read_asked(experiment, paths_of(testbeds), dut)


def options_of(words: list[str] | None) -> Options:
    """Returns the options by their names in an experiment."""
    options: Options = {}
    for word in words or ():
        name, _, value = word.partition("=")
        name = name.removeprefix("--").replace("-", "_")
        if not name or not value:
            raise ConfigurationError(
                f'--option: "{word}" is no option with its value (expected one such as rate=5000)'
            )
        options[name] = {"true": True, "false": False}.get(value, value)
    return options


def planned_of(
    asked: Asked, seed: int | None, *, quick: bool, option: list[str] | None
) -> CampaignPlan:
    """Returns the plan, which is checked; its seed is by default that of the experiment."""
    chosen = seed_of(asked.experiment.seed if seed is None else seed)
    options = options_of(option)
    plan = plan_of(asked.experiment, asked.testbed, chosen, quick=quick, options=options)
    try:
        check(plan)
    except ConfigurationError as error:
        where = "--option" if options and _is_right(asked, chosen, quick) else asked.source.name
        raise ConfigurationError(f"{where}: {error.in_options}") from None
    return plan


def _is_right(asked: Asked, seed: int, quick: bool) -> bool:
    """Returns whether the experiment is right without the options of the command line."""
    try:
        check(plan_of(asked.experiment, asked.testbed, seed, quick=quick))
    except ConfigurationError:
        return False
    return True


def paths_of(testbeds: str | None) -> list[Path]:
    return [Path(name) for name in testbeds.split(",")] if testbeds else []


def run(
    experiment: ExperimentArgument,
    quick: QuickOption = False,
    seed: SeedOption = None,
    output: Annotated[
        Path | None,
        Setting(
            "output",
            "New folder of the campaign",
            "DIR",
            default="natxy-results/TIME-NAME",
            short="New folder of the campaign",
            letter="o",
        ),
    ] = None,
    dut: DutOption = None,
    option: OwnOptions = None,
    testbeds: TestbedsOption = None,
    scheduler: SchedulerOption = None,
    json_output: EventsOption = False,
) -> None:
    """Run the campaign of an experiment file; `natxy resume` goes on after an interruption.

    The exit status is 1 if a cell failed; the other cells are measured nevertheless.

    Examples:
        natxy run experiment.toml --quick
        natxy run experiment.toml --output natxy-results/monday
        natxy run experiment.toml --testbeds a.toml,b.toml
    """
    asked = asked_of(experiment, testbeds, dut)
    plan = planned_of(asked, seed, quick=quick, option=option)
    further = further_of(asked, plan, scheduler)
    folder = CampaignFolder(path=output or default_folder(experiment))
    command = repeat_command(plan.seed)
    pace = pace_of(plan, CampaignState(header={}), testbeds=further.testbeds)
    watcher = narrator(pace, as_json=json_output)
    state = start(asked, plan, folder, command, watcher=watcher, further=further)
    if not json_output:
        tell(f"Campaign: {folder.path}")
    check_cells(folder, state)


def resume(
    folder: FolderArgument,
    retry: Annotated[
        bool, Setting("retry", "Measure failed cells again", short="Measure failed cells again")
    ] = False,
    scheduler: SchedulerOption = None,
    json_output: EventsOption = False,
) -> None:
    """Go on with an interrupted campaign.

    With one testbed, only the trial that was running is lost. No finished trial is repeated. With
    several testbeds, the cells that were running are lost, and are measured again. The exit status
    is 1 if a cell failed.

    Examples:
        natxy resume natxy-results/monday
        natxy resume natxy-results/monday --retry
        natxy resume natxy-results/monday --json
    """
    campaign = CampaignFolder(path=folder)
    asked = campaign.asked()
    with campaign.locked():
        state = read_campaign(campaign.journal)
        plan = plan_again(asked.experiment, asked.testbed, state.header)
        check(plan)
        further = further_of(asked, plan, scheduler)
        pace = pace_of(plan, state, testbeds=further.testbeds)
        watcher = narrator(pace, as_json=json_output)
        ended = go_on(plan, campaign, retries_failed=retry, watcher=watcher, further=further)
    if not json_output:
        tell(f"Campaign: {folder}")
    check_cells(campaign, ended)
