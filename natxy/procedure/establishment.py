"""Maximum connection establishment rate (RFC 9693).

It is the highest rate at which each frame of phase 1 creates a connection. With validation, each
connection must then carry a frame of the responder as well. A safe share of it is the default rate
of phase 1 in other measurements.

Beside the rate are figures of what the trials at this rate have made.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from natxy.errors import DutError
from natxy.measure.search_plan import rate_figure, searched
from natxy.measure.search_remarks import (
    ESTABLISHMENT,
    all_lost,
    cut_remarks,
    found_deviations,
    rate_remarks,
    search_deviations,
)
from natxy.measure.traffic_deviations import connection_deviations, tcp_deviations
from natxy.model.deviation import Deviations
from natxy.model.measurement import Conditions, Figure, Measurement
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.trial_spec import ACKNOWLEDGE, ASK_AGAIN, ESTABLISH
from natxy.model.verdict import Verdict
from natxy.procedure.establishment_search import EstablishmentPlan as EstablishmentPlan
from natxy.procedure.establishment_search import searches
from natxy.search.bisection import SearchError
from natxy.setting import Setting
from natxy.trial.bound import Bounded
from natxy.trial.connection_conditions import of_phase_1
from natxy.trial.connection_table import refuse_small_table
from natxy.trial.maximum import maximum_of_connections
from natxy.trial.profile import OF_CONNECTIONS, deviations
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.timing import Timing

HANDSHAKES = "TCP handshakes"
RATE = "maximum connection establishment rate"
VALIDATED = "validated connection establishment rate"
# The default rate of phase 1 is this share of the highest rate at which no connection is lost. The
# search for it is coarse, and has a seed that no repetition has, so that its trials draw other
# ports.
SAFE = Fraction(1, 2)
COARSE = SearchError(fraction=Fraction(1, 20))
SEARCH = -2


def establishment(plan: EstablishmentPlan, session: Session) -> Measurement:
    """Measures the rate; each repetition is a separate search with its own seed."""
    asked = session.traffic.required_connections
    if asked.order != "repeating":
        refuse_small_table(session.dut, session.traffic.connections_among(asked.count))
    trials = plan.trials(session)
    found = searches(plan, trials, _figures)
    return Measurement(
        procedure="establishment",
        title=f"Maximum {'TCP ' if asked.is_tcp else ''}connection establishment rate",
        reference="RFC 9693, RFC 8219 section 8" if asked.is_tcp else "RFC 9693",
        conditions=conditions_of(plan, session, found),
        deviations=_deviations(plan, session, found),
        remarks=(
            *_remarks(plan, session, found),
            *cut_remarks(plan.repetitions, len(found), trials),
        ),
        figures=_figures(plan, found),
        counts=searched(trials, found),
    )


def _figures(plan: EstablishmentPlan, found: Sequence[Bounded]) -> tuple[Figure, ...]:
    name = RATE if plan.alpha is None else f"{VALIDATED}, alpha {float(plan.alpha):g}"
    if plan.loss is not None:
        name = f"{name}, {plan.loss} accepted"
    rate = rate_figure(name, "cps", found)
    made = drawn_figures(map(_made, found))
    return (rate, *handshake_figures(rate, plan.alpha, found), *made)


def _made(search: Bounded) -> ConnectionCounters | None:
    """Returns the connections that phase 1 created at the rate that was found; None: no rate
    passed."""
    rate_cps = search.rate_fps
    passed = (t for t in search.trials if t.verdict is Verdict.PASS and t.counted_fps == rate_cps)
    streams = (trial.result.stream_of(ESTABLISH) for trial in passed)
    return next((s.connections for s in streams if s is not None), None)


def conditions_of(
    plan: EstablishmentPlan, session: Session, found: Sequence[Bounded] = ()
) -> Conditions:
    """Returns the conditions, without phase 1's rate, which the procedure searches for."""
    maximum = maximum_of_connections(session.hello, session.traffic, plan.max_rate_cps)
    search = plan.search_conditions(found, maximum, "cps", loss_accepted=str(plan.loss or ""))
    of = plan.conditions(session, search=search)
    return of_phase_1(of, session, validated=plan.alpha is not None)


def _deviations(plan: EstablishmentPlan, session: Session, found: Sequence[Bounded]) -> Deviations:
    """Returns the deviations; RFC 9693 does not specify the duration of a trial."""
    is_tcp = session.traffic.required_connections.is_tcp
    return (
        *deviations(plan.timing, OF_CONNECTIONS, repetitions=len(found)),
        *search_deviations(plan, ESTABLISHMENT),
        *found_deviations(plan, found, ESTABLISHMENT),
        *connection_deviations(session),
        *(tcp_deviations("5.3") if is_tcp else ()),
    )


def _remarks(
    plan: EstablishmentPlan, session: Session, found: Sequence[Bounded]
) -> Iterator[Remark]:
    made = session.traffic.connections_among(session.traffic.required_connections.count)
    yield Remark.of(Topic.TRIAL_CREATES, connections=made, error=plan.error.shown("cps"))
    yield from rate_remarks(found, "cps")
    yield from all_lost(found, "connections")
    if plan.alpha is not None:
        yield from _of_validation(found)


def _of_validation(found: Sequence[Bounded]) -> Remarks:
    """Returns a remark on connections that did not answer in validation (SD Figure 11).

    Either they did not exist, or they belonged to another connection, or the rate was too high.
    """
    facts = {"fast": 0, "wrong": 0, "absent": 0}
    for trial in (trial for each in found for trial in each.trials):
        again = trial.result.stream_of(ASK_AGAIN)
        if again is None or trial.verdict is Verdict.INVALID:
            continue
        came_wrong = 0 if again.connections is None else again.connections.wrong
        facts["wrong"] += came_wrong
        facts["absent"] += max(0, again.lost - came_wrong)
        facts["fast"] += again.sent - again.lost
    return (Remark.of(Topic.VALIDATION, **facts),) if any(facts.values()) else ()


def with_phase_1_rate(session: Session, timing: Timing, *, seed: int) -> Session:
    """Returns the session with a phase 1 rate; unchanged if it has one, or has no connections."""
    asked = session.traffic.connections
    if asked is None or asked.rate_fps is not None:
        return session
    plan = phase_1_search(timing, seed=seed)
    found = establishment(plan, session)
    found_cps = int(found.figures[0].values[0])
    rate_fps = int(found_cps * SAFE)
    if not rate_fps:
        raise DutError(
            f"{session.dut_name} loses connections at every rate, so there is no rate for phase "
            "1; set ",
            Setting("connections.rate_fps", option="establishment-rate"),
        )
    clause = found.counts.invalid_clause
    origin = f"half of the establishment rate, {found_cps:,}, found first{clause}"
    return replace(session.with_connections(rate_fps=rate_fps), phase_1_origin=origin)


def phase_1_search(timing: Timing, *, seed: int) -> EstablishmentPlan:
    """Returns the plan of the search for the highest rate at which no connection is lost."""
    return EstablishmentPlan(
        timing=replace(timing, frame_timeout_s=Fraction(0)),
        seed=repetition_seed(seed, SEARCH),
        repetitions=1,
        error=COARSE,
    )


def handshake_figures(
    rate: Figure, alpha: Fraction | None, found: Sequence[Bounded]
) -> tuple[Figure, ...]:
    """Returns whole handshakes of TCP a second; none if the trials are not TCP.

    The three phases follow each other; that of the SYN/ACKs has alpha times the rate.
    """
    trials = (trial for each in found for trial in each.trials)
    if not any(trial.result.stream_of(ACKNOWLEDGE) for trial in trials):
        return ()
    phases = 2 + 1 / (alpha or Fraction(1))  # in times of the first phase
    values = tuple(float(value / phases) for value in rate.values)
    return (rate.model_copy(update={"name": HANDSHAKES, "values": values, "primary": False}),)


def drawn_figures(found: Iterable[ConnectionCounters | None]) -> tuple[Figure, ...]:
    """Returns the figures of connections drawn with repetition, where a combination that is drawn
    again is not a new connection (MP Table 23).

    `found` has what each search made at its rate, or None. If it is not known of all, there are no
    figures.
    """
    made = list(found)
    drawn = [of for of in made if of is not None and of.known]
    if not drawn or len(drawn) < len(made):
        return ()
    return (
        Figure(
            name="connections",
            unit="connections",
            values=tuple(float(of.new) for of in drawn),
            primary=False,
        ),
        Figure(
            name="ending new connection ratio",
            unit="%",
            values=tuple(of.ending_new_percent for of in drawn),
            primary=False,
        ),
    )
