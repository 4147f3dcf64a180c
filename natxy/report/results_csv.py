"""results.csv: a row a figure, for spreadsheets and plotting programs."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from natxy.model.measurement import Figure, Measurement
from natxy.statistics import summary

FILE_NAME = "results.csv"
COLUMNS = (
    "procedure",
    "dut",
    "left_ip_version",
    "right_ip_version",
    "traffic_direction",
    "frame_size_bytes",
    "foreground_percent",
    "rate_fps",
    "duration_s",
    "drain_s",
    "settle_s",
    "frame_timeout_s",
    "seed",
    "figure",
    "direction",
    "at",
    "unit",
    "bound",
    "n",
    "median",
    "minimum",
    "maximum",
    "mean",
    "standard_deviation",
    "p1",
    "p99",
    "dispersion_percent",
    "conforms",
    "departures",
    "remarks",
    "trials",
    "invalid_trials",
)


def results_csv(measurements: Sequence[Measurement]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for measurement in measurements for row in rows(measurement))
    return text.getvalue()


def rows(measurement: Measurement) -> Iterator[dict[str, Any]]:
    """One a figure, flat: what it was taken at, and its statistics."""
    conditions = measurement.conditions
    common = {name: getattr(conditions, name) for name in COLUMNS if hasattr(conditions, name)} | {
        "procedure": measurement.procedure,
        "traffic_direction": conditions.direction,
        "foreground_percent": f"{conditions.foreground_percent:g}",
        "conforms": "no" if measurement.departures else "yes",
        "departures": "; ".join(measurement.departures),
        "remarks": " ".join(measurement.remarks),
        "trials": measurement.counts.trials,
        "invalid_trials": measurement.counts.invalid_trials,
    }
    for figure in measurement.figures:
        row = common | figure_entry(figure)
        yield {name: row[name] for name in COLUMNS}


def figure_entry(figure: Figure) -> dict[str, Any]:
    """A figure and its statistics, flat."""
    of = summary(figure.values)
    return {
        "figure": figure.name,
        "direction": figure.direction or "",
        "at": figure.at,
        "unit": figure.unit,
        "bound": "lower" if figure.is_lower_bound(of.median) else "exact",
        "n": of.n,
        "median": of.median,
        "minimum": of.minimum,
        "maximum": of.maximum,
        "mean": of.mean,
        "standard_deviation": of.standard_deviation,
        "p1": of.p1,
        "p99": of.p99,
        "dispersion_percent": of.dispersion_percent,
    }
