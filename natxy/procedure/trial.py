"""One trial (RFC 2544 section 23): settle, reset, send, and judge."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction

from natxy.dut.base import Absence, Dut
from natxy.errors import (
    ConfigurationError,
    DutError,
    MeasurementError,
    TesterLimit,
    TrialCancelled,
)
from natxy.model.measurement import TrialCounts
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import (
    NO_RECORDING,
    VERSION,
    Phase,
    Recording,
    Segment,
    TrialSpec,
    WarmUp,
    WatchedCpu,
)
from natxy.model.verdict import Verdict
from natxy.procedure.advice import explained
from natxy.procedure.all_misdelivered import check_all_misdelivered
from natxy.procedure.away import ROOM_FRAMES, Accepted, away_during, away_in, excuse
from natxy.procedure.connection_table import (
    IncompletePhase1,
    check_emptied,
    check_established,
    check_repeating,
    hold,
    lost_before_phase_2,
    lost_in_phase_2,
    needed_timeout_s,
    refuse_small_table,
    sample_is_right,
)
from natxy.procedure.counted import Counting, counted, slowed
from natxy.procedure.delay_error import late_in_doubt
from natxy.procedure.observer import Observer
from natxy.procedure.pacing import (
    PAUSE_SHARE,
    is_too_slow,
    lateness_tolerance_ns,
    long_pauses,
)
from natxy.procedure.phases import (
    AGAIN,
    ESTABLISH,
    SAMPLE,
    TEST,
    Establishing,
    before_phase_2,
    establishing_phases,
)
from natxy.procedure.repeats import Repeats
from natxy.procedure.seeds import nonce
from natxy.procedure.setup import ReadyTester, Starting
from natxy.procedure.timing import REALTIME_LIMIT_S, Timing
from natxy.procedure.warm_up import warm_up
from natxy.search.loss_tolerance import NO_LOSS, LossTolerance

RAMP = "ramp"
WARM_UP_FRAMES, WARM_UP_FPS = 10, 1000


@dataclass(frozen=True, kw_only=True)
class Load:
    """The frames that a trial sends in each direction, and what it records and tolerates."""

    segments: tuple[Segment, ...]
    recording: Recording = NO_RECORDING
    early_end_s: Fraction = Fraction(0)  # 0: a trial runs to its end
    link_may_fall: bool = False  # True in a reset, in which links of the device go down
    accepted: LossTolerance = NO_LOSS
    # Tolerances of other goals of the same search, which judge the trial as well.
    also_accepted: tuple[LossTolerance, ...] = ()
    fills_buffers: bool = False  # the load fills queues, so that even a short absence loses frames
    # True: a sender that is far behind moves its schedule; False: it sends all overdue frames.
    pauses: bool = False
    pause_share: Fraction = PAUSE_SHARE  # longest pauses of a valid trial
    counting: Counting | None = None  # used instead of `pause_share` in a search for a rate

    @property
    def rate_fps(self) -> int:
        """The highest rate of all segments."""
        return max(segment.rate_fps for segment in self.segments)

    @property
    def tolerances(self) -> tuple[LossTolerance, ...]:
        return (self.accepted, *self.also_accepted)

    def passes(self, result: TrialResult) -> bool:
        """Returns whether each direction lost no more than is tolerated.

        A mapping that changed, or a reply to the wrong connection, is never tolerated.
        """
        if not self.accepted.fraction:
            return result.passed
        if result.ended_early or result.incomplete or result.changed or result.wrong:
            return False
        return all(
            self.accepted.accepts(sent=s.sent, lost=s.sent - s.received) for s in result.streams
        )

    @property
    def duration_s(self) -> Fraction:
        return Fraction(sum(segment.duration_ns for segment in self.segments), 10**9)


def steady(rate_fps: int, duration_s: Fraction, recording: Recording = NO_RECORDING) -> Load:
    """Returns a load with one rate from beginning to end."""
    frames = frames_of(rate_fps, duration_s)
    segment = Segment(frames=frames, rate_fps=rate_fps, pause_ns=0)
    return Load(segments=(segment,), recording=recording, pauses=True)


AnyLoad = Load | Establishing


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """The values that all trials of a procedure share."""

    traffic: TrafficPlan
    timing: Timing
    ramp: tuple[Starting, ...] = ()  # flows that are sent before `traffic`, each in a phase

    def realtime(self, phases: tuple[Phase, ...]) -> bool:
        """Returns whether a trial runs under SCHED_FIFO: by default, short trials do."""
        asked = self.traffic.testbed.tester.realtime
        lasts_ns = sum(
            max(stream.duration_ns for stream in phase.streams) + _ns(self.timing.drain_s)
            for phase in phases
            if phase.name not in AGAIN
        )
        return asked == "on" or (asked == "auto" and lasts_ns <= _ns(REALTIME_LIMIT_S))

    def load(self, load: AnyLoad | int) -> AnyLoad:
        if not isinstance(load, int):
            return load
        self.timing.check_rate("--rate", load)
        return steady(load, self.timing.duration_s)

    def spec(
        self,
        *,
        load: AnyLoad | int,
        seed: int,
        nonce: int,
        watched: tuple[WatchedCpu, ...] = (),
    ) -> TrialSpec:
        """Returns the spec of a trial; if `load` is a number, it is the rate of a steady load."""
        load = self.load(load)
        phases = self._phases(load)
        tester = self.traffic.testbed.tester
        stateful = self.traffic.connections is not None
        return TrialSpec(
            version=VERSION,
            seed=seed,
            nonce=nonce,
            drain_ns=_ns(self.timing.drain_s),
            frame_timeout_ns=_ns(self.timing.frame_timeout_s),
            lateness_tolerance_ns=lateness_tolerance_ns(tester, pauses=load.pauses),
            burst_limit_frames=tester.burst_limit_frames if load.pauses else 0,
            watched=watched,
            link_may_fall=isinstance(load, Load) and load.link_may_fall,
            realtime=self.realtime(phases),
            # A probe would create a connection.
            warm_up=WarmUp(
                mode="neighbours" if stateful else tester.warm_up,
                timeout_ns=int(tester.warm_up_timeout_s * 10**9),
            ),
            sides=self.traffic.sides(),
            recording=load.recording if isinstance(load, Load) else NO_RECORDING,
            early_end_ns=_ns(load.early_end_s),
            phases=phases,
        )

    def _phases(self, load: AnyLoad) -> tuple[Phase, ...]:
        if isinstance(load, Establishing):
            return establishing_phases(self.traffic, load)
        for segment in load.segments:
            self.timing.check_rate("--rate", segment.rate_fps)
        ramp = (_ramp(i, each, load) for i, each in enumerate(self.ramp, start=1))
        test = _phase(TEST, self.traffic, load)
        if self.traffic.connections is None:
            return (*ramp, test)
        if self.ramp:
            raise ConfigurationError(
                "[connections]: is not possible with incremental load (expected simultaneous load)"
            )
        return (*before_phase_2(self.traffic, self.timing), test)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    invalid_reasons: tuple[str, ...]  # the engine's, and the DUT's own
    result: TrialResult
    absence: Absence | None  # of the DUT, from its own record


def run_trial(spec: TrialSpec, tester: ReadyTester, dut: Dut, observer: Observer) -> Outcome:
    """Runs a trial after the DUT was reset and has settled.

    Raises DutError if the DUT died in the trial: its losses then are no property of a gateway.
    """
    if spec.establishing is not None:
        hold(dut, spec, tester.connection_timeout_s)
    dut.before_trial()
    try:
        result = tester.run(spec, observer.trial_progressed)
    except BaseException as error:
        _end_trial(dut, error)
        raise
    absence = dut.absence()
    reasons = invalid_reasons(result, dut.trial_fault())
    return Outcome(invalid_reasons=reasons, result=result, absence=absence)


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    invalid_reasons: tuple[str, ...] = ()
    fail_reason: str = ""
    counted_fps: int | None = None
    lost_connections: str = ""
    excused: bool = False  # by the gateway's absence


def _end_trial(dut: Dut, error: BaseException) -> None:
    """Ends what before_trial began, such as a real-time policy.

    If the device has died, this is why the tester failed, and DutError is raised instead. If the
    trial was cancelled, the caller knows the reason.
    """
    try:
        dut.trial_fault()
    except DutError as gone:
        if isinstance(error, MeasurementError) and not isinstance(error, TrialCancelled):
            raise gone from error


@dataclass(frozen=True, kw_only=True)
class WholeTrial:
    """The record of a trial, and the engine's result with all phases."""

    record: TrialRecord
    result: TrialResult


@dataclass(kw_only=True)
class Trials:
    """Runs, numbers and judges the trials of a measurement, one after another."""

    tester: ReadyTester
    dut: Dut
    timing: Timing
    campaign_seed: int
    observer: Observer
    judge: Callable[[TrialResult], tuple[str, ...]] = lambda _: ()  # further reasons for INVALID
    counts: TrialCounts = field(default_factory=TrialCounts)
    resets: bool = False  # the device is reset in each trial, and may lose its connections
    discarded: list[TrialRecord] = field(default_factory=list)  # INVALID ones of the last load
    last: WholeTrial | None = None  # set also if a check then ended the measurement

    def run(self, *, load: AnyLoad | int, repetition: int, seed: int) -> TrialRecord:
        return self.run_whole(load=load, repetition=repetition, seed=seed).record

    def run_whole(self, *, load: AnyLoad | int, repetition: int, seed: int) -> WholeTrial:
        """Runs a trial; repeats an incomplete phase 1 if the testbed says so, else raises it."""
        load = self._plan.load(load)
        asked = self.tester.traffic.connections
        repeats = asked.repeats if asked and asked.incomplete == "repeat" else 0
        for left in range(repeats, -1, -1):
            try:
                # The trial's number since the set-up, because the parts of a series share a seed.
                number = nonce(self.campaign_seed, self.tester.trials)
                spec = self._plan.spec(load=load, seed=seed, nonce=number, watched=self.dut.watched)
                return self._run(spec, load, repetition)
            except IncompletePhase1:
                if not left:
                    raise
        raise AssertionError("unreachable")

    def run_spec(self, spec: TrialSpec) -> WholeTrial:
        """Runs the trial of a spec that the user wrote."""
        segments = (s for phase in spec.phases for stream in phase.streams for s in stream.segments)
        return self._run(spec, Load(segments=tuple(segments)), repetition=1)

    def _run(self, spec: TrialSpec, load: AnyLoad, repetition: int) -> WholeTrial:
        if isinstance(load, Load) and spec.establishing is not None:
            refuse_small_table(self.dut, spec.phases[0].minimum_connections)
        self._prepare(spec)
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        outcome = run_trial(spec, self.tester, self.dut, self.observer)
        result = outcome.result
        early = _before_test(spec)
        phase_2 = result.of_phase(TEST) if early or _measures_phase_2(spec) else result
        sample = result.stream_of(SAMPLE)
        judged = self._of_connections(self._judge(spec, load, outcome, phase_2), spec, result)
        phases = [TEST] if phase_2 is not result else [phase.name for phase in spec.phases]
        away = away_during(result, phases, outcome.absence)
        trial = TrialRecord(
            number=self.counts.trials + 1,
            repetition=repetition,
            rate_fps=load.rate_fps,
            counted_fps=judged.counted_fps,
            started=started,
            verdict=judged.verdict,
            invalid_reasons=judged.invalid_reasons,
            fail_reason=judged.fail_reason,
            lost_connections=judged.lost_connections,
            excused=judged.excused,
            too_slow=judged.verdict is Verdict.INVALID and is_too_slow(result),
            away_ns=away.total_s * 1e9,
            longest_away_ns=away.longest_s * 1e9,
            result=phase_2,
            phase_1=None if phase_2 is result else result.stream_of(ESTABLISH),
            sample=None if phase_2 is result else sample,
            starting=tuple(stream for stream in result.streams if stream.phase in early),
        )
        self.counts = self.counts.plus(trial, needed_timeout_s=_needed_timeout_s(spec))
        self.observer.trial_ended(trial)
        self.tester.keep_records(trial)
        self.last = WholeTrial(record=trial, result=result)
        if trial.verdict is Verdict.FAIL and isinstance(load, Load):
            check_all_misdelivered(phase_2)
        if _measures_phase_2(spec) and trial.verdict is not Verdict.INVALID:
            self._check_phase_1(trial, result)
        if trial.lost_connections and self.counts.lost_connections == 1:
            self.observer.remarked(trial.lost_connections)
        return self.last

    def _judge(
        self, spec: TrialSpec, load: AnyLoad, outcome: Outcome, measured: TrialResult
    ) -> Judged:
        """Returns the verdict of a trial.

        A fault of the tester makes any trial INVALID. An absence of the gateway can make a FAIL
        INVALID. Long pauses of the tester, which help the gateway, can make a PASS INVALID.
        """
        reasons = [*outcome.invalid_reasons, *self.judge(measured)]
        whole = outcome.result
        if reasons:
            return Judged(Verdict.INVALID, tuple(reasons))
        passes = load.passes(measured) and sample_is_right(whole.stream_of(SAMPLE))
        if _before_test(spec):
            passes = passes and load.passes(whole)
        if not (passes or _is_repaired(load, spec, outcome)):
            pauses = None if _searches(load) else long_pauses(measured, load.pause_share)
            late = late_in_doubt(measured, spec.frame_timeout_ns) if spec.frame_timeout_ns else None
            # In a reset, the loss is what the trial measures.
            gone = None if self.resets else _excuse(spec, load, outcome, measured)
            said = gone or (None if self.resets else late) or pauses
            if said:
                return Judged(Verdict.INVALID, (said,), excused=gone is not None)
            return Judged(Verdict.FAIL)
        if isinstance(load, Load) and load.counting is not None:
            away = away_in(whole, spec.phases[-1].name, outcome.absence)
            of = counted(load.counting, load.rate_fps, measured, away)
            invalid = (of.sentence,) if of.verdict is Verdict.INVALID else ()
            failed = of.sentence if of.verdict is Verdict.FAIL else ""
            return Judged(of.verdict, invalid, failed, of.fps)
        if isinstance(load, Establishing) and load.above_cps is not None:
            cps = load.counted_cps(whole)
            if cps <= load.above_cps:
                return Judged(Verdict.INVALID, (slowed(load.rate_fps, cps),))
            return Judged(Verdict.PASS, counted_fps=cps)
        # Connections that are created, or tested, again must only exist: the rate does not matter.
        paced = load.at_rate(whole) if isinstance(load, Establishing) else whole
        paused = long_pauses(paced, load.pause_share)
        return Judged(Verdict.INVALID, (paused,)) if paused else Judged(Verdict.PASS)

    def _of_connections(self, judged: Judged, spec: TrialSpec, whole: TrialResult) -> Judged:
        """Returns FAIL if the device lost connections in a trial of phase 2.

        This also applies if the initiator's frames created them again. The measurement continues,
        since a lower rate, or the next trial, may be better.
        """
        if judged.verdict is Verdict.INVALID or not _measures_phase_2(spec):
            return judged
        lost = lost_before_phase_2(whole.stream_of(SAMPLE), self.dut, _needed_timeout_s(spec))
        if not lost and judged.verdict is Verdict.FAIL and not self.resets:
            lost = lost_in_phase_2(whole, spec, self.dut)
        return Judged(Verdict.FAIL, lost_connections=lost) if lost else judged

    def _check_phase_1(self, trial: TrialRecord, whole: TrialResult) -> None:
        """Raises IncompletePhase1 if phase 1 did not create all connections."""
        check_established(whole, self.dut)
        asked = self.tester.traffic.connections
        if asked and asked.order == "repeating":
            check_repeating(trial.phase_1)

    def run_valid(
        self, *, load: AnyLoad | int, repetition: int, seed: int, invalid_repeats: int
    ) -> TrialRecord:
        """Runs a trial and repeats it while it is INVALID; raises TesterLimit if it stays so."""
        load = self._plan.load(load)
        repeats = self.repeats(load, invalid_repeats)
        self.discarded = []
        while True:
            self.observer.trial_started(load.rate_fps, (load.rate_fps, load.rate_fps))
            trial = self.run(load=load, repetition=repetition, seed=seed)
            if trial.verdict is not Verdict.INVALID:
                return trial
            self.discarded.append(trial)
            if repeats.are_over(trial):
                break
        raise TesterLimit(
            f"{repeats.invalid} trials at {load.rate_fps} frames a second were invalid: "
            f"{explained(trial.invalid_reasons, load.rate_fps, too_slow=trial.too_slow)}"
        )

    def repeats(self, load: AnyLoad, least: int) -> Repeats:
        """Returns how often a trial of this load is repeated while it is INVALID."""
        return Repeats(least=least, trial_s=self._lasts_s(load))

    def _lasts_s(self, load: AnyLoad) -> Fraction:
        """Returns the duration of one trial, without the phases before the measured one."""
        if isinstance(load, Load):
            return load.duration_s + self.timing.drain_s
        frames = load.frames(self.tester.traffic.required_connections)
        rates_fps = (load.rate_fps, *((load.validation_fps,) if load.alpha is not None else ()))
        return sum(
            (Fraction(frames, rate_fps) + self.timing.drain_s for rate_fps in rates_fps),
            start=Fraction(0),
        )

    @property
    def _plan(self) -> TrialPlan:
        tester = self.tester
        return TrialPlan(traffic=tester.traffic, ramp=tester.ramp, timing=self.timing)

    def _prepare(self, spec: TrialSpec) -> None:
        """Resets the device, and keeps the settle time of RFC 2544 section 23 e.

        The settle time follows every trial, also one of another procedure.
        """
        stateful = self.tester.traffic.connections is not None and spec.establishing is not None
        self.dut.reset()
        if stateful and self.counts.trials:
            check_emptied(self.dut)
        if self.tester.trials:
            time.sleep(float(self.timing.settle_s))
        if stateful and not self.counts.trials:
            warm_up(self._warm_up_spec(), self.tester, self.dut)

    def _warm_up_spec(self) -> TrialSpec:
        traffic = self.tester.traffic
        assert traffic.connections is not None, "only connections are warmed up for"
        count = min(traffic.connections.count, WARM_UP_FRAMES * traffic.testbed.traffic.n)
        load = Establishing(rate_fps=WARM_UP_FPS, count=count)
        return self._plan.spec(load=load, seed=0, nonce=nonce(self.campaign_seed, -1))


def invalid_reasons(result: TrialResult, dut_fault: str | None) -> tuple[str, ...]:
    own = result.invalid_reasons if result.valid else result.invalid_reasons or ("unknown reason",)
    return (*own, dut_fault) if dut_fault else own


def _is_repaired(load: AnyLoad, spec: TrialSpec, outcome: Outcome) -> bool:
    """Returns whether absences of the gateway explain the whole loss, and each connection existed
    after the repairs."""
    whole = outcome.result
    if not isinstance(load, Establishing) or not load.is_repaired(whole):
        return False
    return excuse(spec, whole, outcome.absence) is not None


def _excuse(spec: TrialSpec, load: AnyLoad, outcome: Outcome, measured: TrialResult) -> str | None:
    phases = {stream.phase for stream in measured.streams} | set(_before_test(spec))
    fills = isinstance(load, Load) and load.fills_buffers
    accepted = Accepted(
        tolerances=load.tolerances, phases=phases, room_frames=0 if fills else ROOM_FRAMES
    )
    return excuse(spec, outcome.result, outcome.absence, accepted)


def _searches(load: AnyLoad) -> bool:
    """Returns whether the load belongs to a search, for which a FAIL only means a lower rate."""
    return not isinstance(load, Load) or load.counting is not None


def _measures_phase_2(spec: TrialSpec) -> bool:
    """Returns whether the trial measures phase 2.

    It is False for a measurement of phase 1, and for a spec with other phases that a user wrote.
    """
    names = {phase.name for phase in spec.phases}
    return spec.establishing is not None and TEST in names <= {ESTABLISH, SAMPLE, TEST}


def _before_test(spec: TrialSpec) -> list[str]:
    """Returns the names of the phases in which flows start one after another.

    A loss in them fails the trial, but the figures are those of the phase after them.
    """
    return [phase.name for phase in spec.phases if phase.name.startswith(RAMP)]


def _needed_timeout_s(spec: TrialSpec) -> float:
    return 0.0 if spec.establishing is None else needed_timeout_s(spec)


def _phase(name: str, traffic: TrafficPlan, load: Load) -> Phase:
    return Phase(name=name, gap_ns=0, streams=traffic.streams(load.segments))


def _ramp(number: int, starting: Starting, load: Load) -> Phase:
    if starting.lasts_s is not None:
        load = steady(load.segments[0].rate_fps, starting.lasts_s)
    return _phase(f"{RAMP} {number}", starting.traffic, load)


def _ns(seconds: Fraction) -> int:
    return int(seconds * 10**9)
