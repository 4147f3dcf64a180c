"""Estimates how long measurements take, as `natxy plan` says before anything has run.

The searches are run against a gateway that is assumed here. The time to repeat trials that noise
made invalid is not included, nor that of commands and of a reset of the gateway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

from natxy.cli.series_options import Work
from natxy.measure.flows import parts_of
from natxy.measure.plan import Plan
from natxy.measure.table_size import Size
from natxy.model.frame_sizes import ETHERNET_BYTES, RFC8219_SIZES_BYTES
from natxy.model.testbed import Testbed
from natxy.model.verdict import Verdict
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.back_to_back import FIRST_BURST, BackToBackPlan
from natxy.procedure.capacity import CapacityPlan
from natxy.procedure.closing import ClosingPlan
from natxy.procedure.degradation import DegradationPlan, search_of
from natxy.procedure.establishment import SAFE, phase_1_search
from natxy.procedure.establishment_search import EstablishmentPlan, first_guess
from natxy.procedure.frame_loss import LOSSLESS_TO_END, FrameLossPlan
from natxy.procedure.mlr_throughput import MlrThroughputPlan
from natxy.procedure.overload import OverloadPlan
from natxy.procedure.recovery import RecoveryPlan
from natxy.procedure.scale_up import ScaleUpPlan
from natxy.procedure.series import Searching
from natxy.procedure.tear_down import TearDownPlan
from natxy.procedure.throughput import FIRST_GUESS_FPS, ThroughputPlan
from natxy.search.bisection import GROWTH, Bisection, SearchError
from natxy.search.capacity import CapacitySearch
from natxy.search.capacity_goal import Answer, Outcome
from natxy.search.loss_verification import LossVerification
from natxy.search.mlr import MeasuredTrial, mlr_search
from natxy.trial.establishing import Establishing
from natxy.trial.phases import SAMPLE_FPS
from natxy.trial.repeats import BETWEEN_S
from natxy.trial.timing import Timing

ASSUMED_FPS = 100_000  # the gateway's rate, in frames or connections a second
BELOW_MAXIMUM = Fraction(2, 3)  # the gateway's rate, as a share of a lower --max-rate
ASSUMED_BURST = 1000  # frames that the gateway's buffer holds
ASSUMED_TABLE = 3  # the gateway's table holds this many times C0
LOSSLESS = Fraction(1, 2)  # the highest rate without loss, as a share of a series' maximum
DELETION_S = Fraction(1)  # to delete the connections of a full table, and those of an empty one
# To start and stop the gateway and the tester, and to wait until the links forward.
SET_UP_S = Fraction(3)


@singledispatch
def expected_s(plan: object, testbed: Testbed) -> Fraction:
    """Returns about how long a measurement takes, in seconds, without the set-up.

    `testbed` has the connections of the measurement.
    """
    raise TypeError(f"{type(plan).__name__}: has no duration")


def phase_1_search_s(timing: Timing, testbed: Testbed) -> Fraction:
    """Returns how long the search for the rate of phase 1 takes; 0 if none is needed."""
    asked = testbed.connections
    if asked is None or asked.rate_fps is not None:
        return Fraction(0)
    return expected_s(phase_1_search(timing, seed=0), testbed)


@expected_s.register
def _throughput(plan: ThroughputPlan, testbed: Testbed) -> Fraction:
    device_fps = _device(plan.max_rate_fps)
    search = Bisection(
        upper_fps=plan.max_rate_fps or plan.timing.highest_rate_fps,
        first_fps=plan.max_rate_fps or max(FIRST_GUESS_FPS, plan.least_fps),
        growth=GROWTH,
        error=plan.error,
    )
    tried = _tried(search, device_fps, plan.loss_verifications)
    once_s = _total(_trial_s(plan, testbed, plan.duration_s(fps)) for fps in tried)
    whole_s = plan.repetitions * once_s
    return whole_s if plan.patience_s is None else min(whole_s, plan.patience_s + once_s)


@expected_s.register
def _mlr(plan: MlrThroughputPlan, testbed: Testbed) -> Fraction:
    maximum_fps = plan.max_rate_fps or 2 * ASSUMED_FPS
    device_fps = _device(maximum_fps)
    trials_s: list[Fraction] = []

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        trials_s.append(_trial_s(plan, testbed, duration_s))
        sent = max(1, int(duration_s * rate_fps))
        passes = rate_fps <= device_fps
        lost = 0 if passes else int(sent * Fraction(rate_fps - device_fps, rate_fps))
        return MeasuredTrial(sent=sent, lost=lost, verdict=Verdict.PASS if passes else Verdict.FAIL)

    mlr_search(measure, plan.goals, minimum_fps=plan.min_rate_fps, maximum_fps=maximum_fps)
    return plan.repetitions * _total(trials_s)


@expected_s.register
def _at_rate(plan: RatePlan, testbed: Testbed) -> Fraction:
    lasts_s = plan.timing.duration_s
    if isinstance(plan, RecoveryPlan):
        lasts_s += plan.lasts_after_s
    of_trials_s = plan.repetitions * _trial_s(plan, testbed, lasts_s)
    return _search_s(plan.search, testbed, given_fps=plan.rate_fps) + of_trials_s


@expected_s.register
def _frame_loss(plan: FrameLossPlan, testbed: Testbed) -> Fraction:
    with_loss = -(-(1 - LOSSLESS) // plan.step)
    rates = len(plan.rates_fps) or int(with_loss) + LOSSLESS_TO_END
    return rates * plan.repetitions * _trial_s(plan, testbed, plan.timing.duration_s)


@expected_s.register
def _back_to_back(plan: BackToBackPlan, testbed: Testbed) -> Fraction:
    throughput_fps = plan.throughput_fps or ASSUMED_FPS
    search = Bisection(
        upper_fps=2 * ASSUMED_BURST,
        first_fps=FIRST_BURST,
        error=SearchError(rate_fps=plan.step_frames or 2),
    )
    bursts = _tried(search, ASSUMED_BURST)
    once_s = _total(_trial_s(plan, testbed, Fraction(each, throughput_fps)) for each in bursts)
    found_s = _search_s(plan.search, testbed, given_fps=plan.throughput_fps)
    return found_s + plan.repetitions * once_s


@expected_s.register
def _establishment(plan: EstablishmentPlan, testbed: Testbed) -> Fraction:
    asked = testbed.connections
    if asked is None:
        return Fraction(0)  # the measurement refuses such a testbed
    search = Bisection(
        upper_fps=plan.max_rate_cps or plan.timing.highest_rate_fps,
        first_fps=plan.first_cps or plan.max_rate_cps or first_guess(asked.count),
        growth=GROWTH,
        error=plan.error,
    )
    tried = _tried(search, _device(plan.max_rate_cps), plan.loss_verifications)
    loads = (plan.load(rate_cps, above_cps=0) for rate_cps in tried)
    return plan.repetitions * _total(_establishing_s(plan, testbed, load) for load in loads)


@expected_s.register
def _closing(plan: ClosingPlan, testbed: Testbed) -> Fraction:
    """The handshakes of each trial have phase 1's rate, which may have to be found first."""
    made_at_rate = replace(plan, made_cps=_phase_1_fps(testbed))
    return phase_1_search_s(plan.timing, testbed) + _establishment(made_at_rate, testbed)


@expected_s.register
def _capacity(plan: CapacityPlan, testbed: Testbed) -> Fraction:
    table = min(ASSUMED_TABLE * plan.goal.c0, plan.goal.most)
    search = CapacitySearch(plan.goal)
    once_s = Fraction(0)
    while (attempt := search.next()) is not None:
        load = Establishing(rate_cps=attempt.rate_cps, alpha=plan.alpha, count=attempt.connections)
        once_s += _establishing_s(plan, testbed, load)
        passes = attempt.connections <= table and attempt.rate_cps <= _device(plan.goal.max_cps)
        answer = Answer.PASS if passes else Answer.FAIL
        search.tell(Outcome(answer=answer, held=min(attempt.connections, table)))
    return plan.repetitions * once_s


@expected_s.register
def _tear_down(plan: TearDownPlan, testbed: Testbed) -> Fraction:
    if plan.rate_cps is not None:
        testbed = _with_connections(testbed, rate_fps=plan.rate_cps)
    total_s = Fraction(0)
    for at in _sized(plan.sizes, testbed):
        load = Establishing(rate_cps=_phase_1_fps(at))
        once_s = _establishing_s(plan, at, load) + DELETION_S
        total_s += phase_1_search_s(plan.timing, at) + plan.repetitions * once_s
    return total_s


@expected_s.register
def _degradation(plan: DegradationPlan, testbed: Testbed) -> Fraction:
    sized = zip(plan.columns, _sized(plan.columns, testbed), strict=True)
    return _total(_point_s(search_of(plan.search, column), at) for column, at in sized)


@expected_s.register
def _scale_up(plan: ScaleUpPlan, testbed: Testbed) -> Fraction:
    return len(plan.cores) * _point_s(plan.search, testbed)


@expected_s.register
def _overload(plan: OverloadPlan, testbed: Testbed) -> Fraction:
    total_s = Fraction(0)
    lasts_s = plan.test.timing.duration_s
    for flows in (1, *(flows for flows in plan.flows if flows != 1)):
        at = _with_connections(testbed, count=flows)
        of_test_s = expected_s(plan.test, at)
        if plan.incremental:
            of_test_s *= 1 + _ramp_s(plan, flows) / _trial_s(plan.test, at, lasts_s)
        total_s += of_test_s
    return total_s


def _ramp_s(plan: OverloadPlan, flows: int) -> Fraction:
    """Returns the time in which the flows of a trial start; a drain follows each part."""
    timing, parts = plan.test.timing, parts_of(flows, plan.step_s)
    return _total(timing.drain_s + (timing.duration_s if s is None else s) for _, s in parts)


def _total(seconds: Iterable[Fraction]) -> Fraction:
    return sum(seconds, Fraction(0))


def _point_s(plan: Searching, testbed: Testbed) -> Fraction:
    """Returns the duration of one point of a series."""
    whole_s = expected_s(plan, testbed)
    if isinstance(plan, ThroughputPlan):
        whole_s += phase_1_search_s(plan.timing, testbed)
    return whole_s


def _search_s(
    search: ThroughputPlan | None, testbed: Testbed, *, given_fps: int | None
) -> Fraction:
    """Returns the duration of the search for the throughput at which something is measured."""
    if given_fps is not None or search is None:
        return Fraction(0)
    return expected_s(search, testbed)


def _tried(search: Bisection, device_fps: int, loss_verifications: int = 0) -> list[int]:
    """Returns the rates that a search tries if the gateway passes up to this rate."""
    verified = LossVerification(search=search, repeats=loss_verifications)
    tried = []
    while (rate_fps := search.next()) is not None:
        tried.append(rate_fps)
        passes = rate_fps <= device_fps
        lost = max(0.0, 1 - device_fps / rate_fps)
        verified.tell(rate_fps, Verdict.PASS if passes else Verdict.FAIL, lost)
    return tried


def _device(maximum_fps: int | None) -> int:
    if maximum_fps is None:
        return ASSUMED_FPS
    return min(ASSUMED_FPS, max(1, int(maximum_fps * BELOW_MAXIMUM)))


def _trial_s(plan: Plan, testbed: Testbed, sends_s: Fraction) -> Fraction:
    timing = plan.timing
    before_s = timing.settle_s + BETWEEN_S + _phase_1_s(testbed, timing.drain_s)
    return before_s + sends_s + timing.drain_s


def _establishing_s(plan: Plan, testbed: Testbed, load: Establishing) -> Fraction:
    """Returns the duration of a trial of phase 1 alone, or with validation."""
    lasts_s = load.lasts_s(plan.timing.drain_s, testbed.connections)
    return plan.timing.settle_s + BETWEEN_S + lasts_s


def _phase_1_s(testbed: Testbed, drain_s: Fraction) -> Fraction:
    """Returns the time from a trial's first frame to that of phase 2; see phases.py."""
    asked = testbed.connections
    if asked is None:
        return Fraction(0)
    rate_fps = _phase_1_fps(testbed)
    segments = 3 if asked.is_tcp else 1  # of a handshake
    lasts_s = segments * (Fraction(asked.count, rate_fps) + drain_s)
    if frames := min(asked.sample, asked.count):
        lasts_s += Fraction(frames, min(SAMPLE_FPS, rate_fps)) + drain_s
    return lasts_s if asked.delay_s is None else max(lasts_s, Fraction(str(asked.delay_s)))


def _phase_1_fps(testbed: Testbed) -> int:
    asked = testbed.connections
    given = None if asked is None else asked.rate_fps
    return given or int(ASSUMED_FPS * SAFE)


def _sized(sizes: Sequence[Size], testbed: Testbed) -> list[Testbed]:
    return [_with_connections(testbed, count=size.about(testbed)) for size in sizes] or [testbed]


def _with_connections(testbed: Testbed, **changes: int) -> Testbed:
    asked = testbed.connections
    if asked is None:
        return testbed
    return testbed.model_copy(update={"connections": asked.model_copy(update=changes)})


def duration_s(work: Work, testbed: Testbed) -> Fraction:
    """Returns about how many seconds the work takes, set-up included."""
    asked = work.asked(testbed)
    of_one_place_s = sum((expected_s(plan, asked) for plan in work.plans(asked)), start=Fraction(0))
    if not work.measure.makes_connections:
        timing = work.options.defaults.timing
        of_one_place_s += len(work.series) * phase_1_search_s(timing, asked)
    return SET_UP_S + _places(work, asked) * of_one_place_s


def repeats_s(work: Work, testbed: Testbed) -> Fraction:
    """Returns how long INVALID trials may take in addition; 0 if no limit was given."""
    of_one_s = work.options.defaults.retry_s or Fraction(0)
    return _places(work, work.asked(testbed)) * len(work.series) * of_one_s


def _places(work: Work, testbed: Testbed) -> int:
    """Returns the number of combinations of frame size, mix and number of networks."""
    sizes, shares, networks = work.lists()
    if sizes == RFC8219_SIZES_BYTES:
        largest = testbed.tester.mtu_bytes + ETHERNET_BYTES
        sizes = tuple(size for size in sizes if size <= largest)
    return max(1, len(sizes or (0,)) * len(shares or (0,)) * len(networks or (0,)))
