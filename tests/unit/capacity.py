"""What tests of capacity share with others."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from natxy.errors import DutError, TrialRefused
from natxy.model.measurement import Measurement
from natxy.model.reason import Reason
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Phase, TrialSpec
from natxy.procedure.capacity import CapacityPlan, capacity
from natxy.search.capacity_goal import CapacityGoal
from natxy.tester.tester import OnProgress, ignore_progress
from natxy.trial.timing import Timing
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, rate_of
from tests.unit.reasons import LATE
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway


@dataclass(kw_only=True)
class EngineAtACorpse(FakeEngine):
    most: int = 1500

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        if spec.phases[0].streams[0].frames_of("foreground") > self.most:
            raise TrialRefused("neighbour", "nobody answers for 198.18.0.1")
        return super().run(spec, on_progress)


WIDE = {
    "source_port": {"mode": "pseudorandom", "min": 1000, "max": 1999},
    "destination_port": {"mode": "pseudorandom", "min": 1, "max": 100},
}
PLAN = CapacityPlan(
    timing=Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20)),
    seed=7,
    repetitions=1,
    goal=CapacityGoal(c0=1000),
)


@dataclass(kw_only=True)
class Mortal(StatefulGateway):
    """Dies of more connections than `bears`; then nothing comes through."""

    bears: int = 10**9
    dead: bool = False

    def makes(self, asked: int, rate_cps: int) -> int:
        self.dead |= asked > self.bears
        return 0 if self.dead else super().makes(asked, rate_cps)


@dataclass(kw_only=True)
class RefusingEngine(FakeEngine):
    """The gateway does not answer for its addresses in this trial."""

    refuses: int = 0  # by number, from 1, the warm-up among them; 0: in none

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        result = super().run(spec, on_progress)
        if len(self.specs) == self.refuses:
            raise TrialRefused("neighbour", "The gateway does not answer for 198.18.0.1.")
        return result


@dataclass(kw_only=True)
class Recovering(StatefulDut):
    """Once, at its reset `loses_its_way_at`, nobody gets at it."""

    recoveries: int = 0
    resets: int = 0
    loses_its_way_at: int = 0

    def before_trial(self) -> None:
        if isinstance(self.gateway, Mortal) and self.gateway.dead:
            raise DutError("The gateway's process has ended.")

    def reset(self) -> None:
        super().reset()
        self.resets += 1
        if self.resets == self.loses_its_way_at:
            raise DutError("dut.reset: `ssh gateway flush` ended with status 255: refused")

    def recover(self) -> None:
        self.recoveries += 1
        if isinstance(self.gateway, Mortal):
            self.gateway.dead = False


@dataclass(kw_only=True)
class Bench:
    gateway: StatefulGateway
    engine: RefusingEngine = field(init=False)
    dut: Recovering = field(init=False)
    limit_fps: int = 10**12
    refuses: int = 0
    loses_its_way_at: int = 0

    def __post_init__(self) -> None:
        self.engine = RefusingEngine(
            gateway=self.gateway,
            limit_fps=self.limit_fps,
            too_slow=False,
            refuses=self.refuses,
        )
        self.dut = Recovering(gateway=self.gateway, loses_its_way_at=self.loses_its_way_at)

    def measure(
        self, plan: CapacityPlan = PLAN, *, connections: dict[str, Any] | None = None, **kw: Any
    ) -> Measurement:
        ports = {"forward": WIDE, "reverse": WIDE} | kw
        return capacity(
            plan, self.engine.session(traffic_plan(connections or {}, **ports), self.dut)
        )


def values(result: Measurement) -> dict[str, float]:
    return {figure.name: figure.values[0] for figure in result.figures}


def often_away(bench: Bench) -> None:
    """In each phase at full rate, the gateway is away for 2 ms, and loses 5 % of its frames."""

    def lost(phase: Phase) -> int:
        return phase.streams[0].frames // 20 if phase.name in ("establish", "validate") else 0

    bench.engine.lost_while_away = lost
    bench.engine.away_ns = lambda phase: (
        (lost(phase) / rate_of(phase.streams[0]) + 0.002) * 1e9 if lost(phase) else 0.0
    )


def more_than_4000(spec: TrialSpec) -> Reason | None:
    return LATE if any(phase.streams[0].frames > 4000 for phase in spec.phases) else None
