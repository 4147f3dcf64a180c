"""The measurements by their names, and their plans with the defaults of a profile.

The command line and `natxy.Testbed` make their plans here, so both have the same defaults.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, TypeVar

from natxy.errors import ConfigurationError, unknown_value
from natxy.exact import exact
from natxy.model.measurement import Measurement
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan
from natxy.procedure import (
    back_to_back,
    capacity,
    churn,
    closing,
    degradation,
    delay_variation,
    establishment,
    establishment_search,
    frame_loss,
    latency,
    mlr_throughput,
    overload,
    recovery,
    reset,
    scale_up,
    tear_down,
    throughput,
)
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.establishment import with_phase_1_rate
from natxy.search.capacity_goal import FIRST_CPS, CapacityGoal
from natxy.search.mlr_goal import rfc2544_goal
from natxy.setting import Setting, settings_of
from natxy.trial.profile import PROFILES, RFC, Profile
from natxy.trial.session import Session
from natxy.trial.timing import RETRY_TIME, Timing

PROFILE = Setting(
    "profile",
    "Defaults of the others: rfc has the values that the RFCs ask for, quick has short trials for "
    "a first look",
    default="rfc",
)
FIRST_FLOWS = (10, 100, 1000, 10000)
FIRST_CORES = (1, 2)
TIMES = tuple(field.name for field in fields(Timing))
# Without effect where phase 1 is measured: a trial lasts as long as its connections take, in the
# initiator's direction, and its rate is what the search looks for.
OF_PHASE_2 = ("duration_s", "direction", "establishment_rate_cps")
AnyPlan = TypeVar("AnyPlan")


def needs_connections(_: object, traffic: TrafficPlan) -> None:
    """Raises ConfigurationError without connections."""
    _ = traffic.required_connections


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measurement: its procedure, its plan, and which values a caller may give."""

    run: Callable[[Any, Session], Measurement]
    plan: type[Any]
    profiles: Mapping[str, Profile] = field(default_factory=lambda: PROFILES)
    also: tuple[str, ...] = ()  # fields that have no setting and that a caller may give
    of: str = ""  # the field that holds the plan of another measurement
    tests: tuple[str, ...] = ()  # the measurements that may stand there; the first by default
    parts: tuple[type[Any], ...] = ()  # of the plan, whose fields are given as if they were its own
    without: tuple[str, ...] = ()  # what has no effect on it
    makes_connections: bool = False  # it sets phase 1 up itself
    # Raises ConfigurationError if the plan cannot be measured with such traffic.
    check: Callable[[Any, TrafficPlan], object] = lambda _, traffic: traffic

    def settings(self) -> Iterator[tuple[Field[Any], Setting]]:
        """Yields what a caller may give beside the fields that have no setting."""
        for kind in (Timing, self.plan, *self.parts, *(MEASURES[each].plan for each in self.tests)):
            yield from (each for each in settings_of(kind) if each[0].name not in self.without)


SEARCHED = ("throughput", "establishment")  # by degradation and scale-up
MEASURES = {
    "throughput": Measure(
        run=throughput.throughput, plan=throughput.ThroughputPlan, also=("bursts",)
    ),
    "mlr_throughput": Measure(
        run=mlr_throughput.mlr_throughput, plan=mlr_throughput.MlrThroughputPlan, also=("goals",)
    ),
    "latency": Measure(run=latency.latency, plan=latency.LatencyPlan, profiles=latency.PROFILES),
    "pdv": Measure(
        run=delay_variation.pdv, plan=delay_variation.PdvPlan, profiles=delay_variation.PROFILES
    ),
    "ipdv": Measure(
        run=delay_variation.ipdv, plan=delay_variation.IpdvPlan, profiles=delay_variation.PROFILES
    ),
    "frame_loss": Measure(
        run=frame_loss.frame_loss, plan=frame_loss.FrameLossPlan, profiles=frame_loss.PROFILES
    ),
    "back_to_back": Measure(
        run=back_to_back.back_to_back,
        plan=back_to_back.BackToBackPlan,
        profiles=back_to_back.PROFILES,
    ),
    "recovery": Measure(
        run=recovery.recovery, plan=recovery.RecoveryPlan, profiles=recovery.PROFILES
    ),
    "reset": Measure(run=reset.reset, plan=reset.ResetPlan, profiles=reset.PROFILES),
    "overload": Measure(
        run=overload.overload,
        plan=overload.OverloadPlan,
        of="test",
        tests=(
            *("throughput", "latency", "pdv", "ipdv", "frame_loss", "back_to_back"),
            *("recovery", "reset"),
        ),
        without=("connections", "networks"),
    ),
    "scale_up": Measure(
        run=scale_up.scale_up,
        plan=scale_up.ScaleUpPlan,
        of="search",
        tests=SEARCHED,
        makes_connections=True,
    ),
    "establishment": Measure(
        run=establishment.establishment,
        plan=establishment_search.EstablishmentPlan,
        profiles=establishment_search.PROFILES,
        without=(*OF_PHASE_2, "networks"),
        check=needs_connections,
        makes_connections=True,
    ),
    "capacity": Measure(
        run=capacity.capacity,
        plan=capacity.CapacityPlan,
        profiles=capacity.PROFILES,
        parts=(CapacityGoal,),
        without=(*OF_PHASE_2, "networks"),
        check=needs_connections,
        makes_connections=True,
    ),
    "tear_down": Measure(
        run=tear_down.tear_down,
        plan=tear_down.TearDownPlan,
        profiles=establishment_search.PROFILES,
        also=("sizes",),
        without=("duration_s", "direction", "connections", "networks"),
        check=needs_connections,
        makes_connections=True,
    ),
    "closing": Measure(
        run=closing.closing,
        plan=closing.ClosingPlan,
        profiles=establishment_search.PROFILES,
        without=("duration_s", "direction", "networks"),
        check=closing.check_transport,
        makes_connections=True,
    ),
    "degradation": Measure(
        run=degradation.degradation,
        plan=degradation.DegradationPlan,
        also=("columns",),
        of="search",
        tests=SEARCHED,
        without=("connections", "networks"),
        check=degradation.check_columns,
        makes_connections=True,
    ),
    "churn": Measure(
        run=churn.churn,
        plan=churn.ChurnPlan,
        without=("networks", "foreground_percent"),
        check=churn.check_traffic,
    ),
}
BY_PLAN = {each.plan: each for each in MEASURES.values()}


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What holds where a plan's field is not given; `given` holds in all plans of a measurement."""

    profile: str
    seed: int
    given: Mapping[str, Any]  # fields of Timing, and repetitions
    connections: ConnectionsSection | None = None  # of the testbed

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise unknown_value(PROFILE, self.profile, PROFILES)

    def plan(self, kind: type[AnyPlan], **own: Any) -> AnyPlan:
        """Returns a plan; `own` has its fields, and those of its parts and times."""
        measure = BY_PLAN[kind]
        if measure.of:
            around: AnyPlan = self._around(measure, own)
            return around
        base = measure.profiles[self.profile]
        times = {name: self.given[name] for name in TIMES if name in self.given}
        times |= {name: own.pop(name) for name in TIMES if name in own}
        filled = {
            field.name: getattr(base, field.name)
            for field, setting in settings_of(kind)
            if setting.of_profile
        }
        if "repetitions" in self.given:
            filled["repetitions"] = self.given["repetitions"]
        filled |= self._filled(kind, base, own, times)
        timing = replace(base.timing, **times)
        return kind(**{**filled, "timing": timing, "seed": self.seed, **own})

    def _filled(
        self, kind: type[Any], base: Profile, own: dict[str, Any], times: dict[str, Any]
    ) -> dict[str, Any]:
        """Returns the fields that no setting has, and takes their parts out of `own`."""
        if kind is throughput.ThroughputPlan:  # a duration switches shorter trials off
            return {"buffer_frames": None if "duration_s" in times else base.buffer_frames}
        if kind is capacity.CapacityPlan:
            return {"goal": self._goal(base, own)}
        if kind is mlr_throughput.MlrThroughputPlan and "goals" not in own:
            longest_s = exact("duration_s", times.get("duration_s", base.timing.duration_s))
            return {"goals": (rfc2544_goal(final_duration_s=longest_s),)}
        if kind is back_to_back.BackToBackPlan:  # its times are the bursts'
            kept = {k: v for k, v in self.given.items() if k not in ("duration_s", "drain_s")}
            return {"search": replace(self, given=kept).search_first()}
        return {"search": self.search_first()} if issubclass(kind, RatePlan) else {}

    def search_first(self) -> throughput.ThroughputPlan:
        """Returns the plan of the search for the rate at which something else is measured.

        Its trials last at most as long as RFC 2544 asks, also where the measurement's last longer.
        """
        search = self.plan(throughput.ThroughputPlan)
        longest_s = min(search.timing.duration_s, RFC.timing.duration_s)
        timing = replace(search.timing, duration_s=longest_s)
        return replace(search, repetitions=1, timing=timing)

    def _goal(self, base: Profile, own: dict[str, Any]) -> CapacityGoal:
        """Returns the goal of a capacity search, which begins with the testbed's connections."""
        asked = self.connections
        goal = {"c0": asked.count if asked else 1, "rate_error": base.rate_error}
        goal["first_cps"] = (asked and asked.rate_fps) or FIRST_CPS
        names = [field.name for field, _ in settings_of(CapacityGoal)]
        return CapacityGoal(**{**goal, **{name: own.pop(name) for name in names if name in own}})

    def _around(self, measure: Measure, own: dict[str, Any]) -> Any:
        """Returns a plan that holds the plan of another measurement, or its name."""
        names = {field.name for field in fields(measure.plan)}
        held = own.pop(measure.of, measure.tests[0])
        inner = {name: own.pop(name) for name in [*own] if name not in names}
        if isinstance(held, str):
            held = self._held(measure, held, inner)
        elif inner:
            name = next(iter(inner))
            raise ConfigurationError(
                f"{name}: is not possible beside a plan (expected it in the plan of {measure.of})"
            )
        if measure.plan is overload.OverloadPlan and not own.get("subscribers"):
            own.setdefault("flows", FIRST_FLOWS)
        if measure.plan is scale_up.ScaleUpPlan:
            own.setdefault("cores", FIRST_CORES)
        if measure.plan is degradation.DegradationPlan:
            own.setdefault("columns", ())  # which the plan refuses
        return measure.plan(**{measure.of: held, **own})

    def _held(self, measure: Measure, name: str, inner: dict[str, Any]) -> Any:
        if name not in measure.tests:
            raise unknown_value(measure.of, name, measure.tests)
        of = MEASURES[name]
        known = {"dut_name", *TIMES, *of.also, *(field.name for field, _ in of.settings())}
        for each in inner:
            if each not in known:
                raise ConfigurationError(
                    f'{each}: is not possible with {measure.of} = "{name}" (expected none)'
                )
        return self.plan(of.plan, **inner)

    @property
    def timing(self) -> Timing:
        """The times of the search for a throughput."""
        return self.plan(throughput.ThroughputPlan).timing

    @property
    def retry_s(self) -> Fraction | None:
        """The limit of the time for INVALID trials; None: there is none."""
        limit_s = self.given.get("retry_s")
        return None if limit_s is None else exact(RETRY_TIME, limit_s)

    def ready(self, measure: Measure, session: Session) -> Session:
        """Returns the session with one limit for all invalid trials of the measurement.

        If the measurement needs a rate of phase 1 and none is given, it is searched for.
        """
        session = session.with_retry_time(self.retry_s)
        if measure.makes_connections:
            return session
        return with_phase_1_rate(session, self.timing, seed=self.seed)
