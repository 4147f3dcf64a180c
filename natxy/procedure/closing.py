"""Maximum TCP connection tear-down rate (RFC 3511 section 5.4).

It is the highest rate at which the gateway forwards each segment that ends a connection.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.measure.search_plan import rate_figure, searched
from natxy.measure.search_remarks import (
    TEAR_DOWN,
    all_lost,
    cut_remarks,
    found_deviations,
    rate_remarks,
    search_deviations,
)
from natxy.measure.traffic_deviations import closing_deviations, connection_deviations
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.traffic import TrafficPlan
from natxy.procedure.establishment import with_phase_1_rate
from natxy.procedure.establishment_search import EstablishmentPlan, searches
from natxy.setting import Setting
from natxy.trial.bound import Bounded
from natxy.trial.connection_conditions import of_phase_1
from natxy.trial.establishing import SEGMENTS, Closer, Closing
from natxy.trial.profile import OF_CONNECTIONS, deviations
from natxy.trial.session import Session
from natxy.verdict.counted import Counting

RATE = "TCP connection tear-down rate"
BY = Setting("by", "What ends the connections", "HOW", short="table (the default), fin or rst")


@dataclass(frozen=True, kw_only=True)
class ClosingPlan(EstablishmentPlan):
    """The options of a measurement, checked when the plan is created."""

    by: Annotated[Closer, BY] = "fin"
    made_cps: int = 1  # rate of the handshakes, which the testbed has or a search finds

    def load(self, rate_cps: int, above_cps: int) -> Closing:
        counting = Counting(above_fps=above_cps, short=True)
        return Closing(rate_cps=rate_cps, counting=counting, made_fps=self.made_cps, by=self.by)


def check_transport(plan: ClosingPlan, traffic: TrafficPlan) -> None:
    """Raises ConfigurationError if the connections are not TCP's."""
    if not traffic.required_connections.is_tcp:
        raise ConfigurationError(
            BY,
            f': "{plan.by}" ends connections of TCP (expected connections.transport = "tcp" in the '
            "testbed)",
        )


def closing(plan: ClosingPlan, session: Session) -> Measurement:
    """Measures the rate; each repetition is a separate search with its own seed."""
    check_transport(plan, session.traffic)
    session = with_phase_1_rate(session, plan.timing, seed=plan.seed)
    plan = replace(plan, made_cps=session.traffic.required_connections.rate_fps or 1)
    trials = plan.trials(session)
    found = searches(plan, trials, _figures)
    return Measurement(
        procedure="tear-down",
        title="Maximum TCP connection tear-down rate",
        reference="RFC 3511 section 5.4",
        conditions=of_phase_1(plan.conditions(session), session, rate_is_sought=False),
        deviations=(
            *deviations(plan.timing, OF_CONNECTIONS, repetitions=len(found)),
            *search_deviations(plan, TEAR_DOWN),
            *found_deviations(plan, found, TEAR_DOWN),
            *connection_deviations(session),
            *closing_deviations(plan.by),
        ),
        remarks=(*_remarks(plan, found), *cut_remarks(plan.repetitions, len(found), trials)),
        figures=_figures(plan, found),
        counts=searched(trials, found),
    )


def _figures(plan: ClosingPlan, found: Sequence[Bounded]) -> tuple[Figure, ...]:
    by = plan.by.upper()
    phases = len(SEGMENTS[plan.by])
    rate = rate_figure(f"{RATE}, by {by}", "cps", found)
    if phases == 1:
        return (rate,)
    whole = Figure(
        name=f"whole tear-downs by {by}",
        unit="cps",
        values=tuple(float(Fraction(each.rate_fps, phases)) for each in found),
        lower_bound=rate.lower_bound,
        primary=False,
    )
    return (rate, whole)


def _remarks(plan: ClosingPlan, found: Sequence[Bounded]) -> Remarks:
    codes = {"fin": Topic.CLOSED_BY_FIN, "rst": Topic.CLOSED_BY_RST}
    said = (Remark.of(codes[plan.by]), *rate_remarks(found, "cps"))
    return (*said, *all_lost(found, "segments"))
