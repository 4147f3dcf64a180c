"""A trial as it is kept: which it was, how it ended, and all that the engine said of it."""

from typing import Literal

from natxy.model.base import Model
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.verdict import Verdict


class TrialRecord(Model):
    record: Literal["trial"] = "trial"
    number: int  # from 1, within the campaign
    repetition: int  # from 1
    rate_fps: int  # per direction
    started: str  # ISO 8601
    verdict: Verdict
    invalid_reasons: tuple[str, ...]  # the engine's, and the DUT's own
    result: TrialResult  # of a stateful gateway's: phase 2, which is what is measured
    phase_1: StreamResult | None = None
    sample: StreamResult | None = None  # of phase 1's connections, asked for an answer

    @property
    def phases(self) -> tuple[str, ...]:
        """Names, in order."""
        early = (stream for stream in (self.phase_1, self.sample) if stream is not None)
        streams = (*early, *self.result.streams)
        return tuple(dict.fromkeys(stream.phase for stream in streams))

    @property
    def misdelivered(self) -> int:
        """In all phases."""
        early = sum(c.misdelivered.total for _, c in self.phase_1.counters()) if self.phase_1 else 0
        return early + self.result.misdelivered
