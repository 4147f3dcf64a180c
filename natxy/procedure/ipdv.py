"""Inter-packet delay variation: D(i) - D(i-1) of consecutive frames (RFC 8219 section 7.3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.errors import DutError
from natxy.measure.delay_remarks import delay_remarks
from natxy.model.delays import Delays
from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Measurement
from natxy.model.stream_counters import DelayVariation
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import Recording
from natxy.procedure.at_rate import AtRate, RatePlan, Value, measure
from natxy.procedure.pdv import PROFILES as PROFILES
from natxy.procedure.pdv import RFC as PDV_RFC
from natxy.trial.observer import Observer
from natxy.trial.profile import deviations
from natxy.trial.setup import ReadyTester
from natxy.verdict.delay_error import QUIET, DelayError, TimingErrors

RFC = replace(PDV_RFC, duration_of="RFC 8219 section 7.3.2")
MINIMUM = "minimum IPDV"
MEDIAN = "median IPDV"
MAXIMUM = "maximum IPDV"
UNDEFINED = "undefined pairs"
MEANING = (
    "IPDV is the delay of a frame minus that of the frame before it, in one direction and kind of "
    "traffic. A pair of frames is undefined if one of them was lost."
)


@dataclass(frozen=True, kw_only=True)
class IpdvPlan(RatePlan):
    pass


def ipdv(
    plan: IpdvPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """Measures minimum, median and maximum, signed, with a value for each repetition."""
    what = AtRate(
        procedure="ipdv",
        title="Inter-packet delay variation",
        reference="RFC 8219 section 7.3.2",
        values=ipdv_values,
        errors=ipdv_errors,
        recording=Recording(ipdv=True),
        deviations=deviations(plan.timing, RFC, repetitions=plan.repetitions),
        remarks=_remarks,
    )
    return measure(what, plan, tester, dut, observer)


def ipdv_values(stream: StreamResult) -> Sequence[Value]:
    """Returns the figures of a stream whose trial recorded IPDV."""
    pairs = _pairs(stream)
    if pairs.count == 0:
        raise DutError(
            f"{stream.direction}: no two consecutive frames arrived, so there is no IPDV; use "
            "`natxy throughput` to find a rate at which frames arrive."
        )
    return (
        Value(name=MINIMUM, unit="ns", value=pairs.minimum_ns),
        Value(name=MEDIAN, unit="ns", value=pairs.median_ns),
        Value(name=MAXIMUM, unit="ns", value=pairs.maximum_ns),
        Value(name=UNDEFINED, unit="frames", value=float(_undefined(stream)), primary=False),
    )


def ipdv_errors(result: TrialResult, noise: Disturbance = QUIET) -> Sequence[DelayError]:
    errors = []
    for stream in result.streams:
        if (pairs := _pairs(stream)).count == 0:
            continue
        timing = TimingErrors.of(stream, result, noise)
        figures = {
            MINIMUM: (pairs.minimum_ns, timing.longest_ns),
            MEDIAN: (pairs.median_ns, timing.variation_ns(pairs, Fraction(1, 2))),
            MAXIMUM: (pairs.maximum_ns, timing.longest_ns),
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


def _remarks(tester: ReadyTester, trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    return (MEANING, *delay_remarks(tester, trials))
