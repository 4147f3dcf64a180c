"""A stateful gateway, its table and a tester at it, in this process: the gateway is arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from natxy.dut.base import Deletion, TableParameters
from natxy.dut.none import NoDut
from natxy.errors import DutError
from natxy.model.example import blank
from natxy.model.port_result import PortResult
from natxy.model.stream_counters import ConnectionCounters, KindCounters, Misdelivered
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.model.trial_spec import VERSION, Phase, Stream, TrialSpec
from natxy.tester.tester import OnProgress, ignore_progress
from tests.unit.reasons import LATE
from tests.unit.scripted_engine import DELAY, InProcess, ScriptedEngine, rate_of

NO_LIMIT = 10**12
MISSED = blank(PortResult, rx_missed=1)  # a port of a tester that is too slow


@dataclass(kw_only=True)
class StatefulGateway:
    """Takes `new_cps` connections a second, `entries` in all, and so many frames a second."""

    new_cps: int = NO_LIMIT
    entries: int = NO_LIMIT
    frames_fps: int = NO_LIMIT  # of phase 2, a direction
    absent: int = 0  # connections that it forgets after phase 1
    drawn_again: int = 0  # frames of phase 1 whose connection was there before
    collided: int = 0
    changed: int = 0
    sample_wrong: int = 0  # replies of the sample between the phases
    handshake_wrong: int = 0  # third segments of TCP handshakes
    flushes: bool = False  # drops all between the phases
    counts_replies: bool = False  # an entry each that finds no connection, as the kernel has it
    stored: int = 0

    def makes(self, asked: int, rate_cps: int) -> int:
        return min(asked, asked * self.new_cps // max(rate_cps, self.new_cps), self.entries)

    def passes(self, sent: int, rate_fps: int) -> int:
        return sent * self.frames_fps // max(rate_fps, self.frames_fps)


@dataclass(kw_only=True)
class StatefulEngine(InProcess):
    gateway: StatefulGateway
    invalid_above_fps: int = NO_LIMIT
    away: Callable[[TrialSpec], bool] = lambda _: False  # INVALID, and not for its rate
    paused_ns: Callable[[Stream], float] = lambda _: 0.0  # by the sender
    # Frames of a phase that are lost while the gateway is away, and seconds for which it was.
    lost_while_away: Callable[[Phase], int] = lambda _: 0
    away_s: Callable[[Phase], float] = lambda _: 0.0
    link_mbps: int = 0
    specs: list[TrialSpec] = field(default_factory=list)

    @property
    def dut(self) -> "StatefulDut":
        return StatefulDut(gateway=self.gateway)

    @property
    def hello(self) -> Any:
        return ScriptedEngine(link_mbps=self.link_mbps).hello

    @property
    def trials(self) -> int:
        return len(self.specs)

    def settle(self, seconds: float) -> None:
        """Trials of a fake need no pause."""

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        self.specs.append(spec)
        streams: list[dict[str, Any]] = []
        incomplete = False
        missing = 0
        making = [phase for phase in spec.phases if phase.name in ("establish", "make again")]
        for phase in spec.phases:
            streams += [self._stream(phase, stream, missing) for stream in phase.streams]
            incomplete = phase in making and self.gateway.stored < phase.minimum_connections
            if phase is making[-1] or incomplete:
                self._between_the_phases()
            if incomplete:
                break
            asked = streams[-1]["kinds"]["foreground"]
            missing = asked["lost"] if asked else 0
            if phase.name == "validate":
                incomplete = asked["received"] < phase.minimum_connections
                is_tcp = any(phase.name == "acknowledge" for phase in spec.phases)
                if incomplete or not (missing or is_tcp):
                    break
        highest = max(rate_of(stream) for phase in spec.phases for stream in phase.streams)
        slow = highest > self.invalid_above_fps
        result = self._result(
            spec, streams, valid=not (slow or self.away(spec)), incomplete=incomplete
        )
        ports = (PortResult.model_validate(MISSED),) if slow else ()
        return result.model_copy(update={"ports": ports, "watched": self._watched(spec)})

    def _watched(self, spec: TrialSpec) -> tuple[WatchResult, ...]:
        return tuple(
            WatchResult(
                phase=phase.name,
                cpu=1,
                period_ns=100_000.0,
                samples=1000,
                absences=1,
                away_ns=self.away_s(phase) * 1e9,
                longest_away_ns=self.away_s(phase) * 1e9,
                away_at=((0, int(self.away_s(phase) * 1e9)),),
            )
            for phase in spec.phases
            if self.away_s(phase)
        )

    def _between_the_phases(self) -> None:
        self._made = self.gateway.stored
        self.gateway.stored -= self.gateway.absent
        if self.gateway.flushes and not self.gateway.counts_replies:
            self.gateway.stored = 0

    def _stream(self, phase: Phase, stream: Stream, missing: int) -> dict[str, Any]:
        gateway, rate = self.gateway, rate_of(stream)
        sent, wrong, changed = stream.frames_of("foreground"), 0, 0
        gone = self.lost_while_away(phase)
        if phase.name == "establish":
            gateway.stored = came = max(0, gateway.makes(sent, rate) - gone)
        elif phase.name == "make again":
            sent = min(sent, missing)
            came = max(0, gateway.makes(gateway.stored + sent, rate) - gateway.stored - gone)
            gateway.stored += came
        elif phase.name == "ask again":
            sent = min(sent, missing)
            came = sent - min(sent, gateway.absent + gateway.collided)
            wrong = min(sent, gateway.collided)
        else:
            wrong = gateway.collided if stream.direction == "reverse" else 0
            wrong += gateway.sample_wrong if phase.name == "sample" else 0
            wrong += gateway.handshake_wrong if phase.name == "acknowledge" else 0
            changed = gateway.changed if stream.direction == "forward" else 0
            lost = sent if gateway.flushes else gateway.absent + wrong
            came = gateway.passes(sent, rate) - lost - gone
        beside = self._created_beside(stream)
        again = min(came, gateway.drawn_again) if phase.name == "establish" else 0
        new = came - again if phase.name in ("establish", "make again") else 0
        return blank(
            StreamResult,
            phase=phase.name,
            direction=stream.direction,
            due=sent + (beside["sent"] if beside else 0),
            largest_burst=1,
            pauses={
                "count": int(self.paused_ns(stream) > 0),
                "total_ns": self.paused_ns(stream),
                "longest_ns": self.paused_ns(stream),
            },
            sending_ns=max(0, (stream.frames if beside else sent) - 1) * 1e9 / rate
            + self.paused_ns(stream),
            **dict.fromkeys(("lateness", "send_call"), DELAY),
            kinds={
                "foreground": _counters(sent, came, wrong) if stream.foreground else None,
                "background": beside,
            },
            losses=self._losses(sent, came) if came < sent else None,
            lost_runs=_lost_runs(sent, sent - came, min(gone, sent - came)),
            connections=blank(
                ConnectionCounters,
                new=new,
                known=came - new - changed,
                changed=changed,
                wrong=wrong,
                collided=wrong,
                ending_new_percent=100.0 if new else 0.0,
            ),
        )

    def _created_beside(self, stream: Stream) -> dict[str, Any] | None:
        """Returns the counters of frames that create connections while others are used."""
        if not stream.creates_beside:
            return None
        sent, frames = stream.frames_of("background"), stream.frames
        new_cps = sent * rate_of(stream) // frames
        return _counters(sent, self.gateway.makes(sent, new_cps), 0, FIRST_DELAY_NS)

    def _losses(self, sent: int, came: int) -> dict[str, Any]:
        """Of a gateway that is too slow for them: the last ones, when its queue is full."""
        first = 0 if self.gateway.flushes or self.gateway.absent else came
        lost = sent - came
        times = ("first_due_ns", "last_due_ns", "longest_run_from_ns", "longest_run_until_ns")
        return {
            "frames": lost,
            "first_number": first,
            "last_number": first + lost - 1,
            "gaps": 1,
            "longest_run": lost,
            **dict.fromkeys(times, float(first)),
        }

    def _result(
        self, spec: TrialSpec, streams: list[dict[str, Any]], *, valid: bool, incomplete: bool
    ) -> TrialResult:
        asked = spec.phases[0].streams[0].frames_of("foreground")
        return TrialResult.model_validate(
            blank(
                TrialResult,
                version=VERSION,
                seed=spec.seed,
                nonce=spec.nonce,
                valid=valid,
                invalid_reasons=() if valid else (LATE,),
                incomplete=incomplete,
                connections={
                    "asked": asked,
                    "stored": self._made,
                    "bytes": 8 * asked,
                    "page_bytes": 4096,
                },
                delay_definition="none",
                delay_clock="none",
                streams=tuple(streams),
            )
        )


def _lost_runs(sent: int, lost: int, while_away: int) -> tuple[tuple[int, int, int], ...]:
    """Losses at the start, while the gateway is away, and then as its queue is full."""
    runs = [(0, while_away)] if while_away else []
    after = lost - while_away
    for place in range(after):
        first = while_away + (place * 2 + 1) * (sent - while_away) // (2 * after)
        before, size = runs[-1] if runs else (-1, 0)
        if runs and before + size >= first:
            runs[-1] = (before, size + 1)
        else:
            runs.append((first, 1))
    return tuple((first, size, size) for first, size in runs)


FIRST_DELAY_NS = 5.0  # of frames that create connections beside others, whose delay is 1 ns


def _counters(sent: int, came: int, wrong: int, delay_ns: float = 1) -> dict[str, Any]:
    delay = dict.fromkeys(DELAY, delay_ns)
    return blank(
        KindCounters,
        sent=sent,
        received=came,
        lost=sent - came,
        misdelivered=blank(Misdelivered, port=wrong, total=wrong),
        hop_limit=63,
        delay={**delay, "count": came, "buckets": ((delay_ns, delay_ns, came),)},
    )


@dataclass(kw_only=True)
class StatefulDut(NoDut):
    """What is None nobody knows; `told_s` are the timeouts that it was told to have."""

    gateway: StatefulGateway
    known: TableParameters = field(default_factory=TableParameters)
    settable: bool = True
    countable: bool = True
    told_s: list[float] = field(default_factory=list)

    def reset(self) -> None:
        self.gateway.stored = 0

    @property
    def table(self) -> "StatefulDut":
        return self

    def parameters(self) -> TableParameters:
        return self.known

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        raise DutError("Its table has one size.")

    def set_timeout(self, timeout_s: float) -> None:
        if not self.settable:
            raise DutError("Its timeout cannot be set.")
        self.told_s.append(timeout_s)
        self.known = TableParameters(
            entries=self.known.entries, hash_size=self.known.hash_size, timeout_s=timeout_s
        )

    def count(self) -> int:
        if not self.countable:
            raise DutError("It does not count.")
        return self.gateway.stored

    def delete_all(self) -> Deletion:
        stored, self.gateway.stored = self.gateway.stored, 0
        return Deletion(connections=stored, seconds=0.0)
