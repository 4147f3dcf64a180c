"""The specification of one trial.

Names, limits and meaning are those of engine/spec/trial_spec.hpp.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpAddress, Ipv4Address, Ipv6Address, IpVersion, MacAddress
from natxy.model.base import Between, Model, refuse
from natxy.model.traffic_spec import ESTABLISH_EACH, MAX_CONNECTIONS, Traffic

VERSION = 2
MIN_FRAME_SIZE_BYTES = 84
MAX_FRAME_SIZE_BYTES = 9216
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

    @model_validator(mode="after")
    def _has_a_rate_of_bursts(self) -> Self:
        """Refuses a burst rate below the mean rate, at which bursts would overlap."""
        if self.burst_frames == 1 and self.burst_rate_fps:
            refuse(
                f"{self.burst_rate_fps} is given, but burst_frames is 1 (expected 0)",
                member="burst_rate_fps",
            )
        if self.burst_frames > 1 and self.burst_rate_fps < self.rate_fps:
            refuse(
                f"{self.burst_rate_fps} is out of range (expected {self.rate_fps}, which is the "
                f"mean rate, to {MAX_RATE_FPS})",
                member="burst_rate_fps",
            )
        return self

    @property
    def highest_rate_fps(self) -> int:
        """The rate within bursts, or the rate of steady traffic."""
        return self.burst_rate_fps or self.rate_fps

    @property
    def duration_ns(self) -> int:
        return _rounded_up_ns(self.frames, self.rate_fps) + self.pause_ns

    @property
    def last_due_ns(self) -> int:
        """Due time of the last frame since the segment's start; 0 if there are no frames."""
        last = max(0, self.frames - 1)
        in_burst = last % self.burst_frames
        burst_ns = _rounded_up_ns(last - in_burst, self.rate_fps)
        return burst_ns + (_rounded_up_ns(in_burst, self.burst_rate_fps) if in_burst else 0)


def _rounded_up_ns(frames: int, rate_fps: int) -> int:
    return -(-frames * 10**9 // rate_fps)


class Mix(Model):
    """Frame i is foreground iff i mod n < m."""

    n: Annotated[int, Between(1, MAX_MIX_N)]
    m: Annotated[int, Between(0, MAX_MIX_N)]

    @model_validator(mode="after")
    def _is_a_share(self) -> Self:
        if self.m > self.n:
            refuse(f"{self.m} is more than n (expected 0 to {self.n})", member="m")
        return self

    def frames_of(self, kind: Kind, frames: int) -> int:
        """Returns how many of the first `frames` frames are of this kind."""
        foreground = frames // self.n * self.m + min(frames % self.n, self.m)
        return foreground if kind == "foreground" else frames - foreground


class Stream(Model):
    direction: Direction
    frame_size_bytes: Annotated[int, Between(MIN_FRAME_SIZE_BYTES, MAX_FRAME_SIZE_BYTES)]
    mix: Mix
    segments: Annotated[tuple[Segment, ...], Field(min_length=1, max_length=64)]
    foreground: Traffic | None = None  # present iff m > 0
    background: Traffic | None = None  # present iff m < n

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not 1 <= self.frames <= MAX_FRAMES:
            refuse(
                f"{self.frames} frames in all is out of range (expected 1 to {MAX_FRAMES})",
                member="segments",
            )
        self._check_kind("foreground", self.foreground, wanted=self.mix.m > 0)
        self._check_kind("background", self.background, wanted=self.mix.m < self.mix.n)
        return self

    def _check_kind(self, kind: Kind, traffic: Traffic | None, *, wanted: bool) -> None:
        mix = f"the mix with n = {self.mix.n}, m = {self.mix.m}"
        if wanted and traffic is None:
            refuse(f"is missing: {mix} has such frames (expected traffic)", member=kind)
        if traffic is None:
            return
        if not wanted:
            refuse(f"is given, but {mix} has no such frames (expected null)", member=kind)
        if traffic.connections is not None and kind == "background":
            refuse(
                "is given, but background traffic has no connections (expected null)",
                member="background.connections",
            )
        once = traffic.connections is None or traffic.connections == ESTABLISH_EACH
        if (
            once
            and traffic.selection != "independent"
            and (self.frames_of(kind) > traffic.combinations)
        ):
            refuse(
                f"the ranges have {traffic.combinations} combinations, too few for the enumeration "
                f"of {self.frames_of(kind)} frames (expected wider ranges)",
                member=f"{kind}.selection",
            )

    @property
    def frames(self) -> int:
        return sum(segment.frames for segment in self.segments)

    def frames_of(self, kind: Kind) -> int:
        return self.mix.frames_of(kind, self.frames)

    @property
    def duration_ns(self) -> int:
        return sum(segment.duration_ns for segment in self.segments)

    @property
    def last_due_ns(self) -> int:
        """Due time of the last frame since the phase's start, rounded up."""
        start_ns = last_ns = 0
        for segment in self.segments:
            if segment.frames:
                last_ns = start_ns + segment.last_due_ns
            start_ns += segment.duration_ns
        return last_ns

    @property
    def establishes(self) -> bool:
        connections = self.foreground.connections if self.foreground else None
        return connections is not None and connections.role == "establish"

    @property
    def ends(self) -> bool:
        """True if the stream ends when it has used each of its connections once."""
        connections = self.foreground.connections if self.foreground else None
        return connections is not None and connections.order in ("linear", "missing")

    @property
    def leaves_from(self) -> Side:
        return "left" if self.direction == "forward" else "right"


class Phase(Model):
    name: str
    gap_ns: Nanoseconds  # from the end of this phase's drain to the next phase
    streams: Annotated[tuple[Stream, ...], Field(min_length=1, max_length=2)]
    # If fewer connections are in the tester's state table (or, in a phase of the responder, have
    # answered), the trial ends after this phase as incomplete.
    minimum_connections: Annotated[int, Between(0, MAX_CONNECTIONS)] = 0

    @model_validator(mode="after")
    def _has_one_stream_a_direction(self) -> Self:
        if len({stream.direction for stream in self.streams}) < len(self.streams):
            refuse(
                "the phase has two streams in this direction (expected one per direction)",
                member="streams[1].direction",
            )
        return self


class NextHop(Model):
    ipv4: Ipv4Address | None = None
    ipv6: Ipv6Address | None = None
    mac: MacAddress | None = None  # if given, the tester resolves no neighbour on this side

    def knows(self, version: IpVersion) -> bool:
        return bool(self.mac or (self.ipv4 if version == 4 else self.ipv6))


class SideSpec(Model):
    next_hop: NextHop
    own_addresses: Annotated[tuple[IpAddress, ...], Field(max_length=MAX_OWN_ADDRESSES)]


class Sides(Model):
    left: SideSpec
    right: SideSpec

    def of(self, side: Side) -> SideSpec:
        return self.left if side == "left" else self.right


class WarmUp(Model):
    mode: Literal["probes", "neighbours"]
    timeout_ns: Nanoseconds


class Tags(Model):
    """Tagged frames, whose delays are the latency.

    They are `count` frames, spread evenly over those due from `after_ns` on.
    """

    after_ns: Nanoseconds  # since the phase's start
    count: Annotated[int, Between(1, MAX_FRAMES)]


class Recording(Model):
    """What the engine records of every stream in addition to counters and delays."""

    tags: Tags | None = None
    ipdv: bool = False  # the differences D(i) - D(i-1)
    frames: bool = False  # a record of every frame, written to the engine's --records-fd


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
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=4)]

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Self:
        for member, stream in self._streams():
            self._check_next_hops(member, stream)
            self._check_tags(stream)
            self._check_connections(member, stream)
        if self.establishing and self.warm_up.mode == "probes":
            refuse(
                '"probes" would create connections (expected "neighbours")',
                member="warm_up.mode",
            )
        if self.duration_ns > MAX_TRIAL_NS:
            refuse(
                f"the trial lasts {self.duration_ns} ns with drains and gaps (expected at most "
                f"{MAX_TRIAL_NS})",
                member="phases",
            )
        return self

    def _streams(self) -> Iterator[tuple[str, Stream]]:
        for i, phase in enumerate(self.phases):
            for j, stream in enumerate(phase.streams):
                yield f"phases[{i}].streams[{j}]", stream

    def _check_next_hops(self, member: str, stream: Stream) -> None:
        for traffic in (stream.foreground, stream.background):
            if traffic is None:
                continue
            version = traffic.departure.ip_version
            if not self.sides.of(stream.leaves_from).next_hop.knows(version):
                refuse(
                    f"neither ipv{version} nor mac is given, but {member} sends IPv{version} "
                    "frames from this side (expected one of them)",
                    member=f"sides.{stream.leaves_from}.next_hop",
                )

    @property
    def establishing(self) -> Stream | None:
        """The stream of the first phase whose frames make the trial's connections."""
        for stream in self.phases[0].streams:
            if stream.establishes:
                return stream
        return None

    def _check_connections(self, member: str, stream: Stream) -> None:
        traffic = stream.foreground
        if traffic is None or traffic.connections is None or stream is self.establishing:
            return
        role = traffic.connections.role
        member = f"{member}.foreground.connections.role"
        if role == "establish" or self.establishing is None:
            refuse(
                f'"{role}" is not possible here (expected "establish" in one stream of the first '
                'phase, and "initiate" or "respond" in later phases)',
                member=member,
            )
        same_way = stream.direction == self.establishing.direction
        made = self.establishing.foreground
        assert made is not None, "it establishes"
        if same_way != (role == "initiate"):
            refuse(
                f'"{role}" is not possible in the direction {stream.direction} (expected '
                '"initiate" in the direction in which the trial establishes connections, "respond" '
                "in the other)",
                member=member,
            )
        if traffic.ranges != (made.ranges if same_way else made.swapped_ranges):
            refuse(
                f'"{role}" has another selection or other ranges than the stream that establishes '
                "the connections (expected the same"
                f"{'' if same_way else ', with source and destination swapped'})",
                member=member,
            )

    def _check_tags(self, stream: Stream) -> None:
        tags = self.recording.tags
        if tags is None or stream.establishes or stream.ends:  # such streams carry no tags
            return
        if tags.after_ns > stream.last_due_ns:
            refuse(
                f"{tags.after_ns} is after the last frame (expected 0 to {stream.last_due_ns})",
                member="recording.tags.after_ns",
            )

    @property
    def duration_ns(self) -> int:
        """Time from the first frame to the end of the last gap, with all drains and gaps."""
        return sum(
            max(stream.duration_ns for stream in phase.streams) + self.drain_ns + phase.gap_ns
            for phase in self.phases
        )
