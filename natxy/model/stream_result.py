"""The result of a stream in a trial (engine/spec/stream_result.hpp)."""

from collections.abc import Iterator
from typing import Annotated, Self

from natxy.model.base import ADDED, Count, Model
from natxy.model.distribution import NOTHING, Distribution
from natxy.model.stream_counters import (
    NO_PAUSES,
    ConnectionCounters,
    KindCounters,
    Kinds,
    Losses,
    Pauses,
    Silence,
    TagCounters,
)
from natxy.model.trial_spec import Direction, Kind
from natxy.statistics import median


class StreamResult(Model):
    """A stream in one phase. A frame that arrives in a later phase counts as `late` in the phase
    that sent it.

    `late_runs`, `lost_runs` and `at` of `pauses` have at most 4,096 entries each. If there are
    more, neighbours are joined, those that are closest together first, and the list says less. A
    journal has at most 128.
    """

    phase: str
    """Name of the phase."""
    direction: Direction
    """Direction of the frames."""
    due: Count
    """Frames that the spec asks for. A stream with the order `linear` or `missing` ends when it has
    used each of its connections: this is the number of frames that it then has."""
    senders: Count = 1
    """Number of senders. Number i is sent by sender i mod `senders`."""
    refused_by_gateway: Count
    """Frames that the port refused because the gateway's ring was full; a part of `sent` and of
    `lost`."""
    refused_by_port: Count
    """Refusals because the tester's port was full. These frames were sent again."""
    largest_burst: Count
    """The longest run of frames that left without waiting for a due time."""
    pauses: Pauses = NO_PAUSES
    """Pauses of the senders."""
    late_runs: tuple[tuple[Count, Count], ...] = ()
    """`[first, last]` of each run of numbers that left more than 50 µs after they were due by the
    schedule as pauses have moved it, in ascending order of `first`. Between the two, only numbers
    of the same sender are meant. Of a run that was joined, some numbers left in time."""
    start_raw_ns: Count = 0
    """The phase's start by CLOCK_MONOTONIC_RAW, so that what other programs on this machine record
    can be placed on the time line. 0: not known."""
    sending_ns: float
    """From the first departure to the last one."""
    first_departure_ns: float
    """The first departure, since the trial's start."""
    lateness: Distribution
    """How late frames left, by the schedule as pauses have moved it."""
    send_call: Distribution
    """How long the send calls took, which are a part of each delay."""
    poll_gap: Distribution = NOTHING
    """For each frame, the time since the ring was last known to be empty: its delay may be too long
    by this."""
    step_gap: Distribution = NOTHING
    """For each frame, the time until its sender's next step: its delay may be too long by this."""
    held_back_ns: float = 0.0
    """How much longer the frames took to leave the gateway than to enter it: (last arrival - last
    departure) - shortest delay. It is at most 10/9 of the growth of the shortest delay from the
    first tenth of the frames to the last tenth, because a queue that fills makes the shortest delay
    longer, and delays that only vary do not. The engine calculates it for foreground and for
    background traffic, and reports the larger value. It is 0 if there are fewer than ten frames."""
    last_delay_excess_ns: float = 0.0
    """The same difference without this limit, so it contains the ordinary variation of delays. If
    the gateway was away at the end of the trial, the value bounds the additional time that the
    gateway had for the frames."""
    overrun_frames: Count = 0
    """How many frames may have waited for a poll at once, if they were more than the ring holds;
    otherwise 0. The engine counts them after each time without a poll that is long enough for a
    port to fill the ring at 150 million frames a second, whatever the trial's rate is. It counts
    the frames that had been sent and had not come. The count is reported if it is more than the
    ring holds, and if this poll and the following ones find at least half as many frames as the
    ring holds, before one of them finds the ring empty (decision 0022)."""
    uncertain_late: Count = 0
    """Late frames that may have arrived in time, as their poll gap allows. It is 0 if the port
    stamps arrivals itself."""
    kinds: Kinds
    """The counters of each kind of traffic."""
    tags: TagCounters | None = None
    """Tagged frames. Null: the spec did not ask for tags."""
    losses: Losses | None = None
    """When the lost frames were due. Null: no frame was lost."""
    lost_runs: tuple[tuple[Count, Count, Count], ...] = ()
    """`[first, span, lost]` of each run of the numbers that `losses` counts, in ascending order.
    The third values add up to `frames` of `losses`. A misdelivered frame is lost here; one that
    came after the frame timeout is not, though it counts in `lost` of its kind. Of a run that was
    joined, some numbers arrived (`lost` < `span`)."""
    lost_in_silences: Annotated[Count, ADDED] = 0
    """Frames that were lost in silences of a gateway that is not watched ("Which losses count")."""
    left_late: Annotated[Count, ADDED] = 0
    """Frames of `late_runs`, before a journal joins them."""
    low_delays: tuple[tuple[Count, Count], ...] = ()
    """`[first, lowest_ns]` of each of at most 320 equal stretches of numbers: its first number and
    the lowest delay of its frames, of both kinds of traffic. A stretch of which no frame arrived is
    left out. A frame that came out of order may count in the stretch of the frames that it came
    with. A journal has longer stretches."""
    silence: Silence
    """The longest time between two arrivals."""
    connections: ConnectionCounters | None = None
    """What the frames showed of their connections. Null: stateless."""

    @property
    def usual_wait_ns(self) -> float:
        """How much longer the lowest delays are in half of the time than at best."""
        lows_ns = [low_ns for _, low_ns in self.low_delays]
        return median(lows_ns) - min(lows_ns) if lows_ns else 0.0

    @property
    def is_refused_by_port(self) -> bool:
        """True if the port refused frames for longer than the gateway held any back."""
        return self.pauses.by_port_ns > self.held_back_ns

    def counters(self) -> Iterator[tuple[Kind, KindCounters]]:
        if self.kinds.foreground:
            yield "foreground", self.kinds.foreground
        if self.kinds.background:
            yield "background", self.kinds.background

    @property
    def sent(self) -> int:
        return sum(counters.sent for _, counters in self.counters())

    @property
    def received(self) -> int:
        return sum(counters.received for _, counters in self.counters())

    @property
    def lost(self) -> int:
        return sum(counters.lost for _, counters in self.counters())

    @property
    def missing(self) -> int:
        """Frames that never arrived; misdelivered and late frames are not included."""
        return sum(max(0, c.lost - c.misdelivered.total - c.late) for _, c in self.counters())

    @property
    def gaps(self) -> int:
        """Gaps in the numbering of the frames that arrived (RFC 2544 section 10)."""
        return self.losses.gaps if self.losses else 0

    @property
    def late(self) -> int:
        return sum(counters.late for _, counters in self.counters())

    @property
    def misdelivered(self) -> int:
        return sum(counters.misdelivered.total for _, counters in self.counters())

    @property
    def lost_or_wrong(self) -> int:
        """Frames that were lost, or arrived wrong.

        A wrong frame is usually one of those that were lost, but may be a copy of one that arrived.
        """
        return sum(max(c.sent - c.received, c.misdelivered.total) for _, c in self.counters())

    def with_received(self, frames: int) -> Self:
        """Returns the result as if this many of the missing frames had been received."""
        kinds: dict[str, KindCounters] = {}
        for kind, counters in self.counters():
            came = min(frames, max(0, counters.sent - counters.received))
            update = {"received": counters.received + came, "lost": counters.lost - came}
            kinds[kind] = counters.model_copy(update=update)
            frames -= came
        return self.model_copy(update={"kinds": self.kinds.model_copy(update=kinds)})

    @property
    def passed(self) -> bool:
        """True if frames were sent, all were received, none was misdelivered, and no mapping
        changed between phases.

        In a short trial, one kind may have no frames.
        """
        changed = self.connections is not None and self.connections.changed > 0
        return self.sent > 0 and not self.lost_or_wrong and not changed
