"""The load of a trial in which connections are created while others are used."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from natxy.model.stream_result import StreamResult
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_spec import MAX_MIX_N, TEST, Direction, Mix, Phase, Stream
from natxy.trial.load import Frames
from natxy.trial.phases import phase, steady_segment

Sought = Literal["new", "load"]


@dataclass(frozen=True, kw_only=True)
class Churn(Frames):
    """Frames of connections that phase 1 created, and of new ones.

    In the initiator's direction, `load_fps` frames a second use connections of phase 1 and
    `new_cps` frames a second create connections, evenly spread among the others. In the responder's
    direction, `load_fps` frames a second use connections of phase 1. No frame uses a new connection
    again: the gateway deletes it when its timeout is over.
    """

    new_cps: int
    load_fps: int
    sought: Sought
    outward: Direction  # the initiator's direction
    mix: Mix  # in the initiator's direction; the foreground uses connections of phase 1

    @property
    def rate_fps(self) -> int:
        """The rate that a search is for."""
        return self.new_cps if self.sought == "new" else self.load_fps

    def test_phase(self, traffic: TrafficPlan) -> Phase:
        """Returns the phase in which connections are created while others are used."""
        return phase(TEST, *self._streams(traffic))

    def _streams(self, traffic: TrafficPlan) -> Iterator[Stream]:
        asked = traffic.required_connections
        for stream in traffic.streams(self.segments):
            if stream.direction == self.outward:
                yield traffic.create_beside(stream, self.mix, first=asked.count)
            elif self.load_fps:
                frames = max(1, int(self.load_fps * self.duration_s))
                replies = steady_segment(frames, self.load_fps)
                yield stream.model_copy(update={"segments": (replies,)})

    def due_fps(self, stream: StreamResult) -> int:
        if stream.phase != TEST:
            return 0
        (segment,) = self.segments
        return segment.rate_fps if stream.direction == self.outward else self.load_fps


def churn_load(
    like: Frames,
    duration_s: Fraction,
    *,
    new_cps: int,
    load_fps: int,
    sought: Sought,
    outward: Direction,
) -> Churn:
    """Returns the load of a trial of a search, which is judged as `like`."""
    rate_fps = load_fps + new_cps
    share = Fraction(load_fps, rate_fps).limit_denominator(MAX_MIX_N)
    mix = Mix(n=share.denominator, m=share.numerator, even=True)
    # The nearest fraction may be less than the load's share: no more connections than asked for.
    most = ((int(new_cps * duration_s) + 1) * mix.n - 1) // (mix.n - mix.m)
    frames = min(frames_of(rate_fps, duration_s), most)
    return Churn(
        segments=(steady_segment(frames, rate_fps),),
        early_end_s=like.early_end_s,
        accepted=like.accepted,
        pauses=like.pauses,
        counting=like.counting,
        new_cps=new_cps,
        load_fps=load_fps,
        sought=sought,
        outward=outward,
        mix=mix,
    )


def most_new(traffic: TrafficPlan, entries: int | None) -> int:
    """Returns how many connections a trial can create besides those of phase 1.

    `entries` is the size of the gateway's table, or None.
    """
    combinations = traffic.ranges.combinations
    most = combinations if entries is None else min(combinations, entries)
    return max(0, most - traffic.required_connections.count)
