"""The fake engine: a tester at a gateway whose truth is known, as arithmetic; spec in, result out.

`FakeEngine` runs trials in this process. `fake_program` speaks the engine's protocol with it, and
starts with the standard library alone: whatever is Natxy's is imported where a test runs it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from natxy.dut.base import Dut
    from natxy.model.event import Hello
    from natxy.model.reason import Reason
    from natxy.model.stream_counters import PauseReason
    from natxy.model.traffic import TrafficPlan
    from natxy.model.trial_result import TrialResult
    from natxy.model.trial_spec import Kind, Phase, Stream, TrialSpec
    from natxy.tester.tester import OnProgress
    from natxy.trial.observer import Observer
    from natxy.trial.session import Session
    from tests.unit.stateful_gateway import StatefulGateway

Json = dict[str, Any]
Lose = Callable[["Stream"], Sequence[int]]

NO_LIMIT = 10**12
FIRST_DELAY_NS = 5.0  # of frames that create connections beside others
SIDES = ("left", "right")
# All members of each event, with values that say nothing.
with open(os.path.dirname(__file__) + "/../../schemas/examples/events.json") as file:
    EVENTS: Json = json.load(file)
RESULT: Json = EVENTS["result"]["result"]
STREAM: Json = {**RESULT["streams"][0], "tags": None, "losses": None, "connections": None}
KIND: Json = {**STREAM["kinds"]["foreground"], "hop_limit": 63, "ipdv": None}
PORT: Json = {**RESULT["ports"][0], "clock_error_ns": None, "icmp_errors": []}
LATE = {"code": "left_late", "where": "forward", "facts": {"late_ns": 2e6, "limit_ns": 1e6}}


def nothing(stream: Stream) -> Sequence[int]:
    del stream
    return ()


def rate_of(stream: Stream) -> int:
    return stream.segments[0].rate_fps


def frames_in(stream: Stream) -> int:
    return sum(segment.frames for segment in stream.segments)


def first_above(limit_fps: int) -> Lose:
    """Returns the gateway that loses the first frame at each rate above this one."""
    return lambda stream: (0,) if rate_of(stream) > limit_fps else ()


def beyond(capacity_fps: float, stream: Stream) -> Sequence[int]:
    """Returns the frames that are more than the capacity: as the queue is full, at all moments."""
    import numpy as np

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
            return start_ns + in_burst * 1e9 / (segment.burst_rate_fps or segment.rate_fps)
        number -= segment.frames
        start_ns += segment.frames * 1e9 / segment.rate_fps
    return start_ns


def is_foreground(stream: Stream, number: int) -> bool:
    mix = stream.mix
    if mix.even:
        place = number * mix.m % mix.n
        return mix.m > 0 and (place == 0 or place > mix.n - mix.m)
    return number % mix.n < mix.m


def distribution(count: int, lowest: float = 1.0, highest: float = 1.0) -> Json:
    names = ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns")
    middle = dict.fromkeys(names, (lowest + highest) / 2)
    ends = [[lowest, lowest, count - 1], [highest, highest, 1]]
    buckets = ends if lowest < highest and count > 1 else [[lowest, lowest, count]] * (count > 0)
    return {"count": count, "min_ns": lowest, "max_ns": highest, "buckets": buckets, **middle}


class Passage(NamedTuple):
    """What became of the frames of a stream: how many of each kind were sent and came."""

    foreground: tuple[int, int] | None
    background: tuple[int, int] | None
    lost: Sequence[int]  # their numbers, in ascending order
    wrong: int = 0  # of the foreground: misdelivered
    connections: Json | None = None


@dataclass(kw_only=True)
class FakeEngine:
    """A tester and its gateway, which has no connections unless `gateway` is given."""

    gateway: StatefulGateway | None = None
    lose: Lose = nothing  # a gateway without connections, these numbers
    invalid: Callable[[TrialSpec], Reason | Json | None] = lambda _: None  # why a trial is
    too_slow: bool = True  # where a trial is invalid: a drop counter moved
    limit_fps: int = NO_LIMIT  # above it the tester is too slow
    excess_ns: float = 0.0  # by which it sends too slowly
    paused_ns: Callable[[Stream], float] = lambda _: 0.0  # by the sender, which takes longer then
    paused_by: PauseReason = "core"
    members: Callable[[Stream], Json] = lambda _: {}  # of a stream's result, in place of others
    counters: Callable[[Stream], Json] = lambda _: {}  # of a kind, in place of others
    delays_ns: Callable[[Stream], tuple[float, float]] = lambda _: (1.0, 1.0)  # all, and the last
    misdelivers: int = 0
    all_wrong_by: str = ""  # the check that every frame fails; empty: none does
    icmp_errors: tuple[Json, ...] = ()  # that come to the left port in each trial
    link_mbps: int = 0
    watches: bool = True  # the gateway
    away_ns: Callable[[Phase], float] = lambda _: 0.0  # of the gateway, at once
    away_from_ns: int = 0
    lost_while_away: Callable[[Phase], int] = lambda _: 0  # frames, by a gateway with connections
    round_trip_ns: Callable[[TrialSpec], float] = lambda _: 0.0  # to the gateway
    nearest_ns: Callable[[TrialSpec], float] = lambda _: 50.0  # the shortest that is known
    during: Callable[[], None] = lambda: None  # called while each trial "runs"
    specs: list[TrialSpec] = field(default_factory=list)

    @property
    def dut(self) -> Dut:
        """The gateway of sessions for which none is given."""
        from natxy.dut.none import NoDut
        from tests.unit.stateful_gateway import StatefulDut

        return NoDut() if self.gateway is None else StatefulDut(gateway=self.gateway)

    def session(
        self, traffic: TrafficPlan, dut: Dut | None = None, observer: Observer | None = None
    ) -> Session:
        from natxy.trial.observer import Observer
        from natxy.trial.session import Session

        gateway, told = dut or self.dut, observer or Observer()
        return Session(engine=self, traffic=traffic, dut=gateway, observer=told)

    @property
    def hello(self) -> Hello:
        from natxy.model.event import Hello

        return Hello.model_validate_json(json.dumps(self.greeting()))

    @property
    def trials(self) -> int:
        return len(self.specs)

    @property
    def rates_fps(self) -> list[int]:
        return [rate_of(spec.phases[0].streams[0]) for spec in self.specs]

    def settle(self, seconds: float) -> None:
        """Trials of a fake need no pause."""

    def cancel(self) -> None:
        """They have ended."""

    def run(self, spec: TrialSpec, on_progress: OnProgress = lambda _: None) -> TrialResult:
        from natxy.model.event import Progress
        from natxy.model.trial_result import TrialResult

        self.specs.append(spec)
        sending = {**EVENTS["progress"], "stage": "sending", "duration_ns": 10**9}
        on_progress(Progress.model_validate(sending))
        self.during()
        line = json.dumps(self.result(spec), default=lambda reason: reason.model_dump(mode="json"))
        return TrialResult.model_validate_json(line)

    def port_at(self, side: str) -> Json:
        return {
            **EVENTS["hello"]["ports"][0],
            "side": side,
            "device": "fake",
            "driver": "fake",
            "mac": "02:00:00:00:00:01",
            "link_speed_mbps": self.link_mbps,
        }

    def greeting(self) -> Json:
        words = ("engine_version", "dpdk_version", "variant", "cpu_model", "kernel")
        return {
            **EVENTS["hello"],
            **dict.fromkeys(words, "none"),
            "protocol": 1,
            "tsc_hz": 10**9,
            "tsc_invariant": True,
            "realtime_allowed": True,
            "main_cpus": [0],
            "ports": [self.port_at(side) for side in SIDES],
        }

    def result(self, spec: TrialSpec) -> Json:
        rate_fps = max(rate_of(stream) for each in spec.phases for stream in each.streams)
        too_fast = rate_fps > self.limit_fps
        reason = LATE if too_fast else self.invalid(spec)
        missed = too_fast or (reason is not None and self.too_slow)
        streams: list[Json] = []
        phases = []
        for phase in spec.phases:
            phases.append(phase)
            streams += [self.stream(phase, stream, spec) for stream in phase.streams]
            if self.gateway and self.gateway.has_ended(phase, spec, streams[-1]):
                break
        return {
            **RESULT,
            "version": 3,
            "seed": spec.seed,
            "nonce": spec.nonce,
            "valid": not reason,
            "invalid_reasons": [reason] if reason else [],
            "preparation_ns": 1e6,
            "duration_ns": 1e6,
            "delay_definition": "none",
            "delay_clock": "tsc",
            "streams": streams,
            "ports": [self.port(side, missed=missed) for side in SIDES],
            "watched": [self.watch(phase, spec) for phase in phases if self.watches],
            "workers": [],
            "faults": [],
            **(self.gateway.of_trial(spec) if self.gateway else {"connections": None}),
        }

    def port(self, side: str, *, missed: bool) -> Json:
        icmp_errors = self.icmp_errors if side == "left" else ()
        return {**PORT, "side": side, "rx_missed": int(missed), "icmp_errors": icmp_errors}

    def watch(self, phase: Phase, spec: TrialSpec) -> Json:
        away_ns, begin = self.away_ns(phase), self.away_from_ns
        return {
            **RESULT["watched"][0],
            "phase": phase.name,
            "cpu": 1,
            "period_ns": 1e5,
            "busy_samples": None,
            "absences": int(away_ns > 0),
            "away_ns": away_ns,
            "longest_away_ns": away_ns,
            "away_at": [(begin, begin + int(away_ns))] if away_ns else [],
            "round_trip_ns": self.round_trip_ns(spec),
            "nearest_ns": self.nearest_ns(spec),
        }

    def passage(self, phase: Phase, stream: Stream) -> Passage:
        if self.gateway:
            return self.gateway.forward(phase, stream, self.lost_while_away(phase))
        lost, frames = sorted(self.lose(stream)), frames_in(stream)
        ours = [is_foreground(stream, number) for number in range(stream.mix.n)]
        sent = frames // len(ours) * sum(ours) + sum(ours[: frames % len(ours)])
        lost_ours = sum(ours[number % len(ours)] for number in lost) if sent < frames else len(lost)
        wrong = sent if self.all_wrong_by else self.misdelivers
        beside = frames - sent
        return Passage(
            foreground=(sent, sent - lost_ours - wrong) if stream.foreground else None,
            background=(beside, beside - len(lost) + lost_ours) if stream.background else None,
            lost=lost,
            wrong=wrong,
        )

    def stream(self, phase: Phase, stream: Stream, spec: TrialSpec) -> Json:
        found = self.passage(phase, stream)
        frames = sum(each[0] for each in (found.foreground, found.background) if each)
        paused_ns = self.paused_ns(stream)
        runs = runs_of(found.lost)
        return {
            **STREAM,
            "phase": phase.name,
            "direction": stream.direction,
            "due": frames,
            "senders": 1,
            "largest_burst": 1,
            "pauses": {
                "count": int(paused_ns > 0),
                "total_ns": paused_ns,
                "longest_ns": paused_ns,
                "at": [(0, int(paused_ns), "port")] * (self.paused_by == "port"),
            },
            "sending_ns": due_ns(stream, max(0, frames - 1)) + self.excess_ns + paused_ns,
            "lateness": distribution(frames),
            "send_call": distribution(frames),
            "kinds": {
                "foreground": self.kind(stream, "foreground", found, spec),
                "background": self.kind(stream, "background", found, spec),
            },
            "tags": tags(spec.recording.tags, frames),
            "losses": losses(stream, runs) if runs else None,
            "lost_runs": [(first, length, length) for first, length in runs],
            "silence": silence(stream, runs, frames),
            "connections": found.connections,
            **self.members(stream),
        }

    def kind(self, stream: Stream, kind: Kind, found: Passage, spec: TrialSpec) -> Json | None:
        frames = getattr(found, kind)
        if frames is None:
            return None
        sent, received = frames
        wrong = found.wrong if kind == "foreground" else 0
        creates = self.gateway is not None and kind == "background"
        delays_ns = (FIRST_DELAY_NS, FIRST_DELAY_NS) if creates else self.delays_ns(stream)
        misdelivered = {self.all_wrong_by or "address": wrong, "total": wrong}
        variation = {"undefined": 1, "distribution": distribution(received - 1, -500.0, 700.0)}
        return {
            **KIND,
            "sent": sent,
            "received": received,
            "lost": sent - received,
            "misdelivered": {**KIND["misdelivered"], **misdelivered},
            "delay": distribution(received, *delays_ns),
            "ipdv": variation if spec.recording.ipdv else None,
            **self.counters(stream),
        }


def runs_of(lost: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the first number and the length of each run."""
    if not lost:
        return []
    ends = [at for at, (one, other) in enumerate(pairwise(lost), 1) if other > one + 1]
    return [(lost[begin], end - begin) for begin, end in pairwise([0, *ends, len(lost)])]


def losses(stream: Stream, runs: Sequence[tuple[int, int]]) -> Json:
    first, length = max(runs, key=lambda run: run[1])
    last = sum(runs[-1]) - 1
    return {
        "frames": sum(length for _, length in runs),
        "first_number": runs[0][0],
        "last_number": last,
        "first_due_ns": due_ns(stream, runs[0][0]),
        "last_due_ns": due_ns(stream, last),
        "gaps": len(runs),
        "longest_run": length,
        "longest_run_from_ns": due_ns(stream, first),
        "longest_run_until_ns": due_ns(stream, first + length),
    }


def silence(stream: Stream, runs: Sequence[tuple[int, int]], frames: int) -> Json:
    """Returns the longest time without an arrival; frames take no time."""
    end = runs[-1][0] if runs and sum(runs[-1]) >= frames else frames  # of what came
    found = [(0.0, 0.0)]
    for first, length in runs:
        if first < end:
            before_ns = due_ns(stream, first - 1) if first else 0.0
            found.append((before_ns, due_ns(stream, first + length)))
    begin = 0
    for segment in stream.segments:
        last = min(begin + segment.frames, end) - 1
        first = last - (last - begin) % segment.burst_frames  # of the last burst that came
        if 0 < first <= last:
            found.append((due_ns(stream, first - 1), due_ns(stream, first)))
        begin += segment.frames
    from_ns, until_ns = max(found, key=lambda gap: gap[1] - gap[0])
    return {"from_ns": from_ns, "until_ns": until_ns}


def tags(asked: Any, frames: int) -> Json | None:
    """Returns tags of which the last one took 90 us, and the others 1 us."""
    if asked is None:
        return None
    count = min(asked.count, frames)
    delays = [1000] * (count - 1) + [90_000]
    arrived = [[number, delay, 0] for number, delay in enumerate(delays)]
    return {"sent": count, "received": count, "lost": 0, "arrived": arrived}
