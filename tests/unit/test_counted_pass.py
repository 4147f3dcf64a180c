"""A line that says PASS shows the rate that was counted, not the one that was asked for."""

from collections.abc import Callable

import pytest

from natxy.cli.narrator import JsonProgress
from natxy.cli.now_and_then import Lines, NowAndThen
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Verdict
from natxy.trial.observer import Observer

ASKED_FPS, COUNTED_FPS = 1_701_439, 850_000


def trial(verdict: Verdict, counted_fps: int | None) -> TrialRecord:
    return TrialRecord.model_construct(  # type: ignore[call-arg]
        number=1,
        repetition=1,
        rate_fps=ASKED_FPS,
        counted_fps=counted_fps,
        verdict=verdict,
        invalid_reasons=(),
        lost_connections=None,
        result=TrialResult.model_construct(streams=()),  # type: ignore[call-arg]
    )


def run(observer: Observer, record: TrialRecord) -> None:
    observer.repetition_started(1, 1)
    observer.trial_started(ASKED_FPS, (0, 2 * ASKED_FPS))
    observer.trial_ended(record)


def of_a_campaign(record: TrialRecord, _: pytest.CaptureFixture[str]) -> str:
    said: list[str] = []
    lines = Lines(say=said.append)
    observer = NowAndThen(lines, unit="fps")
    observer.repetition_started(1, 1)
    observer.trial_started(ASKED_FPS, (0, 2 * ASKED_FPS))
    lines._newest_s = -1e9  # it is time for a line
    observer.trial_ended(record)
    return "\n".join(said)


def of_json(record: TrialRecord, capsys: pytest.CaptureFixture[str]) -> str:
    run(JsonProgress(), record)
    return capsys.readouterr().out


Show = Callable[[TrialRecord, pytest.CaptureFixture[str]], str]
each_place = pytest.mark.parametrize("show", [of_a_campaign])


@each_place
def test_a_pass_has_the_counted_rate(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    said = show(trial(Verdict.PASS, COUNTED_FPS), capsys)
    assert "850,000 fps" in said
    assert "PASS (asked for 1,701,439)" in said
    assert "1,701,439 fps" not in said


@each_place
@pytest.mark.parametrize(
    "record", [trial(Verdict.PASS, None), trial(Verdict.FAIL, COUNTED_FPS)], ids=["pass", "fail"]
)
def test_others_have_the_rate_that_was_asked_for(
    show: Show, record: TrialRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    said = show(record, capsys)
    assert "1,701,439 fps" in said
    assert "asked for" not in said


def test_the_event_has_both_rates(capsys: pytest.CaptureFixture[str]) -> None:
    said = of_json(trial(Verdict.PASS, COUNTED_FPS), capsys)
    assert '"rate": 850000, "asked": 1701439' in said
