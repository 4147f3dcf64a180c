"""The conditions of a measurement, which a result must contain (RFC 2544 section 26, RFC 8219)."""

from natxy.dut.base import Dut
from natxy.model.event import Hello
from natxy.model.measurement import Conditions, Media
from natxy.model.trial_spec import Side
from natxy.trial.connection_conditions import connection_conditions
from natxy.trial.frame_formats import frame_formats
from natxy.trial.maximum import media_fps
from natxy.trial.setup import ReadyTester, name_of
from natxy.trial.tester_delay import tester_delay
from natxy.trial.timing import Timing


def conditions(
    tester: ReadyTester,
    dut: Dut,
    timing: Timing,
    *,
    seed: int,
    rate_fps: int | None,
    dut_name: str | None = None,
) -> Conditions:
    traffic = tester.testbed.traffic
    return Conditions(
        dut=dut_name or name_of(dut),
        left_ip_version=traffic.left_ip_version,
        right_ip_version=traffic.right_ip_version,
        direction=traffic.direction,
        frame_size_bytes=traffic.frame_size_bytes,
        formats=frame_formats(tester.traffic),
        n=traffic.n,
        m=traffic.m,
        left_networks=traffic.left_networks,
        right_networks=traffic.right_networks,
        left_media=_media(tester.hello, "left"),
        right_media=_media(tester.hello, "right"),
        theoretical_fps=media_fps(tester.hello, tester.traffic),
        rate_fps=rate_fps,
        duration_s=float(timing.duration_s),
        drain_s=float(timing.drain_s),
        settle_s=float(timing.settle_s),
        frame_timeout_s=float(timing.frame_timeout_s),
        seed=seed,
        connections=connection_conditions(tester, dut),
        tester_delay=tester_delay(tester.hello, traffic),
    )


def _media(hello: Hello, side: Side) -> Media:
    """Returns the media of a port, as far as its driver reports it."""
    port = next(port for port in hello.ports if port.side == side)
    return Media(driver=port.driver, speed_mbps=port.link_speed_mbps or None)
