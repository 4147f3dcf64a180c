"""The media's frame rate, against the tables of the RFCs."""

from fractions import Fraction
from typing import Any

import pytest

from natxy.model.event import Hello, PortInfo
from natxy.model.measurement import Measurement
from natxy.model.schemas import blank
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TrafficSection
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

LINE_RATES_BPS = (10**7, 10**8, 10**9, 10**10)
GROWS_BYTES = 20  # 6in4, RFC 8219's example
# RFC 8219 appendix A; a row of 678 bytes stands where section 5.1.1 has 768.
TABLE = {
    64: (12_019, 120_192, 1_201_923, 12_019_231),
    128: (7_440, 74_405, 744_048, 7_440_476),
    256: (4_223, 42_230, 422_297, 4_222_973),
    512: (2_264, 22_645, 226_449, 2_264_493),
    678: (1_740, 17_409, 174_094, 1_740_947),
    1024: (1_175, 11_748, 117_481, 1_174_812),
    1280: (947, 9_470, 94_697, 946_970),
    1518: (802, 8_023, 80_231, 802_311),
    1522: (800, 8_003, 80_026, 800_256),
    2048: (599, 5_987, 59_866, 598_659),
    4096: (302, 3_022, 30_222, 302_224),
    8192: (152, 1_518, 15_185, 151_846),
    9216: (135, 1_350, 13_505, 135_048),
}


@pytest.mark.parametrize("size_bytes", TABLE)
def test_the_rates_are_those_of_rfc_8219(size_bytes: int) -> None:
    """Rounded, or in its row of 678 bytes cut off."""
    for line_rate_bps, printed_fps in zip(LINE_RATES_BPS, TABLE[size_bytes], strict=True):
        exact_fps = theoretical_fps(line_rate_bps, size_bytes, grows_bytes=GROWS_BYTES)
        assert printed_fps in ({int(exact_fps)} if size_bytes == 678 else {round(exact_fps)})


def test_768_bytes_have_a_rate_of_their_own() -> None:
    """The figure that the table should have: 10 Gb/s / (8 x (768 + 20 + 20))."""
    exact_fps = theoretical_fps(10**10, 768, grows_bytes=GROWS_BYTES)
    assert round(exact_fps) == 1_547_030


def hello(left_mbps: int, right_mbps: int) -> Hello:
    ports = tuple(
        blank(PortInfo, side=side, driver="x", link_speed_mbps=speed)
        for side, speed in {"left": left_mbps, "right": right_mbps}.items()
    )
    return Hello.model_validate(blank(Hello, ports=ports))


def plan(left_version: int, right_version: int, size_bytes: int) -> TrafficPlan:
    traffic = TrafficSection.model_validate(
        {
            "left_ip_version": left_version,
            "right_ip_version": right_version,
            "frame_size_bytes": size_bytes,
        }
    )
    return TrafficPlan(testbed=Testbed(traffic=traffic), source=Source(name="test"))


@pytest.mark.parametrize(
    ("versions", "right_fps"),
    [((4, 4), 14_880_952), ((6, 4), 12_019_230), ((4, 6), 12_019_230), ((6, 6), 12_019_230)],
)
def test_the_larger_frame_counts(versions: tuple[int, int], right_fps: int) -> None:
    """84 bytes on IPv6 are 64 on IPv4: 14.88 Mfps at 10 Gb/s where no link carries IPv6."""
    maximum = maximum_of(hello(10_000, 10_000), plan(*versions, 84), None)
    assert (maximum.rate_fps, maximum.origin) == (right_fps, "media")


def test_vlan_tags_take_room_on_the_link_of_their_side() -> None:
    """1518 octets with two tags have the rate of 1526."""
    tags = [{"tpid": "802.1ad", "id": 7}, {"id": 100}]
    traffic = {"right_ip_version": 6, "frame_size_bytes": 1518}
    written = {"tester": {"right": {"vlans": tags}}, "traffic": traffic}
    source = Source(name="test")
    tagged = TrafficPlan(testbed=source.validated(Testbed, written), source=source)
    both = hello(10_000, 10_000)
    assert maximum_of(both, tagged, None).rate_fps == int(theoretical_fps(10**10, 1526))
    assert tagged.sizes.fit_mtu  # which counts no tags


def test_the_slower_link_counts_and_one_without_a_speed_has_no_maximum() -> None:
    traffic = plan(6, 6, 84)
    assert maximum_of(hello(10_000, 1_000), traffic, None).rate_fps == 1_201_923
    assert maximum_of(hello(10_000, 0), traffic, None).rate_fps is None
    assert maximum_of(hello(10_000, 1_000), traffic, 5_000).origin == "given"
    assert maximum_of(hello(10_000, 1_000), traffic, 2_000_000).rate_fps == 1_201_923


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


def tcp_plan(transport: str = "tcp", **traffic: Any) -> TrafficPlan:
    written = {"forward": RANGES, "frame_size_bytes": 1518} | traffic
    return traffic_plan({"transport": transport, "rate_fps": 1000}, **written)


def session_at(gateway: StatefulGateway, link_mbps: int, **traffic: Any) -> Session:
    return FakeEngine(gateway=gateway, link_mbps=link_mbps).session(tcp_plan(**traffic))


def test_segments_that_make_connections_are_small() -> None:
    assert maximum_of(HELLO, tcp_plan(), None).rate_fps == DATA_FPS
    assert maximum_of_connections(HELLO, tcp_plan(), None).rate_fps == SEGMENTS_FPS
    assert maximum_of_connections(HELLO, tcp_plan("udp"), None).rate_fps == DATA_FPS


def test_background_beside_them_has_its_own_size() -> None:
    """Of each size the largest frame on the link counts: background is always IPv6."""
    mixed = maximum_of_connections(HELLO, tcp_plan(n=2, m=1), None)
    assert mixed.rate_fps == int(theoretical_fps(GIGABIT, 1518))


def test_frames_leave_room_for_those_of_another_size() -> None:
    """Half of the link for data leaves half of it for segments without data."""
    half = media_beside(HELLO, tcp_plan(), DATA_FPS // 2, foreground_bytes=98, given_bytes=1518)
    assert half == pytest.approx(SEGMENTS_FPS / 2, rel=1e-4)
    same = media_beside(HELLO, tcp_plan(), 2345, foreground_bytes=1518, given_bytes=1518)
    assert same == DATA_FPS - 2345
    unknown = FakeEngine().hello
    assert media_beside(unknown, tcp_plan(), 1, foreground_bytes=98, given_bytes=98) is None


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
