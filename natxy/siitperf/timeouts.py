"""Gives one trial two timeouts: T after phase 1, and the global timeout after phase 2.

The engine has one drain for all phases. It is set to the shorter timeout, and the phase with the
longer timeout ends with a pause of the difference.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.model.trial_spec import Phase, Stream, TrialSpec
from natxy.siitperf.arguments import Arguments
from natxy.trial.load import Frames

NS_PER_MS = 10**6


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    drain_ms: int
    phase_1_pause_ms: int
    phase_2_pause_ms: int

    @property
    def drain_s(self) -> Fraction:
        return Fraction(self.drain_ms, 1000)

    @property
    def longest_s(self) -> Fraction:
        pause_ms = max(self.phase_1_pause_ms, self.phase_2_pause_ms)
        return Fraction(self.drain_ms + pause_ms, 1000)

    def load(self, load: Frames) -> Frames:
        *others, last = load.segments
        paused = last.model_copy(update={"pause_ns": self.phase_2_pause_ms * NS_PER_MS})
        return replace(load, segments=(*others, paused))

    def spec(self, spec: TrialSpec) -> TrialSpec:
        """Returns the spec with phase 1's pause; phase 2 begins at the same time as without it."""
        if not self.phase_1_pause_ms:
            return spec
        first, *others = spec.phases
        pause_ns = self.phase_1_pause_ms * NS_PER_MS
        streams = tuple(_paused(stream, pause_ns) for stream in first.streams)
        gap_ns = max(0, first.gap_ns - pause_ns)
        longer: Phase = first.model_copy(update={"streams": streams, "gap_ns": gap_ns})
        return spec.model_copy(update={"phases": (longer, *others)})


def timeouts_of(arguments: Arguments) -> Timeouts:
    asked = arguments.preliminary
    if asked is None:
        return Timeouts(drain_ms=arguments.timeout_ms, phase_1_pause_ms=0, phase_2_pause_ms=0)
    drain_ms = min(arguments.timeout_ms, asked.preliminary_timeout_ms)
    return Timeouts(
        drain_ms=drain_ms,
        phase_1_pause_ms=asked.preliminary_timeout_ms - drain_ms,
        phase_2_pause_ms=arguments.timeout_ms - drain_ms,
    )


def _paused(stream: Stream, pause_ns: int) -> Stream:
    *others, last = stream.segments
    segments = (*others, last.model_copy(update={"pause_ns": pause_ns}))
    return stream.model_copy(update={"segments": segments})
