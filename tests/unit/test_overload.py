"""Overload: exactly so many flows are sent, and what they cost against one."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from natxy.cli.overload import CHOICES, OF_SOME, _test
from natxy.cli.series_options import SeriesOptions
from natxy.errors import ConfigurationError, DutError
from natxy.measure.flows import SOURCE_PORTS, ranges_of
from natxy.model.deviation import Differs
from natxy.model.measurement import Figure, Measurement, Statistic
from natxy.model.remark import Remark, Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Series
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.procedure.at_rate import AtRate, RatePlan, figures_of, measure
from natxy.procedure.back_to_back import BackToBackPlan
from natxy.procedure.benchmarks import BENCHMARKS, Benchmarked
from natxy.procedure.delay_variation import IpdvPlan, PdvPlan
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.procedure.latency import LatencyPlan
from natxy.procedure.overload import DEGRADATION, overload
from natxy.procedure.recovery import RecoveryPlan
from natxy.procedure.reset import ResetPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.session import Session
from tests.remarks import about, topics
from tests.unit.clauses import codes
from tests.unit.fake_engine import FakeEngine, beyond
from tests.unit.overload import LOST, THROUGHPUT, TIMES, flows_of, lasting, plan, slower_with


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
    engine = FakeEngine()
    overload(plan((flows,)), engine.session(nat64))
    for stream in engine.specs[-1].phases[0].streams:
        assert len(flows_in(stream, flows)) == flows  # each frame of a round another flow
        assert len(flows_in(stream, 2 * flows)) == flows  # and the next round is the same ones


def test_the_reverse_direction_has_the_same_flows(nat64: TrafficPlan) -> None:
    engine = FakeEngine()
    overload(plan((100_000,)), engine.session(nat64))
    forward, reverse = engine.specs[-1].phases[0].streams
    swapped = {(destination, source) for source, destination in flows_in(reverse, 100_000)}
    assert flows_in(forward, 100_000) == swapped


def test_an_empty_list_of_flows_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^flows: is empty"):
        plan(())


def test_the_flows_of_one_place_are_singular(nat64: TrafficPlan) -> None:
    result = overload(plan((2,)), slower_with({1: 10_000, 2: 9_000}).session(nat64))
    assert {figure.at for figure in result.figures} == {"1 flow", "2 flows"}
    assert {(f.at_value, f.at_unit) for f in result.figures} == {(1, "flows"), (2, "flows")}


@pytest.mark.parametrize("flows", [0, 64_513 * 65_537, 4_000_000_007])
def test_what_no_ranges_make_is_refused(flows: int) -> None:
    with pytest.raises(ConfigurationError, match=f"flows: {flows} is not a possible number"):
        plan((flows,))


def test_the_parts_of_an_incremental_load_need_ranges_too() -> None:
    flows = 211 * 1223  # its quarter, 64,513, is a prime number above 64,512
    assert plan((flows,)).flows == (flows,)
    with pytest.raises(ConfigurationError, match="its part of 64513 flows"):
        plan((flows,), incremental=True)


def test_one_range_is_enough_for_as_many_flows_as_it_has_ports() -> None:
    for flows in (1, 2, 100, SOURCE_PORTS):
        assert ranges_of(flows).destination_ports == 1


def test_degradation_is_against_one_flow(nat64: TrafficPlan) -> None:
    """(X1 - Xn) / X1 x 100 %: higher is better (RFC 8219 section 10.2.1)."""
    engine = slower_with({1: 10_000, 10: 9_000, 1000: 2_500})
    result = overload(plan((10, 1000)), engine.session(nat64))
    found = {figure.at: figure.values for figure in result.figures if figure.name == THROUGHPUT}
    assert found == {"1 flow": (10_000,), "10 flows": (9_000,), "1,000 flows": (2_500,)}
    lost = {figure.at: figure.values for figure in result.figures if figure.name == LOST}
    assert lost == {"10 flows": (10.0,), "1,000 flows": (75.0,)}
    assert result.counts.trials == len(engine.specs)
    nonces = [spec.nonce for spec in engine.specs]
    assert len(set(nonces)) == len(nonces)


def found_by_three_searches(rates_fps: dict[int, list[int]]) -> FakeEngine:
    """Rates that are found one after another, for each number of flows."""
    searches: dict[int, list[int]] = {}

    def lose(stream: Stream) -> Sequence[int]:
        flows = flows_of(stream)
        seeds = searches.setdefault(flows, [])
        if (seed := engine.specs[-1].seed) not in seeds:
            seeds.append(seed)
        return beyond(rates_fps[flows][seeds.index(seed)], stream)

    engine = FakeEngine(lose=lose)
    return engine


def test_degradation_is_of_the_results_not_of_repetitions(nat64: TrafficPlan) -> None:
    """The first search for one flow has nothing to do with the first one for ten."""
    engine = found_by_three_searches({1: [1000, 2000, 3000], 10: [3000, 1000, 2000]})
    asked = plan((10,))
    asked = replace(asked, test=replace(asked.test, repetitions=3))
    result = overload(asked, engine.session(nat64))
    assert result.figure(THROUGHPUT, at="1 flow").values == (1000, 2000, 3000)
    assert result.figure(THROUGHPUT, at="10 flows").values == (3000, 1000, 2000)
    assert result.figure(LOST, at="10 flows").values == (0.0,)


def test_a_trial_with_fewer_frames_than_flows_is_told(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 1000: 9_990, 5000: 9_000})
    said = overload(plan((1000, 5000)), engine.session(nat64)).remarks
    few = [each.facts for each in said if each.code is Topic.FEW_IN_TRIAL]
    assert [(each["number"], each["frames"]) for each in few] == [(1000, 999), (5000, 900)]
    enough = overload(plan((10,)), FakeEngine().session(nat64)).remarks
    assert Topic.FEW_IN_TRIAL not in topics(enough)
    assert Topic.FLOWS_OF_KINDS not in topics(enough), "no background"


def test_a_flow_needs_a_frame_of_its_kind(nat64: TrafficPlan) -> None:
    """Of 1000 frames in a mix of 10 % foreground 100 are translated: 1000 flows are not in use."""
    session = slower_with({1: 10_000, 500: 10_000}).session(nat64)
    section = session.testbed.tester
    native = {"ipv6_real": "2001:2:0:8000::2", "next_hop_ipv6": "2001:2:0:8000::1"}
    right = section.right.model_copy(update=native)
    both = section.model_copy(update={"right": right})
    mixed = session.with_testbed(session.testbed.model_copy(update={"tester": both}))
    mixed = mixed.with_traffic(n=10, m=1)
    said = overload(plan((500,)), mixed).remarks
    few = about(Topic.FEW_IN_TRIAL, said)
    assert few.where == "foreground"
    assert (few.facts["number"], few.facts["frames"]) == (500, 100)
    assert Topic.FLOWS_OF_KINDS in topics(said)


def sent_before(spec: TrialSpec) -> list[int]:
    """Flows of each phase, forward."""
    return [flows_of(phase.streams[0]) for phase in spec.phases]


def test_incremental_flows_start_in_four_groups(nat64: TrafficPlan) -> None:
    engine = FakeEngine()
    result = overload(plan((100, 2), incremental=True), engine.session(nat64))
    shapes = {tuple(sent_before(spec)) for spec in engine.specs}
    assert shapes == {(1,), (25, 50, 75, 100), (1, 2)}
    assert result.reference == "RFC 8219 section 10.2.2"


def test_a_loss_while_flows_start_is_a_loss(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 25: 10_000, 50: 4_000, 75: 10_000, 100: 10_000})
    result = overload(plan((100,), incremental=True), engine.session(nat64))
    assert result.figure(THROUGHPUT, at="100 flows").values == (4_000,)


def test_a_device_that_passes_not_even_one_flow_has_no_degradation(nat64: TrafficPlan) -> None:
    with pytest.raises(DutError, match="X1 is 0"):
        overload(plan((10,)), FakeEngine(lose=lambda _: [0]).session(nat64))


def test_one_flow_is_measured_once(nat64: TrafficPlan) -> None:
    engine = slower_with({1: 10_000, 10: 9_000})
    result = overload(plan((1, 10)), engine.session(nat64))
    places = [figure.at for figure in islice(result.figures, 10)]
    assert places == ["1 flow", "10 flows", "10 flows"]


def test_what_is_known_from_below_only_has_no_degradation(nat64: TrafficPlan) -> None:
    """Both pass the highest rate that was to be tried: who knows what lies above."""
    result = overload(plan((10,)), slower_with({1: 10**6, 10: 10**6}).session(nat64))
    assert [figure.name for figure in result.figures] == [THROUGHPUT, THROUGHPUT]
    assert Topic.BOUND_DOES_NOT_DEGRADE in topics(result.remarks)
    one_open = slower_with({1: 10**6, 10: 9_000, 100: 9_000})
    result = overload(plan((10, 100)), one_open.session(nat64))
    assert all(figure.name == THROUGHPUT for figure in result.figures)


TESTS: tuple[Benchmarked, ...] = (
    FrameLossPlan(rates_fps=(1000,), **TIMES),
    RecoveryPlan(rate_fps=1000, **TIMES),
)


def degraded(result: Measurement) -> dict[str, float]:
    """By name and place, forward."""
    return {
        f"{figure.name} at {figure.at}": figure.values[0]
        for figure in result.figures
        if figure.name.startswith(DEGRADATION) and figure.direction == "forward"
    }


def test_of_what_is_better_lower_the_other_formula_is_taken(nat64: TrafficPlan) -> None:
    """(Xn - X1) / X1 x 100 % (RFC 8219 section 10.2.1): 10 % lost with one flow, 25 % with ten."""
    engine = lasting({1: 1.0, 10: 1.0, 100: 1.0}, lost={1: 10, 10: 25, 100: 5})
    result = overload(plan((10, 100), test=TESTS[0]), engine.session(nat64))
    assert degraded(result) == pytest.approx(
        {
            "degradation of frame loss rate at 10 flows, 1,000 fps": 150.0,
            "degradation of frame loss rate at 100 flows, 1,000 fps": -50.0,
        }
    )
    assert about(Topic.DEGRADATION, result.remarks).facts["formula"] == "(Xn - X1) / X1"
    assert result.title == "Overload scalability of frame loss rate, simultaneous load"
    throughputs = overload(plan((10,)), slower_with({1: 9000, 10: 8000}).session(nat64))
    assert about(Topic.DEGRADATION, throughputs.remarks).facts["formula"] == "(X1 - Xn) / X1"


def test_a_figure_that_is_0_with_one_flow_has_no_degradation(nat64: TrafficPlan) -> None:
    engine = lasting({1: 1.0, 10: 1.0}, lost={10: 25})
    result = overload(plan((10,), test=TESTS[0]), engine.session(nat64))
    assert not degraded(result)
    assert about(Topic.ZERO_DOES_NOT_DEGRADE, result.remarks).facts == {"unit": "flow"}


def with_pauses(paused_s: float, lost: dict[int, int], *, always: bool = False) -> FakeEngine:
    """Whose sender of the reverse direction pauses in each trial, or in those of several flows."""

    def paused_ns(stream: Stream) -> float:
        pauses = stream.direction == "reverse" and (flows_of(stream) > 1 or always)
        return paused_s * 1e9 if pauses else 0.0

    return replace(lasting(dict.fromkeys(lost, 1.0), lost=lost), paused_ns=paused_ns)


def test_the_errors_of_both_figures_are_in_that_of_their_degradation(nat64: TrafficPlan) -> None:
    engine = with_pauses(0.0015, {1: 10, 10: 25})
    result = overload(plan((10,), test=TESTS[0]), engine.session(nat64))
    alone, ten, degradation = (f for f in result.figures if f.direction == "forward")
    assert (alone.errors, degradation.values) == ((0.0,), (150.0,))
    share = 0.0015 / (99 / 1000 + 0.0015)
    assert ten.errors == pytest.approx((2 * 75 * share,))
    assert degradation.errors == pytest.approx((ten.errors[0] / alone.values[0] * 100,))
    said = f"may be wrong by at most {degradation.errors[0]:.3g} percentage points."
    assert str(about(Topic.DEGRADATION_ERROR, result.remarks)).endswith(said)
    of_ten = str(about(Topic.LOSS_ERROR, result.remarks))
    assert of_ten.startswith("10 flows: Because senders paused")


def test_errors_without_which_no_degradation_is_wrong_make_no_remark(nat64: TrafficPlan) -> None:
    engine = lasting({1: 1.0, 10: 1.0}, lost={1: 10, 10: 25})
    result = overload(plan((10,), test=TESTS[0]), engine.session(nat64))
    assert [f.errors for f in result.figures if f.name.startswith(DEGRADATION)] == [(0.0,)] * 2
    assert Topic.DEGRADATION_ERROR not in topics(result.remarks)


def figure(
    values: tuple[float, ...], errors: tuple[float, ...] = (), statistic: Statistic = "median"
) -> Figure:
    return Figure(name="PDV", unit="ns", values=values, errors=errors, statistic=statistic)


@pytest.mark.parametrize(
    ("kind", "statistic"), [(PdvPlan, "median"), (ThroughputPlan, "median"), (RecoveryPlan, "mean")]
)
def test_a_degradation_is_within_its_error_wherever_both_figures_are(
    kind: type[Benchmarked], statistic: Statistic
) -> None:
    """80 % of 10 and of 20: the ratio of 2 may be 36 / 2."""
    benchmark, chance = BENCHMARKS[kind], random.Random(2)
    alone = figure((10.0,) * 3, (8.0, 5.0, 8.0), statistic)
    ten = figure((20.0, 5.0, 30.0), (16.0, 1.0, 2.0), statistic)
    found = benchmark.degradation(alone.benchmark, ten.benchmark)
    error = benchmark.degradation_error(alone, ten)
    for _ in range(500):
        x1, xn = (
            figure(
                tuple(
                    value + chance.choice((-1, 1)) * each
                    for value, each in zip(of.values, of.errors, strict=True)
                ),
                statistic=statistic,
            ).benchmark
            for of in (alone, ten)
        )
        assert abs(benchmark.degradation(x1, xn) - found) <= error + 1e-9
    of_one = benchmark.degradation_error(figure((10.0,), (8.0,)), figure((20.0,), (16.0,)))
    assert of_one == pytest.approx(
        abs(benchmark.degradation(2, 36) - benchmark.degradation(10, 20))
    )


def test_the_error_of_a_benchmark_is_not_that_of_the_worst_repetition() -> None:
    assert figure((10.0, 11.0, 90.0), (1.0, 1.0, 80.0)).benchmark_error == 1.0
    assert figure((10.0, 11.0, 90.0)).benchmark_error == 0.0
    assert figure((10.0, 11.0, 90.0), (1.0, 2.0)).benchmark_error == 2.0, "one is not known"


def test_a_figure_that_may_be_0_with_one_flow_has_no_degradation(nat64: TrafficPlan) -> None:
    """One frame of 100 is lost; in the pauses, the gateway may have forwarded three."""
    benchmark = BENCHMARKS[PdvPlan]
    assert benchmark.is_above_0(figure((10.0,), (9.9,)))
    assert not benchmark.is_above_0(figure((10.0,), (10.0,)))
    engine = with_pauses(0.0015, {1: 1, 10: 25}, always=True)
    result = overload(plan((10,), test=TESTS[0]), engine.session(nat64))
    assert not degraded(result)
    assert Topic.ZERO_DOES_NOT_DEGRADE in topics(result.remarks)


def test_a_time_of_recovery_degrades_too(nat64: TrafficPlan) -> None:
    """110 frames of overload, then 55: what is lost there is lost later and later."""
    engine = lasting({1: 1.0, 10: 1.0}, lost={1: 120, 10: 130})
    result = overload(plan((10,), test=TESTS[1]), engine.session(nat64))
    (percent,) = degraded(result).values()
    alone, ten = (
        result.figure("system recovery time", "forward", at).values[0]
        for at in ("1 flow", "10 flows")
    )
    assert (alone, ten) == pytest.approx((9 / 550, 19 / 550))  # the 10th and the 20th of them
    assert percent == pytest.approx(1000 / 9)
    assert result.conditions.rate_fps == 1000


def longest_delay(plan: RatePlan, session: Session) -> Measurement:
    """Measured as latency, PDV and IPDV are, of an engine that knows no other delay."""
    what = AtRate(
        procedure="pdv",
        title="Longest delay",
        reference="none",
        figures=lambda stream: [
            figure
            for _, counters in stream.counters()
            for figure in figures_of(stream, "ns", {"delay": counters.delay.max_ns})
        ],
        remarks=lambda *_: (Remark.of(Topic.IPDV),),
    )
    return measure(what, plan, session)


@pytest.mark.parametrize("incremental", [False, True])
def test_a_delay_degrades_by_what_it_is_longer(
    incremental: bool, nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where flows start one after another it is that of all of them."""
    monkeypatch.setitem(BENCHMARKS, PdvPlan, replace(BENCHMARKS[PdvPlan], run=longest_delay))
    engine = lasting({1: 400.0, 2: 9e9, 5: 9e9, 7: 9e9, 10: 500.0})
    asked = plan((10,), test=PdvPlan(rate_fps=1000, **TIMES), incremental=incremental)
    result = overload(asked, engine.session(nat64))
    assert {figure.at for figure in result.figures} == {"1 flow", "10 flows"}
    assert degraded(result) == {"degradation of delay at 10 flows": 25.0}
    assert result.title.startswith("Overload scalability of PDV, ")
    assert Topic.IPDV in topics(result.remarks)
    assert result.conditions.rate_fps == 1000
    assert Differs.GIVEN_RATE in codes(result.deviations)


def test_the_deviation_of_one_number_of_flows_is_named(nat64: TrafficPlan) -> None:
    """Ten flows pass at the highest rate that is tried, one flow does not."""
    result = overload(plan((10,)), slower_with({1: 10_000, 10: 10**6}).session(nat64))
    assert Differs.LOWER_BOUND in codes(result.deviations)
    assert Differs.PORTS not in codes(result.deviations)  # the series varies the flows
    exact = overload(plan((10,)), slower_with({1: 10_000, 10: 9000}).session(nat64))
    assert Differs.LOWER_BOUND not in codes(exact.deviations)


def test_each_test_of_section_7_has_its_formula() -> None:
    better_higher = {kind for kind, each in BENCHMARKS.items() if each.higher_is_better}
    assert better_higher == {ThroughputPlan, BackToBackPlan}
    assert len(BENCHMARKS) == 8
    for each in BENCHMARKS.values():
        worse = (10, 5) if each.higher_is_better else (10, 15)
        assert each.degradation(*worse) == 50


def test_the_rate_that_was_found_stands_beside_its_figures(nat64: TrafficPlan) -> None:
    """RFC 8219 section 10.2.1 wants the applied frame rate."""
    search = ThroughputPlan(error=SearchError(rate_fps=1), max_rate_fps=10_000, **TIMES)
    test = RecoveryPlan(search=search, **TIMES)
    engine = slower_with({1: 8000, 10: 4000})
    result = overload(plan((10,), test=test), engine.session(nat64))
    assert {figure.at for figure in result.figures} == {"1 flow", "10 flows"}, "not part of a key"
    for figure in result.figures:
        rate = "8,000" if figure.at == "1 flow" else "4,000"
        assert figure.title == f"{figure.name} {figure.at}, at {rate} fps"
    assert result.conditions.rate_fps is None


def test_what_is_measured_comes_after_flows_have_started(nat64: TrafficPlan) -> None:
    """And a loss before that is not in the figure."""
    engine = lasting(dict.fromkeys((1, 25, 50, 75, 100), 1.0), lost={1: 10, 50: 40, 100: 20})
    test = replace(TESTS[0], repetitions=2)
    result = overload(plan((100,), test=test, incremental=True), engine.session(nat64))
    assert result.figure("frame loss rate", "forward", "100 flows, 1,000 fps").values == (20, 20)
    assert list(degraded(result).values()) == [100.0]


def test_the_step_between_flows_is_an_option(nat64: TrafficPlan) -> None:
    """RFC 8219 section 10.2.2: flow i + 1 starts a time T after flow i."""
    engine = FakeEngine()
    asked = plan((100,), test=TESTS[0], incremental=True, step_s=Fraction(1, 50))
    result = overload(asked, engine.session(nat64))
    (spec,) = (spec for spec in engine.specs if len(spec.phases) > 1)
    lasts_s = [phase.streams[0].duration_ns / 1e9 for phase in spec.phases]
    assert lasts_s == pytest.approx([0.5, 0.5, 0.5, 0.1])
    assert about(Topic.PARTS_BY_STEP, result.remarks).facts["step_s"] == 0.02
    assert codes(result.deviations)[-1] is Differs.IN_GROUPS


def starts_s(spec: TrialSpec) -> list[Fraction]:
    """Of the phases, as the engine runs them: each is followed by the drain and its own gap."""
    starts = [Fraction(0)]
    for phase in spec.phases[:-1]:
        sending_ns = max(stream.duration_ns for stream in phase.streams)
        starts.append(
            starts[-1] + Fraction(round(sending_ns) + spec.drain_ns + phase.gap_ns, 10**9)
        )
    return starts


@pytest.mark.parametrize(
    ("flows", "apart_s", "deviations"),
    [(4, Fraction(5, 2), [Differs.WITH_DRAINS]), (100, Fraction(29, 2), [Differs.IN_GROUPS])],
)
def test_the_starts_of_flows_are_apart_by_the_drain_too(
    flows: int, apart_s: Fraction, deviations: list[Differs], nat64: TrafficPlan
) -> None:
    """T is 0.5 s and the drain 2 s: 1 flow more after 2.5 s, 25 more after 14.5 s."""
    engine = FakeEngine()
    timing = replace(TESTS[0].timing, drain_s=Fraction(2))
    asked = plan(
        (flows,),
        test=replace(TESTS[0], timing=timing),
        incremental=True,
        step_s=Fraction(1, 2),
    )
    result = overload(asked, engine.session(nat64))
    starts = starts_s(engine.specs[-1])
    assert [after - before for before, after in pairwise(starts)] == [apart_s] * 3
    facts = about(Topic.PARTS_BY_STEP, result.remarks).facts
    assert facts == {"step_s": 0.5, "drain_s": 2}
    assert codes(result.deviations)[-1:] == deviations


def test_without_a_step_the_drain_is_named_too(nat64: TrafficPlan) -> None:
    timing = replace(TESTS[0].timing, drain_s=Fraction(2))
    asked = plan((100, 2, 1), test=replace(TESTS[0], timing=timing), incremental=True)
    result = overload(asked, FakeEngine().session(nat64))
    assert about(Topic.PARTS_AS_TRIALS, result.remarks).facts == {"drain_s": 2}
    assert codes(result.deviations)[-2:] == [Differs.IN_GROUPS, Differs.WITH_DRAINS]
    alone = replace(asked, flows=(1,))
    said = overload(alone, FakeEngine().session(nat64)).deviations
    assert not {Differs.IN_GROUPS, Differs.WITH_DRAINS} & set(codes(said))


def test_up_to_four_flows_start_one_by_one(nat64: TrafficPlan) -> None:
    engine = FakeEngine()
    asked = plan((4,), test=TESTS[0], incremental=True)
    result = overload(asked, engine.session(nat64))
    assert [sent_before(spec) for spec in engine.specs] == [[1], [1, 2, 3, 4]]
    assert Differs.IN_GROUPS not in codes(result.deviations)
    assert Differs.WITH_DRAINS in codes(result.deviations)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"test": TESTS[1], "incremental": True}, "incremental: is not possible with system re"),
        (
            {"test": BackToBackPlan(**TIMES), "incremental": True},
            "incremental: is not possible with back-to-back frames",
        ),
        (
            {"test": ResetPlan(**TIMES), "incremental": True},
            "incremental: is not possible with reset",
        ),
        ({"step_s": Fraction(1)}, "step_s: needs incremental"),
        ({"step_s": Fraction(0), "incremental": True}, "step_s: 0 is out of range"),
        ({"step_s": Fraction(1, 10**6 + 1), "incremental": True}, "step_s: 9.* is out of range"),
    ],
)
def test_flows_that_cannot_start_so_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        plan((10,), **changes)


OPTIONS: dict[str, type[Benchmarked]] = {
    "throughput": ThroughputPlan,
    "latency": LatencyPlan,
    "pdv": PdvPlan,
    "ipdv": IpdvPlan,
    "frame-loss": FrameLossPlan,
    "back-to-back": BackToBackPlan,
    "recovery": RecoveryPlan,
    "reset": ResetPlan,
}


def test_no_test_is_without_an_option() -> None:
    assert set(CHOICES) == set(OPTIONS)
    assert set(BENCHMARKS) == set(OPTIONS.values())


@pytest.mark.parametrize("of", OPTIONS)
def test_every_test_is_named_by_an_option(of: str) -> None:
    defaults = SeriesOptions(testbed=Path("testbed.toml"), profile="quick").defaults
    test = _test(defaults, of, {})
    assert type(test) is OPTIONS[of]
    with pytest.raises(ConfigurationError, match=rf"^\w+: is not possible with --of {of} "):
        _test(defaults, of, {each.name: 5 for each in OF_SOME})
