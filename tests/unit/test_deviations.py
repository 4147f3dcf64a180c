"""What a result has that its document does not ask for, and what it has not that it asks for."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

import natxy
from natxy.errors import ConfigurationError
from natxy.measure.flows import ranges_of
from natxy.measure.traffic_deviations import (
    connection_deviations,
    flow_deviations,
    session_deviations,
    traffic_deviations,
)
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Measurement
from natxy.model.traffic import TrafficPlan
from natxy.procedure.closing import ClosingPlan, closing
from natxy.procedure.establishment import EstablishmentPlan, establishment
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.establishing import Closer
from natxy.trial.profile import RFC
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.clauses import SHORT_TRIALS, codes, in_full_series, text, texts
from tests.unit.connections import plan as connection_plan
from tests.unit.fake_engine import FakeEngine, beyond
from tests.unit.stateful_gateway import StatefulGateway

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))


def test_a_deviation_is_a_clause_what_there_is_and_what_is_asked() -> None:
    assert str(SHORT_TRIALS) == "trials of 0.2 s, not 60 s (RFC 2544 section 24)"
    assert str(Deviation.of(Differs.RATES_LEFT_OUT, "RFC 1")) == "rates left out (RFC 1)"
    assert str(Deviation.of(Differs.RATES_LEFT_OUT, "", "it")) == "it: rates left out"
    one = Deviation.of(Differs.REPETITIONS, "", done=1, asked="several")
    assert str(one) == "1 repetition, not several"


def test_a_deviation_is_written_as_its_code_and_facts() -> None:
    written = SHORT_TRIALS.model_dump_json()
    assert json.loads(written)["code"] == "duration"
    assert json.loads(written)["facts"] == {"has_s": 0.2, "asked_s": 60}
    sizes = Deviation.of(Differs.FRAME_SIZES, "", sizes_bytes=(84.0, 1280.0))
    for each in (SHORT_TRIALS, sizes):
        assert Deviation.model_validate_json(each.model_dump_json()) == each
    with pytest.raises(ValidationError, match="is unknown"):
        Deviation.model_validate_json(written.replace("duration", "other"))


def test_a_full_series_has_all_that_the_traffic_needs(nat64: TrafficPlan) -> None:
    assert session_deviations(in_full_series(FakeEngine().session(nat64))) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "frames of 84 bytes, not of each size that fits the MTU (RFC 8219 section 5.1.1)"),
        ({}, "100 % foreground traffic, not 100, 90, 50, 10 % (RFC 8219 section 5.3)"),
        ({"n": 10, "m": 9}, "90 % foreground traffic, not 100, 90, 50, 10 %"),
        (
            {"direction": "reverse"},
            "traffic in one direction (reverse), not in both (RFC 8219 section 5.3)",
        ),
        (
            {"forward": {"source_port": {"mode": "fixed", "min": 7, "max": 7}}},
            "forward source ports 7 and destination ports pseudorandom from 1 to 49151, not source "
            "ports pseudorandom from 1024 to 65535 and destination ports pseudorandom from 1 to "
            "49151 (RFC 4814 section 4.5)",
        ),
        (
            {"reverse": {"destination_port": {"mode": "increasing", "min": 1, "max": 49151}}},
            "reverse source ports pseudorandom from 1024 to 65535 and destination ports increasing",
        ),
        (
            {"left_ip_version": 6, "right_ip_version": 6},
            "extension headers: none, not none, each one, and a chain of them (RFC 5180 section",
        ),
    ],
)
def test_what_traffic_has_not_is_named(
    changes: dict[str, Any], said: str, nat64: TrafficPlan
) -> None:
    session = FakeEngine().session(nat64).with_traffic(**changes)
    assert said in text(session_deviations(session))


def test_a_direction_that_sends_nothing_has_no_ports(nat64: TrafficPlan) -> None:
    fixed = {"source_port": {"mode": "fixed", "min": 7, "max": 7}}
    session = FakeEngine().session(nat64).with_traffic(direction="forward", reverse=fixed)
    assert Differs.PORTS not in codes(session_deviations(session))


def test_translators_need_no_extension_headers(nat64: TrafficPlan) -> None:
    assert Differs.HEADERS not in codes(session_deviations(FakeEngine().session(nat64)))


def test_ipv4_alone_has_sizes_of_its_own(nat64: TrafficPlan) -> None:
    """Its frames are 20 octets smaller than their names, so that 1538 is the largest of 1500."""
    session = FakeEngine().session(nat64).with_traffic(left_ip_version=4, right_ip_version=4)
    sizes = (84, 148, 276, 532, 788, 1044, 1300, 1538)
    whole = session.in_series(frame_sizes=sizes, foregrounds=(Fraction(1),))
    assert Differs.FRAME_SIZES not in codes(traffic_deviations(whole))
    assert Differs.FRAME_SIZES in codes(traffic_deviations(replace(whole, frame_sizes=sizes[:-1])))


PORTS = {"forward": {"source_port": {"max": 49_999, "min": 10_000}}}


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        ((1024, 11_023, 1, 100), ""),  # 10,000 x 100
        ((1024, 11_022, 1, 100), "9,999 source ports and 100 destination ports, not a few times"),
        ((1024, 65_535, 1, 9_999), ""),
        ((1024, 65_535, 1, 10_000), "64,512 source ports and 10,000 destination ports, not"),
        ((80, 80, 1, 49_151), "1 source ports and 49,151 destination ports, not a few times"),
    ],
)
def test_other_ranges_of_connections_than_wide_and_narrow_are_named(
    ports: tuple[int, int, int, int], said: str
) -> None:
    first, last, lowest, highest = ports
    session = FakeEngine(gateway=StatefulGateway()).session(
        connection_plan(
            {"count": 1},
            forward={
                "source_port": {"mode": "pseudorandom", "min": first, "max": last},
                "destination_port": {"mode": "pseudorandom", "min": lowest, "max": highest},
            },
        )
    )
    found = text(connection_deviations(session))
    assert ("RFC 9693 section 4.1" in found) is bool(said)
    assert said in found


@pytest.mark.parametrize(
    ("key", "clause"),
    [("order", "4.4"), ("initiator_order", "4.10"), ("responder_order", "4.10")],
)
def test_other_orders_of_connections_are_named(key: str, clause: str) -> None:
    session = FakeEngine(gateway=StatefulGateway()).session(
        connection_plan({"count": 1, key: "increasing"})
    )
    said = [each for each in texts(flow_deviations(session)) if "order" in each]
    assert len(said) == 1
    assert said[0].endswith(
        f'in the order "increasing", not "pseudorandom" (RFC 9693 section {clause})'
    )


def found(nat64: TrafficPlan, **changes: Any) -> str:
    engine = FakeEngine(lose=partial(beyond, 5000))
    options: dict[str, Any] = {"seed": 1, "timing": FAST, "repetitions": 2, "max_rate_fps": 10_000}
    plan = ThroughputPlan(**options | changes)
    return text(throughput(plan, engine.session(nat64)).deviations)


def test_a_coarse_search_and_a_single_one_are_named(nat64: TrafficPlan) -> None:
    half = SearchError(fraction=Fraction(1, 2))
    coarse = "a search error of 50 %, not the highest rate (RFC 2544 section 26.1)"
    assert coarse in found(nat64, error=half)
    assert "search error" not in found(nat64)
    assert "a search error of 100 fps, not" in found(nat64, error=SearchError(rate_fps=100))
    assert "search error" not in found(nat64, error=SearchError(rate_fps=4))
    assert "1 repetition, not several (RFC 8219 section 12)" in found(nat64, repetitions=1)
    assert "repetition" not in found(nat64)


def test_a_lower_bound_is_named(nat64: TrafficPlan) -> None:
    bound = "a lower bound, not the highest rate (RFC 2544 section 26.1)"
    assert bound in found(nat64, max_rate_fps=4000)
    assert bound not in found(nat64)


def stateful(transport: str) -> Session:
    traffic = connection_plan({"transport": transport, "rate_fps": 1000}, frame_size_bytes=98)
    return FakeEngine(gateway=StatefulGateway()).session(traffic)


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_tcp_rate_names_what_rfc_3511_asks_for(transport: str) -> None:
    plan = EstablishmentPlan(
        timing=replace(RFC.timing, settle_s=Fraction(5)), seed=7, repetitions=2
    )
    result = establishment(plan, stateful(transport))
    said = text(result.deviations)
    for clause, words in (
        ("RFC 3511 section 5.3.3", "no HTTP transfer"),
        ("RFC 3511 section 5.3.2.1", "no aging time"),
        ("RFC 3511 section 5.3.4.2", "establishment times"),
    ):
        named = any(clause in one and words in one for one in texts(result.deviations))
        assert named is (transport == "tcp"), said
    assert not result.conforms if transport == "tcp" else "RFC 3511" not in said


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("rst", "connections closed by RST, not by a three-way or four-way handshake"),
        ("fin", "the segments of all handshakes sent in phases"),
    ],
)
def test_a_tear_down_names_what_rfc_3511_asks_for(by: Closer, said: str) -> None:
    plan = ClosingPlan(timing=FAST, seed=7, repetitions=1, by=by)
    result = closing(plan, stateful("tcp"))
    named = text(result.deviations)
    assert f"{said}" in named
    assert "RFC 3511 section 5.4.2" in named
    assert "no aging time between trials" in named
    assert "connection tear-down times not taken (RFC 3511 section 5.4.4)" in named
    assert "1 repetition, not several (RFC 9693 section 6)" in named


ONE = "1 destination network, not 1 and then 256 (RFC 2544 section 12)"
TIMES: dict[str, Any] = {
    "timing": natxy.timing(duration=0.1, drain=0),
    "seed": 7,
    "repetitions": 1,
}
SEARCH = natxy.ThroughputPlan(error=SearchError(rate_fps=1000), max_rate_fps=10_000, **TIMES)
GOAL = natxy.rfc2544_goal(final_duration_s=Fraction(1, 10))
AT_RATE: dict[str, Any] = TIMES | {"rate_fps": 1000}
PROCEDURES: dict[str, tuple[Callable[..., Measurement], Any]] = {
    "throughput": (natxy.throughput, SEARCH),
    "mlr": (
        natxy.mlr_throughput,
        natxy.MlrThroughputPlan(goals=(GOAL,), max_rate_fps=10_000, **TIMES),
    ),
    "frame loss": (natxy.frame_loss, natxy.FrameLossPlan(rates_fps=(1000,), **TIMES)),
    "back-to-back": (
        natxy.back_to_back,
        natxy.BackToBackPlan(burst_rate_fps=10_000, throughput_fps=5000, **TIMES),
    ),
    "recovery": (natxy.recovery, natxy.RecoveryPlan(**AT_RATE)),
    "recovery, searched": (natxy.recovery, natxy.RecoveryPlan(search=SEARCH, **TIMES)),
}


@pytest.mark.parametrize("name", PROCEDURES)
def test_one_network_alone_is_a_deviation(name: str, nat64: TrafficPlan) -> None:
    procedure, plan = PROCEDURES[name]
    session = FakeEngine().session(nat64)
    said = procedure(plan, session).deviations
    assert [each for each in texts(said) if "RFC 2544 section 12" in each] == [ONE]
    for place in session.with_networks(1, 256):
        said = procedure(plan, place).deviations
        assert Differs.NETWORKS not in codes(said)


def test_a_series_sends_to_as_many_networks_as_it_says(nat64: TrafficPlan) -> None:
    engine = FakeEngine()
    one, many = engine.session(nat64).with_networks(1, 256)
    for session, networks in ((one, 1), (many, 256)):
        result = natxy.recovery(natxy.RecoveryPlan(**AT_RATE), session)
        assert result.conditions.networks == str(networks)
        traffic = engine.specs[-1].phases[0].streams[0].foreground
        assert traffic is not None
        assert traffic.networks == networks
    with pytest.raises(ConfigurationError, match="257"):
        one.with_networks(257)


def test_flows_have_one_pair_of_addresses_and_do_not_depart(nat64: TrafficPlan) -> None:
    """RFC 8219 section 10 asks for flows, not for networks."""
    assert ranges_of(10).destination_ports == 1
    plan = natxy.OverloadPlan(test=SEARCH, flows=(10,))
    said = natxy.overload(plan, FakeEngine().session(nat64)).deviations
    assert Differs.NETWORKS not in codes(said)
