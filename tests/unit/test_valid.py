"""The helper by which tests repeat what is invalid: bounded, and with the reasons."""

import re
from pathlib import Path

import pytest

from tests import valid as helper
from tests.valid import valid


def test_the_first_valid_result_ends_it() -> None:
    results = iter([1, 2, 3])
    assert valid(lambda: next(results), lambda n: ["too small"] if n < 2 else []) == 2


def test_what_stays_invalid_fails_with_its_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helper, "ATTEMPTS", 5)
    late_ms = iter(range(1, 10))
    with pytest.raises(
        pytest.fail.Exception, match=r"none of 5 attempts .* 5 x N ms late; .* 5 ms"
    ):
        valid(lambda: next(late_ms), lambda ms: [f"{ms} ms late"])


def test_it_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = iter(range(0, 1000, 40))
    monkeypatch.setattr(helper, "PATIENCE_S", 120)
    monkeypatch.setattr("tests.valid.time.monotonic", lambda: next(now_s))
    with pytest.raises(pytest.fail.Exception, match=r"none of 2 attempts"):
        valid(lambda: None, lambda _: ["away"])


@pytest.mark.parametrize(
    "said",
    [
        "no rate passed, and at 1000 frames a second trials are invalid: the host moved",
        "1 trial at 500 frames a second was invalid: late",
        "12 trials at 500 frames a second were invalid, and the retry time is used up: late",
        "trials of 3,000 connections at 200 a second stay invalid: late",
        "no rate of the series has a valid trial: late",
        "no burst at 1000 frames a second could be sent: late",
    ],
)
def test_a_command_without_valid_trials_is_repeated(said: str) -> None:
    ends = iter([f"natxy: {said}", "natxy: wrote results"])

    def command() -> helper.Done:
        return helper.Done([], 1, stdout="", stderr=next(ends))

    assert helper.valid_run(command).stderr == "natxy: wrote results"


def test_each_error_of_this_kind_is_known() -> None:
    """The sentences that the product writes, with 1 in each of their places."""
    text = "\n".join(path.read_text() for path in Path("natxy").rglob("*.py"))
    raised = re.findall(r'TesterLimit\(\s*((?:f"[^"]+"\s*)+)', text)
    assert len(raised) >= 4
    for each in raised:
        said = re.sub(r"\{(trials|were)\}", r"\1", "".join(re.findall(r'"([^"]+)"', each)))
        assert helper.INVALID.search(re.sub(r"\{[^}]*\}", "1", said)), said
