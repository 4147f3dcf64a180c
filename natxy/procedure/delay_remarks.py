"""What must stand beside every delay: which definition, which clock, and the tester's own part."""

from natxy.model.event import Hello
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.procedure.setup import ReadyTester
from natxy.tester.self_tests import known_self_test

SELF_TESTS = {  # by the ports' driver: the command that finds their own delay
    "net_af_xdp": "natxy self-test --loop veth",
    "net_af_packet": "natxy self-test --loop veth",
    "net_ring": "natxy self-test",
}
ON_A_CABLE = "natxy self-test TESTBED with its two ports connected to each other"


def delay_remarks(tester: ReadyTester, trial: TrialRecord) -> tuple[str, ...]:
    """RFC 8219 section 7.2: the report must say which definition of latency was used."""
    result = trial.result
    return (
        f"Delay: {result.delay_definition.rstrip('.')}; clock of arrivals: {_clock(result)}.",
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


def _clock(result: TrialResult) -> str:
    """A port's own is held against the processor's, by which frames depart."""
    errors_ns = [p.clock_error_ns for p in result.ports if p.clock_error_ns is not None]
    known = f", known within {_microseconds(max(errors_ns))}" if errors_ns else ""
    return f"{result.delay_clock}{known}"


def _microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:.3g} µs"
