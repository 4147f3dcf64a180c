"""The proposed rule: a loss counts unless it falls into disturbed time (docs/decisions/0039).

Time is counted in frames: frames are due at equal distances, and a pause of the sender moves the
schedule. A frame is disturbed if it is due in an absence, or in as long again after it.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from natxy.model.verdict import Verdict
from tests.simulation.noise import Times, merged, within
from tests.simulation.trial import Direction, Seen

BLUR_S = 2e-4  # the watch sees the ends of an absence to within a period; a frame is on its way
LEAST_CLEAN = 1 / 2  # of the frames
SLOTS = 20
SPREAD = 0.8  # of the slots
LEAST_FULL = 1 / 8  # of the clean frames
FEWEST_LOST = 20


@dataclass(frozen=True, kw_only=True)
class Judged:
    verdict: Verdict
    counted_fps: int
    spread: bool = False  # the losses fill the time in which the gateway was full
    lost_share: float = 0.0  # of the frames that came while the gateway was full
    full: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    clean: int = 0  # frames
    excused: int = 0  # lost frames
    offered: int = 0
    by_port: bool = False  # the pauses are those of a port that refused frames

    @property
    def full_fps(self) -> float:
        """What the gateway forwarded while it was full, in frames a second of a direction."""
        return self.counted_fps * (1 - self.lost_share)

    @property
    def surely_fps(self) -> float:
        """The counted rate if a bucket was filled while the frames were lost that do not count."""
        return self.counted_fps * (1 - self.excused / max(1, self.offered))


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
class _Clean:
    """The clean frames of a direction, and the pieces of undisturbed time that they are in."""

    lost: NDArray[np.bool_]
    piece: NDArray[np.int64]
    due_s: Times
    delay_s: Times  # nan: lost
    excused: int

    @classmethod
    def of(cls, seen: Seen, each: Direction) -> "_Clean":
        intervals = disturbed(seen, each)
        due = each.sent.due_s
        clean = ~within(due, intervals)
        ends = np.sort(np.concatenate([intervals.ravel(), each.sent.pauses[:, 1]]))
        delay = np.full(len(due), np.nan)
        delay[~each.lost] = each.delays_s
        return cls(
            lost=each.lost[clean],
            piece=np.searchsorted(ends, due, side="right")[clean],
            due_s=due[clean],
            delay_s=delay[clean],
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

    def growth(self) -> tuple[float, float, float]:
        """Returns by how much the delay grows in the clean time, in seconds a second: on average,
        in the median slot, and in the upper quarter of the slots. A queue that fills makes all of
        them grow, an unseen absence the first, one that fills late the last."""
        slopes: list[float] = []
        starts = np.flatnonzero(np.diff(self.piece, prepend=-1))
        size = max(10, len(self.lost) // (2 * SLOTS))
        for begin, end in zip(starts, np.append(starts[1:], len(self.piece)), strict=True):
            count = (end - begin) // size
            if count < 2:
                continue
            slots = self.delay_s[begin : begin + count * size].reshape(count, size)
            took = (self.due_s[begin + count * size - 1] - self.due_s[begin]) / count
            slopes += (np.diff(slots.min(axis=1)) / took).tolist()
        if len(slopes) < 3:
            return 0.0, 0.0, 0.0
        found = np.mean(slopes), *np.quantile(slopes, [1 / 2, 3 / 4])
        mean, median, upper = (max(0.0, float(each)) for each in found)
        return mean, median, upper


def judged(seen: Seen, above_fps: int) -> Judged:
    """Returns what a trial shows; the counted rate must exceed what has passed already."""
    parts = [_Clean.of(seen, each) for each in seen.directions]
    clean, lost = (
        sum(int(n) for n in ns)
        for ns in ([len(p.lost) for p in parts], [p.lost.sum() for p in parts])
    )
    excused = sum(part.excused for part in parts)
    if lost:
        full = np.concatenate([part.full() for part in parts if part.lost.any()])
        return Judged(
            verdict=Verdict.FAIL,
            counted_fps=seen.rate_fps,
            spread=is_spread(full, clean),
            full=full,
            lost_share=float(full.mean()) if len(full) else 0.0,
            clean=clean,
            excused=excused,
            offered=seen.offered,
        )
    if clean < LEAST_CLEAN * seen.offered:
        return Judged(
            verdict=Verdict.INVALID, counted_fps=seen.rate_fps, clean=clean, excused=excused
        )
    return _of_rate(seen, parts, above_fps, clean, excused)


def pooled(failures: list[Judged]) -> Judged:
    """Returns what failed trials at one rate show together."""
    last = failures[-1]
    if last.spread or len(failures) == 1:
        return last
    full = np.concatenate([each.full for each in failures])
    share = float(full.mean()) if len(full) else 0.0
    return replace(last, full=full, lost_share=share, spread=is_spread(full, last.clean))


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


def _of_rate(seen: Seen, parts: list[_Clean], above_fps: int, clean: int, excused: int) -> Judged:
    """Judges a trial without a loss that counts, by pauses and by delays that grow."""
    rates, own, surely, ports, full = [], [], [], [], []
    for part, each in zip(parts, seen.directions, strict=True):
        took = len(each.lost) / seen.rate_fps
        growth = part.growth()
        held, held_surely = (each * took if each * took > 1e-4 else 0.0 for each in growth[:2])
        full.append(seen.rate_fps / (1 + growth[2]))
        paused = float(np.diff(each.sent.pauses, axis=1).sum())
        late = float(each.sent.left_s[-1] - each.sent.due_s[-1])
        paused += late if late > 1e-4 else 0.0
        ports.append(each.sent.refused)
        of_port = paused if each.sent.refused else 0.0
        rates.append(int(seen.rate_fps * took / (took + paused + held)))
        own.append(int(seen.rate_fps * took / (took + held + of_port)))
        surely.append(int(seen.rate_fps * took / (took + held_surely + of_port)))
    counted, without_noise = min(rates), min(own)
    if counted > above_fps:
        verdict = Verdict.PASS
    else:
        verdict = Verdict.FAIL if without_noise <= above_fps else Verdict.INVALID
    fails = verdict is Verdict.FAIL
    return Judged(
        verdict=verdict,
        counted_fps=seen.rate_fps if fails else counted,
        spread=fails and min(surely) <= above_fps,
        lost_share=1 - min(without_noise, *full) / seen.rate_fps if fails else 0.0,
        offered=seen.offered,
        clean=clean,
        excused=excused,
        by_port=any(ports),
    )
