"""Trials as plots and the head of a report need them, read from their records."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from natxy.model.reason import LossOfConnections, Reason
from natxy.model.telemetry import Telemetry
from natxy.model.trial_spec import ESTABLISH
from natxy.model.verdict import Verdict

INVALID = Verdict.INVALID.value


@dataclass(frozen=True, kw_only=True)
class TrialPoint:
    """A trial as plots need it."""

    column: str
    measure: str
    series: str  # what tells the trial's result from the others of its cell: "84 B"
    round: int
    repetition: int
    number: int  # in its cell, from 1
    at_s: float  # since the first trial of the campaign
    rate_fps: int  # per direction; connections a second if it is to establish some
    verdict: str
    lost_percent: float | None  # None: the trial is INVALID, or sent nothing
    paused_ms: float  # the tester's senders
    away_ms: float  # the gateway
    # Delays of the frames, of the direction in which they are longer; None: none came.
    median_us: float | None = None
    p999_us: float | None = None
    # From the telemetry of the gateway; None: not known.
    busy_percent: float | None = None  # of its busiest CPU
    memory_bytes: int | None = None
    connections: int | None = None
    dropped: int | None = None
    reason: str = ""
    code: str = ""  # of the reason that explains the others, if the trial is INVALID
    made: int | None = None  # connections that were to be made


def trial_members(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the members of a TrialPoint that a trial's record has itself."""
    kinds = [
        kind
        for stream in record["result"]["streams"]
        for kind in stream["kinds"].values()
        if kind is not None
    ]
    sent = sum(kind["sent"] for kind in kinds)
    lost = sum(kind["lost"] for kind in kinds)
    pauses = [stream["pauses"]["total_ns"] for stream in record["result"]["streams"]]
    invalid = [Reason.model_validate(each) for each in record["invalid_reasons"]]
    failed = [Reason.model_validate(each) for each in filter(None, (record["fail_reason"],))]
    losses = filter(None, (record["lost_connections"],))
    codes = [each.code for each in invalid]
    explains = min(codes, key=lambda code: code.cause.value, default=None)
    why = (*invalid, *failed, *map(LossOfConnections.model_validate, losses))
    streams = filter(None, (record["phase_1"], *record["result"]["streams"]))
    return {
        "repetition": record["repetition"],
        "number": record["number"],
        "rate_fps": _verdict_fps(record),
        "verdict": record["verdict"],
        "lost_percent": 100 * lost / sent if sent and record["verdict"] != INVALID else None,
        "paused_ms": round(max(pauses, default=0.0) / 1e6, 4),
        "away_ms": round(record["away_ns"] / 1e6, 4),
        **_delays(kinds),
        **_telemetry(record),
        "reason": next(map(str, why), ""),
        "code": explains.code if explains else "",
        "made": next((each["due"] for each in streams if each["phase"] == ESTABLISH), None),
    }


def _verdict_fps(record: dict[str, Any]) -> int:
    """Returns what TrialRecord.verdict_fps is."""
    counted_fps: int | None = record["counted_fps"] if record["verdict"] == "PASS" else None
    return record["rate_fps"] if counted_fps is None else counted_fps


def _delays(kinds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the members of a TrialPoint; none if no frame has a delay."""
    known = [kind["delay"] for kind in kinds if kind["delay"]["count"]]
    if not known:
        return {}
    return {
        f"{name}_us": round(max(each[of] for each in known) / 1000, 3)
        for name, of in (("median", "p50_ns"), ("p999", "p999_ns"))
    }


def _telemetry(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the members of a TrialPoint; none if nothing is known."""
    if not record["telemetry"]:
        return {}
    known = Telemetry.model_validate_json(json.dumps(record["telemetry"]))
    busiest = known.busiest
    return {
        "busy_percent": busiest and round(known.percent(busiest.busy_s), 2),
        "memory_bytes": known.memory_bytes,
        "connections": known.connections,
        "dropped": known.dropped,
    }
