"""Overload's flows: exactly so many four-tuples, whatever the testbed varies."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import Any

import pytest

from natxy.errors import ConfigurationError, MeasurementError
from natxy.measure.flows import DESTINATION_PORTS, SOURCE_PORTS, FlowRanges, ranges_of, with_flows
from natxy.model.experiment_sections import merged, nested
from natxy.model.remark import Topic
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import FIXED_ZERO, Traffic
from natxy.model.trial_spec import Segment, Stream
from natxy.procedure.back_to_back import BackToBackPlan
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.recovery import RecoveryPlan
from natxy.trial.timing import Timing
from tests.unit.connections import plan
from tests.unit.fake_engine import FakeEngine, frames_in
from tests.unit.subscribers import CLAT, DS_LITE, LW4O6, MAP_E, MAP_T

SEGMENTS = (Segment(frames=10, rate_fps=1000, pause_ns=0),)
FIELD = {"mode": "pseudorandom", "min": 0, "max": 999}
FIELDS = {"left_field": FIELD, "right_field": {**FIELD, "mode": "increasing"}}
TIMES: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(1), drain_s=Fraction(0)),
    "seed": 7,
    "repetitions": 1,
}
# As the command makes them: no rates are given.
SERIES = FrameLossPlan(max_rate_fps=1000, **TIMES)
BURSTS = BackToBackPlan(burst_rate_fps=100_000, throughput_fps=60_000, step_frames=1, **TIMES)
AT_1000 = FrameLossPlan(rates_fps=(1000,), **TIMES)


def hosts(**traffic: Any) -> TrafficPlan:
    """A stateless gateway between plain hosts."""
    asked = plan({}, **traffic)
    return TrafficPlan(
        testbed=asked.testbed.model_copy(update={"connections": None}), source=asked.source
    )


def sent(asked: TrafficPlan, flows: int) -> list[Traffic]:
    ready = with_flows(FakeEngine().session(asked), flows)
    ready.traffic.check()
    streams = ready.traffic.streams(SEGMENTS)
    return [kind for s in streams for kind in (s.foreground, s.background) if kind is not None]


@pytest.mark.parametrize("flows", [1, 10])
def test_all_flows_have_the_same_pair_of_addresses(flows: int) -> None:
    """Ten flows with the fields of the testbed would be up to a million four-tuples."""
    found = sent(hosts(n=2, m=1, **FIELDS), flows)
    assert len(found) == 4
    for traffic in found:
        assert traffic.source_field == traffic.destination_field == FIXED_ZERO
        assert traffic.departure.source.field == traffic.departure.destination.field == ()
        assert traffic.networks == 1
        assert traffic.source_port.values * traffic.destination_port.values == flows


def test_the_flows_of_connections_have_one_pair_of_addresses_too() -> None:
    ready = with_flows(FakeEngine().session(plan({}, **FIELDS)), 100)
    ready.traffic.check()
    assert ready.traffic.required_connections.count == ready.traffic.ranges.combinations == 100


@pytest.mark.parametrize("subscribers", [DS_LITE, LW4O6, MAP_E, MAP_T, CLAT])
def test_flows_of_subscribers_cannot_be_counted(subscribers: dict[str, Any]) -> None:
    """Addresses of subscribers, and ports of port sets, follow from the subscribers' numbers."""
    source = Source(name="testbed.toml", text="[subscribers]\n")
    testbed: Testbed = source.validated(Testbed, {"subscribers": subscribers})
    session = FakeEngine().session(TrafficPlan(testbed=testbed, source=source))
    sentence = r"^testbed\.toml, line 1: subscribers: is not possible with a given number of flows"
    with pytest.raises(ConfigurationError, match=sentence) as refusal:
        with_flows(session, 10)
    # What the sentence advises, as an experiment does it.
    key = "subscribers.count"
    assert f'[[vary]] and key = "{key}"' in str(refusal.value)
    varied = merged({"subscribers": subscribers}, nested(key, 7))
    assert source.validated(Testbed, varied).subscribers_on("left").count == 7


@pytest.mark.parametrize(
    ("flows", "sources", "destinations"),
    [
        (1, 1, 1),
        (SOURCE_PORTS, SOURCE_PORTS, 1),
        (SOURCE_PORTS + 2, 32_257, 2),
        (100_000, 3125, 32),  # 50,000 x 2 would use half of the pairs
        (64_499 * DESTINATION_PORTS, 64_499, DESTINATION_PORTS),
    ],
)
def test_as_few_destination_ports_as_possible_make_all_pairs(
    flows: int, sources: int, destinations: int
) -> None:
    found = ranges_of(flows)
    assert found == FlowRanges(source_ports=sources, destination_ports=destinations)
    assert gcd(sources, destinations) == 1


@pytest.mark.parametrize("flows", [-1, 0, 64_513, 64_499 * (DESTINATION_PORTS + 2)])
def test_a_number_that_no_coprime_ranges_make_is_refused(flows: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"flows: {flows} .* \(expected 1 to 64512, or"):
        ranges_of(flows)


def unused(
    test: Benchmarked,
    flows: Sequence[int],
    traffic: TrafficPlan,
    engine: FakeEngine | None = None,
    **changes: Any,
) -> list[str]:
    plan = OverloadPlan(test=test, flows=tuple(flows), **changes)
    remarks = overload(plan, (engine or FakeEngine()).session(traffic)).remarks
    return [str(said) for said in remarks if said.code.name.startswith("FEW_IN")]


def test_each_rate_of_a_series_counts(nat64: TrafficPlan) -> None:
    """The series ends at 90 %: it loses nothing."""
    assert unused(SERIES, (10_000,), nat64) == [
        "Not all of the 10,000 flows were used: trials at 900 to 1,000 fps have only 900 to 1,000 "
        "frames for them. Use longer trials."
    ]
    assert unused(SERIES, (901, 1000), nat64) == [
        f"Not all of the {flows} flows were used: a trial at 900 fps has only 900 frames for them. "
        "Use longer trials."
        for flows in ("901", "1,000")
    ]
    assert unused(SERIES, (900,), nat64) == []


def test_given_rates_count(nat64: TrafficPlan) -> None:
    rates = FrameLossPlan(rates_fps=(1000, 10), **TIMES)
    (said,) = unused(rates, (100,), nat64)
    assert "a trial at 10 fps has only 10 frames" in said


def holding(frames: int) -> FakeEngine:
    """The longest burst without loss."""
    return FakeEngine(lose=lambda stream: range(frames, frames_in(stream)))


def test_the_burst_that_was_found_counts(nat64: TrafficPlan) -> None:
    assert unused(BURSTS, (500, 501), nat64, holding(500)) == [
        "Not all of the 501 flows were used: a burst of 500 frames has only 500 for them. Use "
        "fewer flows."
    ]
    with pytest.raises(MeasurementError, match="forward: none of"):  # no burst passes
        unused(BURSTS, (1000,), nat64, holding(0))


def test_a_burst_that_fills_no_buffer_has_no_remark(nat64: TrafficPlan) -> None:
    slow = BackToBackPlan(burst_rate_fps=100, throughput_fps=100, step_frames=1, **TIMES)
    assert unused(slow, (1000,), nat64) == []


def test_a_rate_of_trials_counts(nat64: TrafficPlan) -> None:
    (said,) = unused(RecoveryPlan(rate_fps=1000, **TIMES), (10_000,), nat64)
    assert "a trial at 1,000 fps has only 1,000 frames" in said


def test_the_parts_in_which_flows_start_need_frames_for_their_flows(nat64: TrafficPlan) -> None:
    """Each of 250 flows starts 10 us after the one before: 2.5 ms are 25 frames."""
    test = FrameLossPlan(rates_fps=(10_000,), **TIMES)
    step: dict[str, Any] = {"incremental": True, "step_s": Fraction(1, 100_000)}
    assert unused(test, (1000,), nat64, **step) == [
        "Not all flows were used while 1,000 flows started: at 10,000 fps, parts have only "
        "25, 25, 25 frames for 250, 500, 750 flows. Use a longer --step."
    ]
    step["step_s"] = Fraction(2, 10_000)
    assert unused(test, (1000,), nat64, **step) == [
        "Not all flows were used while 1,000 flows started: at 10,000 fps, parts have only 500 "
        "frames for 750 flows. Use a longer --step."
    ]
    step["step_s"] = Fraction(3, 10_000)
    assert unused(test, (1000,), nat64, **step) == []


def test_parts_that_last_as_long_as_the_trial_need_longer_trials(nat64: TrafficPlan) -> None:
    whole, parts = unused(AT_1000, (2000,), nat64, incremental=True)
    assert "a trial at 1,000 fps has only 1,000 frames" in whole
    assert parts == (
        "Not all flows were used while 2,000 flows started: at 1,000 fps, parts have only 1,000 "
        "frames for 1,500 flows. Use longer trials."
    )


@pytest.mark.parametrize("incremental", [True, False])
def test_flows_that_end_while_others_start_are_told(incremental: bool, nat64: TrafficPlan) -> None:
    """Each part of 1,000 flows has one destination port, and the flows of the one before."""
    engine = FakeEngine()
    plan = OverloadPlan(test=AT_1000, flows=(1000, 100_000), incremental=incremental)
    remarks = overload(plan, engine.session(nat64)).remarks
    told = [str(said) for said in remarks if said.code is Topic.PARTS_DIFFER]
    sent = [_flows_of(engine.specs[-1].phases[i].streams[0]) for i in range(4 * incremental)]
    assert [before <= after for before, after in pairwise(sent)] == (
        [True, False, False] if incremental else []
    )
    assert told == (
        [
            "100,000 flows: not all flows of a part are in the next part, whose ports differ: "
            "25,000 x 1; 50,000 x 1; 25,000 x 3; 3,125 x 32. Such flows end, and as many others "
            "start beside those that the next part adds."
        ]
        if incremental
        else []
    )


def _flows_of(stream: Stream) -> set[tuple[int, int]]:
    traffic = stream.foreground
    assert traffic is not None
    sources, destinations = traffic.source_port, traffic.destination_port
    return {
        (source, destination)
        for source in range(sources.min, sources.min + sources.values)
        for destination in range(destinations.min, destinations.min + destinations.values)
    }
