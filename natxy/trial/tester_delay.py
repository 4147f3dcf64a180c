"""Remarks for every delay: its definition, the clock of arrivals, and the tester's own delay.

The tester's own part of each delay is what the last self-test of the same tester found.
"""

from collections.abc import Iterator, Sequence

from natxy.model.event import Hello
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.self_test_record import OwnDelay, looped_version
from natxy.model.testbed import TrafficSection
from natxy.model.trial_record import TrialRecord
from natxy.tester.self_tests import known_self_test, unreadable
from natxy.trial.session import Session

SELF_TESTS = {  # the command that measures the tester's own delay, by the driver of its ports
    "net_af_xdp": "natxy self-test --loop veth",
    "net_af_packet": "natxy self-test --loop veth",
    "net_ring": "natxy self-test",
}
ON_A_CABLE = "natxy self-test TESTBED with its two ports connected to each other"


def tester_delay(hello: Hello, traffic: TrafficSection) -> OwnDelay | None:
    """Returns the own delay at the nearest frame size; None if no self-test is stored."""
    known = known_self_test(hello, traffic)
    return None if known is None else known.delay_of(traffic.frame_size_bytes)


def own_delay(hello: Hello, traffic: TrafficSection) -> Iterator[Remark]:
    """Yields the own delay with its date and loop, or the reason why it is unknown."""
    known = known_self_test(hello, traffic)
    if known is None:
        yield from _unknown(hello, traffic)
        return
    delay, asked_bytes = known.delay_of(traffic.frame_size_bytes), traffic.frame_size_bytes
    size = {"size_bytes": delay.frame_size_bytes}
    of_rates = {
        f"{rate}_{name}": float(value)
        for rate, at in (("low", delay.offset), ("high", delay.loaded))
        for name, value in at.model_dump().items()
    }
    facts = {"date": known.date, "loop": known.loop, "driver": known.tester.driver}
    yield Remark.of(Topic.OWN_DELAY, **facts, **size, **of_rates)
    if delay.frame_size_bytes != asked_bytes:
        yield Remark.of(Topic.OWN_DELAY_OF_SIZE, **size, asked_bytes=asked_bytes)
    version = known.tester.engine_version, known.tester.variant
    if version != (hello.engine_version, hello.variant):
        yield Remark.of(Topic.OWN_DELAY_OF_VERSION)


def _unknown(hello: Hello, traffic: TrafficSection) -> Iterator[Remark]:
    drivers = tuple(sorted({port.driver for port in hello.ports}))
    finds = SELF_TESTS.get(drivers[0], ON_A_CABLE) if len(drivers) == 1 else ON_A_CABLE
    if finds != ON_A_CABLE and looped_version(traffic) == 4:
        finds = f"{finds} --ip-version 4"
    yield Remark.of(Topic.OWN_DELAY_UNKNOWN, drivers=drivers, command=finds)
    if spoilt := unreadable():
        yield Remark.of(Topic.SELF_TESTS_UNREADABLE, file=str(spoilt))


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
