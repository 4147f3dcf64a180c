"""A gateway of known throughput whose trials lose a stray frame, or are invalid, now and then."""

from dataclasses import dataclass
from random import Random

from natxy.model.verdict import Verdict

DURATION_S = 0.2


@dataclass(frozen=True, kw_only=True)
class NoisyDevice:
    throughput_fps: int = 400_000
    stray: float = 0.0  # share of the trials that lose one frame for no reason of the rate's
    invalid: float = 0.0

    def trial(self, rate_fps: int, chance: Random) -> tuple[Verdict, float]:
        """Verdict, and share of the frames that were lost."""
        if chance.random() < self.invalid:
            return Verdict.INVALID, 0.0
        stray = chance.random() < self.stray
        if rate_fps > self.throughput_fps:
            return Verdict.FAIL, 1 - self.throughput_fps / rate_fps
        frames = max(1, int(rate_fps * DURATION_S))
        return (Verdict.FAIL, 1 / frames) if stray else (Verdict.PASS, 0.0)
