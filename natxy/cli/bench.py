"""`natxy bench`: measures a gateway before and after a change, and says what has changed.

Each campaign has a folder of its own, so that all other commands read it.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import click

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import read_journal
from natxy.campaign.plan import CampaignPlan, Cell, plan_again
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.runner import Watcher, check_hook, run_hook
from natxy.campaign.turns import Turn, take_turns
from natxy.cli.campaigns import check, default_folder, go_on, narrator, pace_of, say, start, tell
from natxy.cli.compare import WORSE, Comparison, share_of, show
from natxy.cli.narrator import Narrator
from natxy.cli.now_and_then import NowAndThen
from natxy.cli.options import progress_console
from natxy.cli.run import ExperimentArgument, asked_of, planned_of
from natxy.cli.sentences import joined, say_lines
from natxy.dut.recipe import drivers
from natxy.errors import ConfigurationError
from natxy.guest.image import renew_image
from natxy.model.source import Source
from natxy.report.change import LEAST_RUNS
from natxy.report.comparison_text import markdown
from natxy.report.junit import comparison_junit
from natxy.setting import Setting
from natxy.trial.observer import Observer, Observers
from natxy.whole_file import write_whole

FALSE_ALARMS = 0.01  # share of tables in which any figure is told apart if nothing has changed
ROUNDS = Setting(
    "rounds",
    "Campaigns of each version; more find smaller changes",
    "N",
    short="Campaigns of each version",
)
BASE, HEAD = SIDES = ("base", "head")
# Between the command that installs a version and the one that measures it.
THEN, IN_TURN = " && natxy run ", " && in turn: natxy run "


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
    rounds: Annotated[int, ROUNDS] = 10,
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
    apart: Annotated[
        bool,
        Setting(
            "apart",
            "Run one gateway at a time, although both could be side by side: for one that uses its "
            "CPU without traffic as well",
            short="Run one gateway at a time",
        ),
    ] = False,
) -> None:
    """Measure a gateway before and after a change, in turn, and say what is slower.

    Each round measures the experiment with both versions. One measurement of a program in a network
    namespace runs side by side: a trial of one version is followed by a trial of the other, so that
    noise meets both alike. All else is measured one after another. How much rounds differ tells a
    change from noise:
    if nothing has changed, any figure is called worse or better in 1 % of all tables. DIR gets
    comparison.json, summary.md and junit.xml. The exit status is 1 if a figure is worse.

    Examples:
        natxy bench speed.toml --base "make -C old install" --head "make install"
        natxy bench speed.toml --base ./old --head ./new --rounds 20 -o speed
        natxy bench speed.toml --base ./old --head ./new --fail-if worse-by=3%
    """
    share = share_of(fail_if) or 0.0
    if rounds < LEAST_RUNS:
        raise ConfigurationError(ROUNDS, f": {rounds} is too few (expected {LEAST_RUNS} or more)")
    commands = {BASE: _words("--base", base), HEAD: _words("--head", head)}
    plan = planned_of(asked_of(experiment, None, None), None, quick=False, option=None)
    in_turn = not apart and _fits_side_by_side(plan)
    folder = output or default_folder(experiment)
    rounds_of = {
        side: [folder / f"{side}-{number}" for number in range(1, rounds + 1)] for side in SIDES
    }
    versions = _Versions(commands, plan.experiment.hooks.timeout_s, in_turn=in_turn)
    for side, folders in rounds_of.items():
        for each in folders:
            _known(each, experiment, versions.text(side))
    files = [folder / name for name in ("comparison.json", "summary.md", "junit.xml")]
    for file in files:  # of fewer rounds
        file.unlink(missing_ok=True)
    try:
        for number, of_round in enumerate(zip(*rounds_of.values(), strict=True), start=1):
            say(f"Round {number} of {rounds}")
            campaigns = [
                partial(_measure, experiment, path, side, versions)
                for side, path in zip(SIDES, of_round, strict=True)
            ]
            if number % 2 == 0:  # that one is always the first would be taken for the change
                campaigns.reverse()
            if in_turn:
                take_turns(campaigns)
            else:
                for campaign in campaigns:
                    campaign(None)
    except BaseException:
        if folder.exists():
            say(f"The same command with --output {shlex.quote(str(folder))} goes on.")
        raise
    made = _comparison(rounds_of, in_turn=in_turn)
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


def _fits_side_by_side(plan: CampaignPlan) -> bool:
    """Returns whether two labs of the experiment can exist at once, each with its own version, and
    the one that waits does nothing.

    So it has one cell, or the cells of both would be measured at different times, and no hooks,
    which would set something for both. The gateway is a program: of the kernel, there is one. Labs
    of connections share the size of its table. And `natxy reset` starts the gateway again when the
    other version is installed.
    """
    hooks = plan.experiment.hooks.model_dump(exclude={"timeout_s"})
    if len(plan.cells) > 1 or any(hooks.values()):
        return False
    (cell,) = plan.cells
    dut = cell.testbed.get("dut", {})
    return (
        dut.get("kind") == "namespace"
        and bool(drivers("namespace")[dut["driver"]].daemons)
        and cell.testbed.get("connections") is None
        and cell.measure.command != "reset"
        and not cell.column.before
    )


@dataclass
class _Versions:
    """Which version of the gateway is installed."""

    commands: Mapping[str, list[str]]
    timeout_s: float
    in_turn: bool
    installed: str = ""

    def text(self, side: str) -> str:
        """Returns what the command that a campaign keeps begins with."""
        return f"{joined(self.commands[side])}{IN_TURN if self.in_turn else THEN}"

    def need(self, side: str) -> None:
        """Installs a version, unless it was the last; raises DutError if this fails."""
        if side == self.installed:
            return
        self.installed = ""
        command = self.commands[side]
        say(f"{side}: {joined(command)}")
        done = run_hook(side, command, self.timeout_s)
        if done.status:
            say_lines(progress_console, done.output)
        check_hook(done)
        self.installed = side


@dataclass(kw_only=True)
class _InTurn(Narrator):
    """Tells what the campaign of a version does that takes turns with the one of the other."""

    side: str
    versions: _Versions
    turn: Turn

    def cell_started(self, left: Sequence[Cell], number: int, count: int) -> None:
        # Its lab starts now, and the other one may have been installed since.
        self.turn.call(partial(self.versions.need, self.side))
        super().cell_started(left, number, count)

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        del title
        yield Observers([NowAndThen(self._lines, unit=self._unit), self.turn])

    def _say(self, line: str) -> None:
        super()._say(f"{self.side}: {line}")


def _measure(
    experiment: Path, path: Path, side: str, versions: _Versions, turn: Turn | None
) -> None:
    """Measures a campaign, or what is left of it; cells that failed are measured once more.

    With a turn, its trials and those of another campaign alternate.
    """
    folder = CampaignFolder(path=path)
    state = _known(path, experiment, versions.text(side))
    if state is not None and _is_whole(state):
        return
    install = partial(versions.need, side)
    if turn is None:
        install()
    else:
        turn.call(install)
    asked = asked_of(experiment, None, None)  # the command may have changed the testbed
    plan = planned_of(asked, None, quick=False, option=None)
    if any(cell.testbed["dut"]["kind"] == "guest" for cell in plan.cells if "dut" in cell.testbed):
        renew_image()  # the command may have changed what the guest is made of

    def watcher(plan: CampaignPlan, state: CampaignState) -> Watcher:
        pace = pace_of(plan, state)
        if turn is None:
            return narrator(pace)
        return _InTurn(console=progress_console, pace=pace, side=side, versions=versions, turn=turn)

    if state is None:
        text = versions.text(side) + joined([str(experiment), "--seed", str(plan.seed)])
        shown = watcher(plan, CampaignState(header={}))
        state = start(asked, plan, folder, text, watcher=shown, advises=False)
    if not _is_whole(state):
        with folder.locked():
            asked = folder.asked()
            plan = plan_again(asked.experiment, asked.testbed, state.header)
            check(plan)
            shown = watcher(plan, state)
            go_on(plan, folder, retries_failed=True, watcher=shown, advises=False)


def _known(path: Path, experiment: Path, command: str) -> CampaignState | None:
    """Returns what was measured there; ConfigurationError if it is another campaign."""
    folder = CampaignFolder(path=path)
    if not folder.journal.exists() or next(read_journal(folder.journal), None) is None:
        return None
    state = read_campaign(folder.journal)
    is_this = state.header["command"][0].startswith(command)
    if not is_this or folder.asked().source.text != Source.read(experiment).text:
        raise ConfigurationError(
            f"{folder.path}: was measured with another command, experiment or --apart (expected "
            "those of before, or a new folder in --output)"
        )
    return state


def _is_whole(state: CampaignState) -> bool:
    ended = sum(each.end is not None and not each.failed for each in state.cells.values())
    return bool(ended == state.header["cells"])


def _comparison(folders: Mapping[str, Sequence[Path]], *, in_turn: bool) -> Comparison:
    before, after = (list(map(read_data, folders[side])) for side in SIDES)
    return Comparison(
        before=before,
        after=after,
        shown_as=before[0].plan.experiment,
        variation=None,
        in_turn=in_turn,
        names=SIDES,
        level=FALSE_ALARMS,
    )
