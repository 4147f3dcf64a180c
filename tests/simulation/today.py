"""The verdict of a simulated trial by natxy/verdict as it stands."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from natxy.model.distribution import NOTHING
from natxy.model.stream_counters import Pauses
from natxy.model.testbed import read_testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import StreamResult, TrialResult, WorkerResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.away import away_in, excuse
from natxy.verdict.counted import Counting, counted
from natxy.verdict.pacing import is_too_slow
from tests.simulation.trial import Direction, Seen
from tests.unit.conftest import NAT64
from tests.unit.results import result_of, stream_of


def judged(
    seen: Seen, above_fps: int, spec: TrialSpec, *, takes_off_held: bool = True
) -> tuple[Verdict, int, bool]:
    """Returns the verdict, the counted rate, and whether the problem grows with the rate."""
    result = _result(seen)
    if seen.lost:
        excused = excuse(spec, result, None) is not None
        return (Verdict.INVALID if excused else Verdict.FAIL), seen.rate_fps, False
    counting = Counting(above_fps=above_fps, short=True, takes_off_held=takes_off_held)
    found = counted(counting, seen.rate_fps, result, away_in(result, "test", None))
    return found.verdict, found.fps, found.verdict is Verdict.INVALID and is_too_slow(result)


def _result(seen: Seen) -> TrialResult:
    names = ("forward", "reverse")
    streams = [
        _stream(each, seen.rate_fps, name)
        for each, name in zip(seen.directions, names, strict=False)
    ]
    last_s = max(
        float(each.arrived_s[-1]) if len(each.arrived_s) else 0.0 for each in seen.directions
    )
    result = result_of(*streams, gap_s=max((e - b for b, e in seen.tester_away), default=0.0))
    (watch,) = result.watched
    away = np.clip(seen.away, 0, last_s) if seen.away is not None else np.empty((0, 2))
    lengths = away[:, 1] - away[:, 0]
    watch = watch.model_copy(
        update={
            "away_ns": float(lengths.sum()) * 1e9,
            "longest_away_ns": float(lengths.max(initial=0.0)) * 1e9,
        }
    )
    off_s = float(np.diff(np.clip(seen.tester_away, 0, last_s), axis=1).sum())
    worker = WorkerResult(
        cpu=0,
        tasks=(),
        voluntary_switches=0,
        involuntary_switches=0,
        worst_loop_gap_ns=0.0,
        cpu_ns=0.0,
        off_core_ns=off_s * 1e9,
    )
    watched = (watch,) if seen.away is not None else ()
    return result.model_copy(update={"watched": watched, "workers": (worker,)})


def _stream(each: Direction, rate_fps: int, name: str) -> StreamResult:
    sent, frames = each.sent, len(each.lost)
    paused = np.diff(sent.pauses, axis=1)
    stream = stream_of(sent=frames, missing=int(each.lost.sum()), direction=name)  # type: ignore[arg-type]
    late_ns = (sent.left_s - sent.due_s) * 1e9
    edges = np.concatenate([[0.0], 1000 * 1.03 ** np.arange(400)])
    counts, _ = np.histogram(late_ns, edges)
    used = np.flatnonzero(counts)
    buckets = tuple((edges[i], edges[i + 1], int(counts[i])) for i in used)
    lateness = NOTHING.model_copy(
        update={"count": frames, "max_ns": float(late_ns.max()), "buckets": buckets}
    )
    held_s, excess_s = _held_back(each)
    return stream.model_copy(
        update={
            "pauses": Pauses(
                count=len(paused),
                total_ns=float(paused.sum()) * 1e9,
                longest_ns=float(paused.max(initial=0.0)) * 1e9,
            ),
            "sending_ns": float(sent.left_s[-1] - sent.left_s[0]) * 1e9,
            "lateness": lateness,
            "largest_burst": min(128, int(late_ns.max() * rate_fps / 1e9) + 1),
            "held_back_ns": held_s * 1e9,
            "last_delay_excess_ns": excess_s * 1e9,
        }
    )


def _held_back(each: Direction) -> tuple[float, float]:
    delays = each.delays_s
    if len(delays) < 10:
        return 0.0, 0.0
    tenth = len(delays) // 10
    shortest = float(delays.min())
    grown = float(delays[-tenth:].min() - delays[:tenth].min())
    longer = float(each.arrived_s.max() - each.sent.left_s[-1]) - shortest
    excess = max(0.0, longer)
    return min(excess, max(0.0, grown) * 10 / 9), excess


@cache
def _traffic() -> TrafficPlan:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "testbed.toml"
        path.write_text(NAT64)
        testbed, source = read_testbed(path)
    return TrafficPlan(testbed=testbed, source=source)


def spec_for(rate_fps: int, seconds: float, ways: int) -> TrialSpec:
    timing = Timing(duration_s=Fraction(seconds).limit_denominator(1000), drain_s=Fraction(1, 20))
    spec = TrialPlan(traffic=_traffic(), timing=timing).spec(load=rate_fps, seed=1, nonce=1)
    (phase,) = spec.phases
    sent = phase.model_copy(update={"streams": phase.streams[:ways]})
    return spec.model_copy(update={"phases": (sent,)})
