"""The figures and the progress of a campaign in OpenMetrics' text format, for Prometheus.

https://prometheus.io/docs/specs/om/open_metrics_spec/
"""

from collections.abc import Iterator, Mapping, Sequence

from natxy.campaign.data import result_of
from natxy.campaign.folder import Asked, CampaignFolder
from natxy.campaign.journal import as_journal
from natxy.campaign.plan import plan_again
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.trial_points import INVALID, trial_members
from natxy.model.measurement import TrialCounts
from natxy.report.cell_figures import CellResult, as_shown
from natxy.report.numbers import with_bound
from natxy.visible import visible

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
# What the name of a sample has behind that of its family, by the family's type.
ENDS = {"counter": "_total", "info": "_info"}
EVENTS = ("lost", "misdelivered", "duplicated", "reordered")  # members of TrialCounts
Sample = tuple[Mapping[str, str], float]  # labels and value


def metrics(campaign: CampaignFolder) -> str:
    """Returns what the campaign's journal says now."""
    asked, state = campaign.asked(), read_campaign(campaign.journal)
    lines = [
        *_progress(campaign, asked, state),
        *(_trial(state) if campaign.is_run else ()),
        *_measured(asked, state),
        "# EOF",
    ]
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, kind: str, words: str, samples: Sequence[Sample]) -> Iterator[str]:
    """Yields the lines of one metric; each sample has other labels."""
    yield f"# TYPE {name} {kind}"
    yield f"# HELP {name} {words}"
    for labels, value in samples:
        pairs = ",".join(
            f'{label}="{visible(text).translate(ESCAPES)}"' for label, text in labels.items()
        )
        braces = f"{{{pairs}}}" if pairs else ""
        yield f"{name}{ENDS.get(kind, '')}{braces} {value!r}"


def _progress(campaign: CampaignFolder, asked: Asked, state: CampaignState) -> Iterator[str]:
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    ended = sum(state.ended(cell.key) for cell in plan.cells)
    at_rest = "ended" if ended == len(plan.cells) else "interrupted"
    now = "running" if campaign.is_run else at_rest
    labels = {
        "title": asked.experiment.title,
        "natxy_version": state.header["natxy_version"],
        "scaled_down": str(plan.quick).lower(),
    }
    yield from _family("natxy_campaign", "info", "The campaign.", [(labels, 1)])
    states = ("running", "interrupted", "ended")
    yield from _family(
        "natxy_state",
        "stateset",
        "What the campaign does.",
        [({"natxy_state": each}, int(each == now)) for each in states],
    )
    known = state.cells.values()
    for name, words, value in (
        ("cells_planned", "Cells of the campaign.", len(plan.cells)),
        ("cells_ended", "Cells that have ended, also those that failed.", ended),
        ("cells_failed", "Cells that failed.", sum(each.failed for each in known)),
        (
            "last_record_timestamp_seconds",
            "When the journal was written last, since 1970 (UTC).",
            campaign.journal.stat().st_mtime,
        ),
    ):
        yield from _family(f"natxy_{name}", "gauge", words, [({}, value)])
    for name, words, value in (
        ("trials", "Trials of all cells.", sum(each.trials for each in known)),
        ("invalid_trials", "Trials that say nothing.", sum(each.invalid for each in known)),
    ):
        yield from _family(f"natxy_{name}", "counter", words, [({}, value)])


def _trial(state: CampaignState) -> Iterator[str]:
    """Yields what the last trial of the cell that runs has shown; nothing if it was INVALID."""
    cell = state.cells.get(state.last)
    trials = [each for each in cell.past if each["record"] == "trial"] if cell else []
    if cell is None or not trials:
        return
    with as_journal(state.path):
        known = trial_members(trials[-1])
    if known["verdict"] == INVALID:
        return
    place = {"column": cell.begun.column, "measure": cell.begun.measure}
    yield from _family(
        "natxy_trial_rate_fps",
        "gauge",
        "Frames or connections a second per direction in the last trial.",
        [(place, known["rate_fps"])],
    )
    if known["lost_percent"] is not None:
        yield from _family(
            "natxy_trial_lost_ratio",
            "gauge",
            "Share of the frames that the last trial lost.",
            [(place, known["lost_percent"] / 100)],
        )
    yield from _family(
        "natxy_trial_delay_seconds",
        "gauge",
        "Delays of the last trial, of the direction in which they are longer.",
        [
            ({**place, "quantile": quantile}, known[name] / 1e6)
            for quantile, name in (("0.5", "median_us"), ("0.999", "p999_us"))
            if name in known
        ],
    )


def _measured(asked: Asked, state: CampaignState) -> Iterator[str]:
    results = [result_of(cell) for cell in state.cells.values() if cell.results]
    results.sort(key=lambda cell: cell.round)
    last: dict[tuple[str, str], CellResult] = {}
    counts: dict[tuple[str, str], list[TrialCounts]] = {}
    for cell in as_shown(asked.experiment, results):
        place = (cell.column, cell.measure)
        last[place] = cell
        counts.setdefault(place, []).extend(each.counts for each in cell.results)
    yield from _family(
        "natxy_figure",
        "gauge",
        "The benchmark of a main figure in the last round that has ended, in its unit.",
        [sample for cell in last.values() for sample in _figures(cell)],
    )
    yield from _family(
        "natxy_frames",
        "counter",
        "Frames of all trials with this event.",
        [
            ({"column": column, "measure": measure, "event": event}, getattr(total, event))
            for (column, measure), of in counts.items()
            for total in (TrialCounts.total(of),)
            for event in EVENTS
        ],
    )


def _figures(cell: CellResult) -> Iterator[Sample]:
    for series, result in cell.told:
        for figure in result.figures:
            if not figure.primary or not figure.values:
                continue
            value, bound = with_bound(figure)
            labels = {
                "column": cell.column,
                "measure": cell.measure,
                "figure": figure.name,
                "series": series,
                "at": figure.at,
                "direction": figure.direction or "",
                "unit": figure.unit,
                "bound": bound,
            }
            yield labels, value
