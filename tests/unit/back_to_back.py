"""Plans of back-to-back frames, and a gateway that keeps so many frames."""

from fractions import Fraction
from typing import Any

from natxy.procedure.back_to_back import (
    BackToBackPlan,
)
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, frames_in

FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(2))
RATE_FPS = 100_000
THROUGHPUT_FPS = 60_000


def plan(**changes: Any) -> BackToBackPlan:
    given: dict[str, Any] = {
        "timing": FAST,
        "seed": 7,
        "repetitions": 2,
        "burst_rate_fps": RATE_FPS,
        "throughput_fps": THROUGHPUT_FPS,
    }
    return BackToBackPlan(**given | changes)


def longer_than(frames: int) -> FakeEngine:
    """Returns an engine that loses all frames after so many."""
    return FakeEngine(lose=lambda stream: range(frames, frames_in(stream)))
