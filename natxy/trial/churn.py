"""The load of a trial in which connections are created while others are used."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from natxy.errors import ConfigurationError
from natxy.model.phase_names import TEST
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import MAX_MIX_N, Mix, Phase, Stream
from natxy.trial.load import Load
from natxy.trial.phases import steady_segment
from natxy.verdict.away import Away
from natxy.verdict.counted import Counted, Counting, Offer, counted_of, worst_poll_gap_s

Sought = Literal["new", "load"]


@dataclass(frozen=True, kw_only=True)
class Churn(Load):
    """Frames of connections that phase 1 created, and of new ones.

    In the initiator's direction, `load_fps` frames a second use connections of phase 1 and
    `new_cps` frames a second create connections, evenly spread among the others. In the responder's
    direction, `load_fps` frames a second use connections of phase 1. No frame uses a new connection
    again: the device deletes it when its timeout is over.
    """

    new_cps: int
    load_fps: int
    sought: Sought
    outward: str  # the initiator's direction

    @property
    def rate_fps(self) -> int:
        """The rate that a search is for."""
        return self.new_cps if self.sought == "new" else self.load_fps

    @property
    def mix(self) -> Mix:
        """The shares of the two kinds of frames; the foreground uses connections of phase 1."""
        return _mix(self.load_fps, self.outward_fps)

    @property
    def outward_fps(self) -> int:
        """The rate of all frames in the initiator's direction."""
        return self.load_fps + self.new_cps

    def counted(self, result: TrialResult, away: Away) -> Counted:
        """Returns the rate that counts (docs/decisions/0017)."""
        assert self.counting is not None, "asked by a search for a rate"
        offers = [
            Offer(stream=stream, rate_fps=self._rate_of(stream), away=away)
            for stream in result.streams
        ]
        return counted_of(self.counting, self.rate_fps, offers, worst_poll_gap_s(result))

    def _rate_of(self, stream: StreamResult) -> int:
        return self.outward_fps if stream.direction == self.outward else self.load_fps


def _mix(load_fps: int, outward_fps: int) -> Mix:
    share = Fraction(load_fps, outward_fps).limit_denominator(MAX_MIX_N)
    return Mix(n=share.denominator, m=share.numerator, even=True)


def churn_load(
    traffic: TrafficPlan,
    duration_s: Fraction,
    counting: Counting,
    *,
    new_cps: int,
    load_fps: int,
    sought: Sought,
) -> Churn:
    """Returns the load of a trial of a search."""
    rate_fps = load_fps + new_cps
    mix = _mix(load_fps, rate_fps)
    # The nearest fraction may be less than the load's share: no more connections than asked for.
    created = max(1, int(new_cps * duration_s))
    most = ((created + 1) * mix.n - 1) // (mix.n - mix.m)
    frames = min(frames_of(rate_fps, duration_s), most)
    return Churn(
        segments=(steady_segment(frames, rate_fps),),
        pauses=True,
        counting=counting,
        new_cps=new_cps,
        load_fps=load_fps,
        sought=sought,
        outward=traffic.required_connections.outward,
    )


def churn_phase(traffic: TrafficPlan, load: Churn) -> Phase:
    """Returns the phase in which connections are created while others are used."""
    return Phase(name=TEST, gap_ns=0, streams=tuple(_streams(traffic, load)))


def _streams(traffic: TrafficPlan, load: Churn) -> list[Stream]:
    asked = traffic.required_connections
    (segment,) = load.segments
    used = [*traffic.streams((segment,))]
    if load.outward not in {stream.direction for stream in used}:
        raise ConfigurationError(
            f"--direction: the initiator creates connections {load.outward} (expected this "
            "direction, or both)"
        )
    frames = int(load.load_fps * Fraction(segment.frames, segment.rate_fps))
    replies = steady_segment(max(1, frames), max(1, load.load_fps))
    return [
        traffic.create_beside(stream, load.mix, first=asked.count)
        if stream.direction == load.outward
        else stream.model_copy(update={"segments": (replies,)})
        for stream in used
        if stream.direction == load.outward or load.load_fps
    ]


def most_new(traffic: TrafficPlan, entries: int | None) -> int:
    """Returns how many connections a trial can create besides those of phase 1.

    `entries` is the size of the device's table, or None.
    """
    combinations = traffic.ranges.combinations
    most = combinations if entries is None else min(combinations, entries)
    return max(0, most - traffic.required_connections.count)
