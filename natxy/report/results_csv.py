"""results.csv: one row per figure, for spreadsheets and plotting programs."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from natxy.model.disturbance import Disturbance
from natxy.model.measurement import ConnectionConditions, Figure, Measurement, Media, TrialCounts
from natxy.model.search_conditions import SearchConditions
from natxy.model.self_test_record import OwnDelay
from natxy.model.trial_spec import Side
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
    "left_networks",
    "right_networks",
    "left_media",
    "left_speed_mbps",
    "right_media",
    "right_speed_mbps",
    "theoretical_fps",
    "rate_fps",
    "duration_s",
    "drain_s",
    "settle_s",
    "frame_timeout_s",
    # Empty unless the procedure searched for a rate.
    "loss_verifications",
    "exceed_ratio",
    "duration_sum_s",
    "initial_duration_s",
    "seed",
    "figure",
    "direction",
    "at",
    "at_value",
    "at_unit",
    "found",
    "uncertain",
    "unit",
    "bound",
    "largest_error",
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
    "deviations",
    "remarks",
    "trials",
    "invalid_trials",
    "overturned",
    # Of valid trials; the gateway's absences are 0 if it is not watched.
    "sending_ns",
    "paused_ns",
    "away_ns",
    "longest_away_ns",
    "misdelivered",
    "duplicated",
    "without_udp_checksum",
    # Empty unless the gateway is stateful.
    "initiator",
    "connections",
    "establishment_rate_cps",
    "establishment_rate_origin",
    "establishment_order",
    "connection_ranges",
    "initiator_order",
    "responder_order",
    "validated",
    "table_entries",
    "hash_size",
    "connection_timeout_s",
    "connection_logging",
    "changed",
    "wrong",
    "collided",
    "lost_connections",
    # The tester's own part of each delay; empty if no self-test is stored.
    "tester_delay_size_bytes",
    "tester_offset_fps",
    "tester_offset_minimum_ns",
    "tester_offset_median_ns",
    "tester_offset_p999_ns",
    "tester_loaded_fps",
    "tester_loaded_minimum_ns",
    "tester_loaded_median_ns",
    "tester_loaded_p999_ns",
)


def results_csv(results: Sequence[Measurement]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row for result in results for row in rows(result))
    return text.getvalue()


def rows(result: Measurement) -> Iterator[dict[str, Any]]:
    """Yields a flat row for each figure, with its conditions and its statistics."""
    conditions, counts = result.conditions, result.counts
    common = {name: getattr(conditions, name) for name in COLUMNS if hasattr(conditions, name)} | {
        "procedure": result.procedure,
        "traffic_direction": conditions.direction,
        "foreground_percent": f"{conditions.foreground_percent:g}",
        "conforms": "no" if result.deviations else "yes",
        "deviations": "; ".join(result.deviations),
        "remarks": " ".join(result.remarks),
        **{name: getattr(counts, name) for name in COLUMNS if name in TrialCounts.model_fields},
        **{
            name: getattr(counts.disturbance, name)
            for name in COLUMNS
            if name in Disturbance.model_fields
        },
        **_media("left", conditions.left_media),
        **_media("right", conditions.right_media),
        **_search(conditions.search),
        **_connections(conditions.connections),
        **_tester_delay(conditions.tester_delay),
    }
    for figure in result.figures:
        row = common | figure_entry(figure)
        row["rate_fps"] = figure.rate_fps or conditions.rate_fps
        yield {name: row[name] for name in COLUMNS}


def _media(side: Side, of: Media | None) -> dict[str, Any]:
    """Returns driver and speed of a side's port; empty if unknown or if there is no speed."""
    driver, speed_mbps = ("", None) if of is None else (of.driver, of.speed_mbps)
    return {
        f"{side}_media": driver,
        f"{side}_speed_mbps": "" if speed_mbps is None else speed_mbps,
    }


def _search(of: SearchConditions | None) -> dict[str, Any]:
    """Returns the attributes of the search; empty if this kind of search does not have them."""
    known = {} if of is None else of.model_dump(mode="json")
    columns = ("loss_verifications", "exceed_ratio", "duration_sum_s", "initial_duration_s")
    values = {column: known.get(column) for column in columns}
    return {column: "" if value is None else value for column, value in values.items()}


def _connections(of: ConnectionConditions | None) -> dict[str, Any]:
    """Returns the conditions of connections; empty if stateless, or if a value is unknown."""
    known = {} if of is None else of.model_dump(mode="json")
    columns = {
        "initiator": "initiator",
        "connections": "count",
        "establishment_rate_cps": "rate_fps",
        "establishment_rate_origin": "rate_origin",
        "establishment_order": "order",
        "connection_ranges": "ranges",
        "initiator_order": "initiator_order",
        "responder_order": "responder_order",
        "validated": "validated",
        "table_entries": "table_entries",
        "hash_size": "hash_size",
        "connection_timeout_s": "timeout_s",
        "connection_logging": "logging",
    }
    values = {column: known.get(member) for column, member in columns.items()}
    return {column: "" if value is None else value for column, value in values.items()}


def _tester_delay(of: OwnDelay | None) -> dict[str, Any]:
    """Returns the tester's own delay; empty if no self-test of such a tester is stored."""
    members = {"fps": "rate_fps"} | {name: name for name in ("minimum_ns", "median_ns", "p999_ns")}
    return {"tester_delay_size_bytes": "" if of is None else of.frame_size_bytes} | {
        f"tester_{part}_{column}": "" if of is None else getattr(getattr(of, part), member)
        for part in ("offset", "loaded")
        for column, member in members.items()
    }


def figure_entry(figure: Figure) -> dict[str, Any]:
    """Returns a figure and its statistics as a flat mapping."""
    of = summary(figure.values)
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
        "bound": figure.bound(of.median),
        "largest_error": max(figure.errors, default=""),
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
