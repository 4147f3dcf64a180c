"""The rate at which TCP connections are closed, of a gateway that is arithmetic."""

from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.errors import ConfigurationError
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.remark import BOUNDS, Topic
from natxy.procedure.closing import ClosingPlan, closing
from natxy.search.bisection import SearchError
from natxy.trial.establishing import Closer, Closing
from natxy.trial.timing import Timing
from tests.remarks import topics
from tests.unit.clauses import codes
from tests.unit.connections import plan as traffic_plan
from tests.unit.connections import segments_of, spec_of
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway

PLAN = ClosingPlan(
    timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    seed=7,
    repetitions=1,
    error=SearchError(rate_fps=1),
)


def measure(plan: ClosingPlan, gateway: StatefulGateway, transport: str = "tcp") -> Measurement:
    traffic = traffic_plan({"transport": transport, "rate_fps": 1000}, frame_size_bytes=98)
    session = FakeEngine(gateway=gateway).session(traffic)
    return closing(plan, session)


@pytest.mark.parametrize(
    ("by", "closes"),
    [
        (
            "fin",
            [
                ("close", "initiate", "fin", 78),
                ("close back", "respond", "fin", 78),
                ("last ack", "initiate", "last-ack", 78),
            ],
        ),
        ("rst", [("close", "initiate", "rst", 78)]),
    ],
)
def test_connections_are_made_slowly_and_closed_at_the_rate(
    by: Closer, closes: list[tuple[str, str, str, int]]
) -> None:
    traffic = traffic_plan({"transport": "tcp"}, frame_size_bytes=200)
    load = Closing(rate_cps=20_000, made_fps=1000, by=by)
    spec = spec_of(traffic, load)
    assert segments_of(spec)[3:] == closes
    rates = [phase.streams[0].segments[0].rate_fps for phase in spec.phases]
    assert rates == [1000] * 3 + [20_000] * len(closes)
    lasts_s = load.lasts_s(Fraction(1, 10), traffic.connections)
    assert lasts_s == 3 * Fraction(11, 10) + len(closes) * Fraction(3, 20)


@pytest.mark.parametrize(("by", "figures"), [("fin", 2), ("rst", 1)])
def test_the_rate_at_which_all_segments_arrive(by: Closer, figures: int) -> None:
    result = measure(replace(PLAN, by=by), StatefulGateway(frames_fps=4000))
    rate, *whole = result.figures
    assert len(result.figures) == figures
    assert rate.name == f"TCP connection tear-down rate, by {by.upper()}"
    assert rate.values[0] == pytest.approx(4000, abs=1)
    assert [figure.values[0] for figure in whole] == [pytest.approx(4000 / 3, abs=1)][: len(whole)]
    assert result.procedure == "tear-down"


def test_a_gateway_that_fails_at_high_rates_is_not_taken_for_stuck() -> None:
    """The handshakes are the same at every rate; what was closed is not."""
    result = measure(PLAN, StatefulGateway(frames_fps=1500))
    assert result.figures[0].values[0] == pytest.approx(1500, abs=1)


def test_verified_losses_are_said_and_counted() -> None:
    result = measure(replace(PLAN, loss_verifications=1), StatefulGateway(frames_fps=4000))
    assert Differs.LOSS_VERIFIED in codes(result.deviations)
    assert result.counts.overturned == 0


def test_without_a_rate_the_handshakes_have_half_of_one_that_is_found_first() -> None:
    gateway = StatefulGateway(new_cps=8000, frames_fps=2000)
    traffic = traffic_plan({"transport": "tcp", "rate_fps": None}, frame_size_bytes=98)
    engine = FakeEngine(gateway=gateway)
    result = closing(PLAN, engine.session(traffic))
    closes = [spec for spec in engine.specs if spec.phases[-1].name == "last ack"]
    made = {spec.phases[0].streams[0].segments[0].rate_fps for spec in closes if spec.seed}
    (rate_cps,) = made
    assert rate_cps <= 1000  # SYN/ACKs come at no more than 2,000 a second
    assert result.conditions.connections
    assert result.conditions.connections.rate_fps == rate_cps
    assert "half of the establishment rate" in result.conditions.connections.rate_origin


def test_a_maximum_that_passes_is_a_lower_bound_of_whole_tear_downs_too() -> None:
    result = measure(replace(PLAN, max_rate_cps=3000), StatefulGateway())
    rate, whole = result.figures
    assert (rate.values, rate.lower_bound, rate.primary) == ((3000,), (True,), True)
    assert (whole.values, whole.lower_bound, whole.primary) == ((1000,), (True,), False)
    assert (rate.unit, whole.unit) == ("cps", "cps")
    assert Topic.BOUND_BY_MAXIMUM in topics(result.remarks)
    exact = measure(PLAN, StatefulGateway(frames_fps=4000))
    assert not BOUNDS & set(topics(exact.remarks))
    assert not any(any(figure.lower_bound) for figure in exact.figures)


def test_udp_has_nothing_to_close() -> None:
    with pytest.raises(ConfigurationError, match=r'by: "fin" ends connections of TCP'):
        measure(PLAN, StatefulGateway(), transport="udp")
