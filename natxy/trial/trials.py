"""The trials of a measurement, one after another: settle, reset, send, judge and record."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from natxy.errors import NatxyError, TesterLimit
from natxy.model.measurement import TrialCounts
from natxy.model.remark import Remark, Topic
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import ESTABLISH, HANDSHAKE, SAMPLE, TEST, TrialSpec
from natxy.model.verdict import Verdict
from natxy.trial.connection_table import (
    IncompletePhase1,
    check_established,
    check_repeating,
    hold,
    needed_timeout_s,
    refuse_small_table,
)
from natxy.trial.judge import Doubts, Judge, Judged
from natxy.trial.load import Frames, Load
from natxy.trial.past import fingerprint
from natxy.trial.phases import measures_phase_2, phase_1_s, ramp_phases
from natxy.trial.repeats import BETWEEN_S, Repeats, RetryTime
from natxy.trial.seeds import nonce, repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trial import Trial, run_trial
from natxy.trial.trial_plan import TrialPlan
from natxy.trial.warm_up import check_emptied, count_of, warm_up, warm_up_load
from natxy.verdict.advice import why_invalid
from natxy.verdict.arrivals import SLOW_FPS, Arrivals, check_all_misdelivered
from natxy.verdict.away import away_s, longest_away_s
from natxy.verdict.pacing import PAUSE_SHARE, is_too_slow
from natxy.verdict.placement import is_badly_placed

# Asks the gateway what only it can tell after a trial, before the journal has the trial; returns
# members of the record.
After = Callable[[TrialRecord], dict[str, Any]]


@dataclass(kw_only=True)
class Trials:
    """Runs, numbers and judges the trials of a measurement, one after another."""

    session: Session
    timing: Timing
    campaign_seed: int
    doubts: Doubts = lambda _: ()
    measures_delays: bool = False  # the procedure's figures are delays
    counts: TrialCounts = field(default_factory=TrialCounts)
    resets: bool = False  # the gateway is reset in each trial, and may lose its connections
    after: After = lambda _: {}
    discarded: list[TrialRecord] = field(default_factory=list)  # INVALID ones of the last load
    retry_time: RetryTime = field(init=False)  # for INVALID trials; shared with searches before
    arrivals: Arrivals = field(default_factory=Arrivals)
    # The last trial, also if a check then ended the measurement. One of the journal has only the
    # phases that its figures are about.
    last: Trial | None = None
    asked: str = ""  # fingerprint of the last spec, also if its trial has no result
    _ran: int = field(default=0, init=False)  # trials that were not read from the journal

    def __post_init__(self) -> None:
        self.retry_time = self.session.retry_time or RetryTime(given_s=self.timing.retry_s)

    def run(self, *, load: Load | int, repetition: int, seed: int) -> TrialRecord:
        """Runs a trial; repeats an incomplete phase 1 if the testbed says so, else raises it."""
        load = self._plan.load(load)
        asked = self.session.traffic.connections
        repeats = asked.repeats if asked and asked.incomplete == "repeat" else 0
        for left in range(repeats, -1, -1):
            try:
                # The trial's number since the set-up, because the parts of a series share a seed.
                number = nonce(self.campaign_seed, self.session.trials)
                spec = self._plan.spec(load=load, seed=seed, nonce=number)
                return self._run(spec, load, repetition, watches=True)
            except IncompletePhase1:
                if not left:
                    raise
        raise AssertionError("unreachable")

    def run_spec(self, spec: TrialSpec) -> TrialRecord:
        """Runs the trial of a spec that the user wrote."""
        segments = (s for phase in spec.phases for stream in phase.streams for s in stream.segments)
        return self._run(spec, Frames(segments=tuple(segments)), repetition=1)

    def _run(
        self, spec: TrialSpec, load: Load, repetition: int, *, watches: bool = False
    ) -> TrialRecord:
        """Reads the trial from the journal, or runs it."""
        if not load.makes_connections and spec.establishing is not None:
            refuse_small_table(self.session.dut, spec.phases[0].minimum_connections)
        self.asked = fingerprint(spec)
        read = self.session.past.next(self.asked, repetition)
        if read is None:
            self.last, record = self._measured(spec, load, repetition, watches=watches)
        else:
            self.last, record = self._as_read(read, spec), read
        needed_s = 0.0 if spec.establishing is None else needed_timeout_s(spec)
        self.counts = self.counts.plus(record, needed_timeout_s=needed_s)
        valid = record.verdict is not Verdict.INVALID
        self.retry_time.count(self.each_s(load), valid=valid)
        self.arrivals.add(record.result, valid=valid)
        if read is None:
            self._tell(record)
        else:
            self.session.observer.trial_read(record)
        if record.verdict is Verdict.FAIL:
            # Connections that are asked again may all be wrong where others are right.
            made = (record.established,) if record.established else ()
            check_all_misdelivered(made if load.makes_connections else record.result.streams)
        if measures_phase_2(spec) and record.verdict is not Verdict.INVALID:
            self._check_phase_1(record)
        if record.lost_connections and self.counts.lost_connections == 1:
            lost = Remark.of(Topic.CONNECTIONS_LOST, how=record.lost_connections)
            self.session.observer.remarked(lost)
        return record

    def _as_read(self, record: TrialRecord, spec: TrialSpec) -> Trial:
        """Returns a trial of the journal; of its phases, only those that its figures are about."""
        self.doubts(record.result)  # a procedure may note what it sees of each result
        if spec.establishing is not None:  # a result names the timeout
            hold(spec, self.session)
        return Trial(spec=spec, result=record.result, absence=record.absence)

    def _measured(
        self, spec: TrialSpec, load: Load, repetition: int, *, watches: bool
    ) -> tuple[Trial, TrialRecord]:
        self._prepare(spec)
        if watches:  # a reset may have started the gateway again
            spec = spec.model_copy(update={"watched": self.session.dut.watched})
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        trial = run_trial(spec, self.session)
        self._ran += 1
        judge = Judge(load=load, dut=self.session.dut, doubts=self.doubts, resets=self.resets)
        record = self._record(trial, judge.judge(trial), load.rate_fps, repetition, started)
        try:
            record = record.model_copy(update=self.after(record))
        except NatxyError:
            self._tell(record)
            raise
        return trial, record

    def _record(
        self, trial: Trial, judged: Judged, rate_fps: int, repetition: int, started: str
    ) -> TrialRecord:
        dut, whole, is_part = self.session.dut, trial.result, trial.is_in_parts
        before = ramp_phases(trial.spec)
        phases = [TEST] if is_part else [phase.name for phase in trial.spec.phases]
        fails = judged.verdict is Verdict.FAIL
        invalid, bad = judged.verdict is Verdict.INVALID, is_badly_placed(whole)
        most_pauses = Fraction(0) if judged.by_pauses else PAUSE_SHARE
        too_slow = invalid and not bad and not judged.excused and is_too_slow(whole, most_pauses)
        return TrialRecord(
            number=self.counts.trials + 1,
            repetition=repetition,
            rate_fps=rate_fps,
            counted_fps=judged.counted_fps,
            started=started,
            verdict=judged.verdict,
            invalid_reasons=judged.invalid_reasons,
            fail_reason=judged.fail_reason,
            lost_connections=judged.lost_connections,
            excused=judged.excused,
            badly_placed=invalid and bad,
            too_slow=too_slow,
            measures_delays=self.measures_delays,
            absence=trial.absence,
            away_ns=away_s(whole, trial.absence, *phases) * 1e9,
            longest_away_ns=longest_away_s(whole, trial.absence, *phases) * 1e9,
            counted=tuple(trial.losses.counted(phases)),
            full_share=judged.full.share if judged.full else None,
            full_error=judged.full.error if judged.full else 0.0,
            result=trial.measured,
            phase_1=whole.stream_of(ESTABLISH) if is_part else None,
            handshake=tuple(s for s in whole.streams if is_part and s.phase in HANDSHAKE),
            sample=whole.stream_of(SAMPLE) if is_part else None,
            telemetry=trial.telemetry,
            starting=tuple(stream for stream in whole.streams if stream.phase in before),
            spec=self.asked,
            connections_left=count_of(dut) if fails and trial.spec.establishing else None,
        )

    def _tell(self, record: TrialRecord) -> None:
        self.session.observer.trial_ended(record)
        self.session.keep_records(record)

    def _check_phase_1(self, trial: TrialRecord) -> None:
        """Raises IncompletePhase1 if phase 1 did not create all connections."""
        check_established(trial, self.session.dut)
        asked = self.session.traffic.connections
        if asked and asked.order == "repeating":
            check_repeating(trial.phase_1)

    def check_arrivals(self, after: TrialRecord | None = None) -> None:
        """Raises MeasurementError if nothing ever arrived in a direction.

        After a single trial this is certain only if it was slow. If each trial has lost
        connections, whoever runs the trials tells that instead.
        """
        counts = self.counts
        lost = counts.lost_connections
        if lost and lost >= counts.trials - counts.invalid_trials:
            return
        if after is None or after.rate_fps <= SLOW_FPS:
            self.arrivals.check()

    def run_valid(
        self,
        load: Load | int,
        repetition: int,
        invalid_repeats: int,
        *,
        share: Fraction = Fraction(1),
    ) -> TrialRecord:
        """Runs a trial and repeats it while it is INVALID; raises TesterLimit if it stays so.

        `share` is that of the retry time left.
        """
        load = self._plan.load(load)
        seed = repetition_seed(self.campaign_seed, repetition)
        repeats = Repeats(
            time=self.retry_time, each_s=self.each_s(load), least=invalid_repeats, share=share
        )
        self.discarded = []
        while True:
            self.session.observer.trial_started(load.rate_fps, (load.rate_fps, load.rate_fps))
            trial = self.run(load=load, repetition=repetition, seed=seed)
            if trial.verdict is not Verdict.INVALID:
                return trial
            self.discarded.append(trial)
            if repeats.are_over(trial, too_slow=trial.too_slow):
                break
        trials, were = ("trial", "was") if repeats.invalid == 1 else ("trials", "were")
        over = ", and the retry time is used up" if self.retry_time.is_over else ""
        raise TesterLimit(
            f"{repeats.invalid} {trials} at {load.rate_fps} frames a second {were} invalid{over}: "
            f"{why_invalid(trial)}"
        )

    def each_s(self, load: Load) -> Fraction:
        """Returns the planned time of a trial."""
        traffic = self.session.traffic
        trial_s = load.lasts_s(self.timing.drain_s, traffic.connections)
        if not load.makes_connections:
            trial_s += phase_1_s(traffic, self.timing)
        return trial_s + BETWEEN_S

    @property
    def _plan(self) -> TrialPlan:
        return self.session.trial_plan(self.timing)

    def _prepare(self, spec: TrialSpec) -> None:
        """Resets the gateway, and keeps the settle time of RFC 2544 section 23 e.

        The settle time follows every trial, also one of another procedure.
        """
        dut, engine = self.session.dut, self.session.engine
        stateful = self.session.traffic.connections is not None and spec.establishing is not None
        dut.reset()
        if stateful and self._ran:
            check_emptied(dut, engine.settle)
        if engine.trials:
            engine.settle(float(self.timing.settle_s))
        if not self._ran:
            self._remark_realtime()
        if stateful and not self._ran:
            warm_up(self._warm_up_spec(), self.session)

    def _remark_realtime(self) -> None:
        asked = self.session.testbed.tester.realtime
        if asked == "auto" and not self.session.hello.realtime_allowed:
            self.session.observer.remarked(Remark.of(Topic.WITHOUT_REALTIME))

    def _warm_up_spec(self) -> TrialSpec:
        load = warm_up_load(self.session.traffic)
        return self._plan.spec(load=load, seed=0, nonce=nonce(self.campaign_seed, -1))
