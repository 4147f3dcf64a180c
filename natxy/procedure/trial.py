"""One trial (RFC 2544 section 23): settle, reset, send, and judge."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError
from natxy.model.traffic import TrafficPlan, frames_of
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import (
    MAX_FRAMES,
    MAX_RATE_FPS,
    MAX_TRIAL_NS,
    VERSION,
    Phase,
    Segment,
    TrialSpec,
    WarmUp,
)
from natxy.model.verdict import Verdict
from natxy.procedure.observer import Observer
from natxy.procedure.seeds import nonce
from natxy.tester.tester import Tester

# Beyond about a second the kernel's real-time throttling stops a polling worker for tens of
# milliseconds: there the ordinary policy is the better one.
REALTIME_LIMIT_S = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """What all trials of a procedure have in common."""

    traffic: TrafficPlan
    duration_s: Fraction
    drain_s: Fraction
    settle_s: Fraction = Fraction(0)
    frame_timeout_s: Fraction = Fraction(0)  # 0: none

    def __post_init__(self) -> None:
        limit_s = MAX_TRIAL_NS // 10**9
        _check("--duration", self.duration_s, at_least=Fraction(1, 10**6), at_most=limit_s)
        _check("--drain", self.drain_s, at_least=Fraction(0), at_most=limit_s)
        _check("--settle", self.settle_s, at_least=Fraction(0), at_most=limit_s)
        self.traffic.check()

    @property
    def highest_rate_fps(self) -> int:
        """What a trial of this duration can be numbered for."""
        return min(MAX_RATE_FPS, int(MAX_FRAMES / self.duration_s))

    @property
    def realtime(self) -> bool:
        asked = self.traffic.testbed.tester.realtime
        short = self.duration_s + self.drain_s <= REALTIME_LIMIT_S
        return asked == "on" or (asked == "auto" and short)

    def spec(self, *, rate_fps: int, seed: int, nonce: int) -> TrialSpec:
        _check("--rate", rate_fps, at_least=1, at_most=self.highest_rate_fps)
        tester = self.traffic.testbed.tester
        frames = frames_of(rate_fps, self.duration_s)
        streams = self.traffic.streams((Segment(frames=frames, rate_fps=rate_fps, pause_ns=0),))
        return TrialSpec(
            version=VERSION,
            seed=seed,
            nonce=nonce,
            drain_ns=_ns(self.drain_s),
            frame_timeout_ns=_ns(self.frame_timeout_s),
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


def run_trial(spec: TrialSpec, tester: Tester, dut: Dut, observer: Observer) -> Outcome:
    """The DUT has been reset and has settled."""
    dut.before_trial()
    result = tester.run(spec, observer.trial_progressed)
    reasons = invalid_reasons(result, dut.trial_fault())
    return Outcome(verdict=verdict_of(result, reasons), invalid_reasons=reasons, result=result)


@dataclass(kw_only=True)
class Trials:
    """Runs the trials of a campaign one after another, numbers them and judges each."""

    plan: TrialPlan
    tester: Tester
    dut: Dut
    campaign_seed: int
    observer: Observer
    count: int = 0

    def run(self, *, rate_fps: int, repetition: int, seed: int) -> TrialRecord:
        spec = self.plan.spec(
            rate_fps=rate_fps, seed=seed, nonce=nonce(self.campaign_seed, self.count)
        )
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
            time.sleep(float(self.plan.settle_s))


def invalid_reasons(result: TrialResult, dut_fault: str | None) -> tuple[str, ...]:
    own = result.invalid_reasons if result.valid else result.invalid_reasons or ("unknown reason",)
    return (*own, dut_fault) if dut_fault else own


def verdict_of(result: TrialResult, reasons: tuple[str, ...]) -> Verdict:
    if reasons:
        return Verdict.INVALID
    return Verdict.PASS if result.passed else Verdict.FAIL


def _check(option: str, value: Fraction | int, *, at_least: Fraction | int, at_most: int) -> None:
    if not at_least <= value <= at_most:
        raise ConfigurationError(
            f"{option}: {float(value):g} is out of range, {float(at_least):g} to {at_most} is right"
        )


def _ns(seconds: Fraction) -> int:
    return int(seconds * 10**9)
