"""What tests of overload share with others."""

from fractions import Fraction
from typing import Any

from natxy.model.trial_spec import Stream
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.overload import DEGRADATION, OverloadPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, beyond

THROUGHPUT = "throughput"
LOST = f"{DEGRADATION} of {THROUGHPUT}"
FAST = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(0))


def plan(
    flows: tuple[int, ...], *, test: Benchmarked | None = None, **changes: Any
) -> OverloadPlan:
    search = ThroughputPlan(
        timing=FAST,
        seed=7,
        repetitions=1,
        error=SearchError(rate_fps=1),
        max_rate_fps=20_000,
    )
    return OverloadPlan(test=test or search, flows=flows, **changes)


def flows_of(stream: Stream) -> int:
    traffic = stream.foreground
    assert traffic is not None
    return traffic.source_port.values * traffic.destination_port.values


def slower_with(flows_cost_fps: dict[int, int]) -> FakeEngine:
    """A capacity for each number of flows."""

    return FakeEngine(lose=lambda stream: beyond(flows_cost_fps[flows_of(stream)], stream))


def lasting(delays_ns: dict[int, float], lost: dict[int, int] | None = None) -> FakeEngine:
    """A longest delay, and lost frames, for each number of flows."""
    return FakeEngine(
        lose=lambda stream: range((lost or {}).get(flows_of(stream), 0)),
        delays_ns=lambda stream: (1.0, delays_ns[flows_of(stream)]),
    )


TIMES: dict[str, Any] = {"timing": FAST, "seed": 7, "repetitions": 1}
