"""Names what losses look like that the rate does not explain (docs/losses-and-absences.md)."""

from collections.abc import Mapping, Sequence
from statistics import median

from natxy.model.verdict import Pattern
from natxy.verdict.losses import Losses

HOLE = 4  # frames in a row, all of which are lost: by chance, single ones are
MOST = 1 / 2  # of the lost frames


def pattern_of(failures: Mapping[int, Sequence[Losses]]) -> Pattern | None:
    """Returns the pattern of the losses that count, by the rates of the trials; None: neither."""
    holes_ns: list[float] = []
    lost = in_holes = single = clean = 0
    clean_s = 0.0
    for rate_fps, trials in failures.items():
        for line in (line for trial in trials for line in trial.lines.values()):
            clean += line.clean
            clean_s += line.clean / rate_fps
            for _, span, of_run in line.counted_runs():
                lost += of_run
                if span == of_run >= HOLE:
                    in_holes += of_run
                    holes_ns.append(span * 1e9 / rate_fps)
                elif span < HOLE:
                    single += of_run
    if lost and in_holes >= MOST * lost:
        return Pattern(
            name="pauses",
            longest_ns=max(holes_ns),
            typical_ns=median(holes_ns),
            per_s=len(holes_ns) / clean_s,
        )
    if lost and single >= MOST * lost:
        return Pattern(name="chance", frames=clean / lost)
    return None
