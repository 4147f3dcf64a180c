"""PDV's figures from the delays of a stream, and their errors."""

import random

import pytest

from natxy.model.distribution import Delays, Distribution
from natxy.model.disturbance import Disturbance
from natxy.model.reason import Code
from natxy.model.stream_counters import Kinds
from natxy.model.stream_result import StreamResult
from natxy.procedure.delay_variation import (
    MAXIMUM,
    MINIMUM,
    P999_DELAY,
    PDV,
    pdv_errors,
    pdv_figures,
)
from natxy.verdict.delay_error import TimingErrors, doubts, error_remarks
from tests.unit.delay_error import US, spread
from tests.unit.delays import LOST_NS, distribution
from tests.unit.results import result_of, stream_of


def stream(*, lost: int) -> StreamResult:
    """1000 frames, with delays from 1 us up in steps of a nanosecond."""
    arrived = stream_of(sent=1000, missing=lost)
    (_, counters), *_ = arrived.counters()
    delays = distribution([1000.0 + number for number in range(1000 - lost)])
    kinds = Kinds(foreground=counters.model_copy(update={"delay": delays}))
    return arrived.model_copy(update={"kinds": kinds})


def test_more_than_one_lost_frame_in_a_thousand_is_the_percentile() -> None:
    for lost in (0, 1):
        values = {each.name: each.values[0] for each in pdv_figures(stream(lost=lost), LOST_NS)}
        assert values[P999_DELAY] < 2000.0
    values = {each.name: each.values[0] for each in pdv_figures(stream(lost=2), LOST_NS)}
    assert values[P999_DELAY] == LOST_NS
    assert values[PDV] == LOST_NS - 1000.0


def measured(delays: Distribution, poll_gap: Distribution, *, lost: int = 0) -> StreamResult:
    """Each step of the sender takes 1 us."""
    arrived = stream_of(sent=delays.count + lost, missing=lost)
    (_, counters), *_ = arrived.counters()
    step_gap = spread((1, delays.count)).model_copy(update={"p50_ns": 1 * US})
    return arrived.model_copy(
        update={
            "kinds": Kinds(foreground=counters.model_copy(update={"delay": delays})),
            "poll_gap": poll_gap,
            "step_gap": step_gap,
        }
    )


def errors_us(stream: StreamResult, noise: Disturbance | None = None) -> dict[str, float]:
    errors = pdv_errors(result_of(stream), LOST_NS, noise or Disturbance())
    return {error.name: error.error_ns / US for error in errors}


def test_a_gap_that_met_few_frames_is_in_the_error_of_the_maximum_alone() -> None:
    """A poll came 20 ms late for 5 of 10,000 frames. Half of the gaps are not above 2 us."""
    gaps = spread((2, 9_995), (20_000, 5)).model_copy(update={"p50_ns": 2 * US})
    stream = measured(spread((50, 9_000), (80, 995), (20_050, 5)), gaps)
    assert errors_us(stream) == {PDV: 4, P999_DELAY: 4, MAXIMUM: 19_974, MINIMUM: 3}
    (said,) = error_remarks([pdv_errors(result_of(stream), LOST_NS)])
    assert "minimum delay 3 µs, P99.9 of the delay 4 µs, maximum delay 20.0 ms" in str(said)


def test_the_error_of_the_maximum_is_no_longer_than_the_longest_gaps() -> None:
    """A gateway that is slow for one frame: the longest gaps are 300 us and 1 us."""
    stream = measured(spread((50, 9_999), (9_000, 1)), spread((2, 9_000), (300, 1_000)))
    assert errors_us(stream)[MAXIMUM] == 301


def test_a_lost_frame_is_not_the_maximum_of_those_that_arrived() -> None:
    stream = measured(spread((50, 900), (400, 90)), spread((2, 990)), lost=10)
    assert errors_us(stream)[MAXIMUM] == 3


def test_a_frame_may_have_waited_for_a_gateway_that_was_away() -> None:
    stream = measured(spread((50, 9_999), (9_000, 1)), spread((2, 10_000)))
    noise = Disturbance(sending_ns=1e9, away_ns=5e6, longest_away_ns=5e6)
    assert errors_us(stream, noise)[MAXIMUM] == 5_003


def test_a_frame_may_have_waited_behind_those_of_a_sender_that_was_late() -> None:
    stream = measured(spread((50, 9_999), (9_000, 1)), spread((2, 10_000)))
    noise = Disturbance(sending_ns=1e9, longest_late_ns=4e6)
    assert errors_us(stream, noise)[MAXIMUM] == 4_003
    assert errors_us(stream)[MAXIMUM] == 3


def test_only_the_error_of_pdv_makes_a_trial_invalid() -> None:
    few = measured(spread((50, 9_995), (20_050, 5)), spread((2, 9_995), (20_000, 5)))
    assert doubts(pdv_errors(result_of(few), LOST_NS)) == ()
    many = measured(spread((50, 9_900), (20_050, 100)), spread((2, 9_900), (20_000, 100)))
    (said,) = doubts(pdv_errors(result_of(many), LOST_NS))
    assert said.code is Code.DELAY_IN_DOUBT


def test_the_error_of_the_maximum_reaches_the_truth_whichever_frames_met_a_gap() -> None:
    chance = random.Random(5)
    for _ in range(200):
        true_us = [chance.expovariate(1 / 50) for _ in range(300)]
        gaps_us = [chance.choice((1.0, 1.0, 1.0, 200.0)) for _ in true_us]
        gaps_us[chance.randrange(300)] = 10_000.0
        seen_us = [true + chance.random() * gap for true, gap in zip(true_us, gaps_us, strict=True)]
        timing = TimingErrors(
            poll_gap=spread(*((gap, gaps_us.count(gap)) for gap in set(gaps_us))),
            step_gap=spread((1, 300)),
        )
        seen = Delays(distributions=(spread(*((us, 1) for us in seen_us)),))
        assert max(true_us) >= max(seen_us) - timing.maximum_ns(seen) / US - 0.001


@pytest.mark.parametrize("clock", ["tsc", "port"])
def test_a_port_that_stamps_arrivals_has_no_polls(clock: str) -> None:
    gaps = spread((2, 100)).model_copy(update={"p50_ns": 2 * US})
    result = result_of(measured(spread((50, 100)), gaps)).model_copy(update={"delay_clock": clock})
    errors = {error.name: error.error_ns / US for error in pdv_errors(result, LOST_NS)}
    assert errors[MINIMUM] == (3 if clock == "tsc" else 1)
    assert errors[MAXIMUM] == (3 if clock == "tsc" else 1)
