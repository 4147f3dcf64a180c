"""Describes in sentences what frames have beside plain UDP and IP: a condition of every result."""

from collections.abc import Iterator

from natxy.model.address_checks import SIDES
from natxy.model.subscribers import SUBSCRIBERS, SubscribersSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Side


def frame_formats(plan: TrafficPlan, *, up_to: bool = False) -> tuple[str, ...]:
    """Returns a sentence for each part that plain frames do not have; none for plain frames.

    `up_to` says that the traffic has the most subscribers of a series.
    """
    return (*_of_sides(plan, up_to=up_to), *_of_headers(plan))


def _of_sides(plan: TrafficPlan, *, up_to: bool) -> Iterator[str]:
    for side in SIDES:
        port = plan.testbed.tester.port(side)
        if port.vlans:
            tags = ", ".join(f"{tag.tpid} {tag.id}" for tag in port.vlans)
            yield (
                f"Frames on the {side} have VLAN tags ({tags}): {plan.sizes.tags_on(side)} bytes "
                "that the frame size does not include."
            )
        tunnel_bytes = plan.testbed.tunnel_bytes_on(side)
        if subscribers := plan.testbed.subscribers_on(side):
            yield _of_subscribers(side, subscribers, tunnel_bytes, up_to=up_to)
        elif tunnel := port.tunnel:
            yield (
                f"Foreground frames on the {side} are in a tunnel (outer header IPv"
                f"{tunnel.ip_version}, encapsulation {tunnel.encapsulation}): {tunnel_bytes} bytes "
                "that the frame size does not include."
            )


def _of_subscribers(
    side: Side, subscribers: SubscribersSection, tunnel_bytes: int, *, up_to: bool
) -> str:
    who = (
        f"The tester is {'up to ' if up_to else ''}{subscribers.count:,} "
        f"{SUBSCRIBERS[subscribers.mechanism]}{'s' if subscribers.count > 1 else ''} on the {side}"
    )
    if not subscribers.tunnels:
        return f"{who}."
    return (
        f"{who}: its IPv4 packets there are in IPv6 packets (RFC 2473), {tunnel_bytes} bytes "
        "larger than plain ones."
    )


def _of_headers(plan: TrafficPlan) -> Iterator[str]:
    traffic = plan.testbed.traffic
    if traffic.extension_headers:
        names = ", ".join(traffic.extension_headers)
        yield (
            f"IPv6 frames are sent with extension headers ({names}), which the frame size includes."
        )
    if traffic.sent_dscp:
        yield f"Frames are sent with DSCP {traffic.sent_dscp}."
    if traffic.flow_label:
        yield f"IPv6 frames are sent with the flow label {traffic.flow_label}."
