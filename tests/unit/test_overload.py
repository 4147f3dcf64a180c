"""Overload: exactly so many flows are sent, and what they cost against one."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Series
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.overload import (
    DEGRADATION,
    SOURCE_PORTS,
    THROUGHPUT,
    OverloadPlan,
    overload,
    ranges_of,
)
from natxy.procedure.throughput import ThroughputPlan
from natxy.procedure.timing import Timing
from natxy.search.bisection import SearchError
from tests.unit.scripted_engine import ScriptedEngine, rate_of

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))


def plan(flows: tuple[int, ...], **changes: Any) -> OverloadPlan:
    search = ThroughputPlan(
        timing=FAST,
        seed=7,
        repetitions=1,
        error=SearchError(rate_fps=1),
        max_rate_fps=20_000,
    )
    return OverloadPlan(search=search, flows=flows, **changes)


def values(series: Series, count: int) -> list[int]:
    """The first so many, as the engine makes them: in turn."""
    return [series.min + ordinal % series.values for ordinal in range(count)]


def flows_in(stream: Stream, frames: int) -> set[tuple[int, int]]:
    traffic = stream.foreground
    assert traffic is not None
    assert {traffic.source_port.mode, traffic.destination_port.mode} <= {"increasing", "fixed"}
    ports = zip(
        values(traffic.source_port, frames), values(traffic.destination_port, frames), strict=True
    )
    return set(ports)


@pytest.mark.parametrize("flows", [1, 10, 1000, 64_511, 64_512, 64_514, 100_000])
def test_exactly_so_many_flows_are_sent(flows: int, nat64: TrafficPlan) -> None:
    engine = ScriptedEngine()
    overload(plan((flows,)), engine.tester(nat64), NoDut())
    for stream in engine.specs[-1].phases[0].streams:
        assert len(flows_in(stream, flows)) == flows  # each frame of a round another flow
        assert len(flows_in(stream, 2 * flows)) == flows  # and the next round is the same ones


def test_the_reverse_direction_has_the_same_flows(nat64: TrafficPlan) -> None:
    engine = ScriptedEngine()
    overload(plan((100_000,)), engine.tester(nat64), NoDut())
    forward, reverse = engine.specs[-1].phases[0].streams
    swapped = {(destination, source) for source, destination in flows_in(reverse, 100_000)}
    assert flows_in(forward, 100_000) == swapped


@pytest.mark.parametrize("flows", [0, 64_513 * 65_537, 4_000_000_007])
def test_what_no_ranges_make_is_refused(flows: int) -> None:
    with pytest.raises(ConfigurationError, match=f"--flows: {flows} flows cannot be made"):
        plan((flows,))


def test_one_range_is_enough_for_as_many_flows_as_it_has_ports() -> None:
    for flows in (1, 2, 100, SOURCE_PORTS):
        assert ranges_of(flows).destination_ports == 1


def slower_with(flows_cost_fps: dict[int, int]) -> ScriptedEngine:
    """A capacity for each number of flows."""

    def lose(stream: Stream) -> list[int]:
        traffic = stream.foreground
        assert traffic is not None
        flows = traffic.source_port.values * traffic.destination_port.values
        return [0] if rate_of(stream) > flows_cost_fps[flows] else []

    return ScriptedEngine(lose=lose)


def test_degradation_is_against_one_flow(nat64: TrafficPlan) -> None:
    """(X1 - Xn) / X1 x 100 %: higher is better (RFC 8219 section 10.2.1)."""
    engine = slower_with({1: 10_000, 10: 9_000, 1000: 2_500})
    result = overload(plan((10, 1000)), engine.tester(nat64), NoDut())
    found = {figure.at: figure.values for figure in result.figures if figure.name == THROUGHPUT}
    assert found == {"1 flow": (10_000,), "10 flows": (9_000,), "1,000 flows": (2_500,)}
    lost = {figure.at: figure.values for figure in result.figures if figure.name == DEGRADATION}
    assert lost == {"10 flows": (10.0,), "1,000 flows": (75.0,)}
    assert result.counts.trials == len(engine.specs)
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces)


def found_by_three_searches(rates_fps: dict[int, list[int]]) -> ScriptedEngine:
    """Rates that are found one after another, for each number of flows."""
    searches: dict[int, list[int]] = {}

    def lose(stream: Stream) -> list[int]:
        traffic = stream.foreground
        assert traffic is not None
        flows = max(traffic.source_port.values, traffic.destination_port.values)
        seeds = searches.setdefault(flows, [])
        if (seed := engine.specs[-1].seed) not in seeds:
            seeds.append(seed)
        return [0] if rate_of(stream) > rates_fps[flows][seeds.index(seed)] else []

    engine = ScriptedEngine(lose=lose)
    return engine


def test_degradation_is_of_the_results_not_of_repetitions(nat64: TrafficPlan) -> None:
    """The first search for one flow has nothing to do with the first one for ten."""
    engine = found_by_three_searches({1: [100, 200, 300], 10: [300, 100, 200]})
    asked = plan((10,))
    asked = replace(asked, search=replace(asked.search, repetitions=3))
    result = overload(asked, engine.tester(nat64), NoDut())
    assert result.figure(THROUGHPUT, at="1 flow").values == (100, 200, 300)
    assert result.figure(THROUGHPUT, at="10 flows").values == (300, 100, 200)
    assert result.figure(DEGRADATION, at="10 flows").values == (0.0,)


def test_a_trial_with_fewer_frames_than_flows_is_told(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 1000: 9_990, 5000: 9_000})
    said = overload(plan((1000, 5000)), engine.tester(nat64), NoDut()).remarks
    assert any("Not all of the 1,000 flows" in each and "only 999 frames" in each for each in said)
    assert any("Not all of the 5,000 flows" in each and "only 900 frames" in each for each in said)
    enough = overload(plan((10,)), ScriptedEngine().tester(nat64), NoDut()).remarks
    assert not any("Not all" in each for each in enough)


def test_a_flow_needs_a_frame_of_its_kind(nat64: TrafficPlan) -> None:
    """Of 1000 frames in a mix of 10 % foreground 100 are translated: 1000 flows are not in use."""
    tester = slower_with({1: 10_000, 500: 10_000}).tester(nat64)
    section = tester.testbed.tester
    native = {"ipv6_real": "2001:2:0:8000::2", "next_hop_ipv6": "2001:2:0:8000::1"}
    right = section.right.model_copy(update=native)
    both = section.model_copy(update={"right": right})
    mixed = tester.with_testbed(tester.testbed.model_copy(update={"tester": both}))
    mixed = mixed.with_traffic(n=10, m=1)
    said = overload(plan((500,)), mixed, NoDut()).remarks
    assert any("500 flows of the foreground" in each and "only 100" in each for each in said)
    assert not any("flows of the background were" in each for each in said)
    assert any("so many flows each" in each for each in said)


def sent_before(spec: TrialSpec) -> list[int]:
    """Flows of each phase, forward."""
    sent = []
    for phase in spec.phases:
        traffic = next(iter(phase.streams)).foreground
        assert traffic is not None
        sent.append(traffic.source_port.values * traffic.destination_port.values)
    return sent


def test_incremental_flows_start_in_four_groups(nat64: TrafficPlan) -> None:
    engine = ScriptedEngine()
    result = overload(plan((100, 2), incremental=True), engine.tester(nat64), NoDut())
    shapes = {tuple(sent_before(spec)) for spec in engine.specs}
    assert shapes == {(1,), (25, 50, 75, 100), (1, 2)}
    assert result.reference == "RFC 8219 section 10.2.2"


def test_a_loss_while_flows_start_is_a_loss(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 25: 10_000, 50: 4_000, 75: 10_000, 100: 10_000})
    result = overload(plan((100,), incremental=True), engine.tester(nat64), NoDut())
    assert result.figure(THROUGHPUT, at="100 flows").values == (4_000,)


def test_a_device_that_passes_not_even_one_flow_has_no_degradation(nat64: TrafficPlan) -> None:
    with pytest.raises(DutError, match="X1 is 0"):
        overload(plan((10,)), ScriptedEngine(lose=lambda _: [0]).tester(nat64), NoDut())


def test_one_flow_is_measured_once(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 10: 9_000})
    result = overload(plan((1, 10)), engine.tester(nat64), NoDut())
    places = [figure.at for figure in islice(result.figures, 10)]
    assert places == ["1 flow", "10 flows", "10 flows"]


def test_what_is_known_from_below_only_has_no_degradation(nat64: TrafficPlan) -> None:
    """Both pass the highest rate that was to be tried: who knows what lies above."""
    result = overload(plan((10,)), slower_with({1: 10**6, 10: 10**6}).tester(nat64), NoDut())
    assert [figure.name for figure in result.figures] == [THROUGHPUT, THROUGHPUT]
    assert any("lower bound only" in said for said in result.remarks)
    one_open = slower_with({1: 10**6, 10: 9_000, 100: 9_000})
    result = overload(plan((10, 100)), one_open.tester(nat64), NoDut())
    assert all(figure.name == THROUGHPUT for figure in result.figures)
