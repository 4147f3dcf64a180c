"""Builds the spec of a trial from its load and from the values that all trials share."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import AGAIN, VERSION, Phase, TrialSpec, WarmUp, WatchedCpu
from natxy.trial.load import Load, steady
from natxy.trial.phases import LONGEST_APART_NS, Starting
from natxy.trial.timing import RATE, REALTIME_LIMIT_S, Timing
from natxy.verdict.pacing import lateness_tolerance_ns


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """The values that all trials of a procedure share."""

    traffic: TrafficPlan
    timing: Timing
    ramp: tuple[Starting, ...] = ()  # flows that are sent before `traffic`, each in a phase
    realtime_allowed: bool = True  # the engine may run under SCHED_FIFO

    def realtime(self, phases: tuple[Phase, ...]) -> bool:
        """Returns whether a trial runs under SCHED_FIFO: by default, short trials do if allowed."""
        asked = self.traffic.testbed.tester.realtime
        lasts_ns = sum(
            max(stream.duration_ns for stream in phase.streams) + _ns(self.timing.drain_s)
            for phase in phases
            if phase.name not in AGAIN
        )
        is_short = lasts_ns <= _ns(REALTIME_LIMIT_S) + LONGEST_APART_NS
        return asked == "on" or (asked == "auto" and is_short and self.realtime_allowed)

    def load(self, load: Load | int) -> Load:
        if not isinstance(load, int):
            return load
        self.timing.check_rate(RATE, load)
        return steady(load, self.timing.duration_s)

    def spec(
        self,
        *,
        load: Load | int,
        seed: int,
        nonce: int,
        watched: tuple[WatchedCpu, ...] = (),
    ) -> TrialSpec:
        """Returns the spec of a trial; if `load` is a number, it is the rate of a steady load."""
        load = self.load(load)
        phases = load.phases(self.traffic, self.timing, self.ramp)
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
            link_may_fall=load.link_may_fall,
            realtime=self.realtime(phases),
            # A probe would create a connection.
            warm_up=WarmUp(
                mode="neighbours" if stateful else tester.warm_up,
                timeout_ns=int(tester.warm_up_timeout_s * 10**9),
            ),
            sides=self.traffic.sides(),
            recording=load.recording,
            early_end_ns=_ns(load.early_end_s),
            phases=phases,
        )


def _ns(seconds: Fraction) -> int:
    return int(seconds * 10**9)
