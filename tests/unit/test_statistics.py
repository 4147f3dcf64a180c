"""Statistics against exact computation (RFC 2330 section 11.3)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from natxy.statistics import P1, P99, median, percentile, summary

VALUES = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=300)
SHARES = st.fractions(0, 1, max_denominator=10_000)


@given(VALUES, SHARES)
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(
    values: list[int], share: Fraction
) -> None:
    found = percentile(values, share)
    assert found in values

    def reached(value: float) -> Fraction:
        return Fraction(sum(v <= value for v in values), len(values))

    assert reached(found) >= share
    assert all(reached(value) < share for value in values if value < found)


@given(VALUES)
def test_the_median_has_as_many_values_below_as_above(values: list[int]) -> None:
    found = Fraction(median(values))
    below, above = sum(v < found for v in values), sum(v > found for v in values)
    assert below <= len(values) / 2
    assert above <= len(values) / 2


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert median([4, 1, 3, 2]) == 2.5
    assert median([7]) == 7


def test_rfc_2330s_own_example() -> None:
    """Section 11.3: F of the values -2, 7, 7, 4, 18, -5."""
    values = [-2, 7, 7, 4, 18, -5]
    assert percentile(values, Fraction(1, 4)) == -2
    assert percentile(values, Fraction(1, 2)) == 4
    assert percentile(values, Fraction(1)) == 18
    assert median(values) == 5.5


@pytest.mark.parametrize("n", [1, 2, 10, 99, 100, 101])
def test_p1_and_p99_at_the_border(n: int) -> None:
    values = list(range(1, n + 1))
    assert percentile(values, P1) == (2 if n == 101 else 1)
    assert percentile(values, P99) == (n - 1 if n >= 100 else n)
    assert summary(values).percentiles_are_extremes == (n < 100)


@given(VALUES)
def test_mean_and_deviation(values: list[int]) -> None:
    figures = summary(values)
    mean = Fraction(sum(values), len(values))
    assert figures.mean == pytest.approx(float(mean), abs=1e-3, rel=1e-9)
    if len(values) > 1:
        variance = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
        assert figures.standard_deviation**2 == pytest.approx(float(variance), rel=1e-6, abs=1e-3)
    assert (figures.minimum, figures.maximum, figures.n) == (min(values), max(values), len(values))


def test_dispersion() -> None:
    assert summary([90, 100, 110]).dispersion_percent == pytest.approx(20)
    assert summary([0, 0, 0]).dispersion_percent is None


def test_dispersion_of_a_negative_median_is_positive() -> None:
    assert summary([-90, -100, -110]).dispersion_percent == pytest.approx(20)


def test_no_dispersion_of_a_median_near_0() -> None:
    assert summary([-700, 1, 700]).dispersion_percent is None
    assert summary([-50, 1, 50]).dispersion_percent == pytest.approx(10_000)


def test_a_single_value_does_not_deviate() -> None:
    assert summary([7]).standard_deviation == 0


def test_nothing_has_no_statistics() -> None:
    with pytest.raises(ValueError, match=r"^a median needs values$"):
        median([])
    with pytest.raises(ValueError, match="values"):
        summary([])


@pytest.mark.parametrize(
    ("values", "share"), [([], P1), ([1, 2], Fraction(-1, 100)), ([1, 2], Fraction(101, 100))]
)
def test_a_percentile_of_nothing_or_beyond_all_is_refused(
    values: list[float], share: Fraction
) -> None:
    with pytest.raises(ValueError, match=r"^a percentile needs values, and a share from 0 to 1$"):
        percentile(values, share)
