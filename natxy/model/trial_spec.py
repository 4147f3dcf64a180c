"""What one trial is. Names, limits and meaning are those of engine/spec/trial_spec.hpp."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from natxy.model.addresses import IpAddress, Ipv4Address, Ipv6Address, IpVersion, MacAddress
from natxy.model.base import Between, Model, refuse
from natxy.model.traffic_spec import ESTABLISH_EACH, MAX_CONNECTIONS, Traffic

VERSION = 2
MIN_FRAME_SIZE_BYTES = 84
MAX_FRAME_SIZE_BYTES = 9216
MAX_FRAMES = 2**40 - 1  # of a stream: what a frame's five octets can number
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
    # Frames that follow each other at burst_rate_fps (RFC 2544 section 21); each burst begins when
    # its first frame is due at rate_fps, which is the mean rate then. 1: steady traffic.
    burst_frames: Annotated[int, Between(1, MAX_BURST_FRAMES)] = 1
    burst_rate_fps: Annotated[int, Between(0, MAX_RATE_FPS)] = 0  # 0: there are no bursts

    @model_validator(mode="after")
    def _has_a_rate_of_bursts(self) -> Self:
        """Bursts do not overlap where they are no slower than the mean rate."""
        if self.burst_frames == 1 and self.burst_rate_fps:
            refuse(
                f"{self.burst_rate_fps} is given, but burst_frames is 1, 0 is right",
                member="burst_rate_fps",
            )
        if self.burst_frames > 1 and self.burst_rate_fps < self.rate_fps:
            refuse(
                f"{self.burst_rate_fps} is out of range, the mean rate {self.rate_fps} to "
                f"{MAX_RATE_FPS} is right",
                member="burst_rate_fps",
            )
        return self

    @property
    def highest_rate_fps(self) -> int:
        """At which frames follow each other, if only within a burst."""
        return self.burst_rate_fps or self.rate_fps

    @property
    def duration_ns(self) -> int:
        return _rounded_up_ns(self.frames, self.rate_fps) + self.pause_ns

    @property
    def last_due_ns(self) -> int:
        """When the last frame is due, since the segment's start; of no frames 0."""
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
            refuse(f"{self.m} is more than n, 0 to {self.n} is right", member="m")
        return self

    def frames_of(self, kind: Kind, frames: int) -> int:
        """How many of the first so many."""
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
                f"{self.frames} frames in all is out of range, 1 to {MAX_FRAMES} is right",
                member="segments",
            )
        self._check_kind("foreground", self.foreground, wanted=self.mix.m > 0)
        self._check_kind("background", self.background, wanted=self.mix.m < self.mix.n)
        return self

    def _check_kind(self, kind: Kind, traffic: Traffic | None, *, wanted: bool) -> None:
        mix = f"the mix n {self.mix.n}, m {self.mix.m}"
        if wanted and traffic is None:
            refuse(f"absent, but {mix} asks for it", member=kind)
        if traffic is None:
            return
        if not wanted:
            refuse(f"given, but {mix} has none; null is right", member=kind)
        if traffic.connections is not None and kind == "background":
            refuse("background traffic has none, null is right", member="background.connections")
        once = traffic.connections is None or traffic.connections == ESTABLISH_EACH
        if (
            once
            and traffic.selection != "independent"
            and (self.frames_of(kind) > traffic.combinations)
        ):
            refuse(
                f"the ranges have {traffic.combinations} combinations, too few to enumerate for "
                f"{self.frames_of(kind)} frames; wider ranges are right",
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
        """When the last frame is due, rounded up."""
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
        """Each connection once, and then there is nothing more to send."""
        connections = self.foreground.connections if self.foreground else None
        return connections is not None and connections.order in ("linear", "missing")

    @property
    def leaves_from(self) -> Side:
        return "left" if self.direction == "forward" else "right"


class Phase(Model):
    name: str
    gap_ns: Nanoseconds  # from the end of this phase's drain to the next phase
    streams: Annotated[tuple[Stream, ...], Field(min_length=1, max_length=2)]
    # If fewer are in the tester's table after the phase, or have answered where a responder asks,
    # the trial ends there: it is incomplete.
    minimum_connections: Annotated[int, Between(0, MAX_CONNECTIONS)] = 0

    @model_validator(mode="after")
    def _has_one_stream_a_direction(self) -> Self:
        if len({stream.direction for stream in self.streams}) < len(self.streams):
            refuse(
                "the phase has two streams in this direction, one a direction is right",
                member="streams[1].direction",
            )
        return self


class NextHop(Model):
    ipv4: Ipv4Address | None = None
    ipv6: Ipv6Address | None = None
    mac: MacAddress | None = None  # given: nothing is resolved on this side

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
    """Frames whose delays make the latency: `count`, spread evenly over those due from after_ns."""

    after_ns: Nanoseconds  # since the phase's start
    count: Annotated[int, Between(1, MAX_FRAMES)]


class Recording(Model):
    """What is recorded of every stream beside counters and delays."""

    tags: Tags | None = None
    ipdv: bool = False  # D(i) - D(i-1)
    frames: bool = False  # every frame, to the engine's --records-fd


NO_RECORDING = Recording()


class WatchedCpu(Model):
    """A CPU of this machine that the gateway runs on (docs/decisions/0018)."""

    cpu: Annotated[int, Between(0, 1023)]
    # That are the gateway there.
    threads: Annotated[tuple[Annotated[int, Between(0, 2**31 - 1)], ...], Field(max_length=1024)]


class TrialSpec(Model):
    version: Annotated[int, Between(VERSION, VERSION)]
    seed: Annotated[int, Between(0, 2**64 - 1)]
    nonce: Annotated[int, Between(0, 2**32 - 1)]  # differs from trial to trial
    drain_ns: Nanoseconds
    frame_timeout_ns: Nanoseconds  # 0: none; else frames that take longer count as late
    # 0: none; else the trial ends once a frame has certainly been missing for longer.
    early_end_ns: Nanoseconds = 0
    lateness_tolerance_ns: Nanoseconds
    # A link that falls and comes back leaves the trial valid: the device is reset in it.
    link_may_fall: bool = False
    realtime: bool
    # Frames of its direction that a sender may be behind before it pauses: before it moves the rest
    # of its schedule (docs/decisions/0017). 0: it sends all that it owes at once.
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
                '"probes" would make connections of their own, neighbours is right',
                member="warm_up.mode",
            )
        if self.duration_ns > MAX_TRIAL_NS:
            refuse(
                f"the trial lasts longer than {MAX_TRIAL_NS} ns with drains and gaps, "
                "at most that is right",
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
                    f"neither ipv{version} nor mac is given, and {member} leaves there; "
                    "one of them is right",
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
                f'"{role}" is not possible here: one stream of the first phase establishes, '
                "streams of later phases initiate or respond",
                member=member,
            )
        same_way = stream.direction == self.establishing.direction
        made = self.establishing.foreground
        assert made is not None, "it establishes"
        if same_way != (role == "initiate"):
            refuse(
                f'"{role}" is not possible in direction {stream.direction}, in which the trial '
                f"{'establishes' if same_way else 'does not establish'} connections",
                member=member,
            )
        if traffic.ranges != (made.ranges if same_way else made.swapped_ranges):
            refuse(
                f'"{role}" needs the selection and the ranges with which the connections were '
                f"established{'' if same_way else ', source and destination swapped'}",
                member=member,
            )

    def _check_tags(self, stream: Stream) -> None:
        tags = self.recording.tags
        if tags is None or stream.establishes or stream.ends:  # which bear none
            return
        if tags.after_ns > stream.last_due_ns:
            refuse(
                f"{tags.after_ns} is after the last frame, 0 to {stream.last_due_ns} is right",
                member="recording.tags.after_ns",
            )

    @property
    def duration_ns(self) -> int:
        """From the first frame to the end of the last gap: sending, drains and gaps."""
        return sum(
            max(stream.duration_ns for stream in phase.streams) + self.drain_ns + phase.gap_ns
            for phase in self.phases
        )
