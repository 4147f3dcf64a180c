"""A journal like that of a demo, from times that are drawn instead of measured.

    .venv/bin/python -m tests.unit.demo_journal build/journal.jsonl.gz 672

The times are drawn from log-normal distributions, and sorted into the engine's own buckets
(engine/run/histogram.hpp, delay.hpp). 8 to 14 frames share a delay, as frames of one
poll do.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from natxy.campaign.journal import Journal
from natxy.model.distribution import Distribution
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from tests.unit.results import result_of, stream_of

TICK_HZ = 2_596_138_196  # a processor's
DURATION_S = 0.2
HIGHEST_FPS = (335_000, 325_000, 74_000, 235_000)  # of the demo's four gateways
STATEFUL = 3  # the last one, whose trials have three phases
SEARCH = 17  # trials of a search
LINEAR = 1 << 16  # ticks below the base that have a bucket each


def ns(ticks: int) -> float:
    """Converts ticks as the engine does (engine/run/clock.hpp)."""
    return ticks * 1e9 / TICK_HZ


def log_linear(ticks: int, bits: int) -> tuple[int, int]:
    """The bounds of a value's bucket; 2^bits buckets an octave."""
    shift = max(0, ticks.bit_length() - (bits + 1))
    lower = ticks >> shift << shift
    return lower, lower + (1 << shift) - 1


def delay_bucket(ticks: int, base: int) -> tuple[int, int]:
    """Sorts a delay by its distance from the base, as the engine does."""
    if ticks < base:
        return ticks, ticks
    lower, upper = log_linear(ticks - base, 10)
    return base + lower, base + upper


def distribution(ticks: Sequence[int], buckets: Counter[tuple[int, int]]) -> Distribution:
    ranked = sorted(ticks)
    count = sum(buckets.values())
    at = {share: ns(ranked[int(share * (len(ranked) - 1))]) for share in (0.5, 0.9, 0.99, 0.999)}
    return Distribution(
        count=count,
        min_ns=ns(ranked[0]),
        max_ns=ns(ranked[-1]),
        mean_ns=ns(sum(ranked)) / len(ranked),
        p50_ns=at[0.5],
        p90_ns=at[0.9],
        p99_ns=at[0.99],
        p999_ns=at[0.999],
        buckets=tuple((ns(low), ns(high), times) for (low, high), times in sorted(buckets.items())),
    )


class Gateway:
    """Draws the trials of one gateway."""

    def __init__(self, number: int) -> None:
        self.draw = Random(number)
        self.highest_fps = HIGHEST_FPS[number]
        self.stateful = number == STATEFUL

    def trials(self) -> Iterator[TrialRecord]:
        """The trials of searches, one after another: up by four, then a bisection."""
        number = 0
        while True:
            low, high, rate = 0, 0, 1000
            for _ in range(SEARCH):
                number += 1
                passed = rate <= self.highest_fps * self.draw.uniform(0.97, 1.0)
                yield self.trial(number, rate, passed=passed)
                low, high = (rate, high) if passed else (low, rate)
                rate = (low + high) // 2 if high else rate * 4

    def trial(self, number: int, rate_fps: int, *, passed: bool) -> TrialRecord:
        test = [self.stream(rate_fps, way, passed=passed) for way in ("forward", "reverse")]
        early = [self.early(phase) for phase in ("establish", "sample")] if self.stateful else []
        whole = result_of(*early, *test, round_trip_ns=self.draw.uniform(50, 70), work_ns=1e4)
        if early:
            watched = [watch.model_copy(update={"phase": "establish"}) for watch in whole.watched]
            whole = whole.model_copy(update={"watched": (*watched, *whole.watched)})
        return TrialRecord(
            number=number,
            repetition=1,
            rate_fps=rate_fps,
            started=f"2026-11-23T08:{number // 60 % 60:02}:{number % 60:02}.793+00:00",
            verdict=Verdict.PASS if passed else Verdict.FAIL,
            invalid_reasons=(),
            result=whole.of_phase("test") if early else whole,
            phase_1=whole.stream_of("establish"),
            sample=whole.stream_of("sample"),
            spec=f"{self.draw.getrandbits(64):016x}",
        )

    def early(self, phase: str) -> StreamResult:
        return self.stream(10_000, "forward", passed=True).model_copy(update={"phase": phase})

    def stream(self, rate_fps: int, direction: Any, *, passed: bool) -> StreamResult:
        frames = max(1, int(rate_fps * DURATION_S))
        lost = 0 if passed else self.draw.randrange(1, frames // 20 + 2)
        stream = stream_of(sent=frames, missing=lost, direction=direction)
        counters = stream.kinds.foreground
        assert counters is not None
        delays = self.delays(frames - lost, 40_000 if passed else 400_000)
        kinds = {"foreground": counters.model_copy(update={"delay": delays})}
        return stream.model_copy(
            update={
                "lateness": self.times(frames, 400, 5),
                "send_call": self.times(frames, 600, 5),
                "poll_gap": self.times(frames, 900, 1),
                "step_gap": self.times(frames, 900, 1),
                "kinds": stream.kinds.model_copy(update=kinds),
                "low_delays": self.low_delays(frames),
                "lost_runs": self.lost_runs(frames, lost),
            }
        )

    def times(self, frames: int, median_ns: float, bits: int) -> Distribution:
        ticks = self.drawn(frames // 8 + 1, median_ns, sigma=0.8)
        return distribution(ticks, Counter(log_linear(each, bits) for each in ticks))

    def delays(self, frames: int, median_ns: float) -> Distribution:
        lots = [self.draw.randrange(8, 15) for _ in range(frames // 11 + 1)]
        ticks = self.drawn(len(lots), median_ns, sigma=0.4)
        buckets: Counter[tuple[int, int]] = Counter()
        for each, lot in zip(ticks, lots, strict=True):
            buckets[delay_bucket(each, ticks[0])] += lot
        return distribution(ticks, buckets)

    def lost_runs(self, frames: int, lost: int) -> tuple[tuple[int, int, int], ...]:
        """Most of them alone, as those of an overloaded gateway."""
        numbers = sorted(self.draw.sample(range(frames), lost))
        return tuple((each, 1, 1) for each in numbers)

    def low_delays(self, frames: int) -> tuple[tuple[int, int], ...]:
        """Of 320 stretches, as the engine has them (engine/run/delay.hpp)."""
        width = -(-frames // 320)
        lots = width // 11 + 1
        draws = ((at, self.drawn(lots, 40_000, sigma=0.4)) for at in range(0, frames, width))
        return tuple((at, round(ns(min(each)))) for at, each in draws)

    def drawn(self, count: int, median_ns: float, sigma: float) -> list[int]:
        median = median_ns * TICK_HZ / 1e9
        return [int(median * self.draw.lognormvariate(0, sigma)) for _ in range(count)]


def write(path: Path, count: int, gateways: Sequence[int] = (0, 1, 2, STATEFUL)) -> None:
    """Writes a journal of so many trials, of one gateway after another."""
    with Journal(path, {"tester": {"tsc_hz": TICK_HZ}}, replace=True) as journal:
        for number in gateways:
            for record in islice(Gateway(number).trials(), count // len(gateways)):
                journal.trial_ended(record)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
    print(f"{Path(sys.argv[1]).stat().st_size:,} octets")
