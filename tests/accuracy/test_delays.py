"""Latency, PDV and IPDV against the calibration gateway's own record of the delays that it gave."""

from pathlib import Path
from typing import Any

import pytest

from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Recording, Tags
from natxy.procedure.delay_variation import (
    LOST,
    MAXIMUM_IPDV,
    MEDIAN_IPDV,
    MINIMUM,
    MINIMUM_IPDV,
    PDV,
    UNDEFINED,
    ipdv_errors,
    ipdv_figures,
    pdv_figures,
)
from natxy.procedure.latency import LOST_TAGS, TYPICAL, WORST_CASE, latency_errors, latency_figures
from natxy.trial.load import steady
from natxy.trial.trial_plan import TrialPlan
from tests.accuracy.calibration import (
    LOSES_NOTHING_US,
    MOVES_NO_MEDIAN_US,
    TIMING,
    away_ns,
    gateway_that,
    valid_trial,
)
from tests.valid import valid

RATE_FPS = 20_000
FRAMES = int(RATE_FPS * TIMING.duration_s)
ALL_TAGGED = Recording(tags=Tags(after_ns=0, count=FRAMES))
LOST_NS = 1e12  # longer than any delay, so that a lost frame cannot be overlooked
SLACK_NS = 20_000.0  # the bar for a delay
PATTERN_NS = [300_000, 1_000_000, 2_200_000]
MEDIAN_ERROR_NS = 20_000  # by the tester's own account
IPDV_ERROR_NS = 100_000  # the same of few frames; two IPDVs of the pattern differ by 500 us
QUIET_NS = 2_000_000.0  # the longest that gateway and tester may have been away, for an extreme


def by_name(values: Any) -> dict[str, float]:
    return {value.name: value.values[0] for value in values}


def both(result: TrialResult) -> tuple[StreamResult, StreamResult]:
    forward, reverse = result.streams
    assert (forward.direction, reverse.direction) == ("forward", "reverse")
    return forward, reverse


def uncertain_median(result: TrialResult, record: Any) -> str | None:
    error = max(e.error_ns for e in latency_errors(result, LOST_NS) if e.name == TYPICAL)
    return f"the median may be {error:.0f} ns off" if error > MEDIAN_ERROR_NS else None


@pytest.mark.parametrize("delay_ns", [100_000, 5_000_000])
def test_typical_latency_is_the_gateways_delay(delay_ns: int, tmp_path: Path) -> None:
    load = steady(RATE_FPS, TIMING.duration_s, Recording(tags=Tags(after_ns=5 * 10**7, count=500)))
    fault = f'{{kind = "delay", ns = {delay_ns}}}'
    with gateway_that(fault, tmp_path, tolerance_us=MOVES_NO_MEDIAN_US) as (session, dut):
        result, record = valid_trial(session, dut, load, doubt=uncertain_median)
    for stream in both(result):
        found = by_name(latency_figures(stream, LOST_NS))
        given = record["directions"][stream.direction]["delay_ns"]
        assert abs(found[TYPICAL] - given["p50"]) <= SLACK_NS + MEDIAN_ERROR_NS
        assert given["p50"] >= delay_ns
        assert found[LOST_TAGS] == 0
        assert stream.tags is not None
        assert stream.tags.sent + stream.tags.disturbed == 500


@pytest.mark.parametrize(("least_ns", "most_ns"), [(0, 5_000_000), (3_000_000, 15_000_000)])
def test_pdv_is_the_gateways(least_ns: int, most_ns: int, tmp_path: Path) -> None:
    """Within 2 %, of delays spread evenly over 5 ms and more.

    P99.9 is a few frames' delay: it is as exact as gateway and tester were at their latest.
    """
    fault = f'{{kind = "delay", uniform_ns = [{least_ns}, {most_ns}], seed = 7}}'
    with gateway_that(fault, tmp_path, tolerance_us=MOVES_NO_MEDIAN_US) as (session, dut):
        load = steady(RATE_FPS, TIMING.duration_s)
        result, record = valid_trial(session, dut, load, quiet_ns=QUIET_NS)
    late_ns = away_ns(result, record)
    for stream in both(result):
        found = by_name(pdv_figures(stream, LOST_NS))
        given = record["directions"][stream.direction]["delay_ns"]
        assert given["max"] > least_ns + 0.99 * (most_ns - least_ns)
        truth_ns = given["p999"] - given["min"]
        assert found[PDV] == pytest.approx(truth_ns, abs=0.02 * truth_ns + late_ns)
        assert found[LOST] == 0


def median_ipdv_error_ns(result: TrialResult) -> float:
    return max(e.error_ns for e in ipdv_errors(result) if e.name == MEDIAN_IPDV)


def moved_median(result: TrialResult, record: Any) -> str | None:
    """A gateway that held most frames in time has given its pattern: one frame that it held too
    long moves an extreme, and no median."""
    typical = max(way["delay_ns"]["p50"] for way in record["directions"].values())
    if typical > PATTERN_NS[1] + SLACK_NS:
        return f"the gateway's median delay was {typical:.0f} ns"
    error_ns = median_ipdv_error_ns(result)
    return f"the median may be {error_ns:.0f} ns off" if error_ns > IPDV_ERROR_NS else None


def test_ipdv_is_that_of_a_pattern_of_delays(tmp_path: Path) -> None:
    """0.3, 1, 2.2, 0.3 ... ms at a frame each 2.5 ms: +0.7, +1.2, -1.9 ms, again and again.

    The median is as exact as the tester says. An extreme is one frame's: it is as exact as gateway
    and tester were at their latest.
    """
    load = steady(400, TIMING.duration_s / 2, Recording(ipdv=True))  # 19 pairs
    fault = f'{{kind = "delay", pattern_ns = {PATTERN_NS}}}'
    with gateway_that(fault, tmp_path, tolerance_us=MOVES_NO_MEDIAN_US) as (session, dut):
        result, record = valid_trial(session, dut, load, quiet_ns=QUIET_NS, doubt=moved_median)
    late_ns, error_ns = away_ns(result, record), median_ipdv_error_ns(result)
    for stream in both(result):
        found = by_name(ipdv_figures(stream))
        assert found[MINIMUM_IPDV] == pytest.approx(-1_900_000, abs=SLACK_NS + late_ns)
        assert found[MEDIAN_IPDV] == pytest.approx(700_000, abs=SLACK_NS + error_ns)
        assert found[MAXIMUM_IPDV] == pytest.approx(1_200_000, abs=SLACK_NS + late_ns)
        assert found[UNDEFINED] == 0


@pytest.mark.parametrize(("every", "tags"), [(7, FRAMES), (100, FRAMES), (900, 500)])
def test_lost_tags_and_pairs_are_those_of_every_kth_frame(
    every: int, tags: int, tmp_path: Path
) -> None:
    """floor(N / k) frames are lost in both directions; of the tags those that are such frames."""
    recording = Recording(tags=Tags(after_ns=0, count=tags), ipdv=True)
    load = steady(RATE_FPS, TIMING.duration_s, recording)
    fault = f'{{kind = "loss", every = {every}}}'
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, dut):
        result, record = valid_trial(session, dut, load)
    step = FRAMES // tags
    lost = {number for number in range(FRAMES) if (number + 1) % every == 0}
    for stream in both(result):
        assert record["directions"][stream.direction]["dropped"]["loss"] == FRAMES // every
        assert by_name(pdv_figures(stream, LOST_NS))[LOST] == FRAMES // every
        latency = by_name(latency_figures(stream, LOST_NS))
        assert stream.tags is not None
        assert set(stream.tags.lost_numbers) <= lost & set(range(0, FRAMES, step))
        if not stream.tags.disturbed:
            assert latency[LOST_TAGS] == len(lost & set(range(0, FRAMES, step)))
        of_worst = latency[LOST_TAGS] > stream.tags.sent // 1000
        assert (latency[WORST_CASE] == LOST_NS) == of_worst
        assert latency[TYPICAL] < LOST_NS
        pairs = [(number - 1, number) for number in range(1, FRAMES)]
        undefined = sum(1 for pair in pairs if lost & set(pair))
        assert by_name(ipdv_figures(stream))[UNDEFINED] == undefined


def test_with_every_frame_tagged_latency_and_pdv_agree(tmp_path: Path) -> None:
    """WCL - Dmin = PDV: of one trial, of the same delays. No tag is left out of the engine's."""
    load = steady(RATE_FPS, TIMING.duration_s, ALL_TAGGED)
    fault = '{kind = "delay", uniform_ns = [100000, 3000000], seed = 3}'
    with gateway_that(fault, tmp_path, tolerance_us=LOSES_NOTHING_US) as (session, _):
        plan = TrialPlan(traffic=session.traffic, timing=TIMING)

        def attempt() -> TrialResult:
            nonce = session.trials
            return session.run(plan.spec(load=load, seed=1, nonce=nonce))

        result = valid(attempt, lambda result: result.invalid_reasons)
    for stream in both(result):
        latency, variation = (
            by_name(values(stream, LOST_NS)) for values in (latency_figures, pdv_figures)
        )
        assert latency[LOST_TAGS] == variation[LOST]
        wanted_ns = variation[MINIMUM] + variation[PDV]
        assert latency[WORST_CASE] == pytest.approx(wanted_ns, rel=2**-9)
