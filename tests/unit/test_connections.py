"""Tests of the streams of a stateful trial: phases, addresses, ranges and orders."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError, MeasurementError
from natxy.model.addresses import IpVersion
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Traffic
from natxy.model.trial_spec import Phase, Side
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import rfc2544_goal
from natxy.search.settings import LossTolerance
from natxy.trial.establishing import Establishing
from natxy.trial.phases import measures_phase_2, phase_1_s
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.connections import PORTS, TIMING, plan, segments_of, spec_of
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway
from tests.unit.traffic import ends, port


def foreground(phase: Phase, direction: str) -> Traffic:
    (found,) = (stream.foreground for stream in phase.streams if stream.direction == direction)
    assert found
    return found


@pytest.mark.parametrize("initiator", ["left", "right"])
@pytest.mark.parametrize("left", [4, 6])
@pytest.mark.parametrize("right", [4, 6])
def test_replies_come_from_where_connections_went(
    initiator: Side, left: IpVersion, right: IpVersion
) -> None:
    traffic = plan({"initiator": initiator}, left_ip_version=left, right_ip_version=right)
    phase_1, phase_2 = spec_of(traffic).phases
    out, back = ("forward", "reverse") if initiator == "left" else ("reverse", "forward")
    responder: Side = "right" if initiator == "left" else "left"
    inside, outside = traffic.testbed.traffic.ip_version(initiator), {"left": left, "right": right}
    assert [stream.direction for stream in phase_1.streams] == [out]
    made, asks = foreground(phase_1, out), foreground(phase_2, out)
    replies = foreground(phase_2, back)
    seen = "real" if left == right else "virtual"
    assert ends(made.departure) == (
        inside,
        port(initiator)[f"ipv{inside}_real"],
        port(responder)[f"ipv{inside}_{seen}"],
    )
    assert made.arrival.ip_version == outside[responder]
    assert made.arrival.destination.address == port(responder)[f"ipv{outside[responder]}_real"]
    assert asks.model_copy(update={"connections": made.connections}) == made
    assert replies.departure.source == made.arrival.destination
    assert replies.arrival.source == made.departure.destination
    assert replies.arrival.destination == made.departure.source
    assert replies.selection == made.selection
    assert (replies.source_port, replies.destination_port) == (
        made.destination_port,
        made.source_port,
    )
    assert replies.source_field == made.destination_field
    assert replies.destination_field == made.source_field


def test_all_ports_of_the_initiators_direction_are_combined() -> None:
    ranges = plan({}).ranges
    assert (ranges.source_port.values, ranges.destination_port.values) == (1000, 1)
    assert str(ranges) == "1,000 x 1"
    field = {"mode": "increasing", "min": 0, "max": 9}
    wide = plan({}, left_field=field | {"ipv4_offset": 2, "ipv6_offset": 14})
    assert (wide.ranges.combinations, str(wide.ranges)) == (10_000, "1,000 x 1 x 10")
    default: Testbed = Source(name="test").validated(Testbed, {"connections": {"count": 1}})
    every = TrafficPlan(testbed=default, source=Source(name="test")).ranges.combinations
    assert every == 64512 * 49151  # RFC 4814 section 4.5


@pytest.mark.parametrize(
    ("order", "selection", "walks"),
    [
        ("pseudorandom", "enumerate-pseudorandom", "linear"),
        ("increasing", "enumerate-increasing", "linear"),
        ("decreasing", "enumerate-decreasing", "linear"),
        ("repeating", "enumerate-pseudorandom", "repeating"),
    ],
)
def test_the_order_of_phase_1(order: str, selection: str, walks: str) -> None:
    phase_1, phase_2 = spec_of(plan({"order": order})).phases
    made = foreground(phase_1, "forward")
    assert made.selection == foreground(phase_2, "reverse").selection == selection
    assert made.connections
    assert (made.connections.role, made.connections.order) == ("establish", walks)


def test_the_orders_of_phase_2() -> None:
    traffic = plan({"initiator_order": "fixed", "responder_order": "decreasing"})
    phase_2 = spec_of(traffic).phases[1]
    asks, replies = foreground(phase_2, "forward"), foreground(phase_2, "reverse")
    assert asks.connections
    assert replies.connections
    assert (asks.connections.role, asks.connections.order) == ("initiate", "fixed")
    assert (replies.connections.role, replies.connections.order) == ("respond", "decreasing")


def test_upload_and_download_are_directions_of_phase_2() -> None:
    up = spec_of(plan({}, direction="forward"))
    down = spec_of(plan({}, direction="reverse"))
    for spec, role in ((up, "initiate"), (down, "respond")):
        assert [stream.direction for stream in spec.phases[0].streams] == ["forward"]
        (stream,) = spec.phases[1].streams
        assert stream.foreground
        assert stream.foreground.connections
        assert stream.foreground.connections.role == role


def test_nothing_is_sent_before_phase_1_and_all_of_it_must_come() -> None:
    spec = spec_of(plan({}))
    assert spec.warm_up.mode == "neighbours"
    phase_1, _ = spec.phases
    assert phase_1.minimum_connections == 1000
    (segment,) = phase_1.streams[0].segments
    assert (segment.frames, segment.rate_fps) == (1000, 10_000)


def test_with_background_traffic_phase_1_counts_it_too() -> None:
    spec = spec_of(plan({}, n=10, m=9))
    assert spec.phases[0].streams[0].frames == 1000
    assert spec.phases[0].minimum_connections == 900


def test_the_connections_of_a_mix_are_its_foreground_frames() -> None:
    mixed = plan({}, n=10, m=6)
    for frames in range(25):
        foreground_frames = sum(number % 10 < 6 for number in range(frames))
        assert mixed.connections_among(frames) == foreground_frames


def test_fewer_connections_are_accepted_where_the_testbed_says_so() -> None:
    accepts = spec_of(plan({"incomplete": "accept", "minimum": 990}))
    assert accepts.phases[0].minimum_connections == 990
    drawn = spec_of(plan({"order": "repeating"}))
    assert drawn.phases[0].minimum_connections == 0  # how many they will be nobody knows


def test_the_delay_is_from_phase_1s_first_frame_to_phase_2s() -> None:
    assert spec_of(plan({})).phases[0].gap_ns == 0
    delayed = spec_of(plan({"delay_s": 0.4}))  # 0.1 s of frames and 0.05 s of drain are in it
    assert delayed.phases[0].gap_ns == 250_000_000
    with pytest.raises(
        ConfigurationError, match=r"delay_s: 0.1 is shorter .* \(expected at least 0.15\)"
    ):
        spec_of(plan({"delay_s": 0.1}))


def test_validation_asks_each_connection_once_and_a_tenth_of_them_slowly() -> None:
    spec = spec_of(plan({}), Establishing(rate_cps=20_000, alpha=Fraction(1, 2)))
    names = [phase.name for phase in spec.phases]
    assert names == ["establish", "validate", "ask again"]
    linear, missing = (foreground(phase, "reverse").connections for phase in spec.phases[1:])
    assert linear
    assert missing
    assert (linear.order, missing.order) == ("linear", "missing")
    segments = [phase.streams[0].segments[0] for phase in spec.phases]
    assert [(s.frames, s.rate_fps) for s in segments] == [
        (1000, 20_000),
        (1000, 10_000),
        (100, 1000),
    ]
    (alone,) = spec_of(plan({}), Establishing(rate_cps=20_000, count=7)).phases
    assert (alone.minimum_connections, alone.streams[0].frames) == (7, 7)


def test_repairs_make_a_tenth_of_the_connections_again_slowly() -> None:
    load = Establishing(rate_cps=20_000, alpha=Fraction(1, 2), repairs=True)
    spec = spec_of(plan({}), load)
    names = [phase.name for phase in spec.phases]
    assert names == ["establish", "make again", "validate", "ask again"]
    made_again = foreground(spec.phases[1], "forward").connections
    assert made_again
    assert (made_again.role, made_again.order) == ("initiate", "missing")
    (segment,) = spec.phases[1].streams[0].segments
    assert (segment.frames, segment.rate_fps) == (100, 2000)
    assert [phase.minimum_connections for phase in spec.phases] == [900, 1000, 900, 0]
    alone = spec_of(plan({}), Establishing(rate_cps=20_000, count=7, repairs=True))
    assert [phase.minimum_connections for phase in alone.phases] == [6, 7]


def test_repairs_are_slow() -> None:
    fast = Establishing(rate_cps=200_000, alpha=Fraction(1, 2), repairs=True)
    assert (fast.making_again_fps, fast.asking_again_fps) == (5000, 5000)
    assert Establishing(rate_cps=200_000, alpha=Fraction(1, 2)).asking_again_fps == 10_000


def test_what_is_repeated_slowly_does_not_make_a_trial_a_long_one() -> None:
    """Phase 1 takes 0.1 s and validation 0.2 s; all that may be repeated takes as long again."""
    validated = Establishing(rate_cps=10_000, alpha=Fraction(1, 2), repairs=True)
    trials = TrialPlan(traffic=plan({}), timing=TIMING)
    spec = trials.spec(load=validated, seed=1, nonce=1)
    repeated = [phase for phase in spec.phases if "again" in phase.name]
    assert trials.realtime(tuple(repeated * 1000))
    assert not trials.realtime(spec.phases * 1000)


def test_a_handshake_of_tcp_has_three_phases_before_phase_2() -> None:
    spec = spec_of(plan({"transport": "tcp", "sample": 10}, frame_size_bytes=200))
    assert segments_of(spec) == [
        ("establish", "establish", "syn", 78),
        ("validate", "respond", "syn", 78),
        ("acknowledge", "initiate", "ack", 78),
        ("sample", "respond", "ack", 180),
        ("test", "initiate", "ack", 180),
        ("test", "respond", "ack", 180),
    ]
    assert measures_phase_2(spec)
    made, answered, acknowledged, *_ = spec.phases
    assert answered.minimum_connections == made.minimum_connections == 1000
    assert answered.streams[0].segments == acknowledged.streams[0].segments
    for stream in (stream for phase in spec.phases for stream in phase.streams):
        assert stream.foreground
        assert stream.foreground.departure.transport == stream.foreground.arrival.transport == "tcp"
    with pytest.raises(ConfigurationError, match=r"delay_s: 0.4 .* \(expected at least 0.45\)"):
        spec_of(plan({"transport": "tcp", "delay_s": 0.4}, frame_size_bytes=98))


def test_connections_of_tcp_are_validated_by_their_syn_acks() -> None:
    traffic = plan({"transport": "tcp"}, frame_size_bytes=98)
    load = Establishing(rate_cps=20_000, alpha=Fraction(1, 2), repairs=True)
    spec = spec_of(traffic, load)
    assert [each[:3] for each in segments_of(spec)] == [
        ("establish", "establish", "syn"),
        ("make again", "initiate", "syn"),
        ("validate", "respond", "syn"),
        ("ask again", "respond", "syn"),
        ("acknowledge", "initiate", "ack"),
    ]
    rates = [phase.streams[0].segments[0].rate_fps for phase in spec.phases]
    assert rates == [20_000, 2000, 10_000, 1000, 20_000]
    assert load.lasts_s(Fraction(0), traffic.connections) == Fraction(1, 5)
    alone = Establishing(rate_cps=20_000)
    assert [phase.name for phase in spec_of(traffic, alone).phases] == [
        "establish",
        "validate",
        "acknowledge",
    ]
    assert alone.lasts_s(Fraction(0), traffic.connections) == Fraction(3, 20)


def test_background_beside_tcp_is_udp() -> None:
    asked = {"n": 2, "m": 1, "frame_size_bytes": 98}
    made = spec_of(plan({"transport": "tcp"}, **asked)).phases[0].streams[0]
    assert made.background
    assert made.background.departure.transport == "udp"


def test_accepted_loss_lets_validation_begin() -> None:
    load = Establishing(
        rate_cps=20_000, alpha=Fraction(1), accepted=LossTolerance(fraction=Fraction(1, 100))
    )
    assert spec_of(plan({}), load).phases[0].minimum_connections == 990


@pytest.mark.parametrize(
    ("connections", "traffic", "sentence"),
    [
        ({"count": 1001}, {}, r"count.*1001 connections, but .* have 1000 combinations"),
        ({}, {"right_networks": 2}, r"right_networks.*2 is not possible with connections"),
        ({}, {"n": 1, "m": 0}, r"m.*0 leaves no frame for connections"),
        ({"incomplete": "accept"}, {}, r"minimum.*is missing"),
        ({"minimum": 3}, {}, r'minimum.*is only for incomplete = "accept"'),
        (
            {"order": "repeating", "incomplete": "accept", "minimum": 3},
            {},
            r'incomplete.*"accept" is not possible with order = "repeating"',
        ),
        ({"count": 0}, {}, r"count.*0 is out of range"),
        ({"transport": "sctp"}, {}, r"transport"),
        (
            {"transport": "tcp"},
            {},
            r"frame_size_bytes.*84 is too small for a TCP header \(expected at least 98\)",
        ),
        (
            {"transport": "tcp"},
            {"left_ip_version": 6, "extension_headers": ["routing"], "frame_size_bytes": 98},
            r"98 is too small for a TCP header and 1 extension header \(expected at least 106\)",
        ),
        (
            {"transport": "tcp"},
            {"avoid_zero_checksum": True, "frame_size_bytes": 98},
            r"avoid_zero_checksum.*true is not possible with connections.transport",
        ),
        ({"order": "linear"}, {}, r"order"),
    ],
)
def test_what_is_not_possible_is_one_sentence(
    connections: dict[str, Any], traffic: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence) as refused:
        plan(connections, **traffic).check()
    assert "\n" not in str(refused.value)


def test_more_combinations_than_frames_can_number_are_refused() -> None:
    field = {"mode": "increasing", "min": 0, "max": 65535}
    every = {"mode": "increasing", "min": 1, "max": 65535}
    with pytest.raises(
        ConfigurationError, match=r"ranges have \d+ combinations \(expected at most 4294967296\)"
    ):
        plan(
            {},
            left_field=field | {"ipv4_offset": 2, "ipv6_offset": 14},
            forward={"source_port": every, "destination_port": PORTS["source_port"]},
        ).check()


def test_a_phase_1_without_rate_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"rate_fps: is missing.*natxy establishment"):
        spec_of(plan({"rate_fps": None}))


def test_a_reset_is_after_phase_1() -> None:
    assert phase_1_s(plan({}), TIMING) == Fraction(15, 100)
    assert phase_1_s(plan({"delay_s": 0.4}), TIMING) == Fraction(4, 10)
    stateless = plan({}).testbed.model_copy(update={"connections": None})
    assert phase_1_s(TrafficPlan(testbed=stateless, source=Source(name="")), TIMING) == 0


GIVEN: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20)),
    "seed": 7,
    "repetitions": 1,
}
COARSE = SearchError(rate_fps=1000)  # the lowest rates have too few frames to tell
GOAL = rfc2544_goal(final_duration_s=Fraction(1, 10))
PROCEDURES: dict[str, tuple[Callable[..., Measurement], Any]] = {
    "throughput": (throughput, ThroughputPlan(max_rate_fps=5000, error=COARSE, **GIVEN)),
    "mlr": (mlr_throughput, MlrThroughputPlan(goals=(GOAL,), max_rate_fps=5000, **GIVEN)),
    "frame loss": (frame_loss, FrameLossPlan(rates_fps=(5000,), **GIVEN)),
    "recovery": (recovery, RecoveryPlan(rate_fps=5000, **GIVEN)),
    "pdv": (pdv, PdvPlan(rate_fps=5000, **GIVEN)),
}


@pytest.mark.parametrize("name", PROCEDURES)
def test_connections_that_are_gone_are_no_loss_of_the_rates(name: str) -> None:
    procedure, plan = PROCEDURES[name]
    gateway = StatefulGateway(flushes=True, counts_replies=True)
    session = FakeEngine(gateway=gateway).session(traffic_plan({}))
    with pytest.raises(MeasurementError, match="connections"):
        procedure(plan, session)
