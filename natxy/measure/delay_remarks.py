"""Remarks for every delay: its definition, the clock of arrivals, and the tester's own delay."""

from collections.abc import Sequence

from natxy.model.trial_record import TrialRecord
from natxy.trial.setup import ReadyTester
from natxy.trial.tester_delay import microseconds, own_delay


def delay_remarks(tester: ReadyTester, trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    """Returns the remarks; RFC 8219 section 7.2 requires a report to define its latency."""
    definition = trials[-1].result.delay_definition.rstrip(".")
    return (
        f"Delay: {definition}; clock of arrivals: {_clock(trials)}.",
        own_delay(tester.hello, tester.testbed.traffic),
    )


def _clock(trials: Sequence[TrialRecord]) -> str:
    """Returns the clock of arrivals, with its largest error against the processor's clock, by which
    frames are sent."""
    ports = [port for trial in trials for port in trial.result.ports]
    errors_ns = [port.clock_error_ns for port in ports if port.clock_error_ns is not None]
    known = f", known within {microseconds(max(errors_ns))}" if errors_ns else ""
    return f"{trials[-1].result.delay_clock}{known}"
