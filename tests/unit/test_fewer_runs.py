"""The journal's shorter lists of runs: the same sums, in order, and never too many."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from natxy.campaign.fewer_runs import (
    MOST,
    MOST_STRETCHES,
    fewer,
    fewer_pauses,
    longer_stretches,
)
from natxy.campaign.journal import Journal, read_journal
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.unit.results import result_of, stream_of

steps = some.lists(some.tuples(some.integers(1, 10**6), some.integers(1, 1000)), max_size=2000)


@given(steps)
def test_fewer_runs_have_the_same_sum(steps: list[tuple[int, int]]) -> None:
    runs, at = [], 0
    for gap, length in steps:
        runs.append((at + gap, at + gap + length, length))
        at += gap + length
    found = fewer(runs)
    assert len(found) <= MOST
    assert sum(count for *_, count in found) == sum(count for *_, count in runs)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    assert (found[:1], found[-1:]) == (runs[:1], runs[-1:]) or len(runs) > MOST
    assert len(runs) > MOST or found == runs


@given(some.lists(some.tuples(some.integers(0, 10**6), some.sampled_from(["core", "port"]))))
def test_fewer_pauses_are_as_long_together(drawn: list[tuple[int, str]]) -> None:
    pauses: list[list[Any]] = [[at, 100 + at, why] for at, why in sorted(drawn)]
    found = fewer_pauses(pauses)
    assert len(found) <= MOST
    assert [each[0] for each in found] == sorted(each[0] for each in found)
    for why in ("core", "port"):
        before, after = (sum(ns for _, ns, reason in each if reason == why)
                         for each in (pauses, found))  # fmt: skip
        assert before == after


def test_longer_stretches_have_the_lowest_of_their_delays() -> None:
    found = longer_stretches([[10 * each, 123_456 - each] for each in range(320)])
    assert found == [[100 * each, 123_000] for each in range(32)]
    assert len(found) <= MOST_STRETCHES
    assert longer_stretches([[0, 987], [7, 123_456]]) == [[0, 987], [7, 123_000]]
    assert longer_stretches([]) == []


def test_a_journal_has_short_lists(tmp_path: Path) -> None:
    """Those of all phases; a list that is short is kept as it is."""
    lost = tuple((10 * each, 2, 1) for each in range(5000))
    many = stream_of(sent=50_000, missing=5000).model_copy(
        update={"lost_runs": lost, "late_runs": ((3, 7),)}
    )
    record = TrialRecord(
        number=1,
        repetition=1,
        rate_fps=20_000,
        started="2026-11-24T08:52:23.793+00:00",
        verdict=Verdict.FAIL,
        invalid_reasons=(),
        result=result_of(many),
        phase_1=many,
    )
    path = tmp_path / "journal.jsonl.gz"
    with Journal(path, {}) as journal:
        journal.trial_ended(record)
    *_, last = read_journal(path)
    kept = TrialRecord.model_validate_json(json.dumps(last))
    assert kept.phase_1 is not None
    for stream in (*kept.result.streams, kept.phase_1):
        assert 0 < len(stream.lost_runs) <= MOST
        assert sum(number for *_, number in stream.lost_runs) == 5000
        assert stream.late_runs == many.late_runs
