"""results.csv: one row per figure, for spreadsheets and plotting programs.

No label or message becomes a formula: a spreadsheet reads the CSV as text and numbers.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from natxy.model.measurement import COUNTERS, Figure, Measurement
from natxy.report.cell_figures import rate_words
from natxy.report.numbers import with_bound
from natxy.statistics import summary
from natxy.visible import one_line

# Spreadsheets take a cell for a formula that begins so; those of East Asia know wide signs.
FORMULA = re.compile(r"[=+\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d*)?|\.\d+|inf|nan)([eE][+-]?\d+)?( (ns|µs|ms|s|%))?")
FILE_NAME = "results.csv"
STATISTICS = (  # members of a summary
    *("n", "median", "minimum", "maximum", "mean", "standard_deviation"),
    *("p1", "p99", "dispersion_percent"),
)


NO_STATISTICS = {**dict.fromkeys(STATISTICS), "n": 0}


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns a line of heads, and one for each row."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Returns a number as it is, and a text that would be a formula behind an apostrophe."""
    if not isinstance(value, str):
        return value
    shown = one_line(value)
    return shown if NUMBER.fullmatch(shown) or not FORMULA.match(shown) else f"'{shown}"


def _in_place(*names: str) -> dict[str, str]:
    """Returns columns that are not in the conditions, or have the same name there."""
    return dict.fromkeys(names, "")


# Each column with its place in the conditions.
PLACES = {
    **_in_place("procedure", "dut", "left_ip_version", "right_ip_version"),
    "traffic_direction": "direction",
    **_in_place("frame_size_bytes", "foreground_percent", "left_networks", "right_networks"),
    "left_media": "left_media.driver",
    "left_speed_mbps": "left_media.speed_mbps",
    "right_media": "right_media.driver",
    "right_speed_mbps": "right_media.speed_mbps",
    **_in_place("theoretical_fps", "rate_fps", "duration_s", "drain_s", "settle_s"),
    **_in_place("frame_timeout_s"),
    # Empty unless the procedure searched for a rate.
    "loss_verifications": "search.loss_verifications",
    "exceed_ratio": "search.exceed_ratio",
    "duration_sum_s": "search.duration_sum_s",
    "initial_duration_s": "search.initial_duration_s",
    **_in_place(
        "seed", "variant", "figure", "direction", "at", "at_value", "at_unit", "found", "uncertain"
    ),
    **_in_place("unit", "rates", "statistic", "benchmark", "bound", "missing", "largest_error"),
    **_in_place(*STATISTICS),
    **_in_place("conforms", "deviations", "remarks", "trials", "invalid_trials", "overturned"),
    # Of valid trials; the gateway's absences are 0 if it is not watched.
    **_in_place("sending_ns", "paused_ns", "away_ns", "longest_away_ns", "misdelivered"),
    **_in_place("duplicated", "without_udp_checksum", "lost", "reordered", "gaps"),
    # Empty unless the gateway is stateful.
    "initiator": "connections.initiator",
    "connections": "connections.count",
    "establishment_rate_cps": "connections.rate_fps",
    "establishment_rate_origin": "connections.rate_origin",
    "establishment_order": "connections.order",
    "connection_ranges": "connections.ranges",
    "initiator_order": "connections.initiator_order",
    "responder_order": "connections.responder_order",
    "validated": "connections.validated",
    "table_entries": "connections.table_entries",
    "hash_size": "connections.hash_size",
    "connection_timeout_s": "connections.timeout_s",
    "connection_logging": "connections.logging",
    **_in_place("changed", "wrong", "collided", "lost_connections"),
    # The tester's own part of each delay; empty if no self-test is stored.
    "tester_delay_size_bytes": "tester_delay.frame_size_bytes",
    "tester_offset_fps": "tester_delay.offset.rate_fps",
    "tester_offset_minimum_ns": "tester_delay.offset.minimum_ns",
    "tester_offset_median_ns": "tester_delay.offset.median_ns",
    "tester_offset_p999_ns": "tester_delay.offset.p999_ns",
    "tester_loaded_fps": "tester_delay.loaded.rate_fps",
    "tester_loaded_minimum_ns": "tester_delay.loaded.minimum_ns",
    "tester_loaded_median_ns": "tester_delay.loaded.median_ns",
    "tester_loaded_p999_ns": "tester_delay.loaded.p999_ns",
}
COLUMNS = tuple(PLACES | _in_place(*(name for name in COUNTERS if name not in PLACES)))


def results_csv(results: Sequence[Measurement]) -> str:
    return csv_text(COLUMNS, (row for result in results for row in rows(result)))


def rows(result: Measurement) -> Iterator[dict[str, Any]]:
    """Yields a flat row for each figure, with its conditions and its statistics."""
    conditions, counts = result.conditions, result.counts
    common = {
        **{
            name: getattr(place, name)
            for place in (conditions, counts, counts.disturbance)
            for name in COLUMNS
            if hasattr(place, name)
        },
        **{name: _at(conditions, path) for name, path in PLACES.items() if path},
        "procedure": result.procedure,
        "foreground_percent": f"{conditions.foreground_percent:g}",
        "conforms": "yes" if result.conforms else "no",
        "deviations": "; ".join(map(str, result.deviations)),
        "remarks": " ".join(map(str, result.remarks)),
    }
    for figure in result.figures:
        row = common | figure_entry(figure, rates=rate_words(conditions, figure, summed=False))
        row["rate_fps"] = figure.rate_fps or conditions.rate_fps
        yield {name: row[name] for name in COLUMNS}


def _at(conditions: Any, path: str) -> Any:
    """Returns a condition; empty if it, or what contains it, is unknown or does not exist."""
    for name in path.split("."):
        conditions = getattr(conditions, name, None)
    return "" if conditions is None else conditions


def figure_entry(figure: Figure, *, rates: str = "") -> dict[str, Any]:
    """Returns a figure and its statistics as a flat mapping; they are None without a value."""
    of = summary(figure.values) if figure.values else None
    number, bound = with_bound(figure) if of else (None, None)
    return {
        "figure": figure.name,
        "direction": figure.direction or "",
        "at": figure.at,
        "at_value": figure.at_value,
        "at_unit": figure.at_unit,
        "rate_fps": figure.rate_fps,
        "found": figure.found,
        "uncertain": "yes" if figure.uncertain else "no",
        "unit": figure.unit,
        "rates": rates,
        "statistic": figure.statistic,
        "benchmark": number,
        "bound": bound,
        "missing": figure.missing,
        "largest_error": max(figure.errors, default=""),
        **({name: getattr(of, name) for name in STATISTICS} if of else NO_STATISTICS),
    }
