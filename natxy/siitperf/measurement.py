"""A test of siitperf's as one trial."""

from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.model.trial_spec import NO_RECORDING, Recording, Tags
from natxy.procedure.observer import Observer
from natxy.procedure.phases import Establishing
from natxy.procedure.seeds import nonce
from natxy.procedure.setup import Setup
from natxy.procedure.timing import Timing
from natxy.procedure.trial import (
    WARM_UP_FPS,
    WARM_UP_FRAMES,
    Load,
    Outcome,
    TrialPlan,
    run_trial,
    steady,
)
from natxy.procedure.warm_up import warm_up
from natxy.siitperf.arguments import Arguments
from natxy.siitperf.timeouts import Timeouts, timeouts_of


@dataclass(frozen=True, kw_only=True)
class SiitperfTest:
    arguments: Arguments
    timing: Timing
    timeouts: Timeouts
    load: Load

    @classmethod
    def of(cls, arguments: Arguments) -> "SiitperfTest":
        timeouts = timeouts_of(arguments)
        timing = Timing(
            duration_s=Fraction(arguments.duration_s),
            drain_s=timeouts.drain_s,
            frame_timeout_s=Fraction(arguments.frame_timeout_ms, 1000),
        )
        timing.check_rate("frame rate", arguments.rate_fps)
        load = steady(arguments.rate_fps, timing.duration_s, _recording(arguments))
        return cls(arguments=arguments, timing=timing, timeouts=timeouts, load=timeouts.load(load))

    def run(self, setup: Setup, seed: int) -> Outcome:
        plan = TrialPlan(traffic=setup.tester.traffic, timing=self.timing)
        setup.dut.reset()
        if self.arguments.preliminary is not None:
            self._warm_up(setup, seed)
        spec = self.timeouts.spec(plan.spec(load=self.load, seed=seed, nonce=nonce(seed, 0)))
        return run_trial(spec, setup.tester, setup.dut, Observer())

    def _warm_up(self, setup: Setup, seed: int) -> None:
        """A lab that has just been made; of another device nobody may empty the table."""
        timing = replace(self.timing, drain_s=self.timeouts.longest_s)
        plan = TrialPlan(traffic=setup.tester.traffic, timing=timing)
        frames = min(plan.traffic.required_connections.count, WARM_UP_FRAMES * self.arguments.n)
        load = Establishing(rate_fps=WARM_UP_FPS, count=frames)
        spec = plan.spec(load=load, seed=seed, nonce=nonce(seed, -1))
        warm_up(spec, setup.tester, setup.dut)


def _recording(arguments: Arguments) -> Recording:
    if arguments.command != "lat":
        return NO_RECORDING
    last = arguments.last
    return Recording(tags=Tags(after_ns=last["tags_after_s"] * 10**9, count=last["tags"]))
