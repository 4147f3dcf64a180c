"""Which losses count, frame by frame: a loss counts unless it falls into disturbed time
(docs/decisions/0039). `natxy/verdict/timeline.py` says the same of intervals of numbers.

Time is counted in frames: frames are due at equal distances, and a pause of the sender moves the
schedule. A frame is disturbed if it is due in an absence, or in as long again after it.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tests.simulation.noise import Times, merged, within
from tests.simulation.trial import Direction, Seen

BLUR_S = 2e-4  # the watch sees the ends of an absence to within a period; a frame is on its way
SLOTS = 20
SPREAD = 0.8  # of the slots
LEAST_FULL = 1 / 8  # of the clean frames
FEWEST_LOST = 20


def disturbed(seen: Seen, each: Direction) -> Times:
    """Returns the disturbed time, as intervals of due times."""
    blur_s = max(BLUR_S, 2 / seen.rate_fps)
    absences = [each.sent.late] + ([] if seen.away is None else [seen.away])
    found = []
    for one in absences:
        length = one[:, 1] - one[:, 0]
        found.append(np.column_stack([one[:, 0] - blur_s, one[:, 1] + length + blur_s]))
    return merged(np.concatenate(found))


@dataclass(frozen=True, kw_only=True)
class Clean:
    """The clean frames of a direction, and the pieces of undisturbed time that they are in."""

    lost: NDArray[np.bool_]
    piece: NDArray[np.int64]
    excused: int  # lost frames

    @classmethod
    def of(cls, seen: Seen, each: Direction) -> Self:
        intervals = disturbed(seen, each)
        due = each.sent.due_s
        clean = ~within(due, intervals)
        ends = np.sort(np.concatenate([intervals.ravel(), each.sent.pauses[:, 1]]))
        return cls(
            lost=each.lost[clean],
            piece=np.searchsorted(ends, due, side="right")[clean],
            excused=int((each.lost & ~clean).sum()),
        )

    def full(self) -> NDArray[np.bool_]:
        """Returns for each clean frame in which the gateway was full whether it was lost.

        It was full from the first loss of a piece to the last one. At the beginning of a run of
        losses its buffers have just become full, or its bucket empty. So the frames count from
        after one beginning up to another one: what batches hold is in both.
        """
        found = [np.empty(0, dtype=bool)]
        starts = np.flatnonzero(np.diff(self.piece, prepend=-1))
        for begin, end in zip(starts, np.append(starts[1:], len(self.piece)), strict=True):
            lost = self.lost[begin:end]
            runs = np.flatnonzero(lost & ~np.concatenate([[False], lost[:-1]]))
            if len(runs) > 1:
                found.append(lost[runs[0] + 1 : runs[-1] + 1])
        return np.concatenate(found)


def is_spread(full: NDArray[np.bool_], clean: int) -> bool:
    """Returns whether nearly all slots of the time in which the gateway was full have losses.

    A slot without a forwarded frame is a hole, unless more than half of all frames were lost.
    """
    if len(full) < max(LEAST_FULL * clean, 2 * SLOTS) or full.sum() < FEWEST_LOST:
        return False
    if full.mean() > 1 / 2:
        return len(full) > clean / 2
    slots = np.array_split(full, SLOTS)
    return sum(bool(slot.any() and not slot.all()) for slot in slots) >= SPREAD * SLOTS
