"""What must stand beside every delay: which definition, which clock, and the tester's own part."""

from collections.abc import Sequence

from natxy.model.event import Hello
from natxy.model.trial_record import TrialRecord
from natxy.procedure.setup import ReadyTester
from natxy.tester.self_tests import known_self_test

SELF_TESTS = {  # by the ports' driver: the command that finds their own delay
    "net_af_xdp": "natxy self-test --loop veth",
    "net_af_packet": "natxy self-test --loop veth",
    "net_ring": "natxy self-test",
}
ON_A_CABLE = "natxy self-test TESTBED with its two ports connected to each other"


def delay_remarks(tester: ReadyTester, trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    """RFC 8219 section 7.2: the report must say which definition of latency was used."""
    definition = trials[-1].result.delay_definition.rstrip(".")
    return (
        f"Delay: {definition}; clock of arrivals: {_clock(trials)}.",
        own_delay(tester.hello, tester.testbed.traffic.frame_size_bytes),
    )


def own_delay(hello: Hello, frame_size_bytes: int) -> str:
    """The tester's part of each delay, as the last self-test of such ports has found it."""
    known = known_self_test(hello)
    if known is None:
        drivers = sorted({port.driver for port in hello.ports})
        finds = SELF_TESTS.get(drivers[0], ON_A_CABLE) if len(drivers) == 1 else ON_A_CABLE
        return f"Tester's own delay ({', '.join(drivers)}): unknown; run {finds}."
    delay = known.delay_of(frame_size_bytes)
    other = "" if known.tester.engine_version == hello.engine_version else ", another version"
    return (
        f"Tester's own delay (self-test of {known.date}, {known.loop} {known.tester.driver}, "
        f"{delay.frame_size_bytes} B{other}): median {_microseconds(delay.median_ns)}, "
        f"P99.9 {_microseconds(delay.p999_ns)}."
    )


def _clock(trials: Sequence[TrialRecord]) -> str:
    """A port's own is held against the processor's, by which frames depart: at its worst."""
    ports = [port for trial in trials for port in trial.result.ports]
    errors_ns = [port.clock_error_ns for port in ports if port.clock_error_ns is not None]
    known = f", known within {_microseconds(max(errors_ns))}" if errors_ns else ""
    return f"{trials[-1].result.delay_clock}{known}"


def _microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:.3g} µs"
