"""An engine in this process: which frames are lost is a function of what is to be sent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import numpy as np

from natxy.dut.base import Dut
from natxy.dut.none import NoDut
from natxy.model.event import Hello, PortInfo, Progress
from natxy.model.example import blank
from natxy.model.port_result import PortResult
from natxy.model.reason import Reason
from natxy.model.stream_counters import KindCounters, Misdelivered, PauseReason
from natxy.model.stream_result import StreamResult
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.model.trial_spec import VERSION, Stream, TrialSpec
from natxy.tester.tester import Engine, OnProgress, ignore_progress
from natxy.trial.observer import Observer
from natxy.trial.session import Session

Lose = Callable[[Stream], Sequence[int]]
DELAY = {
    **dict.fromkeys(("count", "min_ns", "max_ns", "mean_ns", "p50_ns", "p90_ns"), 1),
    **dict.fromkeys(("p99_ns", "p999_ns"), 1),
    "buckets": ((1.0, 1.0, 1),),
}


def nothing(stream: Stream) -> Sequence[int]:
    del stream
    return ()


def rate_of(stream: Stream) -> int:
    return stream.segments[0].rate_fps


def frames_in(stream: Stream) -> int:
    return sum(segment.frames for segment in stream.segments)


def beyond(capacity_fps: float, stream: Stream) -> Sequence[int]:
    """Returns the frames that are more than the capacity: as the queue is full, at all moments."""
    share = min(1.0, capacity_fps / rate_of(stream))
    passed = np.floor(np.arange(frames_in(stream) + 1) * share + 1e-9)
    lost: list[int] = np.flatnonzero(np.diff(passed) == 0).tolist()
    return lost


def due_ns(stream: Stream, number: int) -> float:
    """When a frame is due, since the phase's start."""
    start_ns = 0.0
    for segment in stream.segments:
        if number < segment.frames:
            in_burst = number % segment.burst_frames
            start_ns += (number - in_burst) * 1e9 / segment.rate_fps
            return start_ns + in_burst * 1e9 / segment.highest_rate_fps
        number -= segment.frames
        start_ns += segment.frames * 1e9 / segment.rate_fps
    return start_ns


class InProcess:
    """An engine in this process; `dut` is the gateway of its sessions, if none is given."""

    @property
    def dut(self) -> Dut:
        return NoDut()

    def session(
        self, traffic: TrafficPlan, dut: Dut | None = None, observer: Observer | None = None
    ) -> Session:
        return Session(
            engine=cast("Engine", self),
            traffic=traffic,
            dut=dut or self.dut,
            observer=observer or Observer(),
        )


@dataclass(kw_only=True)
class ScriptedEngine(InProcess):
    """`invalid` says what is wrong with a trial, `excess_ns` how much too slowly it sends."""

    lose: Lose = nothing
    invalid: Callable[[TrialSpec], Reason | None] = lambda _: None
    too_slow: bool = True  # where a trial is invalid: a drop counter moved
    excess_ns: float = 0.0
    paused_ns: Callable[[Stream], float] = lambda _: 0.0  # by the sender, which takes longer then
    paused_by: PauseReason = "core"
    lateness: Callable[[Stream], dict[str, Any]] = lambda _: {}  # members of the distribution
    misdelivers: int = 0
    without_udp_checksum: int = 0  # frames of each stream
    all_wrong_by: str = ""  # the check that every frame fails; empty: none does
    icmp_errors: tuple[dict[str, Any], ...] = ()  # that come to the left port in each trial
    link_mbps: int = 0
    longest_delay_ns: Callable[[Stream], float] = lambda _: 1.0
    delays: Callable[[Stream], dict[str, Any]] = lambda _: {}  # members of the distribution
    low_delays: Callable[[Stream], tuple[tuple[int, int], ...]] = lambda _: ()
    gaps: Callable[[Stream], dict[str, Any]] = lambda _: {}  # between polls, and between steps
    round_trip_ns: Callable[[TrialSpec], float] = lambda _: 0.0  # to the gateway
    nearest_ns: Callable[[TrialSpec], float] = lambda _: 50.0  # the shortest that is known
    watches: bool = True  # the gateway
    away_ns: Callable[[TrialSpec], float] = lambda _: 0.0  # of the gateway, at once
    away_from_ns: int = 0
    late_runs: tuple[tuple[int, int], ...] = ()
    during: Callable[[], None] = lambda: None  # called while each trial "runs"
    specs: list[TrialSpec] = field(default_factory=list)

    @property
    def hello(self) -> Hello:
        words = ("engine_version", "dpdk_version", "variant", "cpu_model", "kernel")
        return Hello.model_validate(
            blank(
                Hello,
                **dict.fromkeys(words, "none"),
                protocol=1,
                tsc_hz=1,
                tsc_invariant=True,
                realtime_allowed=True,
                main_cpus=(0,),
                ports=tuple(self._port(side) for side in ("left", "right")),
            )
        )

    def _port(self, side: str) -> dict[str, Any]:
        names = {"side": side, "device": "none", "driver": "none", "mac": "02:00:00:00:00:01"}
        return blank(PortInfo, **names, link_speed_mbps=self.link_mbps)

    @property
    def trials(self) -> int:
        return len(self.specs)

    def settle(self, seconds: float) -> None:
        """Trials of a fake need no pause."""

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        self.specs.append(spec)
        sending = blank(Progress, stage="sending", duration_ns=10**9)
        on_progress(Progress.model_validate(sending))
        self.during()
        reason = self.invalid(spec)
        return TrialResult.model_validate(
            blank(
                TrialResult,
                version=VERSION,
                seed=spec.seed,
                nonce=spec.nonce,
                valid=not reason,
                invalid_reasons=(reason,) if reason else (),
                delay_definition="none",
                delay_clock="none",
                streams=tuple(
                    self._stream(phase.name, stream)
                    for phase in spec.phases
                    for stream in phase.streams
                ),
                ports=self._ports(too_slow=bool(reason) and self.too_slow),
                watched=tuple(
                    self._watched(phase.name, spec) for phase in spec.phases if self.watches
                ),
            )
        )

    def _ports(self, *, too_slow: bool) -> tuple[dict[str, Any], ...]:
        """None at all where there is nothing to be told of one."""
        if not self.icmp_errors and not too_slow:
            return ()
        return (blank(PortResult, rx_missed=int(too_slow), icmp_errors=self.icmp_errors),)

    def _watched(self, phase: str, spec: TrialSpec) -> dict[str, Any]:
        away_ns, begin = self.away_ns(spec), self.away_from_ns
        return blank(
            WatchResult,
            phase=phase,
            cpu=1,
            period_ns=1e5,
            away_ns=away_ns,
            longest_away_ns=away_ns,
            away_at=((begin, begin + int(away_ns)),) if away_ns else (),
            round_trip_ns=self.round_trip_ns(spec),
            nearest_ns=self.nearest_ns(spec),
        )

    def _stream(self, phase: str, stream: Stream) -> dict[str, Any]:
        lost = sorted(self.lose(stream))
        frames = frames_in(stream)
        last_ns = due_ns(stream, frames - 1)
        return blank(
            StreamResult,
            phase=phase,
            direction=stream.direction,
            due=frames,
            largest_burst=1,
            pauses={
                "count": int(self.paused_ns(stream) > 0),
                "total_ns": self.paused_ns(stream),
                "longest_ns": self.paused_ns(stream),
                "at": ((0, int(self.paused_ns(stream)), "port"),) * (self.paused_by == "port"),
            },
            sending_ns=last_ns + self.excess_ns + self.paused_ns(stream),
            lateness=DELAY | self.lateness(stream),
            send_call=DELAY,
            kinds={"foreground": self._counters(stream, len(lost))},
            losses=_losses(stream, lost) if lost else None,
            lost_runs=_runs(lost),
            low_delays=self.low_delays(stream),
            late_runs=self.late_runs,
            silence=_silence(stream, set(lost)),
            **self.gaps(stream),
        )

    def _counters(self, stream: Stream, lost: int) -> dict[str, Any]:
        frames = frames_in(stream)
        misdelivered = frames if self.all_wrong_by else self.misdelivers
        wrong = {"total": misdelivered, self.all_wrong_by or "address": misdelivered}
        return blank(
            KindCounters,
            sent=frames,
            received=frames - lost - misdelivered,
            lost=lost,
            without_udp_checksum=self.without_udp_checksum,
            misdelivered=blank(Misdelivered, **wrong),
            hop_limit=63,
            delay={**DELAY, "max_ns": self.longest_delay_ns(stream)} | self.delays(stream),
        )


def _losses(stream: Stream, lost: Sequence[int]) -> dict[str, Any]:
    first, length = _longest_run(lost)
    return {
        "frames": len(lost),
        "first_number": lost[0],
        "last_number": lost[-1],
        "first_due_ns": due_ns(stream, lost[0]),
        "last_due_ns": due_ns(stream, lost[-1]),
        "gaps": 1 + sum(other > one + 1 for one, other in pairwise(lost)),
        "longest_run": length,
        "longest_run_from_ns": due_ns(stream, first),
        "longest_run_until_ns": due_ns(stream, first + length),
    }


def _runs(lost: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    if not lost:
        return ()
    numbers = np.asarray(lost)
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    edges: list[int] = [0, *breaks.tolist(), len(numbers)]
    return tuple((int(numbers[a]), b - a, b - a) for a, b in pairwise(edges))


def _longest_run(lost: Sequence[int]) -> tuple[int, int]:
    """Its first number and its length."""
    best = run = (lost[0], 1)
    for one, other in pairwise(lost):
        run = (run[0], run[1] + 1) if other == one + 1 else (other, 1)
        if run[1] > best[1]:
            best = run
    return best


def _silence(stream: Stream, lost: set[int]) -> dict[str, float]:
    """Frames take no time."""
    came_ns = np.insert(np.delete(_all_due_ns(stream), sorted(lost)), 0, 0.0)
    gaps_ns = np.diff(came_ns)
    if not len(gaps_ns):
        return {"from_ns": 0.0, "until_ns": 0.0}
    last = int(np.flatnonzero(gaps_ns == gaps_ns.max())[-1])
    return {"from_ns": float(came_ns[last]), "until_ns": float(came_ns[last + 1])}


def _all_due_ns(stream: Stream) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns `due_ns` of all frames; a call for each took a sixth of the time of such tests."""
    begin_ns, parts = 0.0, []
    for segment in stream.segments:
        numbers = np.arange(segment.frames)
        in_burst = numbers % segment.burst_frames
        begins_ns = begin_ns + (numbers - in_burst) * 1e9 / segment.rate_fps
        parts.append(begins_ns + in_burst * 1e9 / segment.highest_rate_fps)
        begin_ns += segment.frames * 1e9 / segment.rate_fps
    return np.concatenate(parts)
