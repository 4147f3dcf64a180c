"""The media's rate of TCP: the segments that make and close connections have no data."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.model.measurement import Measurement
from natxy.model.traffic import TrafficPlan
from natxy.procedure.churn import ChurnPlan, churn
from natxy.procedure.closing import ClosingPlan, closing
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.report.measurement_notes import media_notes
from natxy.search.bisection import SearchError
from natxy.trial.maximum import maximum_of, maximum_of_connections, media_beside, theoretical_fps
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulGateway

GIGABIT = 10**9
DATA_FPS, SEGMENTS_FPS = 82_345, 1_275_510  # of 1498 and of 78 octets, over IPv4
HELLO = FakeEngine(link_mbps=1000).hello
OPTIONS: dict[str, Any] = {
    "timing": Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    "seed": 7,
    "repetitions": 1,
    "error": SearchError(rate_fps=1),
}
RANGES = {
    "source_port": {"mode": "pseudorandom", "min": 10_000, "max": 19_999},
    "destination_port": {"mode": "pseudorandom", "min": 1, "max": 1000},
}


def plan(transport: str = "tcp", **traffic: Any) -> TrafficPlan:
    written = {"forward": RANGES, "frame_size_bytes": 1518} | traffic
    return traffic_plan({"transport": transport, "rate_fps": 1000}, **written)


def session_at(gateway: StatefulGateway, link_mbps: int, **traffic: Any) -> Session:
    return FakeEngine(gateway=gateway, link_mbps=link_mbps).session(plan(**traffic))


def test_segments_that_make_connections_are_small() -> None:
    assert maximum_of(HELLO, plan(), None).rate_fps == DATA_FPS
    assert maximum_of_connections(HELLO, plan(), None).rate_fps == SEGMENTS_FPS
    assert maximum_of_connections(HELLO, plan("udp"), None).rate_fps == DATA_FPS


def test_background_beside_them_has_its_own_size() -> None:
    """Of each size the largest frame on the link counts: background is always IPv6."""
    mixed = maximum_of_connections(HELLO, plan(n=2, m=1), None)
    assert mixed.rate_fps == int(theoretical_fps(GIGABIT, 1518))


def test_frames_leave_room_for_those_of_another_size() -> None:
    """Half of the link for data leaves half of it for segments without data."""
    half = media_beside(HELLO, plan(), DATA_FPS // 2, foreground_bytes=98, given_bytes=1518)
    assert half == pytest.approx(SEGMENTS_FPS / 2, rel=1e-4)
    same = media_beside(HELLO, plan(), 2345, foreground_bytes=1518, given_bytes=1518)
    assert same == DATA_FPS - 2345
    unknown = FakeEngine().hello
    assert media_beside(unknown, plan(), 1, foreground_bytes=98, given_bytes=98) is None


def establish(gateway: StatefulGateway) -> Measurement:
    return establishment(EstablishmentPlan(**OPTIONS), session_at(gateway, 100))


def close(gateway: StatefulGateway) -> Measurement:
    return closing(ClosingPlan(**OPTIONS), session_at(gateway, 100))


@pytest.mark.parametrize("measure", [establish, close])
def test_a_rate_above_that_of_data_frames_is_found(measure: Any) -> None:
    """At 100 Mb/s, 8,234 frames of data, and 127,551 segments without, are possible."""
    result = measure(StatefulGateway(new_cps=50_000, frames_fps=50_000))
    rate = result.figures[0]
    assert rate.values[0] == pytest.approx(50_000, abs=100)
    assert result.conditions.theoretical_fps == 127_551
    (note,) = media_notes(result.conditions)
    assert "at this frame size, or of TCP segments without data if only those" in note


def test_the_media_is_the_ceiling_of_both() -> None:
    result = establish(StatefulGateway())
    assert result.figures[0].values == (127_551,)
    assert result.conditions.search
    assert result.conditions.search.maximum_fps == 127_551


@pytest.mark.parametrize(
    ("changes", "link_mbps", "expected"),
    [
        # 1,000 frames of data take 12.1 % of the link.
        ({"load_fps": 1000}, 100, int(127_551 * (1 - 1000 / 8234.5))),
        # 50,000 segments without data take 39.2 % of it.
        ({"new_cps": 50_000}, 100, int(8234.5 * (1 - 50_000 / 127_551))),
    ],
)
def test_churn_has_segments_of_both_sizes(
    changes: dict[str, Any], link_mbps: int, expected: int
) -> None:
    asked = ChurnPlan(**OPTIONS, **changes)
    result = churn(asked, session_at(StatefulGateway(), link_mbps))
    assert result.figures[0].values[0] == pytest.approx(expected, abs=2)


def test_with_udp_all_frames_of_churn_have_one_size() -> None:
    session = session_at(StatefulGateway(), 100, transport="udp")
    result = churn(ChurnPlan(**OPTIONS, load_fps=1000), session)
    assert result.figures[0].values == (8234 - 1000,)
