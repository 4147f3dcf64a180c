"""results.json: a flat list of results, for programs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from natxy.model.measurement import Measurement
from natxy.model.standing_departures import STANDING
from natxy.model.throughput_result import ThroughputResult
from natxy.report.results_csv import figure_entry
from natxy.report.whole_file import write_whole
from natxy.statistics import median

FILE_NAME = "results.json"


def result_entry(result: ThroughputResult | Measurement) -> dict[str, Any]:
    """Returns the entry of a result; a throughput has the attributes of its search as well."""
    if isinstance(result, Measurement):
        return _measurement_entry(result)
    return _search_entry(result) | _measurement_entry(result.measurement())


def _search_entry(result: ThroughputResult) -> dict[str, Any]:
    rate_fps = median(result.rates_fps)
    return {
        "repetitions": len(result.repetitions),
        "error": result.error,
        "error_fps": result.error_fps,
        "maximum_fps": result.maximum_fps,  # the highest rate that the search may try
        "maximum_origin": result.maximum_origin,
        "rate_fps_per_direction": rate_fps,
        "bound": "lower" if result.is_lower_bound(rate_fps) else "exact",
        "worst_lateness_us": result.worst_lateness_ns / 1000,
        "loss_accepted": result.loss,
        "burst_frames": result.burst_frames,
        "burst_rate_fps": result.burst_rate_fps,
    }


def _measurement_entry(result: Measurement) -> dict[str, Any]:
    return {
        "procedure": result.procedure,
        "reference": result.reference,
        **result.conditions.model_dump(mode="json"),
        "foreground_percent": result.conditions.foreground_percent,
        "conforms": not result.departures,
        "departures": list(result.departures),
        "standing_departures": list(STANDING),
        "remarks": list(result.remarks),
        "figures": [
            figure_entry(figure) | {"values": list(figure.values)} for figure in result.figures
        ],
        **result.counts.model_dump(mode="json"),
    }


def write_results(path: Path, results: Sequence[ThroughputResult | Measurement]) -> None:
    write_whole(path, json.dumps([result_entry(result) for result in results], indent=2) + "\n")
