"""Runs a test of siitperf as one trial, and repeats an invalid one within the call.

A script does not repeat it: it tries a lower rate instead, and so reports the noise of the tester's
machine as the gateway's throughput.

The trial has two timeouts: T after phase 1, and the global timeout after phase 2. The engine has
one drain for all phases. It is set to the shorter timeout, and the phase with the longer timeout
ends with a pause of the difference.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.model.reason import Reason
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import NO_RECORDING, TEST, Recording, Segment, Tags, TrialSpec
from natxy.siitperf.arguments import Arguments
from natxy.trial.load import Frames, steady
from natxy.trial.seeds import nonce
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trial import Trial, run_trial
from natxy.trial.warm_up import warm_up, warm_up_load

NS_PER_MS = 10**6


def _paused(segments: tuple[Segment, ...], pause_ns: int) -> tuple[Segment, ...]:
    """Returns the segments of a stream with this pause after the last one."""
    *others, last = segments
    return (*others, last.model_copy(update={"pause_ns": pause_ns}))


@dataclass(frozen=True, kw_only=True)
class SiitperfTest:
    arguments: Arguments
    timing: Timing  # its drain is the shorter timeout
    longest_s: Fraction  # the longer timeout
    phase_1_pause_ns: int
    load: Frames
    phase_2: bool  # False: a stateful test of phase 1 only

    @classmethod
    def of(cls, arguments: Arguments, *, phase_2: bool = True) -> "SiitperfTest":
        asked, timeout_ms = arguments.preliminary, arguments.timeout_ms
        phase_1_ms = timeout_ms if asked is None else asked.preliminary_timeout_ms
        drain_ms = min(timeout_ms, phase_1_ms)
        timing = Timing(
            duration_s=Fraction(arguments.duration_s),
            drain_s=Fraction(drain_ms, 1000),
            frame_timeout_s=Fraction(arguments.frame_timeout_ms, 1000),
        )
        timing.check_rate("frame rate", arguments.rate_fps)
        load = steady(arguments.rate_fps, timing.duration_s, _recording(arguments))
        pause_ns = (timeout_ms - drain_ms) * NS_PER_MS
        return cls(
            arguments=arguments,
            timing=timing,
            longest_s=Fraction(max(timeout_ms, phase_1_ms), 1000),
            phase_1_pause_ns=(phase_1_ms - drain_ms) * NS_PER_MS,
            load=replace(load, segments=_paused(load.segments, pause_ns)),
            phase_2=phase_2,
        )

    def run(self, session: Session, seed: int, number: int) -> Trial:
        """Runs the test with this number, from 0; all numbers send the same frames."""
        session.dut.reset()
        if self.arguments.preliminary is not None and number == 0:
            self._warm_up(session, seed)
        return run_trial(self._spec(session, seed, number), session)

    def _spec(self, session: Session, seed: int, number: int) -> TrialSpec:
        """Returns the spec; phase 2 begins at the same time with phase 1's pause as without it."""
        plan, watched = session.trial_plan(self.timing), session.dut.watched
        spec = plan.spec(load=self.load, seed=seed, nonce=nonce(seed, number), watched=watched)
        phases = spec.phases
        if pause_ns := self.phase_1_pause_ns:
            streams = tuple(
                each.model_copy(update={"segments": _paused(each.segments, pause_ns)})
                for each in phases[0].streams
            )
            gap_ns = max(0, phases[0].gap_ns - pause_ns)
            longer = phases[0].model_copy(update={"streams": streams, "gap_ns": gap_ns})
            phases = (longer, *phases[1:])
        if not self.phase_2:
            phases = tuple(phase for phase in phases if phase.name != TEST)
        return spec.model_copy(update={"phases": phases})

    def _warm_up(self, session: Session, seed: int) -> None:
        """Warms the gateway up, if its table can be emptied afterwards."""
        timing = replace(self.timing, drain_s=self.longest_s)
        plan, load = session.trial_plan(timing), warm_up_load(session.traffic)
        warm_up(plan.spec(load=load, seed=seed, nonce=nonce(seed, -1)), session)


def _recording(arguments: Arguments) -> Recording:
    if arguments.command != "lat":
        return NO_RECORDING
    last = arguments.last
    return Recording(tags=Tags(after_ns=last["tags_after_s"] * 10**9, count=last["tags"]))


SLOW_REPEATS = 1  # a tester that is too slow for the rate is so again


@dataclass(frozen=True, kw_only=True)
class Attempt:
    result: TrialResult
    reasons: tuple[Reason, ...]  # why it is invalid; none: it is valid
    too_slow: bool  # the tester, if it is invalid


def until_valid(make: Callable[[int], Attempt], most: int, say: Callable[[str], None]) -> Attempt:
    """Returns the last attempt. `make` takes the attempt's number, from 0.

    The lines about earlier attempts have none of the words that scripts search for.
    """
    slow = 0
    for number in range(most):
        attempt = make(number)
        slow += attempt.too_slow
        if not attempt.reasons or slow > SLOW_REPEATS:
            return attempt
        said = "; ".join(map(str, attempt.reasons))
        say(
            f"Info: Repeat {number + 1} of at most {most}, because the last test does not count: "
            f"{said}"
        )
    return make(most)
