"""Wide buckets: the same frames in fewer buckets, and none where a verdict or a report reads."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from natxy.campaign.bucket_columns import BITS, wide
from natxy.campaign.journal import Journal, read_journal
from natxy.model.distribution import NOTHING, Distribution
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.unit.results import result_of, stream_of

steps = some.lists(
    some.tuples(some.integers(1, 10**7), some.integers(0, 1000), some.integers(1, 10**6)),
    max_size=50,
)
MANY = tuple((20_000.0 + each, 20_000.5 + each, 2) for each in range(2000))
FINE = NOTHING.model_copy(update={"count": 4000, "buckets": MANY})


def listed(steps: list[tuple[int, int, int]], least_ns: int) -> list[list[Any]]:
    """Buckets that follow one another, as the engine's do, at whole nanoseconds."""
    buckets: list[list[Any]] = []
    at_ns = float(least_ns)
    for gap_ns, width_ns, count in steps:
        buckets.append([at_ns + gap_ns, at_ns + gap_ns + width_ns, count])
        at_ns += gap_ns + width_ns
    return buckets


@given(steps, some.integers(-(10**6), 10**6))
@example([], 0)
def test_wide_buckets_have_the_same_frames(
    steps: list[tuple[int, int, int]], least_ns: int
) -> None:
    buckets = listed(steps, least_ns)
    found = wide(buckets)
    assert sum(count for _, _, count in found) == sum(count for _, _, count in buckets)
    for lower_ns, upper_ns, count in found:
        inside = [one for one in buckets if lower_ns <= one[0] and one[1] <= upper_ns]
        assert count == sum(one[2] for one in inside)
        assert (lower_ns, upper_ns) == (inside[0][0], inside[-1][1])
        begins_within_ns = inside[-1][0] - lower_ns
        assert begins_within_ns < max(1.0, (lower_ns - buckets[0][0]) / 2**BITS)
    assert all(one[1] < other[0] for one, other in pairwise(found))


def stream(**more: Any) -> StreamResult:
    found = stream_of(sent=4000, **more)
    counters = found.kinds.foreground
    assert counters is not None
    kinds = {"foreground": counters.model_copy(update={"delay": FINE})}
    return found.model_copy(
        update={
            **dict.fromkeys(("lateness", "send_call", "poll_gap", "step_gap"), FINE),
            "kinds": found.kinds.model_copy(update=kinds),
        }
    )


def kept(tmp_path: Path, *streams: StreamResult, **more: Any) -> TrialRecord:
    record = TrialRecord(
        number=1,
        repetition=1,
        rate_fps=20_000,
        started="2026-11-24T08:52:23.793+00:00",
        verdict=Verdict.FAIL,
        invalid_reasons=(),
        result=result_of(*streams),
        **more,
    )
    path = tmp_path / "journal.jsonl.gz"
    with Journal(path, {}) as journal:
        journal.trial_ended(record)
    *_, last = read_journal(path)
    return TrialRecord.model_validate_json(json.dumps(last))


def is_whole(of: Distribution) -> bool:
    """Whether all buckets are there; everything else always is."""
    assert of.model_copy(update={"buckets": MANY}) == FINE
    assert of.buckets == MANY or len(of.buckets) < 200
    return of.buckets == MANY


@pytest.mark.parametrize("lossy", ["result", "phase_1", ""])
def test_how_late_frames_left_is_kept_after_a_loss(lossy: str, tmp_path: Path) -> None:
    """The other direction's, too: a verdict counts the bursts of a phase together."""
    trial = kept(
        tmp_path,
        stream(missing=int(lossy == "result")),
        stream(direction="reverse"),
        phase_1=stream(missing=int(lossy == "phase_1")),
    )
    assert trial.phase_1 is not None
    for each in (*trial.result.streams, trial.phase_1):
        assert is_whole(each.lateness) == bool(lossy)
        assert not is_whole(each.send_call)
        assert is_whole(each.poll_gap)
        assert is_whole(each.step_gap)


@pytest.mark.parametrize("measures", [True, False])
def test_delays_are_kept_where_they_are_figures(measures: bool, tmp_path: Path) -> None:
    trial = kept(tmp_path, stream(), phase_1=stream(), measures_delays=measures)
    assert trial.phase_1 is not None
    delays = {}
    for name, each in (("result", trial.result.streams[0]), ("phase_1", trial.phase_1)):
        assert each.kinds.foreground is not None
        delays[name] = is_whole(each.kinds.foreground.delay)
    assert delays == {"result": measures, "phase_1": False}
