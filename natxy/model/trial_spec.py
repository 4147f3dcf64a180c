"""The specification of one trial, as the package sends it to the engine (engine/spec).

The text below a member is its meaning, in the JSON Schema and in docs/reference/engine-members.md.
These models check each member by itself, as the JSON Schema does. Rules that concern several
members are the engine's alone (engine/spec/rules.cpp): `TrafficPlan` and the procedures make no
spec that breaks one, and of a spec that a user wrote, the engine's refusal names the member.
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
ESTABLISH = "establish"  # with TCP: SYNs
MAKE_AGAIN = "make again"
VALIDATE = "validate"  # with TCP: SYN/ACKs
ASK_AGAIN = "ask again"
SAMPLE = "sample"
ACKNOWLEDGE = "acknowledge"  # the third segments of TCP handshakes
# The end of TCP connections: FIN or RST; with FIN also the responder's FIN, and the last ACK.
CLOSE = "close"
CLOSE_BACK = "close back"
LAST_ACK = "last ack"
TEST = "test"
RAMP = "ramp"  # followed by a number: a phase in which flows start before the test
HANDSHAKE = (VALIDATE, ACKNOWLEDGE)  # of TCP, after the SYNs
AGAIN = (MAKE_AGAIN, ASK_AGAIN)  # these phases end at once if no connection is missing


class Segment(Model):
    """Frames that a stream sends at one rate, steadily or in bursts (RFC 2544 section 21).

    Let i be the number of a frame within its segment, b the number of the first frame of its burst,
    and hz the ticks of the clock in a second. Frame i is due
    `floor(b * hz / rate_fps) + floor((i - b) * hz / burst_rate_fps)` ticks after the segment's
    start.
    """

    frames: Annotated[int, Between(0, MAX_FRAMES)]
    """Number of frames."""
    rate_fps: Annotated[int, Between(1, MAX_RATE_FPS)]
    """Frames a second; with bursts, the mean rate."""
    pause_ns: Nanoseconds
    """Silence after the segment."""
    burst_frames: Annotated[int, Between(1, MAX_BURST_FRAMES)] = 1
    """Frames of a burst. 1: steady traffic. With bursts, a sender that may pause also pauses if it
    is behind by more than the time of one burst at `rate_fps`, even if `burst_limit_frames` is
    larger."""
    burst_rate_fps: Annotated[int, Between(0, MAX_RATE_FPS)] = 0
    """The rate within a burst, which is at least `rate_fps`. 0: steady traffic."""

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
    """The frames that are foreground: frame i is foreground if i mod n < m."""

    n: Annotated[int, Between(1, MAX_MIX_N)]
    """The period of the mix, in frames."""
    m: Annotated[int, Between(0, MAX_MIX_N)]
    """Foreground frames of a period, at most `n`."""
    even: bool = False
    """Frame i is foreground if i m mod n is 0 or above n - m: m of n frames as well, but as far
    apart as they can be."""

    def frames_of(self, kind: Kind, frames: int) -> int:
        """Returns how many of the first `frames` frames are of this kind."""
        foreground = frames // self.n * self.m + min(frames % self.n, self.m)
        if self.even:
            foreground = -(-frames * self.m // self.n)
        return foreground if kind == "foreground" else frames - foreground


class Stream(Model):
    """The frames of one direction in a phase."""

    direction: Direction
    """The direction of the frames; `forward` is left to right."""
    mix: Mix
    """Which frames are foreground, and which are background."""
    segments: Annotated[tuple[Segment, ...], Field(min_length=1, max_length=64)]
    """What is sent one after the other."""
    foreground: Traffic | None = None
    """The frames that the gateway translates. Present if, and only if, m > 0."""
    background: Traffic | None = None
    """The frames that the gateway only routes. Present if, and only if, m < n."""

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
    """A part of a trial, which ends with a drain."""

    name: str
    """Name of the phase, which the result repeats."""
    gap_ns: Nanoseconds
    """Time from the end of this phase's drain to the next phase."""
    streams: Annotated[tuple[Stream, ...], Field(min_length=1, max_length=2)]
    """At most one stream for each direction."""
    minimum_connections: Annotated[int, Between(0, MAX_CONNECTIONS)] = 0
    """The trial ends after the phase if fewer connections than this are in the table or, in a phase
    with a stream that responds, if fewer have answered. The result then has `incomplete` true, and
    no later phases. A trial without any connection always ends in this way."""


class NextHop(Model):
    """The gateway's addresses on a side."""

    ipv4: Ipv4Address | None = None
    """Its IPv4 address, of which ARP finds the MAC address."""
    ipv6: Ipv6Address | None = None
    """Its IPv6 address, of which Neighbour Discovery finds the MAC address."""
    mac: MacAddress | None = None
    """Its MAC address. If it is given, the engine asks for no neighbour on this side."""

    def knows(self, version: IpVersion) -> bool:
        return bool(self.mac or (self.ipv4 if version == 4 else self.ipv6))


class VlanTag(Model):
    """A VLAN tag (IEEE 802.1Q) of every frame of a side, ARP and Neighbour Discovery included.

    The engine sends its frames with these tags, and expects the same tags in frames that arrive.
    """

    tpid: Literal["802.1Q", "802.1ad"] = "802.1Q"
    """The tag's type; `802.1ad` is the outer one of two tags."""
    id: Annotated[int, Between(1, 4094)]
    """Number of the VLAN."""
    priority: Annotated[int, Between(0, 7)] = 0
    """Priority of the frames that leave; the gateway may change it."""


VlanTags = Annotated[tuple[VlanTag, ...], Field(max_length=2)]


class SideSpec(Model):
    """The network at one of the tester's ports."""

    next_hop: NextHop
    """The gateway."""
    vlans: VlanTags = ()
    """VLAN tags of all frames of this side, outer tag first, for example
    `[{"tpid": "802.1ad", "id": 100}, {"tpid": "802.1Q", "id": 7, "priority": 3}]`."""
    own_addresses: Annotated[tuple[IpAddress, ...], Field(max_length=MAX_OWN_ADDRESSES)]
    """Addresses that the engine answers for in addition to those of the streams."""


class Sides(Model):
    """Both sides."""

    left: SideSpec
    """The network on the left."""
    right: SideSpec
    """The network on the right."""


class WarmUp(Model):
    """What happens before the first frame."""

    mode: Literal["probes", "neighbours"]
    """`probes`: resolve the neighbours, and send probe frames until they arrive. `neighbours`:
    only resolve the neighbours."""
    timeout_ns: Nanoseconds
    """The longest time that it may take."""


class Tags(Model):
    """Tagged frames, whose delays are the latency (RFC 8219 section 7.2).

    `count` of the frames that are due from `after_ns` on are tagged, evenly spread. If there are at
    most `count` such frames, all of them are tagged. Otherwise, let `span` be the number of these
    frames, and `first` the number of the first one: tag k is frame `first + floor(k * q)`, where q
    is `span / count` cut to 24 binary places. An establishing stream has no tags, and neither has a
    stream whose order is `linear` or `missing`.
    """

    after_ns: Nanoseconds
    """When the first of them may be due, since the phase's start."""
    count: Annotated[int, Between(1, MAX_TAGS)]
    """Number of tagged frames of a stream."""


class Recording(Model):
    """What is recorded in every stream in addition to counters and delays."""

    tags: Tags | None = None
    """Tagged frames. Null: none."""
    ipdv: bool = False
    """The differences between the delays of consecutive frames."""
    frames: bool = False
    """A record of every frame, which the engine writes to the pipe of `--records-fd`."""
    mappings: bool = False
    """How the gateway has given out its external addresses and ports: one summary for the whole
    trial, in `connections` of the result. It is possible with connections, at most 10 million."""


NO_RECORDING = Recording()


class WatchedCpu(Model):
    """A CPU of this machine on which the gateway runs (decision 0018)."""

    cpu: Annotated[int, Between(0, 1023)]
    """Number of the CPU."""
    threads: Annotated[tuple[Annotated[int, Between(0, 2**31 - 1)], ...], Field(max_length=1024)]
    """The gateway's threads on this CPU."""


class TrialSpec(Model):
    """What the engine has to send and to record in one trial."""

    version: Annotated[int, Between(VERSION, VERSION)]
    """Specs of other versions are refused. In version 2, a stream had one frame size for both ends;
    now each end has its own (decision 0031). In version 1, the same seed gave another order of a
    pseudorandom enumeration (decision 0020)."""
    seed: Annotated[int, Between(0, 2**64 - 1)]
    """What all pseudorandom values follow from."""
    nonce: Annotated[int, Between(0, 2**32 - 1)]
    """A number that differs from trial to trial. Frames with the mark of another nonce are
    foreign."""
    drain_ns: Nanoseconds
    """Time for which the engine waits for frames after the last one was due."""
    frame_timeout_ns: Nanoseconds
    """Frames that take longer count as late. 0: no timeout."""
    early_end_ns: Nanoseconds = 0
    """The trial ends as soon as it is certain that a frame has been missing for longer than this
    time. For each frame that left, the engine waits until `early_end_ns` plus
    `lateness_tolerance_ns` after the frame was due. Such a trial has no drain, and its result has
    `ended_early` true. Its counters of loss show only that frames were lost, not how many
    (decision 0011). 0: the trial does not end early."""
    lateness_tolerance_ns: Nanoseconds
    """A trial is invalid if a frame leaves later than this after it was due."""
    link_may_fall: bool = False
    """For trials in which the gateway is reset: the trial stays valid if a link goes down and comes
    back. It is invalid if a link is down at the end."""
    realtime: bool
    """The workers run under SCHED_FIFO during the trial."""
    burst_limit_frames: Annotated[int, Between(0, 2**30)] = 0
    """A sender pauses if it is behind by more frames than this, or by more than
    `lateness_tolerance_ns`. It then moves the rest of its schedule (decision 0017). If several
    senders share a direction, the frames of all of them count. 0: senders do not pause, but send
    all overdue frames at once."""
    watched: Annotated[tuple[WatchedCpu, ...], Field(max_length=1024)] = ()
    """The CPUs of this machine on which the gateway runs, and for each CPU the threads that are the
    gateway, for example `[{"cpu": 1, "threads": [4711, 17]}]`."""
    recording: Recording = NO_RECORDING
    """What is recorded in addition to counters and delays."""
    warm_up: WarmUp
    """What happens before the first frame."""
    sides: Sides
    """The networks at the tester's two ports."""
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=8)]
    """The parts of the trial, in their order."""

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
