"""Makes the streams of a trial from a testbed."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from natxy.model.address_checks import check_addresses
from natxy.model.address_range import Ranges, as_range
from natxy.model.addresses import IpVersion
from natxy.model.frame_sizes import FrameSizes
from natxy.model.packet_formats import PacketFormats, Seen, ends
from natxy.model.source import Source
from natxy.model.testbed import (
    ConnectionsSection,
    Testbed,
)
from natxy.model.traffic_checks import check_connections, check_subscribers, check_tags
from natxy.model.traffic_spec import (
    Connections,
    FieldSeries,
    Order,
    PacketFormat,
    PortSet,
    Role,
    Series,
    TcpSegment,
    Traffic,
    Transport,
)
from natxy.model.trial_spec import Direction, Mix, NextHop, Segment, Side, Sides, SideSpec, Stream


def frames_of(rate_fps: int, duration_s: Fraction) -> int:
    """Returns the exact count of frames of a trial; at least one, so that it has a verdict."""
    return max(1, int(rate_fps * duration_s))


def _indices(ports: PortSet) -> Series:
    """Returns the indices of the ports of a port set; that of port 0 is left out."""
    first = 0 if ports.offset_bits else 1
    if ports.size == first + 1:
        return Series(mode="fixed", min=first, max=first)
    return Series(mode="pseudorandom", min=first, max=ports.size - 1)


# What varies between the frames of one kind, by the member of `Traffic`.
Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class TrafficPlan:
    """A resolved testbed: if there is a lab, its addresses are filled in."""

    testbed: Testbed
    source: Source

    def streams(self, segments: tuple[Segment, ...]) -> tuple[Stream, ...]:
        return tuple(
            self._stream(d, segments, self._use(d)) for d in self.testbed.traffic.directions
        )

    @property
    def connections(self) -> ConnectionsSection | None:
        return self.testbed.connections

    def establish(self, segments: tuple[Segment, ...]) -> Stream:
        """Returns the stream of phase 1, in which each frame creates a connection."""
        asked = self.required_connections
        order: Order = "repeating" if asked.order == "repeating" else "linear"
        use = Connections(role="establish", order=order, segment=self._segment("syn"))
        return self._stream(asked.outward, segments, use)

    def establish_missing(self, segments: tuple[Segment, ...]) -> Stream:
        """Returns a stream of the initiator that creates the connections that are missing."""
        return self.initiate(segments, "missing", "syn")

    def acknowledge(self, segments: tuple[Segment, ...]) -> Stream:
        """Returns the third segments of TCP handshakes, one for each connection."""
        return self.initiate(segments, "linear", has_data=False)

    def close(self, segments: tuple[Segment, ...], role: Role, segment: TcpSegment) -> Stream:
        """Returns segments that end TCP connections, one for each connection."""
        if role == "initiate":
            return self.initiate(segments, "linear", segment)
        return self.respond(segments, "linear", segment)

    def validate(self, segments: tuple[Segment, ...], order: Order = "linear") -> Stream:
        """Returns the responder's answers to phase 1; with TCP, these are SYN/ACKs."""
        return self.respond(segments, order, "syn")

    def create_beside(self, of: Stream, mix: Mix, *, first: int) -> Stream:
        """Returns a stream of the initiator in which the background creates connections.

        They are those that phase 1 did not create, from number `first` on.
        """
        use = Connections(role="establish", segment=self._segment("syn"), first=first)
        background = self._foreground(of.direction, use, has_data=False)
        foreground = of.foreground if mix.m else None
        return of.model_copy(
            update={"mix": mix, "foreground": foreground, "background": background}
        )

    def initiate(
        self,
        segments: tuple[Segment, ...],
        order: Order,
        segment: TcpSegment = "ack",
        *,
        has_data: bool = True,
    ) -> Stream:
        """Returns a stream of the initiator, over the connections in this order."""
        outward = self.required_connections.outward
        use = Connections(role="initiate", order=order, segment=self._segment(segment))
        return self._stream(outward, segments, use, has_data=has_data)

    def respond(
        self, segments: tuple[Segment, ...], order: Order, segment: TcpSegment = "ack"
    ) -> Stream:
        """Returns a stream of the responder, over the connections in this order."""
        inward: Direction = (
            "reverse" if self.required_connections.outward == "forward" else "forward"
        )
        use = Connections(role="respond", order=order, segment=self._segment(segment))
        return self._stream(inward, segments, use)

    @property
    def is_tcp(self) -> bool:
        return self.connections is not None and self.connections.is_tcp

    def _segment(self, segment: TcpSegment) -> TcpSegment | None:
        return segment if self.is_tcp else None

    def connections_among(self, frames: int) -> int:
        """Returns how many connections so many frames of phase 1, background included, create."""
        return self.testbed.traffic.foreground_among(frames)

    @property
    def required_connections(self) -> ConnectionsSection:
        """The testbed's `[connections]`; ConfigurationError if it has none."""
        if self.testbed.connections is None:
            self.source.refuse(
                ("connections",),
                "is missing: a stateful gateway needs it (expected, for example, count = 10000)",
            )
        return self.testbed.connections

    def _use(self, direction: Direction) -> Connections | None:
        """Returns how a direction's stream of phase 2 uses connections; None if stateless."""
        asked = self.connections
        if asked is None:
            return None
        segment = self._segment("ack")
        if direction == asked.outward:
            return Connections(role="initiate", order=asked.initiator_order, segment=segment)
        return Connections(role="respond", order=asked.responder_order, segment=segment)

    def sides(self) -> Sides:
        return Sides(left=self._side("left"), right=self._side("right"))

    def check(self) -> None:
        """Refuses a testbed that lacks something for its traffic, or contradicts itself."""
        one = (Segment(frames=1, rate_fps=1, pause_ns=0),)
        self.sizes.check_mtu()  # first: no format has a frame that is larger than any MTU
        check_subscribers(self.testbed, self.source)
        if self.connections is not None:
            check_connections(self.testbed, self.ranges, self.source)
            self.establish(one)
        self.streams(one)
        check_addresses(self.testbed, self.source)
        check_tags(self.testbed, self.source)

    @property
    def ranges(self) -> Ranges:
        """The ranges of the initiator's frames; ConfigurationError without `[connections]`."""
        asked = self.required_connections
        traffic = self.testbed.traffic
        near, far = ends(asked.outward)
        ports = traffic.forward if asked.outward == "forward" else traffic.reverse
        return Ranges(
            source_port=as_range(ports.source_port),
            destination_port=as_range(ports.destination_port),
            source_field=as_range(self._numbers(near)),
            destination_field=as_range(self._numbers(far)),
        )

    @property
    def sizes(self) -> FrameSizes:
        return FrameSizes(testbed=self.testbed, source=self.source)

    def _side(self, side: Side) -> SideSpec:
        port = self.testbed.tester.port(side)
        hop = NextHop(ipv4=port.next_hop_ipv4, ipv6=port.next_hop_ipv6, mac=port.next_hop_mac)
        return SideSpec(next_hop=hop, own_addresses=port.own_addresses, vlans=port.vlans)

    def _stream(
        self,
        direction: Direction,
        segments: tuple[Segment, ...],
        use: Connections | None = None,
        *,
        has_data: bool = True,
    ) -> Stream:
        traffic = self.testbed.traffic
        self.sizes.check_headers()
        return Stream(
            direction=direction,
            mix=Mix(n=traffic.n, m=traffic.m),
            segments=segments,
            foreground=self._foreground(direction, use, has_data) if traffic.m > 0 else None,
            background=self._background(direction) if traffic.has_background else None,
        )

    def _foreground(self, direction: Direction, use: Connections | None, has_data: bool) -> Traffic:
        near, far = ends(direction)
        formats, traffic = self._formats, self.testbed.traffic
        out, back = traffic.ip_version(near), traffic.ip_version(far)
        seen: Seen = "real" if out == back else "virtual"
        learned: Seen = "learned" if use is not None else seen
        responds = use is not None and use.role == "respond"
        segment = None if use is None else use.segment
        transport: Transport = "udp" if segment is None else "tcp"
        sizes = self.sizes
        without_data = segment is not None and not (segment == "ack" and has_data)
        size_bytes = sizes.smallest_bytes if without_data else traffic.frame_size_bytes
        stateless = self._traffic(
            direction,
            self._values(direction),
            departure=formats.format(
                direction,
                near,
                (out, out),
                source="real",
                destination=learned if responds else seen,
                size_bytes=size_bytes,
                transport=transport,
            ),
            arrival=formats.format(
                direction,
                far,
                (out, back),
                source=seen if responds else learned,
                destination="real",
                size_bytes=size_bytes,
                transport=transport,
            ),
        )
        if use is None:
            return stateless
        ranges = self.ranges
        return stateless.model_copy(
            update={
                "connections": use,
                "selection": self.required_connections.selection,
                **vars(ranges.swapped() if responds else ranges),
            }
        )

    def _background(self, direction: Direction) -> Traffic:
        departure, arrival = (
            self._formats.format(
                direction,
                side,
                (6, 6),
                source="native",
                destination="native",
                size_bytes=self.testbed.traffic.frame_size_bytes,
            )
            for side in ends(direction)
        )
        return self._traffic(
            direction, self._values_of_hosts(direction), departure=departure, arrival=arrival
        )

    @property
    def _formats(self) -> PacketFormats:
        return PacketFormats(testbed=self.testbed, source=self.source)

    def _values(self, direction: Direction) -> Values:
        """Returns what varies in foreground frames: with subscribers, also by their numbers."""
        values = self._values_of_hosts(direction)
        for side, end in zip(ends(direction), ("source", "destination"), strict=True):
            subscribers = self.testbed.subscribers_on(side)
            if subscribers is None:
                continue
            values[f"{end}_field"] = subscribers.numbers
            if ports := subscribers.port_set:
                values[f"{end}_port_set"] = ports
                values[f"{end}_port"] = _indices(ports)
        return values

    def _values_of_hosts(self, direction: Direction) -> Values:
        near, far = ends(direction)
        traffic = self.testbed.traffic
        ports = traffic.forward if direction == "forward" else traffic.reverse
        return {
            "source_port": ports.source_port,
            "destination_port": ports.destination_port,
            "source_field": traffic.field(near).series,
            "destination_field": traffic.field(far).series,
        }

    def _traffic(
        self,
        direction: Direction,
        values: Values,
        *,
        departure: PacketFormat,
        arrival: PacketFormat,
    ) -> Traffic:
        near, far = ends(direction)
        traffic = self.testbed.traffic
        self._check_next_hop(near, departure.link_version)
        return Traffic(
            departure=departure,
            arrival=arrival,
            selection="independent",
            **values,
            networks=traffic.networks(far),
            hop_limit=traffic.hop_limit,
            dont_fragment=traffic.dont_fragment,
            hop_limit_drop=traffic.hop_limit_drop,
            avoid_zero_checksum=traffic.avoid_zero_checksum,
            dscp_kept=traffic.dscp == "kept",
            udp_checksum_required=traffic.udp_checksum == "required",
        )

    def _numbers(self, side: Side) -> FieldSeries:
        """Returns the values of the address field of a side's hosts."""
        subscribers = self.testbed.subscribers_on(side)
        return subscribers.numbers if subscribers else self.testbed.traffic.field(side).series

    def _check_next_hop(self, side: Side, version: IpVersion) -> None:
        if not self._side(side).next_hop.knows(version):
            sentence = (
                f"is missing: this side sends IPv{version} frames (expected it or next_hop_mac)"
            )
            self.source.refuse(("tester", side, f"next_hop_ipv{version}"), sentence)
