"""The helper by which tests repeat what is invalid: bounded, and with the reasons."""

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
