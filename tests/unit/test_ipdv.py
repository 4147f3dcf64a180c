"""IPDV and latency: their figures from the counters of a stream, and their errors."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, DutError
from natxy.model.distribution import Distribution
from natxy.model.disturbance import Disturbance
from natxy.model.stream_counters import DelayVariation, Kinds, TagCounters
from natxy.model.stream_result import StreamResult
from natxy.model.trial_spec import MAX_TAGS
from natxy.procedure.delay_variation import (
    LOST,
    MAXIMUM_IPDV,
    MEDIAN_IPDV,
    MINIMUM_IPDV,
    P999_DELAY,
    PDV,
    UNDEFINED,
    ipdv_errors,
    ipdv_figures,
    pdv_errors,
    pdv_figures,
)
from natxy.procedure.latency import (
    LOST_TAGS,
    TAGGED,
    TYPICAL,
    WORST_CASE,
    LatencyPlan,
    latency_errors,
    latency_figures,
)
from natxy.trial.timing import Timing
from natxy.verdict.delay_error import doubts, error_remarks
from tests.unit.delay_error import US, spread
from tests.unit.results import result_of, stream_of

LOST_NS = 62e9


def varying(*kinds: tuple[Distribution, int], gap_us: float = 2) -> StreamResult:
    """Differences of consecutive delays, and undefined pairs, of each kind of traffic."""
    arrived = stream_of(sent=100)
    (_, counters), *_ = arrived.counters()
    made = [
        counters.model_copy(update={"ipdv": DelayVariation(undefined=none, distribution=pairs)})
        for pairs, none in kinds
    ]
    names = ("foreground", "background")[: len(made)]
    gaps = {"poll_gap": spread((gap_us, 100)), "step_gap": spread((1, 100))}
    return arrived.model_copy(
        update={"kinds": Kinds(**dict(zip(names, made, strict=True))), **gaps}
    )


def values_of(stream: StreamResult) -> dict[str, float]:
    return {each.name: each.values[0] for each in ipdv_figures(stream)}


def test_the_variations_of_both_kinds_are_taken_together() -> None:
    stream = varying((spread((-3, 10), (1, 30)), 4), (spread((2, 20), (7, 40)), 5))
    assert values_of(stream) == {
        MINIMUM_IPDV: -3 * US,
        MEDIAN_IPDV: 2 * US,
        MAXIMUM_IPDV: 7 * US,
        UNDEFINED: 9,
    }
    primary = [each.name for each in ipdv_figures(stream) if each.primary]
    assert primary == [MINIMUM_IPDV, MEDIAN_IPDV, MAXIMUM_IPDV]


def test_without_two_consecutive_frames_there_is_no_variation() -> None:
    stream = varying((spread(), 99))
    with pytest.raises(DutError, match=r"^forward: no two consecutive frames arrived, so there is"):
        ipdv_figures(stream)
    assert ipdv_errors(result_of(stream)) == []
    one = varying((spread((5, 1)), 98))
    assert values_of(one)[MEDIAN_IPDV] == 5 * US


def test_a_variation_may_be_wrong_either_way_by_the_longest_gaps() -> None:
    """A poll of 2 µs and a step of 1 µs; an absence of 5 ms, in which a frame may have waited."""
    result = result_of(varying((spread((-3, 50), (3, 50)), 0)))
    errors = {each.name: each for each in ipdv_errors(result)}
    assert set(errors) == {MINIMUM_IPDV, MEDIAN_IPDV, MAXIMUM_IPDV}
    assert errors[MINIMUM_IPDV].error_ns == errors[MAXIMUM_IPDV].error_ns == 3 * US
    assert errors[MINIMUM_IPDV].value_ns == -3 * US
    assert all(each.either_way for each in errors.values())
    noise = Disturbance(sending_ns=1e9, away_ns=5e6, longest_away_ns=5e6)
    disturbed = {each.name: each.error_ns for each in ipdv_errors(result, noise)}
    assert disturbed[MINIMUM_IPDV] == disturbed[MAXIMUM_IPDV] == 5_003 * US
    (said,) = error_remarks([list(errors.values())])
    assert "may be too small or too large by at most: minimum IPDV 3 µs" in str(said)


def test_an_error_of_a_variation_makes_no_trial_invalid() -> None:
    """A difference may really be 0, of which no error is a share."""
    far = varying((spread((-3, 50), (3, 50)), 0), gap_us=9000)
    errors = ipdv_errors(result_of(far))
    assert min(each.error_ns for each in errors) > 8000 * US
    assert doubts(errors) == ()


def test_the_median_variation_of_a_tester_that_was_there_is_known_within_its_gaps() -> None:
    result = result_of(varying((spread((-3, 30), (0, 40), (3, 30)), 0)))
    errors = {each.name: each.error_ns for each in ipdv_errors(result)}
    assert errors[MEDIAN_IPDV] <= 3 * US


def tagged(delays: Distribution, *, lost: int = 0) -> StreamResult:
    values_ns = [int(ns) for ns, _, count in delays.buckets for _ in range(count)]
    tags = TagCounters(
        sent=delays.count + lost,
        received=delays.count,
        lost=lost,
        arrived=tuple((number, ns, 4000) for number, ns in enumerate(values_ns)),
        lost_numbers=tuple(range(delays.count, delays.count + lost)),
    )
    return stream_of(sent=1000).model_copy(update={"tags": tags})


@pytest.mark.parametrize(("lost", "worst_ns"), [(0, 80 * US), (1, 80 * US), (2, LOST_NS)])
def test_more_than_one_lost_tag_in_a_thousand_is_the_worst_case(lost: int, worst_ns: float) -> None:
    stream = tagged(spread((50, 900), (80, 100 - lost)), lost=lost)
    found = {each.name: each for each in latency_figures(stream, LOST_NS)}
    assert {name: each.values[0] for name, each in found.items()} == {
        TYPICAL: 50 * US,
        WORST_CASE: worst_ns,
        TAGGED: 1000,
        LOST_TAGS: lost,
    }
    assert [name for name, each in found.items() if each.primary] == [TYPICAL, WORST_CASE]
    assert {name: each.unit for name, each in found.items()} == {
        TYPICAL: "ns",
        WORST_CASE: "ns",
        TAGGED: "frames",
        LOST_TAGS: "frames",
    }


def test_latencies_of_tags_that_did_not_arrive_have_no_error() -> None:
    arrived = tagged(spread((50, 90), (80, 10)))
    (typical, worst) = latency_errors(result_of(arrived), LOST_NS)
    assert (typical.name, typical.value_ns, typical.error_ns) == (TYPICAL, 50 * US, 4 * US)
    assert (worst.name, worst.value_ns, worst.error_ns) == (WORST_CASE, 80 * US, 4 * US)
    assert not typical.either_way
    none_arrived = tagged(spread(), lost=100)
    without_tags = stream_of(sent=1000, direction="reverse")
    both = result_of(none_arrived, without_tags, tagged(spread((50, 1))))
    assert [each.name for each in latency_errors(both, LOST_NS)] == [TYPICAL, WORST_CASE]


def test_the_delays_beside_pdv_are_no_main_figures() -> None:
    arrived = stream_of(sent=1000, missing=7)
    (_, counters), *_ = arrived.counters()
    kinds = Kinds(foreground=counters.model_copy(update={"delay": spread((50, 993))}))
    found = pdv_figures(arrived.model_copy(update={"kinds": kinds}), LOST_NS)
    assert [each.name for each in found if each.primary] == [PDV]
    values = {each.name: (each.values[0], each.unit) for each in found}
    assert values[LOST] == (7, "frames")
    assert values[P999_DELAY] == (LOST_NS, "ns")


def test_the_delays_of_a_direction_in_which_nothing_came_have_no_error() -> None:
    """So the trial is not refused for it; its figures say that no frame arrived."""
    nothing = stream_of(sent=10, missing=10)
    assert pdv_errors(result_of(nothing), LOST_NS) == []
    with pytest.raises(DutError, match="No frame arrived"):
        pdv_figures(nothing, LOST_NS)


LATENCY: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(10), drain_s=Fraction(0)),
    "seed": 1,
    "repetitions": 1,
    "rate_fps": 1000,
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tags": 0}, r"^tags: 0 is out of range \(expected 1 to 200000\)"),
        ({"tags": MAX_TAGS + 1}, "^tags: 200001 is out of range"),
        ({"tags_after_s": Fraction(101, 10)}, r"^tags_after_s: 10\.1 .* \(expected 0 to 10\)"),
        ({"rate_fps": 0}, "^rate_fps: 0 is out of range"),
        ({"rate_fps": 2**33 + 1}, "^rate_fps: 8589934593 is out of range"),
    ],
    ids=str,
)
def test_tags_that_cannot_be_are_refused(changes: dict[str, Any], said: str) -> None:
    for possible in ({"tags": 1, "tags_after_s": 0}, {"tags": MAX_TAGS, "tags_after_s": 10}):
        assert LatencyPlan(**LATENCY | possible).tags == possible["tags"]
    with pytest.raises(ConfigurationError, match=said):
        LatencyPlan(**LATENCY | changes)
    assert LatencyPlan(**LATENCY).after_s == 5
