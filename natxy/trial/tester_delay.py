"""The tester's own part of each delay, as the last self-test of the same tester found it."""

from natxy.model.event import Hello
from natxy.model.self_test_record import OwnDelay, looped_version
from natxy.model.testbed import TrafficSection
from natxy.tester.self_tests import known_self_test, unreadable

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


def own_delay(hello: Hello, traffic: TrafficSection) -> str:
    """Returns a sentence with the own delay, its date and loop, or with the reason why it is
    unknown."""
    known = known_self_test(hello, traffic)
    if known is None:
        return _unknown(hello, traffic)
    delay, asked_bytes = known.delay_of(traffic.frame_size_bytes), traffic.frame_size_bytes
    size = f"{delay.frame_size_bytes} B"
    if delay.frame_size_bytes != asked_bytes:
        size += f", the nearest to {asked_bytes} B"
    version = known.tester.engine_version, known.tester.variant
    other = "" if version == (hello.engine_version, hello.variant) else ", another version"
    offset, loaded = delay.offset, delay.loaded
    return (
        f"Tester's own delay (self-test of {known.date}, {known.loop} {known.tester.driver}, "
        f"{size}{other}): at {offset.rate_fps:,} fps minimum {microseconds(offset.minimum_ns)}, "
        f"median {microseconds(offset.median_ns)}; at {loaded.rate_fps:,} fps minimum "
        f"{microseconds(loaded.minimum_ns)}, median {microseconds(loaded.median_ns)}, "
        f"P99.9 {microseconds(loaded.p999_ns)}."
    )


def _unknown(hello: Hello, traffic: TrafficSection) -> str:
    drivers = sorted({port.driver for port in hello.ports})
    finds = SELF_TESTS.get(drivers[0], ON_A_CABLE) if len(drivers) == 1 else ON_A_CABLE
    if finds != ON_A_CABLE and looped_version(traffic) == 4:
        finds = f"{finds} --ip-version 4"
    spoilt = unreadable()
    why = f", since {spoilt} is damaged or of another version" if spoilt else ""
    return f"Tester's own delay ({', '.join(drivers)}): unknown{why}; run {finds}."


def microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:.3g} µs"
