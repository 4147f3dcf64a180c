"""The sender of the tester: it catches up with small delays, and pauses after large ones."""

from dataclasses import dataclass

import numpy as np

from tests.simulation.noise import Times

BURST_LIMIT_FRAMES = 128
TOLERANCE_S = 0.01
BETWEEN_S = 3e-7  # between two frames of a burst
JITTER_S = 2e-6  # of a sender that is not away


@dataclass(frozen=True)
class Sent:
    """One direction: when each frame was due (pauses moved the schedule) and when it left."""

    due_s: Times
    left_s: Times
    pauses: Times  # (begin, end), of which the end is when the sender goes on
    late: Times  # (due time of the first late frame, when the sender had caught up)


def send(
    frames: int, rate_fps: float, first_s: float, absences: Times, chance: np.random.Generator
) -> Sent:
    """Sends a direction's frames from a core with these absences."""
    due = first_s + np.arange(frames) / rate_fps
    left = due + chance.exponential(JITTER_S, frames)
    limit_s = min(BURST_LIMIT_FRAMES / rate_fps, TOLERANCE_S)
    pauses, late = [], []
    for begin, end in absences.tolist():
        first = int(np.searchsorted(due, begin))
        if first >= frames or due[first] >= end:
            continue
        if end - due[first] > limit_s:
            pauses.append((due[first], end))
            due[first:] += end - due[first]
            left[first:] = due[first:] + chance.exponential(JITTER_S, frames - first)
            continue
        last = int(np.searchsorted(due, end))
        left[first:last] = end + np.arange(1, last - first + 1) * BETWEEN_S
        late.append((due[first], left[last - 1]))
    left = np.maximum.accumulate(left)
    return Sent(due, left, _pairs(pauses), _pairs(late))


def _pairs(found: list[tuple[float, float]]) -> Times:
    return np.array(found) if found else np.empty((0, 2))
