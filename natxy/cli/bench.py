"""`natxy bench`: measures a gateway before and after a change, in turn, and says what has changed.

Each campaign has a folder of its own, so that all other commands read it.
"""

import json
import shlex
from pathlib import Path
from typing import Annotated

import click

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import plan_again
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import check_hook, run_hook
from natxy.cli.campaigns import check, default_folder, go_on, say, start, tell
from natxy.cli.compare import WORSE, Comparison, share_of, show
from natxy.cli.options import progress_console
from natxy.cli.run import ExperimentArgument, asked_of, planned_of
from natxy.cli.sentences import joined, say_lines
from natxy.errors import ConfigurationError
from natxy.guest.image import renew_image
from natxy.model.source import Source
from natxy.report.change import LEAST_RUNS
from natxy.report.comparison_text import markdown
from natxy.report.junit import comparison_junit
from natxy.setting import Setting
from natxy.whole_file import write_whole

FALSE_ALARMS = 0.01  # share of tables in which any figure is told apart if nothing has changed
ROUNDS = Setting(
    "rounds",
    "Campaigns of each version, in turn; more find smaller changes",
    "N",
    short="Campaigns of each version",
)
BASE, HEAD = SIDES = ("base", "head")
THEN = " && "  # between the command that installs a version and the one that measures it


def bench(
    experiment: ExperimentArgument,
    base: Annotated[
        str,
        Setting(
            "base",
            "Command that installs the version to compare with, before each of its campaigns; no "
            "shell reads it",
            "COMMAND",
            short="Command that installs the version to compare with",
        ),
    ],
    head: Annotated[
        str,
        Setting(
            "head",
            "Command that installs the changed version",
            "COMMAND",
            short="Command that installs the changed version",
        ),
    ],
    rounds: Annotated[int, ROUNDS] = 5,
    output: Annotated[
        Path | None,
        Setting(
            "output",
            "Folder of the campaigns and of what they show; one that was interrupted goes on",
            "DIR",
            default="natxy-results/TIME-NAME",
            short="Folder of the campaigns; an interrupted one goes on",
            letter="o",
        ),
    ] = None,
    fail_if: Annotated[
        str,
        Setting(
            "fail_if",
            "Exit with status 1 if a main figure is worse, and by more than this share, or in the "
            "other cases in which `natxy compare` does",
            "worse-by=PERCENT",
            short="Exit with status 1 if a figure is worse by more",
        ),
    ] = "worse-by=0%",
) -> None:
    """Measure a gateway before and after a change, in turn, and say what is slower.

    The campaign of the experiment runs with the base, with the head, with the base, and so on. How
    much runs differ on this machine tells a change from noise: if nothing has changed, any figure
    is called worse or better in 1 % of all tables. DIR gets comparison.json, summary.md and
    junit.xml. The exit status is 1 if a figure is worse.

    Examples:
        natxy bench speed.toml --base "make -C old install" --head "make install"
        natxy bench speed.toml --base ./old --head ./new --rounds 10 -o speed
        natxy bench speed.toml --base ./old --head ./new --fail-if worse-by=3%
    """
    share = share_of(fail_if) or 0.0
    if rounds < LEAST_RUNS:
        raise ConfigurationError(ROUNDS, f": {rounds} is too few (expected {LEAST_RUNS} or more)")
    commands = {BASE: _words("--base", base), HEAD: _words("--head", head)}
    planned_of(asked_of(experiment, None, None), None, quick=False, option=None)
    folder = output or default_folder(experiment)
    runs = [(number, side) for number in range(1, rounds + 1) for side in SIDES]
    for number, side in runs:
        _known(folder / f"{side}-{number}", experiment, joined(commands[side]))
    files = [folder / name for name in ("comparison.json", "summary.md", "junit.xml")]
    for file in files:  # of fewer rounds
        file.unlink(missing_ok=True)
    try:
        for number, side in runs:
            say(f"Round {number} of {rounds}, {side}")
            _measure(experiment, folder / f"{side}-{number}", side, commands[side])
    except BaseException:
        if folder.exists():
            say(f"The same command with --output {shlex.quote(str(folder))} goes on.")
        raise
    made = _comparison(folder, rounds)
    reasons = [*made.reasons(share), *made.failures()]
    document = made.document(share)
    title = f"{made.shown_as.title}: {'; '.join(reasons) or 'nothing is worse'}"
    texts = (
        json.dumps(document, indent=2) + "\n",
        markdown(title, SIDES, made.differences, document["notes"]),
        comparison_junit(made.shown_as.title, made.differences, share, reasons),
    )
    for file, text in zip(files, texts, strict=True):
        write_whole(file, text)
    show([made], share)
    tell(f"Campaigns: {folder}")
    if reasons:
        raise click.exceptions.Exit(WORSE)


def _words(option: str, command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigurationError(f"{option}: {error} (expected a command)") from None
    if not words:
        raise ConfigurationError(f"{option}: is empty (expected a command)")
    return words


def _measure(experiment: Path, path: Path, side: str, command: list[str]) -> None:
    """Measures a campaign, or what is left of it; cells that failed are measured once more."""
    folder = CampaignFolder(path=path)
    state = _known(path, experiment, joined(command))
    if state is not None and _is_whole(state):
        return
    _install(side, command, asked_of(experiment, None, None).experiment.hooks.timeout_s)
    asked = asked_of(experiment, None, None)  # the command may have changed the testbed
    plan = planned_of(asked, None, quick=False, option=None)
    if any(cell.testbed["dut"]["kind"] == "guest" for cell in plan.cells if "dut" in cell.testbed):
        renew_image()  # the command may have changed what the guest is made of
    if state is None:
        run = joined(["natxy", "run", str(experiment), "--seed", str(plan.seed)])
        text = f"{joined(command)}{THEN}{run}"
        state = start(asked, plan, folder, text, advises=False)
    if not _is_whole(state):
        with folder.locked():
            asked = folder.asked()
            plan = plan_again(asked.experiment, asked.testbed, state.header)
            check(plan)
            go_on(plan, folder, retries_failed=True, advises=False)


def _known(path: Path, experiment: Path, command: str) -> CampaignState | None:
    """Returns what was measured there; ConfigurationError if it is another campaign."""
    folder = CampaignFolder(path=path)
    if not folder.journal.exists() or next(read_journal(folder.journal), None) is None:
        return None
    state = read_campaign(folder.journal)
    is_this = state.header["command"][0].startswith(f"{command}{THEN}")
    if not is_this or folder.asked().source.text != Source.read(experiment).text:
        raise ConfigurationError(
            f"{folder.path}: was measured with another command or experiment (expected those of "
            "before, or a new folder in --output)"
        )
    return state


def _is_whole(state: CampaignState) -> bool:
    ended = sum(each.end is not None and not each.failed for each in state.cells.values())
    return bool(ended == state.header["cells"])


def _install(side: str, command: list[str], timeout_s: float) -> None:
    say(f"{side}: {joined(command)}")
    done = run_hook(side, command, timeout_s)
    if done.status:
        say_lines(progress_console, done.output)
    check_hook(done)


def _comparison(folder: Path, rounds: int) -> Comparison:
    before, after = (
        [read_data(folder / f"{side}-{number}") for number in range(1, rounds + 1)]
        for side in SIDES
    )
    return Comparison(
        before=before,
        after=after,
        shown_as=before[0].plan.experiment,
        variation=None,
        names=SIDES,
        level=FALSE_ALARMS,
    )
