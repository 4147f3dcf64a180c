"""Packet delay variation: P99.9 - Dmin over every frame (RFC 8219 section 7.3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.measure.delay_remarks import delay_remarks
from natxy.model.delays import P999, Delays
from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Measurement
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.procedure.at_rate import AtRate, RatePlan, Value, measure
from natxy.trial.observer import Observer
from natxy.trial.profile import Profile, deviations
from natxy.trial.setup import ReadyTester
from natxy.trial.timing import Timing
from natxy.verdict.delay_error import QUIET, DelayError, TimingErrors

PDV = "PDV"
MINIMUM = "minimum delay"
P999_DELAY = "P99.9 of the delay"
MAXIMUM = "maximum delay"
LOST = "lost frames"
RFC = Profile(
    timing=Timing(duration_s=Fraction(60), drain_s=Fraction(2), settle_s=Fraction(5)),
    repetitions=20,
    duration_of="RFC 8219 section 7.3.1",
)
QUICK = Profile(
    timing=Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20), settle_s=Fraction(0)),
    repetitions=3,
)
PROFILES = {"rfc": RFC, "quick": QUICK}


@dataclass(frozen=True, kw_only=True)
class PdvPlan(RatePlan):
    @property
    def lost_ns(self) -> float:
        """The delay of a lost frame: duration + timeout (SP 3.3.4)."""
        return float((self.timing.duration_s + self.timing.drain_s) * 10**9)


def pdv(
    plan: PdvPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """Measures PDV and the delays that it is the difference of, each once per repetition."""
    what = AtRate(
        procedure="pdv",
        title="Packet delay variation",
        reference="RFC 8219 section 7.3.1",
        values=lambda stream: pdv_values(stream, plan.lost_ns),
        errors=lambda result, noise: pdv_errors(result, plan.lost_ns, noise),
        deviations=deviations(plan.timing, RFC, repetitions=plan.repetitions),
        remarks=delay_remarks,
    )
    return measure(what, plan, tester, dut, observer)


def pdv_errors(
    result: TrialResult, lost_ns: float, noise: Disturbance = QUIET
) -> Sequence[DelayError]:
    """Returns the errors of PDV, which alone can make a trial INVALID, and of the other delays."""
    errors = []
    for stream in result.streams:
        if not stream.received:
            continue
        delays = _delays(stream, lost_ns)
        timing = TimingErrors.of(stream, result, noise)
        of_p999_ns = timing.percentile_ns(delays, P999)
        of_figures_ns = {
            PDV: of_p999_ns,
            MINIMUM: timing.minimum_ns(delays),
            P999_DELAY: of_p999_ns,
            MAXIMUM: timing.maximum_ns(delays),
        }
        errors += [
            DelayError(
                name=each.name,
                direction=stream.direction,
                value_ns=each.value,
                error_ns=of_figures_ns[each.name],
                judged=each.name == PDV,
            )
            for each in pdv_values(stream, lost_ns)
            if each.name in of_figures_ns
        ]
    return errors


def _delays(stream: StreamResult, lost_ns: float) -> Delays:
    kinds = [counters for _, counters in stream.counters()]
    return Delays(
        distributions=tuple(counters.delay for counters in kinds),
        lost=sum(counters.lost for counters in kinds),
        lost_ns=lost_ns,
    )


def pdv_values(stream: StreamResult, lost_ns: float) -> Sequence[Value]:
    delays = _delays(stream, lost_ns)
    lowest_ns, highest_ns = delays.minimum_ns, delays.percentile_ns(P999)
    return (
        Value(name=PDV, unit="ns", value=highest_ns - lowest_ns),
        Value(name=MINIMUM, unit="ns", value=lowest_ns, primary=False),
        Value(name=P999_DELAY, unit="ns", value=highest_ns, primary=False),
        Value(name=MAXIMUM, unit="ns", value=delays.maximum_ns, primary=False),
        Value(name=LOST, unit="frames", value=float(delays.lost), primary=False),
    )
