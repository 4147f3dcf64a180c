"""The search against gateways and testers of known limits."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from natxy.errors import ConfigurationError
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection, SearchError

RATES = st.integers(1, 10**9)
ERRORS = st.one_of(
    st.builds(SearchError, rate_fps=st.integers(1, 10**6)),
    st.builds(SearchError, fraction=st.fractions(Fraction(1, 10**6), Fraction(1, 2))),
)


def run(search: Bisection, *, capacity: int, tester: int = 2**40) -> list[tuple[int, Verdict]]:
    """Searches where the gateway forwards up to `capacity` and the tester works up to `tester`."""
    told = []
    while (rate := search.next()) is not None:
        verdict = Verdict.PASS if rate <= capacity else Verdict.FAIL
        if rate > tester:
            verdict = Verdict.INVALID
        search.tell(rate, verdict)
        told.append((rate, verdict))
        assert len(told) < 1000, "the search does not end"
    return told


@given(capacity=st.integers(0, 10**9), upper=RATES, error=ERRORS)
def test_the_result_is_within_the_error_below_the_capacity(
    capacity: int, upper: int, error: SearchError
) -> None:
    search = Bisection(upper_fps=upper, error=error)
    told = run(search, capacity=capacity)
    result = search.result_fps or 0
    assert result == 0 or (result, Verdict.PASS) in told
    if capacity >= upper:
        assert (result, search.limit, len(told)) == (upper, Limit.MAXIMUM, 1)
    else:
        assert result <= capacity < result + error.at(result)
        assert search.limit is Limit.DUT


@given(capacity=RATES, upper=RATES, first=RATES, error=ERRORS, growth=st.integers(2, 16))
def test_going_up_finds_the_same(
    capacity: int, upper: int, first: int, error: SearchError, growth: int
) -> None:
    search = Bisection(upper_fps=upper, first_fps=first, error=error, growth=growth)
    told = run(search, capacity=capacity)
    result = search.result_fps or 0
    assert told[0][0] == min(first, upper)
    assert all(1 <= rate <= upper for rate, _ in told)
    assert result == 0 or (result, Verdict.PASS) in told
    reachable = min(capacity, upper)
    assert result <= reachable
    assert result == upper or reachable < result + error.at(result)


@given(capacity=RATES, tester=RATES, upper=RATES)
def test_a_tester_too_slow_makes_a_lower_bound_and_never_a_lower_figure(
    capacity: int, tester: int, upper: int
) -> None:
    search = Bisection(upper_fps=upper)
    told = run(search, capacity=capacity, tester=tester)
    result = search.result_fps or 0
    reachable = min(capacity, tester, upper)
    assert result <= reachable
    assert result == upper or reachable < result + search.error.at(result)
    if result < upper and tester < capacity:
        assert search.limit is Limit.TESTER
    invalid = [rate for rate, verdict in told if verdict is Verdict.INVALID]
    assert len(set(invalid)) == len(invalid)


def test_without_a_maximum_the_rate_doubles_until_it_fails() -> None:
    search = Bisection(upper_fps=2**33, first_fps=1000, error=SearchError(rate_fps=1))
    told = run(search, capacity=5000)
    assert [rate for rate, _ in told[:4]] == [1000, 2000, 4000, 8000]
    assert search.result_fps == 5000


def test_a_wide_bracket_is_halved_by_its_ratio_until_it_is_narrow() -> None:
    search = Bisection(upper_fps=2**33, first_fps=1000, growth=4, error=SearchError(rate_fps=4000))
    told = run(search, capacity=100_000)
    ups, downs = [1000, 4000, 16_000, 64_000, 256_000], [128_000, 96_000, 112_000, 104_000, 100_000]
    assert [rate for rate, _ in told] == ups + downs


@pytest.mark.parametrize(
    ("passed", "failed", "middle"), [(100, 200, 150), (100, 250, 158), (1, 3, 2), (2, 5, 3)]
)
def test_a_bracket_is_halved_by_its_ratio_if_its_ends_differ_by_more_than_a_factor_of_two(
    passed: int, failed: int, middle: int
) -> None:
    search = Bisection(upper_fps=1000, error=SearchError(rate_fps=1))
    search.tell(passed, Verdict.PASS)
    search.tell(failed, Verdict.FAIL)
    assert search.next() == middle


def test_a_ceiling_is_retried_until_it_has_a_verdict() -> None:
    search = Bisection(upper_fps=1000, error=SearchError(rate_fps=300))
    for rate_fps, verdict in ((1000, Verdict.INVALID), (500, Verdict.INVALID), (250, Verdict.PASS)):
        search.tell(rate_fps, verdict)
    assert search.next() is None
    search.retry_ceiling()
    assert [search.next(), search.next()] == [500, 500], "as long as it has no verdict"
    search.tell(500, Verdict.PASS)
    assert (search.bracket, search.limit) == ((500, 1000), Limit.TESTER)
    search.tell(750, Verdict.FAIL)
    assert search.limit is Limit.DUT


def test_the_maximum_is_tried_unless_what_passed_is_within_the_error() -> None:
    """The counted rate may be lower than the rate of the trial that passed."""
    search = Bisection(upper_fps=1000, error=SearchError(rate_fps=10))
    search.tell(990, Verdict.PASS)
    assert search.next() == 1000
    search.tell(991, Verdict.PASS)
    assert (search.next(), search.limit) == (None, Limit.MAXIMUM)


def test_an_error_is_as_it_was_written_and_says_itself() -> None:
    assert (str(SearchError()), str(SearchError(rate_fps=7))) == ("0.1 %", "7 fps")
    # What a caller writes whom no type checker stops.
    assert SearchError(fraction=0.1).fraction == Fraction(1, 10)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^fraction: much is not valid"):
        SearchError(fraction="much")  # type: ignore[arg-type]
    for fraction in (0, 1, 2):
        with pytest.raises(
            ConfigurationError, match=f"fraction: {fraction * 100} % is out of range"
        ):
            SearchError(fraction=Fraction(fraction))
    with pytest.raises(ConfigurationError, match="rate_fps: 0 is out of range"):
        SearchError(rate_fps=0)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"fraction": Fraction(0)}, "0 %"),
        ({"fraction": Fraction(1)}, "100 %"),
        ({"fraction": Fraction(-1, 100)}, "-1 %"),
        ({"rate_fps": 0}, "0"),
    ],
)
def test_an_error_that_ends_no_search_is_refused(error: dict[str, Any], said: str) -> None:
    expected = "1 or more frames a second" if "rate_fps" in error else "more than 0 %, less than"
    with pytest.raises(ConfigurationError) as refused:
        SearchError(**error)
    assert str(refused.value).startswith(
        f"{next(iter(error))}: {said} is out of range (expected {expected}"
    )


def test_a_pass_overturns_failures_up_to_the_rate_that_was_tried_and_no_others() -> None:
    """Its counted rate may be lower, and above the result the next failure counts on."""
    search = Bisection(upper_fps=1000, first_fps=500)
    for rate_fps in (500, 300, 400):
        search.tell(rate_fps, Verdict.FAIL)
    search.tell(400, Verdict.PASS, counted_fps=390)
    assert (search.bracket, search.limit) == ((390, 500), Limit.DUT)
    search.keep_failures(set())
    assert (search.bracket, search.limit) == ((390, 1000), Limit.MAXIMUM)


def test_rates_whose_failures_tell_nothing_are_the_next_steps_upwards() -> None:
    search = Bisection(upper_fps=10_000, first_fps=800, growth=4)
    for rate_fps, verdict in ((800, Verdict.FAIL), (400, Verdict.PASS), (600, Verdict.FAIL)):
        assert search.next() == rate_fps
        search.tell(rate_fps, verdict)
    search.keep_failures(set())
    for rate_fps in (600, 800, 3200):
        assert search.next() == rate_fps
        search.tell(rate_fps, Verdict.PASS)
