"""Tests of the error of a delay, from the tester's own absences."""

import math
import random
from dataclasses import replace
from fractions import Fraction

from natxy.model.distribution import P999, Delays, Distribution
from natxy.model.reason import Code
from natxy.model.remark import Remark, Topic
from natxy.model.stream_counters import TagCounters
from natxy.procedure.latency import latency_errors
from natxy.verdict.delay_error import (
    DelayError,
    TimingErrors,
    doubts,
    error_remarks,
)
from tests.unit.delay_error import US, spread
from tests.unit.results import result_of, stream_of


def error_us(delays: Distribution, poll_gap: Distribution, share: Fraction) -> float:
    timing = TimingErrors(poll_gap=poll_gap, step_gap=spread((1, delays.count)))
    return timing.percentile_ns(Delays(distributions=(delays,)), share) / US


def test_a_tester_that_was_always_there_is_right_within_its_polls() -> None:
    delays = spread((50, 9_900), (80, 100))
    assert error_us(delays, spread((1, 10_000)), Fraction(1, 2)) == 2
    assert error_us(delays, spread((1, 10_000)), P999) == 2


def test_few_long_gaps_leave_the_median_as_it_is_and_spoil_the_high_percentile() -> None:
    delays = spread((50, 9_950), (20_000, 50))
    gaps = spread((1, 9_950), (20_000, 50))
    assert error_us(delays, gaps, Fraction(1, 2)) == 2
    assert error_us(delays, gaps, P999) > 19_900


def test_long_delays_that_no_gap_explains_are_the_gateways() -> None:
    delays = spread((50, 9_950), (20_000, 50))
    assert error_us(delays, spread((1, 10_000)), P999) == 2


def test_the_error_reaches_the_truth_whichever_frames_the_tester_was_away_for() -> None:
    chance = random.Random(3)
    for _ in range(200):
        true_us = sorted(chance.expovariate(1 / 50) for _ in range(500))
        gaps_us = [chance.choice((1.0, 1.0, 1.0, 200.0)) for _ in true_us]
        gaps_us[chance.randrange(500)] = 10_000.0
        seen_us = [true + chance.random() * gap for true, gap in zip(true_us, gaps_us, strict=True)]
        seen = spread(*((us, 1) for us in seen_us))
        gaps = spread(*((gap, gaps_us.count(gap)) for gap in set(gaps_us)))
        for share in (Fraction(1, 2), Fraction(99, 100), P999):
            truth_us = true_us[math.ceil(share * 500) - 1]
            value_us = Delays(distributions=(seen,)).percentile_ns(share) / US
            assert truth_us >= value_us - error_us(seen, gaps, share) - 0.001


def test_gaps_of_frames_that_are_not_among_the_values_do_not_hide_others() -> None:
    """Frames of another trial came as well, and the tester was there for each of them."""
    delays = spread((50, 950), (10_000, 50))
    assert error_us(delays, spread((1, 39_000), (10_000, 50)), P999) > 9_900


def test_latencys_error_is_that_of_tagged_frames() -> None:
    """A long delay counts without its own gap, and is not excused by the gap of another frame."""
    usual = [(number, 50_000, 2000) for number in range(990)]

    def errors_us(*longest: tuple[int, int]) -> list[float]:
        long = [(990 + at, delay_ns, gap_ns) for at, (delay_ns, gap_ns) in enumerate(longest)]
        tags = TagCounters(sent=1000, received=1000, lost=0, arrived=tuple(usual + long))
        stream = stream_of(sent=40_000).model_copy(update={"tags": tags})
        return [each.error_ns / US for each in latency_errors(result_of(stream), lost_ns=1e9)]

    assert errors_us(*[(10_000_000, 9_000_000)] * 10) == [2, 9_000]
    assert errors_us(*[(10_000_000, 1000)] * 9, (60_000, 59_000)) == [2, 1]


def test_a_figure_that_is_the_testers_own_is_doubted_and_named() -> None:
    error = DelayError(name="PDV", direction="forward", value_ns=19.8e6, error_ns=19.7e6)
    (reason,) = doubts([error])
    assert reason.code is Code.DELAY_IN_DOUBT
    assert str(reason).startswith("forward: the PDV of 19.8 ms may be 19.7 ms too long, ")
    assert doubts([DelayError(name="PDV", direction="forward", value_ns=8e3, error_ns=8e3)]) == ()
    (said,) = error_remarks([[error], [error]])
    assert str(said) == (
        "Because of the time between polls and of cores that were away, these figures may be too "
        "long by at most: PDV 19.7 ms."
    )


def test_a_gateway_that_was_away_is_in_the_error_that_is_stated() -> None:
    delays = Delays(distributions=(spread((50, 9_900), (3_000, 100)),))
    quiet = TimingErrors(poll_gap=spread((1, 10_000)), step_gap=spread((1, 10_000)))
    assert quiet.percentile_ns(delays, P999) == 2 * US
    away = replace(quiet, waiting_ns=3_000 * US, waiting_share=Fraction(2, 100))
    assert away.percentile_ns(delays, P999) == 2_952 * US
    assert away.percentile_ns(delays, Fraction(1, 2)) == 2 * US


def test_a_median_variation_is_moved_by_as_many_pairs_as_had_a_long_gap() -> None:
    pairs = Delays(distributions=(spread((-1_900, 333), (700, 333), (1_200, 333)),))
    half = Fraction(1, 2)

    def moved_us(gaps: Distribution) -> float:
        timing = TimingErrors(poll_gap=gaps, step_gap=spread((1, 1_000)))
        return timing.variation_ns(pairs, half) / US

    assert moved_us(spread((1, 1_000))) == 2
    assert moved_us(spread((1, 990), (5_000, 10))) == 2
    assert moved_us(spread((1, 900), (5_000, 100))) == 2_602, "100 gaps, 200 pairs"


def test_a_variation_is_wrong_by_the_longest_gaps_either_way_and_refuses_nothing() -> None:
    assert TimingErrors(poll_gap=spread((7, 9)), step_gap=spread((2, 9))).longest_ns == 9 * US
    error = DelayError(
        name="maximum IPDV", direction="forward", value_ns=5e6, error_ns=5e6, either_way=True
    )
    assert doubts([error]) == ()
    (said,) = error_remarks([[error]])
    assert said == Remark.of(Topic.WRONG_EITHER_WAY, errors_ns={"maximum IPDV": 5e6})
