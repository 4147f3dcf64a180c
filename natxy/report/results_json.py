"""results.json: a flat list of results, for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from natxy.model.coded import Statement
from natxy.model.deviation import STANDING
from natxy.model.measurement import Measurement
from natxy.report.cell_figures import rate_words
from natxy.report.numbers import with_bound
from natxy.report.results_csv import figure_entry
from natxy.whole_file import write_whole

FILE_NAME = "results.json"
SCALED_DOWN = "scaled_down"  # by --quick: true or false, in each file that is for programs

# Attributes of a search that stand in the entry itself; the others are in its `search`.
OF_SEARCH = {
    "error",
    "error_fps",
    "maximum_fps",
    "maximum_origin",
    "loss_accepted",
    "burst_frames",
    "burst_rate_fps",
}


Made = Mapping[str, str]  # members of an entry: how the result was made
NOT_KNOWN: Made = {}


def made_by(provenance: Mapping[str, Any]) -> Made:
    """Returns the command, the time (ISO 8601, UTC) and the version in the first line of a
    journal."""
    command, *_ = provenance["command"]
    started, version = provenance["started"], provenance["natxy_version"]
    return {"command": command, "started": started, "natxy_version": version}


def result_entry(result: Measurement, made: Made = NOT_KNOWN) -> dict[str, Any]:
    """Returns the entry of a result."""
    conditions = result.conditions
    return {
        **made,
        "procedure": result.procedure,
        "reference": result.reference,
        **conditions.model_dump(mode="json", exclude={"search": OF_SEARCH}),
        **({} if conditions.search is None else conditions.search.model_dump(include=OF_SEARCH)),
        "foreground_percent": conditions.foreground_percent,
        "conforms": result.conforms,
        "deviations": coded(result.deviations),
        "standing_deviations": coded(STANDING) if result.reference else [],
        "remarks": coded(result.remarks),
        "repetitions": max((len(figure.values) for figure in result.figures), default=0),
        **_only_rate(result),
        "figures": [
            figure_entry(figure, rates=rate_words(conditions, figure, summed=False))
            | {"values": list(figure.values)}
            for figure in result.figures
        ],
        **result.counts.model_dump(mode="json"),
        "worst_lateness_us": result.counts.worst_lateness_ns / 1000,
    }


def coded(statements: Iterable[Statement[Any, Any]]) -> list[dict[str, Any]]:
    """Returns values for programs, with the sentence of each for a person."""
    return [each.model_dump(mode="json") | {"text": str(each)} for each in statements]


def _only_rate(result: Measurement) -> dict[str, Any]:
    """Returns the rate that was found; empty if there are other main figures."""
    main = [figure for figure in result.figures if figure.primary]
    if [figure.unit for figure in main] != ["fps"]:
        return {}
    (figure,) = main
    number, bound = with_bound(figure)
    return {"rate_fps_per_direction": number, "bound": bound}


def cell_entry(
    result: Measurement, made: Made, *, column: str, measure: str, number: int, scaled_down: bool
) -> dict[str, Any]:
    """Returns the entry of a result of a campaign, from the round with this number."""
    place = {"column": column, "measure": measure, "round": number, SCALED_DOWN: scaled_down}
    return {**place, **result_entry(result, made)}


def write_results(path: Path, results: Sequence[Measurement], made: Made = NOT_KNOWN) -> None:
    write_entries(path, [result_entry(result, made) for result in results])


def write_entries(path: Path, entries: Sequence[dict[str, Any]]) -> None:
    write_whole(path, json.dumps(entries, indent=2) + "\n")
