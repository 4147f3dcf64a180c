"""`natxy compare`: says whether a gateway is worse than in an earlier campaign."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.cli.campaigns import tell
from natxy.cli.options import result_console
from natxy.errors import ConfigurationError
from natxy.report.cell_figures import CellResult, as_shown
from natxy.report.comparison import (
    LEVEL,
    Difference,
    compared,
    failures,
    lacking,
    lost,
    missing,
    worse,
)
from natxy.report.numbers import SIGNS, quantity

WORSE = 1  # exit status


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Folder of a campaign.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Folder of a later campaign.")],
    fail_if: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 if a main figure is significantly worse by more than a share, "
            "if no figure can be judged, if a cell of AFTER failed, or if AFTER lacks a cell or a "
            "main figure that BEFORE has: worse-by=5% [default: only show].",
            metavar="worse-by=PERCENT",
        ),
    ] = None,
) -> None:
    """Compare the main figures of two campaigns (test of Mann and Whitney)."""
    share = share_of(fail_if)
    old, new = read_data(CampaignFolder(path=before)), read_data(CampaignFolder(path=after))
    # Both with the rates that the first one shows: per direction, or the sum of both.
    was, now = (as_shown(old.plan.experiment, data.cells) for data in (old, new))
    differences = compared(was, now)
    if not differences:
        raise ConfigurationError(
            f"{before} and {after}: have no figure in common (expected campaigns of one experiment)"
        )
    result_console.print(_table(differences))
    tell(
        "Significant: the test of Mann and Whitney gives p < "
        f"{LEVEL:g}; of {len(differences)} equal figures, one in {1 / LEVEL:.0f} is expected to be."
    )
    scaled_down = [path for path, data in ((before, old), (after, new)) if data.plan.quick]
    if scaled_down:
        tell(_scaled_down(scaled_down))
    for line in missing(was, now):
        tell(line)
    failed = failures(new.cells)
    for name, error in failed.items():
        tell(f"{name} failed: {error}")
    if share is None:
        return
    reasons = list(_reasons(differences, share, was, now, after))
    for reason in reasons:
        tell(reason)
    if reasons or failed:
        raise typer.Exit(WORSE)


def _scaled_down(folders: Sequence[Path]) -> str:
    """Returns a sentence about the campaigns that --quick has scaled down."""
    if len(folders) == 1:
        return (
            f"Only {folders[0]} was scaled down by --quick: the campaigns measured in different "
            "ways, so a difference may not be the gateway's."
        )
    return "Both campaigns were scaled down by --quick: their figures are no results."


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
            "No figure could be judged: the last column of the table says why, or a bound leaves "
            "open by how much a figure is worse (expected at least one that can be judged)."
        )
    if found := worse(differences, share):
        names = ", ".join(f"{each.figure} {each.column}".strip() for each in found)
        yield f"Worse by more than {share * 100:g} %: {names}"
    if gone := lost(before, after):
        yield f"Without a result in {folder}: {', '.join(gone)}"
    if lacks := lacking(before, after):
        yield f"Not among the figures of {folder}: {', '.join(lacks)}"


def share_of(text: str | None) -> float | None:
    """Reads worse-by=5%."""
    if text is None:
        return None
    match = re.fullmatch(r"worse-by=(\d+(?:\.\d+)?)%", text.replace(" ", ""))
    if match is None:
        raise ConfigurationError(f'--fail-if: "{text}" is unknown (expected worse-by=5%)')
    return float(match[1]) / 100


def _table(differences: list[Difference]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("figure")
    for name in ("column", "before", "after", "change", "p", "n"):
        table.add_column(name, justify="right")
    table.add_column("")
    for each in differences:
        table.add_row(
            ", ".join(filter(None, (f"{each.measure}: {each.figure}", _unit(each)))),
            each.column,
            *(
                SIGNS[bound] + quantity(value, each.unit)
                for bound, value in zip(each.bounds, (each.before, each.after), strict=True)
            ),
            f"{each.change:+.1%}",
            f"{each.p:.3f}",
            f"{each.counts[0]}, {each.counts[1]}",
            _said(each),
            style="bold" if each.significant else "",
        )
    return table


def _unit(each: Difference) -> str:
    return f"{each.unit} {each.rates}" if each.rates else ""


def _said(each: Difference) -> str:
    if each.doubt:
        return each.doubt
    if not each.significant:
        return "not significant"
    return "worse" if each.worse_by > 0 else "better"
