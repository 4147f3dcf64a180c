"""The result of a trial stands in the journal once, and can be played as it was."""

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from natxy.campaign.bucket_columns import pack_buckets
from natxy.campaign.fewer_runs import shorten
from natxy.campaign.journal import Journal, read_journal
from natxy.campaign.records import CellRecord, read_campaign
from natxy.campaign.runner import TrialWriter
from natxy.campaign.tape import RUN, AnswerRecord, Tape
from natxy.campaign.whole_result import rest_of, whole
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Verdict
from tests.unit.campaigns import HEADER
from tests.unit.demo_journal import SEARCH, STATEFUL, TICK_HZ, Gateway, write
from tests.unit.results import result_of, stream_of

DEMO_TRIALS = 672
PHASES = ("ramp-1", "ramp-2", "establish", "sample", "test")


def record_of(result: TrialResult, **more: Any) -> TrialRecord:
    return TrialRecord(
        number=1,
        repetition=1,
        rate_fps=1000,
        started="2026-11-24T08:52:23.793+00:00",
        verdict=Verdict.PASS,
        invalid_reasons=(),
        result=result,
        **more,
    )


@given(some.lists(some.sampled_from(PHASES), max_size=6), some.booleans())
def test_any_answer_is_its_rest_and_the_line_of_its_trial(phases: list[str], part: bool) -> None:
    """Also with phases in another order, and with streams that the trial's line lacks."""
    answer = result_of(*(stream_of(sent=at, phase=phase) for at, phase in enumerate(phases)))
    record = record_of(
        answer.of_phase("test") if part else answer,
        phase_1=answer.stream_of("establish"),
        starting=tuple(each for each in answer.streams if each.phase.startswith("ramp")),
    ).model_dump(mode="json")
    written = answer.model_dump(mode="json")
    rest = json.loads(json.dumps(rest_of(written, record)))
    assert whole(rest, record) == written
    assert part or rest is None, "the line has all of a trial of one phase"


def test_a_stateful_answer_has_no_streams_of_its_own() -> None:
    record, result = next(Gateway(STATEFUL).trials())
    rest = rest_of(result.model_dump(mode="json"), record.model_dump(mode="json"))
    assert rest is not None
    assert rest.keys() == {"streams", "watched"}
    assert rest["streams"] == [2, 3, 0, 1], "phase 1 and the sample, then both directions"


def test_a_resumed_cell_gets_the_whole_result(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl.gz"
    record, result = next(Gateway(STATEFUL).trials())
    cell = CellRecord(key="1", number=1, column="", measure="", round=1, seed=1, started="")
    with Journal(path, HEADER) as journal:
        journal.append(cell)
        tape = Tape()
        tape.answer(RUN, lambda: result.model_dump(mode="json"))
        TrialWriter(journal, tape).trial_ended(record)
    (answer,) = read_campaign(path).cells["1"].answers
    played = TrialResult.model_validate_json(json.dumps(answer.answer))
    assert [stream.phase for stream in played.streams] == ["establish", "sample", "test", "test"]
    assert played.watched == result.watched
    assert [stream.lost for stream in played.streams] == [each.lost for each in result.streams]


def version_2(path: Path, trials: Sequence[tuple[TrialRecord, TrialResult]]) -> None:
    """Writes a campaign's journal as version 2: all buckets, and a stateful result twice."""
    cell = CellRecord(key="1", number=1, column="", measure="", round=1, seed=1, started="")
    lines: list[dict[str, Any]] = [{"record": "campaign", "version": 2, **HEADER}]
    lines.append(cell.model_dump(mode="json"))
    for record, result in trials:
        answer = AnswerRecord(call=RUN, of_trial=result == record.result)
        if not answer.of_trial:
            answer = answer.model_copy(update={"answer": result.model_dump(mode="json")})
        group = [answer.model_dump(mode="json"), record.model_dump(mode="json")]
        for line in group:
            pack_buckets(line, TICK_HZ)
        lines += group
    path.write_bytes(b"".join(gzip.compress(json.dumps(line).encode() + b"\n") for line in lines))


def without_buckets(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: without_buckets(each) for name, each in node.items() if name != "buckets"}
    return [without_buckets(each) for each in node] if isinstance(node, list | tuple) else node


def buckets_in(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from ([node["buckets"]] if "buckets" in node else [])
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from buckets_in(each)


def test_a_journal_of_version_2_goes_on_in_version_3(tmp_path: Path) -> None:
    """Its first line keeps version 2: a reader takes each line as it is (docs/decisions/0029)."""
    path = tmp_path / "journal.jsonl.gz"
    gateways = (0, STATEFUL, 0, STATEFUL)
    drawn = [Gateway(number).trial(1, 30_000, passed=True) for number in gateways]
    version_2(path, drawn[:2])
    with Journal.reopened(path) as journal:
        tape = Tape()
        for record, result in drawn[2:]:
            tape.answer(RUN, partial(result.model_dump, mode="json"))
            TrialWriter(journal, tape).trial_ended(record)
    header, *lines = read_journal(path)
    assert header["version"] == 2
    trials = [line for line in lines if line["record"] == "trial"]
    assert len(trials) == len(drawn)
    for trial, (record, _) in zip(trials, drawn, strict=True):
        expected = record.model_dump(mode="json")
        if trial in trials[2:]:
            shorten(expected)
        assert without_buckets(trial) == without_buckets(expected)
        found = list(buckets_in(trial))
        assert all(len(bucket) == 3 for listed in found for bucket in listed)
    fine, wide = (sum(map(len, buckets_in(trials[at]))) for at in (0, 2))
    assert wide < fine / 2, "the lines of both versions differ"
    answers = read_campaign(path).cells["1"].answers
    for answer, (_, result) in zip(answers, drawn, strict=True):
        expected = result.model_dump(mode="json")
        if answer in answers[2:]:
            shorten({"result": expected, "phase_1": None, "sample": None, "starting": []})
        assert without_buckets(answer.answer) == without_buckets(expected)
        TrialResult.model_validate_json(json.dumps(answer.answer))


def test_the_demos_journal_has_less_than_3_mb(tmp_path: Path) -> None:
    """A search of the fastest gateway, and one of the stateful gateway (docs/decisions/0029)."""
    path, count = tmp_path / "journal.jsonl.gz", 2 * SEARCH
    write(path, count, (0, STATEFUL))
    assert path.stat().st_size / count * DEMO_TRIALS < 3e6
