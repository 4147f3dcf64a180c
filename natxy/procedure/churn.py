"""The rate of new connections beside a load of established ones, and the reverse.

No RFC defines it. RFC 9693 measures creation and use of connections one after the other; in
operation, connections come and go while others are used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Annotated, ClassVar

from natxy.errors import ConfigurationError
from natxy.exact import check
from natxy.measure.search_plan import rate_figure, searched
from natxy.measure.search_remarks import all_lost, cut_remarks, rate_remarks
from natxy.model.distribution import P999, Delays
from natxy.model.measurement import Figure, Measurement, Unit
from natxy.model.remark import Remarks, Topic, applying
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import MAX_MIX_N, MAX_RATE_FPS, Direction, Kind
from natxy.procedure.throughput import ThroughputPlan, searches
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.settings import error_of
from natxy.setting import Setting
from natxy.trial.bound import Bounded
from natxy.trial.churn import Sought, churn_load, most_new
from natxy.trial.connection_table import parameters_of
from natxy.trial.load import Frames
from natxy.trial.maximum import Maximum, maximum_of, maximum_of_connections, media_beside
from natxy.trial.session import Session

NEW_CPS = Setting(
    "new_cps",
    "New connections a second; the load of established connections is searched",
    "CPS",
    default=("searched, with ", Setting("load_fps")),
    short="New connections a second; the load is searched",
)
LOAD = Setting(
    "load_fps",
    "Frames a second per direction that use established connections; the rate of new connections "
    "is searched",
    "FPS",
    default=("searched, with ", NEW_CPS),
    lowest=0,
    highest=MAX_RATE_FPS - 1,
    short="Load; the rate of new connections is searched",
)
MAX_RATE = Setting(
    "max_rate_fps",
    "Highest rate to try",
    "RATE",
    default="the media's rate, or what the ranges of ports and the gateway's table allow",
    short="Highest rate to try",
)
# What a frame of the background creates. With TCP it is a SYN, which nobody answers.
NEW, NEW_BY_SYN = "new connections", "new half-open connections"
FIRST, STEADY = "first-packet latency", "latency of established connections"


@dataclass(frozen=True, kw_only=True)
class ChurnPlan(ThroughputPlan):
    """The options of a measurement, checked when the plan is created.

    With `load_fps`, frames a second per direction that use established connections, the search is
    for the highest rate of new connections. With `new_cps`, new connections a second, it is for the
    highest load.
    """

    error: Annotated[SearchError, error_of("a number")] = DEFAULT_ERROR
    max_rate_fps: Annotated[int | None, MAX_RATE] = None
    load_fps: Annotated[int | None, LOAD] = None
    new_cps: Annotated[int | None, NEW_CPS] = None
    # The measurement sets these: the initiator's direction, and whether its limits are guesses of
    # what no gateway reaches, because neither the user nor the media gave one.
    outward: Direction = "forward"
    starts_low: bool = False
    can_last: ClassVar[bool] = False  # connections would be too old

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bursts is not None:
            raise ConfigurationError("bursts: are not possible with churn (expected None)")
        if (self.load_fps is None) == (self.new_cps is None):
            both = ": is missing, as is " if self.new_cps is None else ": is given with "
            raise ConfigurationError(LOAD, both, NEW_CPS, " (expected one of them)")
        if self.new_cps is not None:
            lowest_cps = ceil(1 / self.timing.duration_s)  # a trial creates a connection
            check(NEW_CPS, self.new_cps, lowest=lowest_cps, highest=MAX_RATE_FPS - 1)

    @property
    def sought(self) -> Sought:
        return "load" if self.load_fps is None else "new"

    @property
    def unit(self) -> Unit:
        return "cps" if self.sought == "new" else "fps"

    @property
    def given_fps(self) -> int:
        """The rate that is given: of the load, or of new connections."""
        return self.new_cps or self.load_fps or 0

    @property
    def least_fps(self) -> int:
        """The lowest rate that is tried: one frame of MAX_MIX_N is of the kind that is sought, and
        a trial has one of them."""
        return max(ceil(1 / self.timing.duration_s), -(-self.given_fps // (MAX_MIX_N - 1)))

    def maximum(self, session: Session) -> Maximum:
        of = maximum_of_connections if self.sought == "new" else maximum_of
        return of(session.hello, session.traffic, self.max_rate_fps)

    def first_fps(self, maximum: Maximum) -> int | None:
        known = replace(maximum, rate_fps=None) if self.starts_low else maximum
        return super().first_fps(known)

    def duration_s(self, rate_fps: int) -> Fraction:
        return self.timing.duration_s

    def load(
        self,
        rate_fps: int,
        above_fps: int = 0,
        longer: int = 1,
        burst_rate_fps: int | None = None,
    ) -> Frames:
        return churn_load(
            super().load(rate_fps, above_fps, burst_rate_fps=burst_rate_fps),
            self.timing.duration_s,
            new_cps=rate_fps if self.new_cps is None else self.new_cps,
            load_fps=rate_fps if self.load_fps is None else self.load_fps,
            sought=self.sought,
            outward=self.outward,
        )


def churn(plan: ChurnPlan, session: Session) -> Measurement:
    """Measures the rate; each repetition is a separate search with its own seed."""
    check_traffic(plan, session.traffic)
    limited = _limited(plan, session)
    is_tcp = session.traffic.is_tcp
    trials = limited.trials(session)
    found = searches(limited, trials)
    return Measurement(
        procedure="churn",
        title="Churn",
        reference="",
        conditions=limited.conditions(
            session,
            search=limited.search_conditions(found, limited.maximum(session), limited.unit),
        ),
        deviations=(),
        remarks=(
            *_remarks(found, plan.unit, is_tcp=is_tcp),
            *cut_remarks(plan.repetitions, len(found), trials),
        ),
        figures=_figures(limited, found, NEW_BY_SYN if is_tcp else NEW),
        counts=searched(trials, found),
    )


def check_traffic(_: ChurnPlan, traffic: TrafficPlan) -> None:
    """Raises ConfigurationError if such traffic cannot have new connections beside its load."""
    asked = traffic.required_connections
    if traffic.testbed.traffic.has_background:
        raise ConfigurationError(
            "[traffic]: a mix of foreground and background is not possible with churn, whose new "
            "connections take the background's place (expected n = 1 and m = 1)"
        )
    if asked.outward not in traffic.testbed.traffic.directions:
        traffic.source.refuse(
            ("traffic", "direction"),
            f"the initiator creates connections {asked.outward} (expected this direction, or both)",
        )
    if asked.order == "repeating":
        raise ConfigurationError(
            'connections.order: "repeating" is not possible with churn, since it does not say '
            "which connections are new (expected another order)"
        )


def _limited(plan: ChurnPlan, session: Session) -> ChurnPlan:
    """Returns the plan, limited to rates at which a trial has enough new connections."""
    traffic = session.traffic
    most = most_new(traffic, parameters_of(session.dut).entries)
    possible_cps = int(most / plan.timing.duration_s)
    if possible_cps < (plan.new_cps or plan.least_fps):
        raise ConfigurationError(
            f"connections.count: a trial can create {most:,} connections besides the "
            f"{traffic.required_connections.count:,} of phase 1, which is {possible_cps:,} a "
            "second (expected wider ranges, a larger table, or shorter trials)"
        )
    # One frame of MAX_MIX_N is of the kind that is given.
    limits = [plan.max_rate_fps, plan.given_fps * (MAX_MIX_N - 1) or None]
    if plan.sought == "new":
        limits.append(possible_cps)
    left_fps = _left_by_media(plan, session)
    if left_fps is not None:
        limits.append(max(1, left_fps))
    lowest = min((limit for limit in limits if limit is not None), default=None)
    return replace(
        plan,
        outward=traffic.required_connections.outward,
        starts_low=plan.max_rate_fps is None and left_fps is None,
        max_rate_fps=lowest,
    )


def _left_by_media(plan: ChurnPlan, session: Session) -> int | None:
    """Returns the rate that the given one leaves; the frames may differ in size."""
    traffic = session.traffic
    of_new, of_load = traffic.sizes.connecting_bytes, traffic.testbed.traffic.frame_size_bytes
    sought, given = (of_new, of_load) if plan.sought == "new" else (of_load, of_new)
    return media_beside(
        session.hello, traffic, plan.given_fps, foreground_bytes=sought, given_bytes=given
    )


def _figures(plan: ChurnPlan, found: Sequence[Bounded], created: str) -> tuple[Figure, ...]:
    rate = rate_figure(
        f"rate of {created} beside {plan.load_fps:,} fps"
        if plan.sought == "new"
        else f"load beside {created} at {plan.new_cps:,} cps",
        plan.unit,
        found,
    )
    passed = [trial for each in found for trial in each.trials]
    if len(passed) < len(found):
        return (rate,)
    return (
        rate,
        *_latencies(FIRST, passed, "background"),
        *_latencies(STEADY, passed, "foreground"),
    )


def _latencies(name: str, trials: Sequence[TrialRecord], kind: Kind) -> tuple[Figure, ...]:
    """Returns the latencies of new connections (background), or of those of phase 1."""
    delays = [
        Delays(
            distributions=tuple(
                counters.delay for _, of, counters in trial.result.counters() if of == kind
            )
        )
        for trial in trials
    ]
    if not all(each.count for each in delays):
        return ()
    return tuple(
        Figure(name=f"{name}, {what}", unit="ns", values=values, primary=False)
        for what, values in (
            ("median", tuple(each.median_ns for each in delays)),
            ("P99.9", tuple(each.percentile_ns(P999) for each in delays)),
        )
    )


def _remarks(found: Sequence[Bounded], unit: Unit, *, is_tcp: bool) -> Remarks:
    return (
        *applying({Topic.CHURN: True, Topic.HALF_OPEN: is_tcp}),
        *rate_remarks(found, unit),
        *all_lost(found, "frames"),
    )
