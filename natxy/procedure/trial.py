"""One trial (RFC 2544 section 23): settle, reset, send, and judge."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import VERSION, Phase, Segment, TrialSpec, WarmUp
from natxy.model.verdict import Verdict
from natxy.procedure.observer import Observer
from natxy.procedure.seeds import nonce
from natxy.procedure.setup import ReadyTester
from natxy.procedure.timing import Timing


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """What all trials of a procedure have in common."""

    traffic: TrafficPlan
    timing: Timing

    @property
    def realtime(self) -> bool:
        asked = self.traffic.testbed.tester.realtime
        return asked == "on" or (asked == "auto" and self.timing.is_short)

    def spec(self, *, rate_fps: int, seed: int, nonce: int) -> TrialSpec:
        self.timing.check_rate("--rate", rate_fps)
        tester = self.traffic.testbed.tester
        frames = frames_of(rate_fps, self.timing.duration_s)
        streams = self.traffic.streams((Segment(frames=frames, rate_fps=rate_fps, pause_ns=0),))
        return TrialSpec(
            version=VERSION,
            seed=seed,
            nonce=nonce,
            drain_ns=_ns(self.timing.drain_s),
            frame_timeout_ns=_ns(self.timing.frame_timeout_s),
            lateness_tolerance_ns=tester.lateness_tolerance_us * 1000,
            realtime=self.realtime,
            warm_up=WarmUp(mode=tester.warm_up, timeout_ns=int(tester.warm_up_timeout_s * 10**9)),
            sides=self.traffic.sides(),
            phases=(Phase(name="test", gap_ns=0, streams=streams),),
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    verdict: Verdict
    invalid_reasons: tuple[str, ...]  # the engine's, and the DUT's own
    result: TrialResult


def run_trial(spec: TrialSpec, tester: ReadyTester, dut: Dut, observer: Observer) -> Outcome:
    """The DUT has been reset and has settled."""
    dut.before_trial()
    result = tester.run(spec, observer.trial_progressed)
    reasons = invalid_reasons(result, dut.trial_fault())
    return Outcome(verdict=verdict_of(result, reasons), invalid_reasons=reasons, result=result)


@dataclass(kw_only=True)
class Trials:
    """Runs the trials of a campaign one after another, numbers them and judges each."""

    tester: ReadyTester
    dut: Dut
    timing: Timing
    campaign_seed: int
    observer: Observer
    count: int = 0

    def run(self, *, rate_fps: int, repetition: int, seed: int) -> TrialRecord:
        plan = TrialPlan(traffic=self.tester.traffic, timing=self.timing)
        number = nonce(self.campaign_seed, self.count)
        spec = plan.spec(rate_fps=rate_fps, seed=seed, nonce=number)
        self._prepare()
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        outcome = run_trial(spec, self.tester, self.dut, self.observer)
        self.count += 1
        trial = TrialRecord(
            number=self.count,
            repetition=repetition,
            rate_fps=rate_fps,
            started=started,
            verdict=outcome.verdict,
            invalid_reasons=outcome.invalid_reasons,
            result=outcome.result,
        )
        self.observer.trial_ended(trial)
        return trial

    def _prepare(self) -> None:
        """RFC 2544 section 23 e asks for a rest between trials: before the first there is none."""
        self.dut.reset()
        if self.count:
            time.sleep(float(self.timing.settle_s))


def invalid_reasons(result: TrialResult, dut_fault: str | None) -> tuple[str, ...]:
    own = result.invalid_reasons if result.valid else result.invalid_reasons or ("unknown reason",)
    return (*own, dut_fault) if dut_fault else own


def verdict_of(result: TrialResult, reasons: tuple[str, ...]) -> Verdict:
    if reasons:
        return Verdict.INVALID
    return Verdict.PASS if result.passed else Verdict.FAIL


def _ns(seconds: Fraction) -> int:
    return int(seconds * 10**9)
