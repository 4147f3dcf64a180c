"""The media's frame rate, against the tables of the RFCs."""

import pytest

from natxy.model.event import Hello, PortInfo
from natxy.model.example import blank
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TrafficSection
from natxy.model.traffic import TrafficPlan
from natxy.trial.maximum import maximum_of, theoretical_fps

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
