"""The phases of a trial (RFC 9693): phase 1 creates connections, phase 2 is measured."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import (
    ACKNOWLEDGE,
    ESTABLISH,
    HANDSHAKE,
    RAMP,
    SAMPLE,
    TEST,
    VALIDATE,
    Phase,
    Segment,
    Stream,
    TrialSpec,
)
from natxy.trial.timing import Timing

LONGEST_APART_NS = 100_000  # longer than most gateways take to forward a frame
SAMPLE_FPS = 10_000  # highest rate of the sample; no load for a gateway that manages phase 1


@dataclass(frozen=True, kw_only=True)
class Starting:
    """The flows that are sent while the others have not started."""

    traffic: TrafficPlan
    lasts_s: Fraction | None = None  # None: as long as the measured part of the trial


def phase_1(traffic: TrafficPlan, timing: Timing) -> Phase:
    """Returns phase 1 of a trial with phase 2, with the testbed's rate and delay."""
    asked = traffic.required_connections
    if asked.rate_fps is None:
        raise ConfigurationError(
            "connections.rate_fps: is missing: phase 1 needs a rate at which no connection fails "
            "(expected one that `natxy establishment` has found)"
        )
    frames = traffic.connections_among(asked.count)
    minimum = asked.minimum if asked.incomplete == "accept" else frames
    return Phase(
        name=ESTABLISH,
        gap_ns=int(_gap_s(asked, asked.rate_fps, timing) * 10**9),
        streams=(traffic.establish((steady_segment(asked.count, asked.rate_fps),)),),
        minimum_connections=0 if asked.order == "repeating" else min(minimum or frames, frames),
    )


def phase_1_s(traffic: TrafficPlan, timing: Timing) -> Fraction:
    """Returns the time from a trial's first frame to the first one of phase 2; 0 if stateless."""
    if traffic.connections is None:
        return Fraction(0)
    return sum(
        (
            Fraction(phase.streams[0].duration_ns + phase.gap_ns, 10**9) + timing.drain_s
            for phase in before_phase_2(traffic, timing)
        ),
        start=Fraction(0),
    )


def before_phase_2(traffic: TrafficPlan, timing: Timing) -> tuple[Phase, ...]:
    """Returns phase 1 and the sample: a few frames of the responder to the oldest connections.

    The sample shows whether the gateway has dropped its table, or lets connections expire too soon.
    """
    sample = _sample(traffic)
    made = phase_1(traffic, timing)
    return (made, *_handshake(traffic, made), *((sample,) if sample else ()))


def _handshake(traffic: TrafficPlan, made: Phase) -> tuple[Phase, ...]:
    """Returns the phases that end the handshakes of TCP, at the rate of phase 1."""
    if not traffic.is_tcp:
        return ()
    segments = made.streams[0].segments
    return (
        phase(VALIDATE, traffic.validate(segments), least=made.minimum_connections),
        phase(ACKNOWLEDGE, traffic.acknowledge(segments)),
    )


def _sample(traffic: TrafficPlan) -> Phase | None:
    asked = traffic.required_connections
    frames = min(asked.sample, asked.count)
    if not frames:
        return None
    segment = steady_segment(frames, min(SAMPLE_FPS, asked.rate_fps or SAMPLE_FPS))
    return phase(SAMPLE, traffic.respond((segment,), "linear"))


def _gap_s(asked: ConnectionsSection, rate_fps: int, timing: Timing) -> Fraction:
    """Returns the gap between the end of phase 1's drain and the next phase."""
    if asked.delay_s is None:
        return Fraction(0)
    segments = 3 if asked.is_tcp else 1  # of a handshake
    made_s = segments * (Fraction(asked.count, rate_fps) + timing.drain_s)
    least_s = made_s + _sample_s(asked, timing)
    gap_s = Fraction(str(asked.delay_s)) - least_s
    if gap_s < 0:
        raise ConfigurationError(
            f"connections.delay_s: {asked.delay_s:g} is shorter than phase 1, the sample of its "
            f"connections and their drains (expected at least {float(least_s):g})"
        )
    return gap_s


def _sample_s(asked: ConnectionsSection, timing: Timing) -> Fraction:
    frames = min(asked.sample, asked.count)
    rate_fps = min(SAMPLE_FPS, asked.rate_fps or SAMPLE_FPS)
    return Fraction(frames, rate_fps) + timing.drain_s if frames else Fraction(0)


def phase(name: str, *streams: Stream, least: int = 0) -> Phase:
    """Returns a phase without a gap after it; with fewer than `least` connections, the trial ends
    after it."""
    return Phase(name=name, gap_ns=0, streams=streams, minimum_connections=least)


def apart(streams: tuple[Stream, ...]) -> tuple[Stream, ...]:
    """Returns the streams of a phase; of two steady ones, the second begins half a period later.

    If both were due at once, a core that sends both would find what the gateway has forwarded of
    the first only after it has sent the second.
    """
    if len(streams) < 2 or any(len(stream.segments) > 1 for stream in streams):
        return streams
    first, second = streams
    (segment,) = second.segments
    if segment.burst_frames > 1:
        return streams
    wait_ns = min(LONGEST_APART_NS, 10**9 // (2 * segment.rate_fps))
    wait = steady_segment(0, segment.rate_fps).model_copy(update={"pause_ns": wait_ns})
    return first, second.model_copy(update={"segments": (wait, segment)})


def steady_segment(frames: int, rate_fps: int) -> Segment:
    return Segment(frames=frames, rate_fps=rate_fps, pause_ns=0)


def measures_phase_2(spec: TrialSpec) -> bool:
    """Returns whether the trial measures phase 2.

    It is False for a measurement of phase 1, and for a spec with other phases that a user wrote.
    """
    names = {phase.name for phase in spec.phases}
    of_trial = {ESTABLISH, *HANDSHAKE, SAMPLE, TEST}
    return spec.establishing is not None and TEST in names <= of_trial


def ramp_phases(spec: TrialSpec) -> list[str]:
    """Returns the names of the phases in which flows start one after another.

    A loss in them fails the trial, but the figures are those of the phase after them.
    """
    return [phase.name for phase in spec.phases if phase.name.startswith(RAMP)]
