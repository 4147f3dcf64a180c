"""The media of the tester's ports, as far as their drivers report it."""

from natxy.model.event import Hello
from natxy.model.measurement import Media
from natxy.model.trial_spec import Side


def media_of(hello: Hello, side: Side) -> Media:
    port = next(port for port in hello.ports if port.side == side)
    return Media(driver=port.driver, speed_mbps=port.link_speed_mbps or None)
