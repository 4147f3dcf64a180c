"""Figures of delays, from buckets, against exact computation from the delays themselves."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from natxy.errors import DutError
from natxy.model.distribution import P999, Delays
from natxy.statistics import median, percentile
from tests.unit.delays import ERROR, LOST_NS, TICK_NS, distribution


def delays_of(kinds: Sequence[Sequence[float]], lost: int = 0) -> Delays:
    return Delays(
        distributions=tuple(distribution(kind) for kind in kinds), lost=lost, lost_ns=LOST_NS
    )


def right(found: float, exact: float, lowest: float) -> bool:
    return abs(found - exact) <= max(ERROR * abs(exact - lowest), TICK_NS) + 1e-3


DELAY = st.floats(min_value=0, max_value=1e12)
NARROW = st.floats(min_value=1e8, max_value=1e8 + 5000)  # 100 ms that vary by microseconds
SIGNED = st.floats(min_value=-1e6, max_value=1e6)
KINDS = st.sampled_from((DELAY, NARROW, SIGNED)).flatmap(
    lambda values: st.lists(st.lists(values, min_size=1, max_size=300), min_size=1, max_size=2)
)


@given(KINDS, st.integers(0, 5), st.fractions(0, 1))
def test_figures_are_those_of_all_delays(
    kinds: list[list[float]], lost: int, share: Fraction
) -> None:
    found = delays_of(kinds, lost)
    exact = [delay for kind in kinds for delay in kind] + [LOST_NS] * lost
    lowest = min(exact)
    assert found.count == len(exact)
    assert found.minimum_ns == lowest
    assert found.maximum_ns == max(exact[: len(exact) - lost])
    assert right(found.median_ns, median(exact), lowest)
    for asked in (share, P999):
        assert right(found.percentile_ns(asked), percentile(exact, asked), lowest)


@given(st.lists(NARROW, min_size=1, max_size=300))
def test_the_extremes_are_exact_as_percentiles_too(delays: list[float]) -> None:
    found = delays_of([delays])
    assert found.percentile_ns(Fraction(0)) == min(delays)
    assert found.percentile_ns(Fraction(1)) == max(delays)


def test_one_lost_frame_in_a_thousand_is_not_yet_the_percentile() -> None:
    """F(v) >= 0.999 asks for the 999th of 1000: the thousandth may be lost."""
    kept = [float(delay) for delay in range(999)]
    assert delays_of([kept], lost=1).percentile_ns(P999) == pytest.approx(998, abs=1)
    assert delays_of([kept[:-1]], lost=2).percentile_ns(P999) == LOST_NS


def test_a_bucket_of_the_other_kind_does_not_hide_a_value() -> None:
    """Buckets of two kinds overlap where their minima differ: no value is lost between them."""
    found = delays_of([[0.0, 1e9], [999_999_000.0]])
    assert right(found.median_ns, 999_999_000.0, 0.0)


def test_where_nothing_came_there_is_no_minimum() -> None:
    nothing = delays_of([[]], lost=5)
    assert nothing.median_ns == LOST_NS
    with pytest.raises(DutError, match="No frame arrived"):
        _ = nothing.minimum_ns


def test_where_nothing_was_sent_there_is_no_delay() -> None:
    with pytest.raises(DutError, match="No frame was sent"):
        _ = delays_of([[]]).median_ns
