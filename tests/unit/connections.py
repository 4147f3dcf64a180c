"""What tests of connections share with others."""

from fractions import Fraction
from typing import Any

from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.trial.load import Load
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.traffic import port

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
PORTS = {
    "source_port": {"mode": "pseudorandom", "min": 1000, "max": 1999},
    "destination_port": {"mode": "fixed", "min": 80, "max": 80},
}


def plan(connections: dict[str, Any], **traffic: Any) -> TrafficPlan:
    source = Source(name="test")
    asked = {"left_ip_version": 4, "right_ip_version": 4, "forward": PORTS, "reverse": PORTS}
    written = {
        "tester": {"left": port("left"), "right": port("right")},
        "traffic": asked | traffic,
        "connections": {"count": 1000, "rate_fps": 10_000, "sample": 0} | connections,
    }
    testbed: Testbed = source.validated(Testbed, written)
    return TrafficPlan(testbed=testbed, source=source)


def spec_of(traffic: TrafficPlan, load: Load | int = 20_000) -> TrialSpec:
    traffic.check()
    return TrialPlan(traffic=traffic, timing=TIMING).spec(load=load, seed=1, nonce=1)


def segments_of(spec: TrialSpec) -> list[tuple[str, str, str | None, int]]:
    """Returns phase, role, segment and frame size on departure of each stream."""
    return [
        (phase.name, use.role, use.segment, stream.foreground.departure.frame_size_bytes)
        for phase in spec.phases
        for stream in phase.streams
        if stream.foreground and (use := stream.foreground.connections)
    ]
