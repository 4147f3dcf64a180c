"""The specification of one trial.

Names, limits and meaning are those of engine/spec/trial_spec.hpp. These models check each member by
itself, as the JSON Schema does. Rules that concern several members are the engine's alone
(engine/spec/rules.cpp): `TrafficPlan` and the procedures make no spec that breaks one, and of a
spec that a user wrote, the engine's refusal names the member.
"""

from typing import Annotated, Literal

from pydantic import Field

from natxy.model.addresses import IpAddress, Ipv4Address, Ipv6Address, IpVersion, MacAddress
from natxy.model.base import Between, Model
from natxy.model.traffic_spec import MAX_CONNECTIONS, SMALLEST_FRAME_BYTES, Traffic

VERSION = 3
MIN_FRAME_SIZE_BYTES = SMALLEST_FRAME_BYTES[6]
MAX_TAGS = 200_000  # of a stream: a result lists each of them
MAX_FRAMES = 2**40 - 1  # of a stream: a frame has five octets for its number
MAX_RATE_FPS = 2**33
MAX_BURST_FRAMES = 2**16
MAX_MIX_N = 2**16
MAX_TRIAL_NS = 24 * 3600 * 10**9
MAX_OWN_ADDRESSES = 4096

Direction = Literal["forward", "reverse"]
Kind = Literal["foreground", "background"]
Side = Literal["left", "right"]
Nanoseconds = Annotated[int, Between(0, MAX_TRIAL_NS)]


class Segment(Model):
    frames: Annotated[int, Between(0, MAX_FRAMES)]
    rate_fps: Annotated[int, Between(1, MAX_RATE_FPS)]
    pause_ns: Nanoseconds  # silence after the segment
    # Frames of a burst, which follow each other at burst_rate_fps (RFC 2544 section 21). Each burst
    # begins when its first frame is due at rate_fps, the mean rate. 1: steady traffic.
    burst_frames: Annotated[int, Between(1, MAX_BURST_FRAMES)] = 1
    burst_rate_fps: Annotated[int, Between(0, MAX_RATE_FPS)] = 0  # 0: steady traffic

    @property
    def highest_rate_fps(self) -> int:
        """The rate within bursts, or the rate of steady traffic."""
        return self.burst_rate_fps or self.rate_fps

    @property
    def duration_ns(self) -> int:
        return _rounded_up_ns(self.frames, self.rate_fps) + self.pause_ns


def _rounded_up_ns(frames: int, rate_fps: int) -> int:
    return -(-frames * 10**9 // rate_fps)


class Mix(Model):
    """Frame i is foreground iff i mod n < m; m is at most n.

    An even mix has m of n foreground frames as well, but as far apart as they can be: frame i is
    foreground iff i m mod n is 0 or above n - m.
    """

    n: Annotated[int, Between(1, MAX_MIX_N)]
    m: Annotated[int, Between(0, MAX_MIX_N)]
    even: bool = False

    def frames_of(self, kind: Kind, frames: int) -> int:
        """Returns how many of the first `frames` frames are of this kind."""
        foreground = frames // self.n * self.m + min(frames % self.n, self.m)
        if self.even:
            foreground = -(-frames * self.m // self.n)
        return foreground if kind == "foreground" else frames - foreground


class Stream(Model):
    direction: Direction
    mix: Mix
    segments: Annotated[tuple[Segment, ...], Field(min_length=1, max_length=64)]
    foreground: Traffic | None = None  # present iff m > 0
    background: Traffic | None = None  # present iff m < n

    @property
    def frames(self) -> int:
        return sum(segment.frames for segment in self.segments)

    def frames_of(self, kind: Kind) -> int:
        return self.mix.frames_of(kind, self.frames)

    @property
    def duration_ns(self) -> int:
        return sum(segment.duration_ns for segment in self.segments)

    @property
    def creates_beside(self) -> bool:
        """Tells whether background frames create connections."""
        return self.background is not None and self.background.connections is not None

    @property
    def establishes(self) -> bool:
        connections = self.foreground.connections if self.foreground else None
        return connections is not None and connections.role == "establish"


class Phase(Model):
    name: str
    gap_ns: Nanoseconds  # from the end of this phase's drain to the next phase
    streams: Annotated[tuple[Stream, ...], Field(min_length=1, max_length=2)]
    # If fewer connections are in the tester's state table (or, in a phase of the responder, have
    # answered), the trial ends after this phase as incomplete.
    minimum_connections: Annotated[int, Between(0, MAX_CONNECTIONS)] = 0


class NextHop(Model):
    ipv4: Ipv4Address | None = None
    ipv6: Ipv6Address | None = None
    mac: MacAddress | None = None  # if given, the tester resolves no neighbour on this side

    def knows(self, version: IpVersion) -> bool:
        return bool(self.mac or (self.ipv4 if version == 4 else self.ipv6))


class VlanTag(Model):
    """A VLAN tag (IEEE 802.1Q) of every frame of a side, ARP and Neighbour Discovery included.

    `802.1ad` is the outer one of two tags. The gateway may change the priority.
    """

    tpid: Literal["802.1Q", "802.1ad"] = "802.1Q"
    id: Annotated[int, Between(1, 4094)]
    priority: Annotated[int, Between(0, 7)] = 0


VlanTags = Annotated[tuple[VlanTag, ...], Field(max_length=2)]


class SideSpec(Model):
    next_hop: NextHop
    vlans: VlanTags = ()  # outer tag first
    own_addresses: Annotated[tuple[IpAddress, ...], Field(max_length=MAX_OWN_ADDRESSES)]


class Sides(Model):
    left: SideSpec
    right: SideSpec


class WarmUp(Model):
    mode: Literal["probes", "neighbours"]
    timeout_ns: Nanoseconds


class Tags(Model):
    """Tagged frames, whose delays are the latency.

    They are `count` frames, spread evenly over those due from `after_ns` on.
    """

    after_ns: Nanoseconds  # since the phase's start
    count: Annotated[int, Between(1, MAX_TAGS)]


class Recording(Model):
    """The records of every stream that the engine makes in addition to counters and delays."""

    tags: Tags | None = None
    ipdv: bool = False  # the differences D(i) - D(i-1)
    frames: bool = False  # a record of every frame, written to the engine's --records-fd
    mappings: bool = False  # how the gateway has given out its external addresses and ports


NO_RECORDING = Recording()


class WatchedCpu(Model):
    """A CPU of this machine on which the gateway runs (docs/decisions/0018)."""

    cpu: Annotated[int, Between(0, 1023)]
    # The gateway's threads on this CPU.
    threads: Annotated[tuple[Annotated[int, Between(0, 2**31 - 1)], ...], Field(max_length=1024)]


class TrialSpec(Model):
    version: Annotated[int, Between(VERSION, VERSION)]
    seed: Annotated[int, Between(0, 2**64 - 1)]
    nonce: Annotated[int, Between(0, 2**32 - 1)]  # differs from trial to trial
    drain_ns: Nanoseconds
    frame_timeout_ns: Nanoseconds  # 0: none; else frames that take longer count as late
    # 0: none; else the trial ends as soon as a frame is certain to be missing for longer than this.
    early_end_ns: Nanoseconds = 0
    lateness_tolerance_ns: Nanoseconds
    # True in a reset: the trial remains valid if a link goes down and comes back.
    link_may_fall: bool = False
    realtime: bool
    # Frames that a sender may be behind before it pauses, which moves the rest of its schedule
    # (docs/decisions/0017). 0: it never pauses, but sends all overdue frames at once.
    burst_limit_frames: Annotated[int, Between(0, 2**30)] = 0
    watched: Annotated[tuple[WatchedCpu, ...], Field(max_length=1024)] = ()
    recording: Recording = NO_RECORDING
    warm_up: WarmUp
    sides: Sides
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=8)]

    @property
    def establishing(self) -> Stream | None:
        """The stream of the first phase whose frames make the trial's connections."""
        for stream in self.phases[0].streams:
            if stream.establishes:
                return stream
        return None

    @property
    def duration_ns(self) -> int:
        """Time from the first frame to the end of the last gap, with all drains and gaps."""
        return sum(
            max(stream.duration_ns for stream in phase.streams) + self.drain_ns + phase.gap_ns
            for phase in self.phases
        )
