"""results.json: a flat list of results, for programs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from natxy.model.measurement import Measurement
from natxy.model.standing_deviations import STANDING
from natxy.report.results_csv import figure_entry
from natxy.report.whole_file import write_whole
from natxy.statistics import median

FILE_NAME = "results.json"


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


def result_entry(result: Measurement) -> dict[str, Any]:
    conditions = result.conditions
    return {
        "procedure": result.procedure,
        "reference": result.reference,
        **conditions.model_dump(mode="json", exclude={"search": OF_SEARCH}),
        **({} if conditions.search is None else conditions.search.model_dump(include=OF_SEARCH)),
        "foreground_percent": conditions.foreground_percent,
        "conforms": not result.deviations,
        "deviations": list(result.deviations),
        "standing_deviations": list(STANDING),
        "remarks": list(result.remarks),
        "repetitions": max((len(figure.values) for figure in result.figures), default=0),
        **_only_rate(result),
        "figures": [
            figure_entry(figure) | {"values": list(figure.values)} for figure in result.figures
        ],
        **result.counts.model_dump(mode="json"),
        "worst_lateness_us": result.counts.worst_lateness_ns / 1000,
    }


def _only_rate(result: Measurement) -> dict[str, Any]:
    """Returns the rate that was found; empty if there are other main figures."""
    main = [figure for figure in result.figures if figure.primary]
    if [figure.unit for figure in main] != ["fps"]:
        return {}
    (figure,) = main
    rate_fps = median(figure.values)
    return {"rate_fps_per_direction": rate_fps, "bound": figure.bound(rate_fps)}


def write_results(path: Path, results: Sequence[Measurement]) -> None:
    write_whole(path, json.dumps([result_entry(result) for result in results], indent=2) + "\n")
