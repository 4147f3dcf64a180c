"""Tear-down rates of a gateway whose clock is arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError
from natxy.measure.table_size import PortRange, Size
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Topic
from natxy.model.traffic_spec import Series
from natxy.procedure.tear_down import RATE, Deletions, TearDownPlan, tear_down
from natxy.report.measurement_notes import measurement_notes
from natxy.trial.observer import Observer
from natxy.trial.seeds import MAX_SEED
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway
from tests.unit.tear_down import EMPTY_S, Deleting

PLAN = TearDownPlan(
    timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    seed=7,
    repetitions=3,
    sizes=(Size(connections=1000), Size(connections=4000)),
)


def measure(
    plan: TearDownPlan = PLAN, gateway: StatefulGateway | None = None, **device: Any
) -> tuple[Measurement, Deleting]:
    gateway = gateway or StatefulGateway()
    dut = Deleting(gateway=gateway, **device)
    session = FakeEngine(gateway=gateway).session(traffic_plan({}), dut)
    return tear_down(plan, session), dut


def rate(result: Measurement, connections: str) -> Figure:
    (figure,) = (f for f in result.figures if f.primary and f.at == f"{connections} connections")
    assert (f"{figure.at_value:,}", figure.at_unit) == (connections, "connections")
    assert figure.unit == "cps"
    return figure


def test_the_rate_is_that_of_connections_without_what_an_empty_table_takes() -> None:
    result, dut = measure()
    for connections in ("1,000", "4,000"):
        assert rate(result, connections).name == "connection tear-down rate"
        assert rate(result, connections).values == pytest.approx((100_000,))
    assert dut.held == [1000, 0] * 3 + [4000, 0] * 3
    full = result.figure("full table deletion time", at="4,000 connections")
    assert full.values == pytest.approx((0.54,) * 3)
    empty = result.figure("empty table deletion time", at="4,000 connections")
    assert empty.values == pytest.approx((EMPTY_S,) * 3)
    (difference_s,) = result.figure("deletion time", at="4,000 connections").values
    assert difference_s == pytest.approx(0.54 - EMPTY_S)
    assert result.reference == "RFC 9693"


def test_columns_with_as_many_connections_are_told_apart() -> None:
    sizes = tuple(
        Size(source_ports=PortRange(count=sources), destination_ports=PortRange(count=destinations))
        for sources, destinations in ((1000, 4), (2000, 2), (2000, 2), (2000, 4))
    )
    result, _ = measure(replace(PLAN, sizes=sizes))
    assert [figure.at for figure in result.figures if figure.primary] == [
        "4,000 connections, 1,000 x 4 ports",
        "4,000 connections, 2,000 x 2 ports",
        "4,000 connections, 2,000 x 2 ports, column 3",
        "8,000 connections",
    ]
    keys = {(figure.name, figure.at) for figure in result.figures}
    assert len(keys) == len(result.figures)


def test_there_is_no_phase_2_to_speak_of() -> None:
    result, _ = measure()
    notes = measurement_notes([result])
    assert notes[0].startswith("→ left (IPv4) to right (IPv4) only")
    assert any(note.startswith("Phase 1: connections at 10,000 a second") for note in notes)
    assert not any(note.startswith("Phase 2:") for note in notes)
    assert result.conditions.duration_s is None


def test_medians_are_what_counts() -> None:
    """One of three deletions of the full table, and another of the empty one, took longer."""
    result, _ = measure(replace(PLAN, sizes=PLAN.sizes[1:]), more_s=(0, 0, 0.008, 0, 0, 0.001))
    assert rate(result, "4,000").values == pytest.approx((100_000,))


def test_a_rate_within_the_noise_is_in_parentheses() -> None:
    """10 ms are between full and empty, and 40 ms: 5 ms of noise are much, or little."""
    result, _ = measure(more_s=(0.005, 0, 0, 0, 0, 0))
    assert rate(result, "1,000").title == "(connection tear-down rate) 1,000 connections"
    assert rate(result, "4,000").title == "connection tear-down rate 4,000 connections"
    assert {rate(result, n).name for n in ("1,000", "4,000")} == {RATE}, "rounds are pooled by it"
    assert Topic.UNCERTAIN in topics(result.remarks)


@pytest.mark.parametrize(
    ("full_s", "empty_s", "within"),
    [
        ((0.43, 0.46, 0.48), (0.29, 0.30, 0.31), True),
        ((1.35, 1.37, 1.39), (0.29, 0.30, 0.31), False),
        ((11.76, 11.79, 11.95), (0.29, 0.30, 0.31), False),
        ((4.0, 4.0, 5.0), (0.0, 0.0, 0.0), False),  # a quarter of the difference, and no more
    ],
)
def test_parentheses_are_where_the_methodology_paper_has_them(
    full_s: tuple[float, ...], empty_s: tuple[float, ...], within: bool
) -> None:
    """Table 11: minimum, median and maximum of 0.4, 4 and 40 million connections."""
    found = Deletions(at="1", connections=1, ranges="1 x 1", full_s=full_s, empty_s=empty_s)
    assert found.within_noise is within


@pytest.mark.parametrize("full_s", [0.25, 0.125])
def test_a_full_table_that_is_no_slower_has_no_rate(full_s: float) -> None:
    found = Deletions(at="9", connections=9, ranges="9 x 1", full_s=(full_s,), empty_s=(0.25,))
    assert found.rate_cps == 0
    assert found.within_noise


def test_phase_1_that_loses_frames_is_repeated() -> None:
    @dataclass(kw_only=True)
    class Stutters(StatefulGateway):
        trials: int = 0

        def makes(self, asked: int, rate_cps: int) -> int:
            self.trials += 1
            return asked - (1 if self.trials in (2, 4) else 0)

    result, dut = measure(replace(PLAN, sizes=PLAN.sizes[:1]), Stutters())
    assert dut.held == [1000, 0] * 3
    assert result.counts.trials == 5


@pytest.mark.parametrize(
    ("gateway", "device", "sentence"),
    [
        (StatefulGateway(entries=999), {}, "created only 999 of 1,000 connections, in 4 trials"),
        (StatefulGateway(), {"strangers": 3}, "has 1,003 connections in its table"),
        (StatefulGateway(absent=2), {}, "has 998 connections in its table"),
        (StatefulGateway(), {"keeps": 1}, "still has 1 connections after it deleted all"),
    ],
)
def test_what_was_not_full_or_not_deleted_has_no_rate(
    gateway: StatefulGateway, device: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DutError, match=sentence):
        measure(gateway=gateway, **device)


def test_a_device_without_a_table_is_refused() -> None:
    engine = FakeEngine(gateway=StatefulGateway())
    with pytest.raises(DutError, match="no connection table"):
        tear_down(PLAN, engine.session(traffic_plan({}), NoDut()))
    with pytest.raises(ConfigurationError, match=r"connections\.order: \"repeating\""):
        tear_down(PLAN, engine.session(traffic_plan({"order": "repeating"}), NoDut()))
    assert not engine.specs


@pytest.mark.parametrize("count", [0, 2**32 + 1])
def test_numbers_that_make_no_sense_are_refused(count: int) -> None:
    with pytest.raises(ConfigurationError, match=r"connections: .* is out of range \(expected "):
        Size(connections=count)


def ranges_of(size: Size, **traffic: Any) -> tuple[Series, Series, int]:
    """Source and destination ports of the initiator's frames, and the connections."""
    session = FakeEngine(gateway=StatefulGateway()).session(traffic_plan({}, **traffic))
    ready = size.of(session)
    ready.traffic.check()
    ranges = ready.traffic.ranges
    return ranges.source_port, ranges.destination_port, ready.traffic.required_connections.count


def test_the_source_range_stays_and_the_destination_range_grows() -> None:
    """The testbed has 1000 source ports from 1000 on, and port 80."""
    for connections, destinations in ((1, 1), (1000, 1), (1001, 2), (10_000, 10), (99_001, 100)):
        source, destination, count = ranges_of(Size(connections=connections))
        assert (source.min, source.max) == (1000, 1999)
        assert (destination.min, destination.values) == (80, destinations)
        assert count == connections
    fields = {"mode": "increasing", "min": 0, "max": 9}
    _, destination, _ = ranges_of(Size(connections=100_000), left_field=fields)
    assert destination.values == 10  # of each of ten addresses


def test_a_columns_own_ranges_are_all_connections() -> None:
    """The columns of the methodology paper's Table 12."""
    for destinations in (10, 100, 1000, 10_000):
        size = Size(
            source_ports=PortRange(count=40_000),
            destination_ports=PortRange(first=1, count=destinations),
        )
        source, destination, count = ranges_of(size)
        assert (source.min, source.values) == (1000, 40_000)
        assert (destination.min, destination.values) == (1, destinations)
        assert count == 40_000 * destinations


@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (
            {"connections": 1000 * 65_456 + 1},
            r"connections: 65457 ports from 80 on .* at most 65456\)",
        ),
        (
            {"connections": 1001, "destination_ports": PortRange(count=1)},
            "connections: 1001 connections are more than the 1000 combinations",
        ),
        (
            {"connections": 1, "source_ports": PortRange(count=2, first=65_535)},
            r"source_ports: 2 ports from 65535 on are not possible \(expected at most 1\)",
        ),
        ({"source_ports": PortRange(count=9)}, "connections, destination_ports: neither is given"),
    ],
)
def test_ranges_that_do_not_suffice_are_refused(size: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        ranges_of(Size(**size))


def test_ranges_at_the_ends_of_what_is_possible_are_taken() -> None:
    _, destination, count = ranges_of(Size(connections=1000 * 65_456))
    assert (destination.min, destination.max, count) == (80, 65_535, 65_456_000)
    last = Size(connections=1, source_ports=PortRange(count=1, first=65_535))
    assert ranges_of(last)[0].min == 65_535
    all_of_them = Size(connections=1000, destination_ports=PortRange(count=1))
    assert ranges_of(all_of_them)[2] == 1000
    assert Size(connections=2**32).connections == 2**32
    assert Size(connections=1).connections == 1


def test_address_fields_of_both_sides_multiply_the_connections_of_a_port() -> None:
    fields = {"mode": "increasing", "min": 0, "max": 9}
    for field_ in ("left_field", "right_field"):
        size = Size(destination_ports=PortRange(count=2))
        assert ranges_of(size, **{field_: fields})[2] == 1000 * 10 * 2


def test_ports_that_are_none_or_make_too_many_connections_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^destination_ports: 0 ports from 80 on"):
        ranges_of(Size(connections=1, destination_ports=PortRange(count=0)))
    fields = {"mode": "increasing", "min": 0, "max": 9}
    size = Size(destination_ports=PortRange(first=1, count=65_535))
    wide = {"source_port": {"mode": "increasing", "min": 1, "max": 65_535}}
    forward = {**wide, "destination_port": {"mode": "fixed", "min": 80, "max": 80}}
    with pytest.raises(
        ConfigurationError,
        match=r"^source_ports, destination_ports: 42948362250 is out of range \(expected 1 to ",
    ):
        ranges_of(size, left_field=fields, forward=forward)


def test_each_number_of_connections_has_nonces_of_its_own_up_to_the_highest_seed() -> None:
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    asked = replace(PLAN, seed=MAX_SEED, repetitions=1)
    session = engine.session(traffic_plan({"rate_fps": None}), Deleting(gateway=gateway))
    tear_down(asked, session)
    nonces = [spec.nonce for spec in engine.specs if spec.seed]
    assert len(set(nonces)) == len(nonces)


def test_the_rate_of_each_number_of_connections_is_shown_as_soon_as_it_is_found() -> None:
    class Shown(Observer):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def trial_started(
            self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
        ) -> None:
            self.seen.append(f"phase 1 at {rate_fps:,}")

        def repetition_ended(self, figures: Sequence[Figure]) -> None:
            self.seen += [f"{figure.name} {figure.at}" for figure in figures]

    shown, gateway = Shown(), StatefulGateway()
    session = FakeEngine(gateway=gateway).session(
        traffic_plan({}), Deleting(gateway=gateway), shown
    )
    tear_down(replace(PLAN, repetitions=2), session)
    assert shown.seen == [
        line
        for count in ("1,000", "4,000")
        for line in (*["phase 1 at 10,000"] * 2, f"{RATE} {count} connections")
    ]


def test_how_often_a_filling_was_repeated_is_said() -> None:
    with pytest.raises(DutError, match="created only 900 of 1,000 connections, in 1 trials; use a"):
        measure(replace(PLAN, incomplete_repeats=0), StatefulGateway(entries=900))


def test_without_a_list_the_table_is_the_testbeds() -> None:
    result, dut = measure(replace(PLAN, sizes=()))
    assert dut.held == [1000, 0] * 3
    assert about(Topic.PORTS, result.remarks).facts == {"ports": ("1,000 x 1",)}
