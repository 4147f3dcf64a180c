"""`natxy compare`: says whether a gateway is worse than in an earlier campaign."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.cli.campaigns import tell
from natxy.cli.options import JsonOption, result_console
from natxy.errors import ConfigurationError
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
from natxy.report.numbers import SIGNS, quantity

WORSE = 1  # exit status


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Folder of a campaign.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Folder of a later campaign.")],
    more_before: Annotated[
        list[Path] | None,
        typer.Option(
            "--before",
            help="One more campaign of the gateway of BEFORE; may be given several times "
            "[default: none].",
            metavar="DIR",
        ),
    ] = None,
    more_after: Annotated[
        list[Path] | None,
        typer.Option(
            "--after",
            help="One more campaign of the gateway of AFTER; may be given several times "
            "[default: none].",
            metavar="DIR",
        ),
    ] = None,
    run_variation: Annotated[
        str,
        typer.Option(
            help="Standard deviation of a figure of one gateway from campaign to campaign on this "
            "machine.",
            metavar="PERCENT",
        ),
    ] = f"{RUN_VARIATION * 100:g}%",
    fail_if: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 if a main figure is worse, and by more than a share, "
            "if no figure can be judged, if a cell of AFTER failed, or if AFTER lacks a cell or a "
            "main figure that BEFORE has: worse-by=5% [default: only show].",
            metavar="worse-by=PERCENT",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the main figures of two gateways, or of one before and after a change."""
    share, variation = share_of(fail_if), _percent("--run-variation", run_variation)
    folders = [before, *(more_before or []), after, *(more_after or [])]
    first = len(more_before or []) + 1  # of AFTER
    data = [read_data(CampaignFolder(path=folder)) for folder in folders]
    # All with the rates that the first one shows: per direction, or the sum of both.
    shown = [as_shown(data[0].plan.experiment, each.cells) for each in data]
    was, now = ([cell for cells in side for cell in cells] for side in _sides(shown, first))
    differences = compared(*_sides(shown, first), variation)
    if not differences:
        raise ConfigurationError(
            f"{before} and {after}: have no figure in common (expected campaigns of one experiment)"
        )
    quick = [path for path, each in zip(folders, data, strict=True) if each.plan.quick]
    notes = [*_how_far(differences, variation), *_scaled_down(quick, len(folders))]
    notes += missing(was, now)
    failed = failures(now)
    notes += [f"{name} failed: {error}" for name, error in failed.items()]
    reasons = [] if share is None else list(_reasons(differences, share, was, now, after))
    if as_json:
        typer.echo(json.dumps(_document(differences, [*notes, *reasons]), indent=2))
    else:
        result_console.print(_table(differences))
        for line in [*notes, *reasons]:
            tell(line)
    if reasons or (failed and share is not None):
        raise typer.Exit(WORSE)


def _sides(
    campaigns: list[list[CellResult]], first: int
) -> tuple[list[list[CellResult]], list[list[CellResult]]]:
    return campaigns[:first], campaigns[first:]


def _how_far(differences: Sequence[Difference], run_variation: float) -> Iterator[str]:
    """Yields what the intervals are, and what they rest on."""
    yield (
        f"If nothing has changed, all {len(differences)} intervals together have 0 in them with a "
        f"probability of {1 - LEVEL:.0%} (Holm)."
    )
    if max(max(each.campaigns) for each in differences) == 1:
        yield (
            "One campaign of each gateway does not show how much its figures differ from run to "
            f"run. A standard deviation of {run_variation * 100:g} % is assumed "
            "(--run-variation); more campaigns (--before, --after) show it."
        )


def _scaled_down(folders: Sequence[Path], campaigns: int) -> Iterator[str]:
    """Yields a sentence about the campaigns that --quick has scaled down."""
    if len(folders) == campaigns:
        whose = "Both" if campaigns == 2 else "All"
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
    match = re.fullmatch(r"worse-by=(\d+(?:\.\d+)?%)", text.replace(" ", ""))
    if match is None:
        raise ConfigurationError(f'--fail-if: "{text}" is unknown (expected worse-by=5%)')
    return _percent("--fail-if", match[1])


def _percent(option: str, text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text.replace(" ", ""))
    if match is None:
        raise ConfigurationError(f'{option}: "{text}" is no share (expected a number and %: 1.5%)')
    return float(match[1]) / 100


def _table(differences: list[Difference]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("figure")
    for name in ("column", "before", "after", "change", "interval"):
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
            f"{each.change * 100:+,.1f} %",
            _interval(*each.interval),
            ": ".join(filter(None, (each.verdict, each.reason))),
            style="bold" if each.verdict in ("worse", "better") else "",
        )
    return table


def _interval(low: float, high: float) -> str:
    """Returns an interval as [-9.1 ... -6.8 %], or the side of it that is known."""
    open_low, open_high = low in (-1.0, -math.inf), high == math.inf
    if open_low and open_high:
        return ""
    if open_low:
        return f"[≤ {high * 100:+,.1f} %]"
    if open_high:
        return f"[≥ {low * 100:+,.1f} %]"
    return f"[{low * 100:+,.1f} ... {high * 100:+,.1f} %]"


def _unit(each: Difference) -> str:
    return f"{each.unit} {each.rates}" if each.rates else ""


def _document(differences: Sequence[Difference], notes: Sequence[str]) -> dict[str, Any]:
    return {"level": LEVEL, "figures": list(map(_figure, differences)), "notes": list(notes)}


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
        "values": each.counts,
    }


def _finite(share: float) -> float | None:
    return share if math.isfinite(share) else None
