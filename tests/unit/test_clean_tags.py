"""Tests of the tagged frames that count for latency: those that nothing disturbed."""

import random
from collections.abc import Sequence
from fractions import Fraction
from statistics import mean

import pytest

from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.remark import Topic
from natxy.model.stream_counters import TagCounters
from natxy.model.traffic import TrafficPlan
from natxy.procedure.latency import latency_errors
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.clean_tags import (
    clean,
    too_few,
    waits,
    with_clean_tags,
    with_silences,
)
from natxy.verdict.losses import Losses
from tests.unit.results import result_of, stream_of

US = 1000


def tags_of(delays_us: dict[int, float], lost: tuple[int, ...] = ()) -> TagCounters:
    arrived = tuple((number, int(us * US), 0) for number, us in sorted(delays_us.items()))
    return TagCounters(
        sent=len(arrived) + len(lost),
        received=len(arrived),
        lost=len(lost),
        arrived=arrived,
        lost_numbers=lost,
    )


def test_tags_of_undisturbed_time_stay() -> None:
    tags = tags_of(dict.fromkeys(range(0, 1000, 10), 20.0), lost=(5, 995))
    assert clean(tags, [(0, 1000)]) == tags
    assert clean(tags, [(0, 500), (500, 1000)]) == tags, "a pause disturbs nothing"


def test_tags_of_an_absence_and_those_behind_it_are_left_out() -> None:
    """Those that came from 400 to 500; the queue that they made is empty at 550."""
    waiting = {number: 20 + max(0.0, 550 - number) for number in range(400, 1000, 10)}
    tags = tags_of(dict.fromkeys(range(0, 400, 10), 20.0) | waiting, lost=(405, 515, 605))
    found = clean(tags, [(0, 400), (500, 1000)])
    assert [number for number, _, _ in found.arrived] == [*range(0, 400, 10), *range(560, 1000, 10)]
    assert {delay_ns for _, delay_ns, _ in found.arrived} == {20 * US}
    assert found.lost_numbers == (605,), "what was lost in or behind the absence does not count"
    assert (found.sent, found.received, found.lost) == (85, 84, 1)
    assert found.disturbed == tags.sent - found.sent


def test_a_gateway_that_becomes_slower_counts_with_both_delays() -> None:
    """After the absence, each frame takes 120 us: nothing waits there that ever gets less."""
    slower = dict.fromkeys(range(500, 1000, 10), 120.0)
    tags = tags_of(dict.fromkeys(range(0, 600, 10), 20.0) | slower)
    found = clean(tags, [(0, 490), (510, 1000)])
    assert [delay_ns for _, delay_ns, _ in found.arrived] == [20 * US] * 49 + [120 * US] * 48


@pytest.mark.parametrize(("tags", "absences"), [(100, 10), (100, 20), (4000, 20)])
def test_leaving_out_moves_no_median_of_delays_that_vary(tags: int, absences: int) -> None:
    """The mean of 300 medians of delays that are drawn evenly from 1 to 6 ms."""
    chance, medians_ms = random.Random(4), []
    for _ in range(300):
        delays_us = {number: 1000 + 5000 * chance.random() for number in range(tags)}
        each = tags // absences
        found = clean(tags_of(delays_us), [(at, at + each - 1) for at in range(0, tags, each)])
        medians_ms.append(found.delay.p50_ns / US / 1000)
    assert mean(medians_ms) == pytest.approx(3.5, abs=0.1)


def test_where_no_tag_arrived_those_of_undisturbed_time_are_lost() -> None:
    """The gateway drops all frames of a direction, and was away meanwhile."""
    found = clean(tags_of({}, lost=tuple(range(100))), [(0, 40), (60, 100)])
    assert (found.sent, found.lost, found.disturbed) == (80, 80, 20)
    assert too_few(result_of(stream_of(sent=100).model_copy(update={"tags": found}))) == ()


def refused(tags: TagCounters) -> tuple[Reason, ...]:
    return too_few(result_of(stream_of(sent=100).model_copy(update={"tags": tags})))


@pytest.mark.parametrize("lost", [(), (50,)])
def test_where_few_tags_are_clean_the_trial_is_refused(lost: tuple[int, ...]) -> None:
    """The gateway, whose delay is 100 us, was away from 20 to 80."""
    waiting = dict.fromkeys(range(100), 100.0) | {n: 180.0 - n for n in range(20, 80)}
    found = clean(tags_of(waiting, lost=lost), [(0, 20), (80, 100)])
    (said,) = refused(found)
    assert (said.code, said.where) == (Code.FEW_CLEAN_TAGS, "forward")
    assert (said.facts["clean"], said.facts["tags"]) == (39, 100 + len(lost))


def test_half_of_the_tags_are_enough() -> None:
    tags = tags_of(dict.fromkeys(range(100), 20.0))
    assert refused(clean(tags, [(0, 50)])) == ()
    assert refused(clean(tags, [(0, 49)])) != ()
    assert refused(clean(tags_of({}, lost=(1, 2, 3)), [])) != ()


def test_the_watch_tells_which_tags_are_left_out(nat64: TrafficPlan) -> None:
    """The gateway was away from 20 to 25 ms of 100; it counts as twice as long, and 0.2 ms."""
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
    spec = TrialPlan(traffic=nat64, timing=timing).spec(load=100_000, seed=1, nonce=1)
    tags = tags_of(dict.fromkeys(range(0, 10_000, 10), 20.0))
    result = result_of(stream_of(sent=10_000).model_copy(update={"tags": tags}), away_s=0.005)
    watch = result.watched[0].model_copy(update={"away_at": ((20_000_000, 25_000_000),)})
    away = result.model_copy(update={"watched": (watch,)})
    (stream,) = with_clean_tags(away, Losses.of(spec, away), None).streams
    assert stream.tags is not None
    numbers = [number for number, _, _ in stream.tags.arrived]
    assert numbers == [*range(0, 1980, 10), *range(3030, 10_000, 10)]
    (stream,) = with_clean_tags(result, Losses.of(spec, result), None).streams
    assert stream.tags == tags


def held(delays_us: dict[int, float], pauses_us: Sequence[tuple[int, int]]) -> TagCounters:
    """Tags of a gateway that forwards nothing in the pauses; a number is when it is due, in us."""

    def arrives(at: float) -> float:
        return next((float(end) for begin, end in pauses_us if begin <= at < end), at)

    return tags_of({number: arrives(number + us) - number for number, us in delays_us.items()})


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_pauses_of_a_gateway_that_nobody_watches_widen_the_error(share: float) -> None:
    """Delays of 1 to 1.5 ms, a frame each 50 us; the gateway pauses for 10 ms at a time."""
    chance = random.Random(7)
    delays_us = {number: 1000 + 500 * chance.random() for number in range(0, 200_000, 50)}
    every_us = int(10_000 / share)
    pauses_us = [(at, at + 10_000) for at in range(5_000, 190_000, every_us)]
    found = with_silences(held(delays_us, pauses_us), lambda number: number * US)
    assert share <= found.held / found.received <= 3 * share
    stream = stream_of(sent=found.sent).model_copy(update={"tags": found})
    typical, worst = latency_errors(result_of(stream), lost_ns=0)
    assert typical.value_ns - typical.error_ns <= 1250 * US < typical.value_ns
    assert not typical.judged, "the gateway's pauses are no fault of the tester"
    assert worst.error_ns == 0, "a gateway that nobody watches may pause by itself"
    (said,) = waits([result_of(stream)])
    assert said.code is Topic.TAGS_IN_SILENCE
    quiet = with_silences(held(delays_us, []), lambda number: number * US)
    assert quiet.held <= 0.02 * quiet.received


@pytest.mark.parametrize("batch_us", [1, 200, 5000])
def test_a_gateway_that_forwards_in_batches_does_not_pause(batch_us: int) -> None:
    delays_us = {number: batch_us - number % batch_us + 20.0 for number in range(0, 200_000, 50)}
    tags = tags_of(delays_us)
    assert with_silences(tags, lambda number: number * US) == tags


def test_a_pause_of_the_sender_is_none_of_the_gateway() -> None:
    tags = tags_of(dict.fromkeys(range(0, 200_000, 50), 20.0))
    assert with_silences(tags, lambda n: (n + 10_000 * (n > 50_000)) * US) == tags


def test_only_a_gateway_that_is_not_watched_has_silences(nat64: TrafficPlan) -> None:
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
    spec = TrialPlan(traffic=nat64, timing=timing).spec(load=100_000, seed=1, nonce=1)
    tags = tags_of({n: 20.0 + max(0, 300 - n) * 10.0 * (n >= 100) for n in range(0, 10_000, 10)})
    watched = result_of(stream_of(sent=10_000).model_copy(update={"tags": tags}))
    result = watched.model_copy(update={"watched": ()})
    record = Absence(where="the gateway", total_s=0, longest_s=0)
    for absence, is_watched in ((None, False), (record, True)):
        (stream,) = with_clean_tags(result, Losses.of(spec, result), absence).streams
        assert stream.tags is not None
        assert (stream.tags.held == 0) == is_watched


def test_a_result_is_written_as_it_was_after_its_distributions_were_asked_for() -> None:
    tags = tags_of({1: 20.0, 2: 30.0})
    written = tags.model_dump_json()
    assert (tags.delay.max_ns, tags.least_delay.count) == (30 * US, 2)
    assert tags.model_dump_json() == written
    assert tags == tags_of({1: 20.0, 2: 30.0})
