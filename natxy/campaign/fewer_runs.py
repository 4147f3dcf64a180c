"""Shorter lists of runs and of stretches for the journal (docs/decisions/0029).

The engine's lists have up to 4,096 runs, and a journal holds the lists of all trials. Verdicts come
from what it holds: shorter ones take clean frames for disturbed. Here, as in engine/spec/runs.hpp,
neighbours are joined that together span no more than a number of values, and this number grows
until the list is short enough. Sums stay exact.
"""

import json
from typing import Any

from natxy.model.trial_result import TrialResult

MOST = 128
MOST_STRETCHES = 32
DIGITS = 3

Run = tuple[int, int, int]  # first, end, and what the run stands for


def shorten(trial: dict[str, Any]) -> None:
    """Shortens the lists of a trial's line."""
    for stream in (
        trial["phase_1"],
        *trial.get("handshake", ()),
        trial["sample"],
        *trial["starting"],
    ):
        if stream:
            _shorten_stream(stream)
    _shorten_result(trial["result"])


def shortened(result: TrialResult) -> TrialResult:
    """Returns a result as a journal keeps it, so that a resumed cell judges as it did before."""
    written = result.model_dump(mode="json")
    _shorten_result(written)
    return TrialResult.model_validate_json(json.dumps(written))


def _shorten_result(result: dict[str, Any]) -> None:
    for stream in result["streams"]:
        _shorten_stream(stream)
    for each in (*result["workers"], *result["watched"]):
        each["away_at"] = fewer_intervals(each["away_at"])


def _shorten_stream(stream: dict[str, Any]) -> None:
    lost = fewer([(first, first + span, lost) for first, span, lost in stream["lost_runs"]])
    stream["lost_runs"] = [[first, end - first, lost] for first, end, lost in lost]
    stream["late_runs"] = fewer_intervals(stream["late_runs"])
    stream["pauses"]["at"] = fewer_pauses(stream["pauses"]["at"])
    stream["low_delays"] = longer_stretches(stream["low_delays"])


def fewer(runs: list[Run], most: int = MOST) -> list[Run]:
    """Returns at most `most` runs: neighbours are joined, those that are closest first."""
    reach = 1
    while len(runs) > most:
        runs = _joined(runs, reach)
        reach += reach // 4 + 1
    return runs


def _joined(runs: list[Run], reach: int) -> list[Run]:
    """Joins neighbours that together span at most `reach` values."""
    found: list[Run] = []
    for first, end, count in runs:
        if found and end - found[-1][0] <= reach:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2] + count)
        else:
            found.append((first, end, count))
    return found


def fewer_intervals(intervals: list[list[int]]) -> list[list[int]]:
    """Returns at most MOST of [from, until]."""
    return [[first, end] for first, end, _ in fewer([(at, end, 0) for at, end in intervals])]


def fewer_pauses(pauses: list[list[Any]]) -> list[list[Any]]:
    """Returns at most MOST of [before_number, ns, reason]; joins only those of one reason."""
    by_reason = {
        why: fewer([(at, at, ns) for at, ns, reason in pauses if reason == why], MOST // 2)
        for why in ("core", "port")
    }
    found = [[at, ns, why] for why, runs in by_reason.items() for at, _, ns in runs]
    return sorted(found, key=lambda pause: pause[0])


def longer_stretches(low_delays: list[list[int]]) -> list[list[int]]:
    """Returns the [first number, lowest delay] of at most MOST_STRETCHES stretches.

    Each is made of as many of those given. A delay is rounded to DIGITS digits.
    """
    each = -(-len(low_delays) // MOST_STRETCHES) or 1
    together = (low_delays[at : at + each] for at in range(0, len(low_delays), each))
    return [[group[0][0], _rounded(min(lowest for _, lowest in group))] for group in together]


def _rounded(value: int) -> int:
    return round(value, min(0, DIGITS - len(str(value))))
