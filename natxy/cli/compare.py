"""`natxy compare`: says whether gateways are worse than another, or than before."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import click
from rich import box
from rich.table import Table

from natxy.campaign.data import CampaignData, read_data
from natxy.cli.campaigns import tell
from natxy.cli.options import JsonOption, result_console
from natxy.cli.sentences import quote
from natxy.errors import ConfigurationError
from natxy.model.experiment import Experiment
from natxy.report.cell_figures import CellResult, as_shown
from natxy.report.comparison import (
    LEVEL,
    RUN_VARIATION,
    Difference,
    compared,
    failures,
    lacking,
    lost,
    missing,
    worse,
)
from natxy.report.comparison_text import SOUGHT, cells, interval, needed, untold, words
from natxy.setting import Argument, Setting

WORSE = 1  # exit status


BEFORE = Setting(
    "before",
    "One more folder of the gateway of BASE; may be given several times",
    "DIR",
    default="none",
    short="One more folder of BASE's gateway",
)
AFTER = Setting(
    "after",
    "One more folder of the gateway of OTHER, if there is one OTHER; may be given several times",
    "DIR",
    default="none",
    short="One more folder of OTHER's gateway",
)


def compare(
    base: Annotated[
        Path, Argument("base", "Folder of a campaign or a measurement, the base line", "BASE")
    ],
    other: Annotated[
        list[Path], Argument("other", "Folders to compare with it, each by itself", "OTHER")
    ],
    before: Annotated[list[Path] | None, BEFORE] = None,
    after: Annotated[list[Path] | None, AFTER] = None,
    run_variation: Annotated[
        str,
        Setting(
            "run_variation",
            "Standard deviation of a figure of one gateway from run to run on this machine",
            "PERCENT",
        ),
    ] = f"{RUN_VARIATION * 100:g}%",
    fail_if: Annotated[
        str | None,
        Setting(
            "fail_if",
            "Exit with status 1 if a main figure is worse, and by more than a share, if no figure "
            "can be judged, if a cell of OTHER failed, or if OTHER lacks a cell or a main figure "
            "that BASE has: worse-by=5%",
            "worse-by=PERCENT",
            default="only show",
            short="Exit with status 1 if a figure is worse",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the main figures of gateways, or of one before and after a change.

    BASE and each OTHER are folders of campaigns, or of single measurements.

    Examples:
        natxy compare natxy-results/monday natxy-results/tuesday
        natxy compare jool tayga vpp
        natxy compare release main --fail-if worse-by=5%
    """
    share, variation = share_of(fail_if), _percent("--run-variation", run_variation)
    if after and len(other) > 1:
        raise ConfigurationError(AFTER, ": is possible with one OTHER (expected one)")
    known = [read_data(folder) for folder in (base, *(before or ()))]
    # All with the rates that the first one shows: per direction, or the sum of both.
    experiment = known[0].plan.experiment
    made = [
        Comparison(
            before=known,
            after=[read_data(each) for each in (folder, *(after or ()))],
            shown_as=experiment,
            variation=variation,
            level=LEVEL / len(other),
        )
        for folder in other
    ]
    for each in made:
        each.check_common()
    reasons = [] if share is None else [line for each in made for line in each.reasons(share)]
    if as_json:
        document = {"level": LEVEL, "comparisons": [each.document(share) for each in made]}
        print(json.dumps(document, indent=2))
    else:
        show(made, share)
    if reasons or (share is not None and any(each.failed for each in made)):
        raise click.exceptions.Exit(WORSE)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two gateways, of each of which there may be several runs."""

    before: Sequence[CampaignData]
    after: Sequence[CampaignData]
    shown_as: Experiment
    variation: float | None  # from run to run; None: only the runs themselves show it
    in_turn: bool = False  # the trials of one run of each alternated
    names: tuple[str, str] = ("before", "after")
    level: float  # of all figures together

    def check_common(self) -> None:
        """ConfigurationError if there is nothing to compare."""
        if not self.differences:
            raise ConfigurationError(
                f"{self.before[0].folder} and {self.after[0].folder}: have no figure in common "
                "(expected campaigns of one experiment, or measurements of one command)"
            )

    @cached_property
    def was(self) -> list[list[CellResult]]:
        return [as_shown(self.shown_as, each.cells) for each in self.before]

    @cached_property
    def now(self) -> list[list[CellResult]]:
        return [as_shown(self.shown_as, each.cells) for each in self.after]

    @cached_property
    def differences(self) -> list[Difference]:
        return compared(self.was, self.now, self.variation, self.level, in_turn=self.in_turn)

    @cached_property
    def failed(self) -> Mapping[str, str]:
        return failures(list(chain(*self.now)))

    def notes(self) -> Iterator[str]:
        runs = [*self.before, *self.after]
        yield from _scaled_down([each.folder for each in runs if each.plan.quick], len(runs))
        yield from untold(self.differences)
        yield from missing(list(chain(*self.was)), list(chain(*self.now)))
        yield from self.failures()
        for each in self.differences:
            if each.left_out:
                left_out = f"{each.left_out} runs of {each.figure}"
                yield f"Not counted, since noise left a bound: {left_out}"

    def failures(self) -> Iterator[str]:
        for name, error in self.failed.items():
            yield f"{name} failed: {error}"

    def reasons(self, share: float) -> Iterator[str]:
        """Yields why the job fails, except for cells that failed."""
        was, now = list(chain(*self.was)), list(chain(*self.now))
        yield from _reasons(self.differences, share, was, now, self.after[0].folder)

    def document(self, share: float | None) -> dict[str, Any]:
        reasons = () if share is None else self.reasons(share)
        return {
            "base": str(self.before[0].folder),
            "other": str(self.after[0].folder),
            "figures": list(map(_figure, self.differences)),
            "notes": [*_how_far([self]), *self.notes(), *reasons],
        }


def show(made: Sequence[Comparison], share: float | None) -> None:
    """Prints a table for each comparison, and then all notes."""
    notes: list[str] = []
    for each in made:
        several = f"{each.after[0].folder}: " if len(made) > 1 else ""
        if several:
            quote(result_console, f"{each.after[0].folder} beside {each.before[0].folder}")
        result_console.print(table_of(each.differences, each.names))
        reasons = () if share is None else each.reasons(share)
        notes += (several + note for note in (*each.notes(), *reasons))
    for line in (*_how_far(made), *notes):
        tell(line)


def _how_far(made: Sequence[Comparison]) -> Iterator[str]:
    """Yields what the intervals are, and what they rest on."""
    differences = [difference for each in made for difference in each.differences]
    if not differences:
        return
    level, run_variation = made[0].level * len(made), made[0].variation
    yield (
        "If nothing has changed, 0 is in every interval of the table with a probability of "
        f"{1 - level:.3g} (Holm)."
    )
    if run_variation is None:
        yield from _how_many(differences)
    elif max(max(each.campaigns) for each in differences) == 1:
        yield (
            "One run of each gateway does not show how much its figures differ from run to run. A "
            f"standard deviation of {run_variation * 100:g} % is assumed (--run-variation); more "
            "runs (--before, --after) show it."
        )


def _how_many(differences: Sequence[Difference]) -> Iterator[str]:
    """Yields how many runs would find a change, of the figures that can be judged."""
    figures: dict[str, list[str]] = {}
    for each in (difference for difference in differences if not difference.doubt):
        figures.setdefault(needed(each), []).append(" ".join(reversed(words(each))))
    runs = "; ".join(f"{number} ({', '.join(names)})" for number, names in figures.items())
    if runs:
        yield (
            "So many runs of each gateway find, nine times of ten, a change of "
            f"{SOUGHT * 100:g} % on this machine: {runs}."
        )


def _scaled_down(folders: Sequence[Path], runs: int) -> Iterator[str]:
    """Yields a sentence about the campaigns that --quick has scaled down."""
    if len(folders) == runs:
        whose = "Both" if runs == 2 else "All"
        yield f"{whose} campaigns were scaled down by --quick: their figures are no results."
    elif folders:
        names = " and ".join(map(str, folders))
        yield (
            f"Only {names} was scaled down by --quick: the campaigns measured in different ways, "
            "so a difference may not be the gateway's."
        )


def _reasons(
    differences: Sequence[Difference],
    share: float,
    before: Sequence[CellResult],
    after: Sequence[CellResult],
    folder: Path,
) -> Iterator[str]:
    """Yields why the job fails, except for cells that failed; `folder` is that of `after`."""
    if not any(each.decides(share) for each in differences):
        yield (
            "No figure could be judged: a note says why, or a bound leaves "
            "open by how much a figure is worse (expected at least one that can be judged)."
        )
    if found := worse(differences, share):
        names = ", ".join(f"{each.figure} {each.column}".strip() for each in found)
        yield f"Worse by more than {share * 100:g} %: {names}"
    if gone := lost(before, after):
        yield f"Without a result in {folder}: {', '.join(gone)}"
    if lacks := lacking(before, after):
        yield f"Not among the figures of {folder}: {', '.join(lacks)}"


def share_of(text: str | None, option: str = "--fail-if") -> float | None:
    """Reads worse-by=5%."""
    if text is None:
        return None
    match = re.fullmatch(r"worse-by=(\d+(?:\.\d+)?%)", text.replace(" ", ""))
    if match is None:
        raise ConfigurationError(f'{option}: "{text}" is unknown (expected worse-by=5%)')
    return _percent(option, match[1])


def _percent(option: str, text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text.replace(" ", ""))
    if match is None:
        raise ConfigurationError(f'{option}: "{text}" is no share (expected a number and %: 1.5%)')
    return float(match[1]) / 100


def table_of(differences: Sequence[Difference], names: tuple[str, str]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("figure")
    for name in (*names, "change", "interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in differences:
        last = "\n".join(filter(None, (interval(*each.interval), each.verdict)))
        table.add_row(
            "\n".join(words(each)), *cells(each), last, style="bold" if each.tells else ""
        )
    return table


def _figure(each: Difference) -> dict[str, Any]:
    """Returns a figure for JSON: shares are numbers (0.05 is 5 %), null if they have no end."""
    return {
        "measure": each.measure,
        "column": each.column,
        "figure": each.figure,
        "unit": each.unit,
        "rates": each.rates,
        "before": each.before,
        "after": each.after,
        "bounds": each.bounds,
        "change": _finite(each.change),
        "interval": [_finite(end) for end in each.interval],
        "interval_level": each.level,
        "p": each.of.p,
        "verdict": each.verdict,
        "reason": each.reason,
        "campaigns": each.campaigns,
        "campaigns_left_out": each.left_out,
        "values": each.counts,
        "campaigns_for_5_percent": each.of.runs_for(SOUGHT, each.first_level),
    }


def _finite(share: float) -> float | None:
    return share if math.isfinite(share) else None
