"""`natxy run`: runs a campaign."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.plan import plan_of
from natxy.cli.campaigns import EventsOption, check, default_folder, narrator, start, tell
from natxy.cli.options import SeedOption, seed_of

ExperimentArgument = Annotated[
    Path, typer.Argument(metavar="EXPERIMENT", help="Experiment file (TOML).")
]
QuickOption = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Scale the campaign down to a small machine: short trials, and what [quick] in the "
        "file says. The figures are no results.",
    ),
]


def run(
    experiment: ExperimentArgument,
    quick: QuickOption = False,
    seed: SeedOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="New folder of the campaign [default: natxy-results/TIME-NAME].", metavar="DIR"
        ),
    ] = None,
    json_output: EventsOption = False,
) -> None:
    """Run the campaign of an experiment file; `natxy resume` goes on after an interruption."""
    asked = read_asked(experiment)
    chosen = asked.experiment.seed if seed is None else seed
    plan = plan_of(asked.experiment, asked.testbed, seed_of(chosen), quick=quick)
    check(plan)
    folder = CampaignFolder(path=output or default_folder(experiment))
    command = shlex.join(["natxy", "run", str(experiment)])
    start(asked, plan, folder, command, watcher=narrator(as_json=json_output))
    if not json_output:
        tell(f"Campaign: {folder.path}")
