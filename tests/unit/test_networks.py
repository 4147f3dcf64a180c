"""RFC 2544 section 12 in results: named once by each measurement, also of a Python program."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import natxy
from natxy.errors import ConfigurationError
from natxy.measure.flows import ranges_of
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.traffic import TrafficPlan
from natxy.search.bisection import SearchError
from tests.unit.clauses import codes, texts
from tests.unit.fake_engine import FakeEngine

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
