"""Delay variation: of all frames (PDV), and of consecutive ones (IPDV) (RFC 8219 section 7.3).

PDV is P99.9 - Dmin over every frame, IPDV is D(i) - D(i-1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.errors import DutError
from natxy.model.distribution import P999, Delays
from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.stream_counters import DelayVariation
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Recording
from natxy.procedure.at_rate import AtRate, RatePlan, figures_of, measure
from natxy.trial.profile import deviations, profiles
from natxy.trial.session import Session
from natxy.trial.tester_delay import delay_remarks
from natxy.verdict.delay_error import QUIET, DelayError, TimingErrors

PDV = "PDV"
MINIMUM = "minimum delay"
P999_DELAY = "P99.9 of the delay"
MAXIMUM = "maximum delay"
LOST = "lost frames"
MINIMUM_IPDV = "minimum IPDV"
MEDIAN_IPDV = "median IPDV"
MAXIMUM_IPDV = "maximum IPDV"
UNDEFINED = "undefined pairs"
PROFILES = profiles(
    repetitions=(20, 3),
    least_repetitions=20,
    duration_of="RFC 8219 section 7.3.1",
    repetitions_of="RFC 8219 section 7.3.1",
)
RFC = PROFILES["rfc"]
RFC_IPDV = replace(
    RFC, duration_of="RFC 8219 section 7.3.2", repetitions_of="RFC 8219 section 7.3.2"
)


@dataclass(frozen=True, kw_only=True)
class PdvPlan(RatePlan):
    @property
    def lost_ns(self) -> float:
        """The delay of a lost frame: duration + timeout (SP 3.3.4)."""
        return float((self.timing.duration_s + self.timing.drain_s) * 10**9)


def pdv(plan: PdvPlan, session: Session) -> Measurement:
    """Measures PDV and the delays that it is the difference of, each once per repetition."""
    what = AtRate(
        procedure="pdv",
        title="Packet delay variation",
        reference="RFC 8219 section 7.3.1",
        figures=lambda stream: pdv_figures(stream, plan.lost_ns),
        errors=lambda result, noise: pdv_errors(result, plan.lost_ns, noise),
        deviations=deviations(plan.timing, RFC, repetitions=plan.repetitions),
        remarks=delay_remarks,
    )
    return measure(what, plan, session)


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
                value_ns=each.values[0],
                error_ns=of_figures_ns[each.name],
                judged=each.name == PDV,
            )
            for each in pdv_figures(stream, lost_ns)
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


def pdv_figures(stream: StreamResult, lost_ns: float) -> Sequence[Figure]:
    delays = _delays(stream, lost_ns)
    lowest_ns, highest_ns = delays.minimum_ns, delays.percentile_ns(P999)
    further = {MINIMUM: lowest_ns, P999_DELAY: highest_ns, MAXIMUM: delays.maximum_ns}
    return (
        *figures_of(stream, "ns", {PDV: highest_ns - lowest_ns}),
        *figures_of(stream, "ns", further, primary=False),
        *figures_of(stream, "frames", {LOST: delays.lost}, primary=False),
    )


@dataclass(frozen=True, kw_only=True)
class IpdvPlan(RatePlan):
    pass


def ipdv(plan: IpdvPlan, session: Session) -> Measurement:
    """Measures minimum, median and maximum, signed, with a value for each repetition."""
    what = AtRate(
        procedure="ipdv",
        title="Inter-packet delay variation",
        reference="RFC 8219 section 7.3.2",
        figures=ipdv_figures,
        errors=ipdv_errors,
        recording=Recording(ipdv=True),
        deviations=deviations(plan.timing, RFC_IPDV, repetitions=plan.repetitions),
        remarks=_ipdv_remarks,
    )
    return measure(what, plan, session)


def ipdv_figures(stream: StreamResult) -> Sequence[Figure]:
    """Returns the figures of a stream whose trial recorded IPDV."""
    pairs = _pairs(stream)
    if pairs.count == 0:
        raise DutError(
            f"{stream.direction}: no two consecutive frames arrived, so there is no IPDV; use "
            "`natxy throughput` to find a rate at which frames arrive."
        )
    variations_ns = {
        MINIMUM_IPDV: pairs.minimum_ns,
        MEDIAN_IPDV: pairs.median_ns,
        MAXIMUM_IPDV: pairs.maximum_ns,
    }
    return (
        *figures_of(stream, "ns", variations_ns),
        *figures_of(stream, "frames", {UNDEFINED: _undefined(stream)}, primary=False),
    )


def ipdv_errors(result: TrialResult, noise: Disturbance = QUIET) -> Sequence[DelayError]:
    errors = []
    for stream in result.streams:
        if (pairs := _pairs(stream)).count == 0:
            continue
        timing = TimingErrors.of(stream, result, noise)
        figures = {
            MINIMUM_IPDV: (pairs.minimum_ns, timing.longest_ns),
            MEDIAN_IPDV: (pairs.median_ns, timing.variation_ns(pairs, Fraction(1, 2))),
            MAXIMUM_IPDV: (pairs.maximum_ns, timing.longest_ns),
        }
        errors += [
            DelayError(
                name=name,
                direction=stream.direction,
                value_ns=value_ns,
                error_ns=error_ns,
                either_way=True,
            )
            for name, (value_ns, error_ns) in figures.items()
        ]
    return errors


def _undefined(stream: StreamResult) -> int:
    return sum(_variation(counters.ipdv).undefined for _, counters in stream.counters())


def _pairs(stream: StreamResult) -> Delays:
    variations = [_variation(counters.ipdv) for _, counters in stream.counters()]
    return Delays(distributions=tuple(each.distribution for each in variations))


def _variation(recorded: DelayVariation | None) -> DelayVariation:
    assert recorded is not None, "the trial was asked for IPDV"
    return recorded


def _ipdv_remarks(session: Session, trials: Sequence[TrialRecord]) -> Remarks:
    return (Remark.of(Topic.IPDV), *delay_remarks(session, trials))
