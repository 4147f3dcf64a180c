"""The journal's lines: exactly what was written, short, and readable after any cut."""

import gzip
import json
import os
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

import natxy
from natxy.campaign.bucket_columns import pack_buckets, unpack_buckets
from natxy.campaign.journal import Journal, read_journal
from natxy.errors import ConfigurationError
from natxy.model.distribution import NOTHING, Distribution
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.unit.demo_journal import SEARCH, STATEFUL, write
from tests.unit.results import result_of, stream_of

DEMO_TRIALS = 672
TICK_HZ = 2_596_138_196  # a processor's
PROVENANCE = {"tester": {"tsc_hz": TICK_HZ}}

counts = some.integers(1, 2**64 - 1)
clocks = some.integers(1, 2**40)
bounds_ns = some.floats(allow_nan=False, allow_infinity=False)
any_buckets = some.lists(some.tuples(bounds_ns, bounds_ns, counts), max_size=20)
steps_ticks = some.lists(some.tuples(some.integers(0, 2**40), some.integers(0, 2**36), counts))


def ns(ticks: int, tick_hz: int = TICK_HZ) -> float:
    """Converts ticks as the engine does (run/clock.hpp)."""
    return ticks * 1e9 / tick_hz


def distribution(buckets: list[tuple[float, float, int]]) -> Distribution:
    return NOTHING.model_copy(update={"buckets": tuple(buckets)})


def packed(of: Distribution, tick_hz: int) -> dict[str, Any]:
    record = {"kinds": [of.model_dump(mode="json")]}
    pack_buckets(record, tick_hz)
    return record["kinds"][0]


def unpacked(line: str) -> str:
    record = {"kinds": [json.loads(line)]}
    unpack_buckets(record)
    return json.dumps(record["kinds"][0])


def trial(number: int, *, seed: int = 1) -> TrialRecord:
    """Has 3000 different delays in each direction: a bucket of one tick for each."""
    ticks = Random(seed).sample(range(20_000, 300_000), 3000)
    delays = distribution([(ns(each), ns(each), 1 + each % 3) for each in sorted(ticks)])
    streams = []
    for direction in ("forward", "reverse"):
        stream = stream_of(sent=3000, missing=1, direction=direction)  # so that no bucket is wide
        streams.append(stream.model_copy(update={"lateness": delays}))
    return TrialRecord(
        number=number,
        repetition=1,
        rate_fps=15_000,
        started="2026-11-23T08:52:23.793+00:00",
        verdict=Verdict.PASS,
        invalid_reasons=(),
        result=result_of(*streams),
    )


def trials_in(path: Path) -> list[TrialRecord]:
    records = [record for record in read_journal(path) if record["record"] == "trial"]
    return [TrialRecord.model_validate_json(json.dumps(record)) for record in records]


@given(any_buckets, clocks)
@example([(-0.0, 0.0, 1)], 10**9)
@example([(1.7e308, 1.7e308, 1)], 2**40)
def test_any_bounds_are_read_bit_by_bit(
    listed: list[tuple[float, float, int]], tick_hz: int
) -> None:
    """Bounds that no clock's ticks give are read, too: the text tells -0.0 from 0.0."""
    of = distribution(listed)
    line = json.dumps(packed(of, tick_hz))
    assert unpacked(line) == json.dumps(of.model_dump(mode="json"))


@given(some.integers(-(2**40), 2**40), steps_ticks, some.integers(10**7, 10**10))
def test_the_engines_bounds_are_written_as_ticks(
    first: int, steps: list[tuple[int, int, int]], tick_hz: int
) -> None:
    lower = list(accumulate((gap + width for gap, width, _ in steps), initial=first))
    listed = [
        (ns(low, tick_hz), ns(low + width, tick_hz), count)
        for low, (_, width, count) in zip(lower, steps, strict=False)
    ]
    of = distribution([bucket for bucket in listed if bucket[1] < ns(2**48, tick_hz)])
    line = packed(of, tick_hz)
    assert isinstance(line["buckets"], dict) or not of.buckets
    assert unpacked(json.dumps(line)) == json.dumps(of.model_dump(mode="json"))


def test_columns_are_what_the_page_says() -> None:
    """docs/how-to/journal.md has this example."""
    of = distribution([(100.0, 100.0, 7), (103.0, 104.0, 2), (105.0, 106.0, 1)])
    columns = {"tick_hz": 10**9, "gaps": [100, 3, 1], "widths": [0, 1, 1], "counts": [7, 2, 1]}
    assert packed(of, 10**9)["buckets"] == columns
    assert packed(of, 3 * 10**8)["buckets"] == [list(bucket) for bucket in of.buckets]


@pytest.mark.parametrize("provenance", [PROVENANCE, {}], ids=["of-the-engine", "without-a-clock"])
def test_trials_are_read_as_they_were_written(provenance: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl.gz"
    written = [trial(number, seed=number) for number in range(1, 4)]
    with Journal(path, provenance) as journal:
        for each in written:
            journal.trial_ended(each)
    assert trials_in(path) == written


def test_a_trial_is_on_the_disk_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl.gz"
    kept_bytes: list[int] = []
    monkeypatch.setattr(
        "natxy.campaign.journal.os.fsync", lambda file: kept_bytes.append(os.fstat(file).st_size)
    )
    with Journal(path, PROVENANCE) as journal:
        for number in (1, 2):
            journal.trial_ended(trial(number))
            assert kept_bytes[-1:] == [path.stat().st_size]


def test_a_trial_takes_a_twentieth(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl.gz"
    with Journal(path, PROVENANCE) as journal:
        before = path.stat().st_size
        journal.trial_ended(trial(1))
    line = path.stat().st_size - before
    assert line < len(json.dumps(trial(1).model_dump(mode="json"))) / 20


def test_the_demos_journal_has_less_than_3_5_mb(tmp_path: Path) -> None:
    """A search of the fastest gateway, and one of the stateful gateway (docs/decisions/0029)."""
    path, count = tmp_path / "journal.jsonl.gz", 2 * SEARCH
    write(path, count, (0, STATEFUL))
    assert path.stat().st_size / count * DEMO_TRIALS < 3.5e6


def test_every_cut_leaves_the_lines_before_it(tmp_path: Path) -> None:
    """Lines that are written together are left together."""
    whole, cut = tmp_path / "journal.jsonl.gz", tmp_path / "cut.jsonl.gz"
    short = [trial(number).model_copy(update={"result": result_of()}) for number in range(1, 6)]
    ends = []
    with Journal(whole, {}) as journal:
        ends.append((whole.stat().st_size, 1))
        for records in (short[:1], short[1:4]):
            journal.append(*records)
            ends.append((whole.stat().st_size, len(records)))
    with Journal.reopened(whole) as journal:
        journal.append(short[4])
        ends.append((whole.stat().st_size, 1))
    data = whole.read_bytes()
    for size in range(len(data) + 1):
        cut.write_bytes(data[:size])
        assert len(list(read_journal(cut))) == sum(lines for end, lines in ends if end <= size)
    assert len(gzip.decompress(data).splitlines()) == 6, "every program reads it"


def test_it_is_read_however_it_was_packed(tmp_path: Path) -> None:
    """A journal may be one member, which `zcat | gzip` makes, or text."""
    path = tmp_path / "journal.jsonl.gz"
    with Journal(path, PROVENANCE) as journal:
        for number in (1, 2):
            journal.trial_ended(trial(number))
    text = gzip.decompress(path.read_bytes())
    for name, data in (("one.gz", gzip.compress(text)), ("text", text), ("torn", text + b'{"re')):
        (tmp_path / name).write_bytes(data)
        assert list(natxy.read_journal(tmp_path / name)) == list(natxy.read_journal(path))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "No such file"),
        (b'{"record": "campaign", "version": 4}\n', r"its version is 4 \(expected 5\)"),
        (b"Dear diary,\n", "Expecting value"),
        (b"[]\n", "a line is no record"),
        (gzip.compress(b"{}\n")[:-6] + bytes(6), "incorrect data check"),
    ],
    ids=["no-file", "later", "text", "no-record", "damaged"],
)
def test_what_is_no_journal_is_refused_in_one_sentence(
    data: bytes | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl.gz"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=f"journal.jsonl.gz: cannot be read.*{reason}"):
        list(read_journal(path))
