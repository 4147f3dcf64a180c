"""Remarks for every delay: its definition, the clock of arrivals, and the tester's own delay."""

from collections.abc import Sequence

from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.trial_record import TrialRecord
from natxy.trial.session import Session
from natxy.trial.tester_delay import own_delay


def delay_remarks(session: Session, trials: Sequence[TrialRecord]) -> Remarks:
    """Returns the remarks; RFC 8219 section 7.2 requires a report to define its latency."""
    return (_defined(trials), *own_delay(session.hello, session.testbed.traffic))


def _defined(trials: Sequence[TrialRecord]) -> Remark:
    """Returns the definition, with the largest error of the clock of arrivals against the
    processor's clock, by which frames are sent."""
    last = trials[-1].result
    facts = {"definition": last.delay_definition.rstrip("."), "clock": last.delay_clock}
    ports = [port for trial in trials for port in trial.result.ports]
    errors_ns = [port.clock_error_ns for port in ports if port.clock_error_ns is not None]
    if not errors_ns:
        return Remark.of(Topic.DELAY, **facts)
    return Remark.of(Topic.DELAY_BY_CLOCK, **facts, error_ns=max(errors_ns))
