"""The figure of a procedure at the points of a series, such as numbers of cores or connections."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from natxy.model.measurement import Conditions, Figure, Measurement, PointUnit, Unit
from natxy.model.remark import Remark, Remarks, Topic
from natxy.procedure.establishment import conditions_of as conditions_of_establishment
from natxy.procedure.establishment import establishment, with_phase_1_rate
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.statistics import median
from natxy.trial.session import AS_GIVEN, Session

PREVIOUS = "median / previous median"
Searching = EstablishmentPlan | ThroughputPlan


def measured(plan: Searching, point: int, session: Session) -> Measurement:
    """Measures the figure at one point; seeds differ, so that each point draws other ports.

    A measurement in phase 2 needs a phase 1 rate that is safe at this point. If none is given, it
    is searched first.
    """
    seed = (plan.seed + point) % 2**63
    if isinstance(plan, EstablishmentPlan):
        return establishment(replace(plan, seed=seed), session)
    session = with_phase_1_rate(session, plan.timing, seed=seed)
    return throughput(replace(plan, seed=seed), session)


def conditions_of(plan: Searching, session: Session) -> Conditions:
    """Returns the conditions that all points share."""
    if isinstance(plan, EstablishmentPlan):
        return conditions_of_establishment(plan, session)
    return plan.conditions(session)


def figure_of(measurement: Measurement, at: str, value: int, unit: PointUnit) -> Figure:
    """Returns the primary figure at this point, with phase 1's rate if it was found there."""
    primary = next(figure for figure in measurement.figures if figure.primary)
    phase_1 = measurement.conditions.connections
    found = ""
    if phase_1 is not None and phase_1.rate_fps is not None and phase_1.rate_origin != AS_GIVEN:
        found = f"phase 1 at {phase_1.rate_fps:,} cps"
    return primary.model_copy(update={"at": at, "at_value": value, "at_unit": unit, "found": found})


def at_points(figures: Iterable[Figure], points: Iterable[Figure | None]) -> tuple[Figure, ...]:
    """Returns the figures with the numbers of the points whose names they have."""
    numbers = {
        point.at: {"at_value": point.at_value, "at_unit": point.at_unit}
        for point in points
        if point is not None
    }
    return tuple(figure.model_copy(update=numbers[figure.at]) for figure in figures)


def compared(
    points: Sequence[Figure | None], with_first: Callable[[Figure, Figure], tuple[Figure, ...]]
) -> tuple[Figure, ...]:
    """Returns each figure, then what `with_first` returns for it and the first figure, then its
    ratio to the previous figure (MP Tables 2, 3 and 12).

    None is a point without a figure; the first point has one. A bound is not compared.
    """
    first = points[0]
    assert first is not None, "the first point of a series has a figure"
    bounds = has_bounds(points)
    figures: list[Figure] = []
    for previous, figure in zip((None, *points), points, strict=False):
        if figure is None:
            continue
        figures += [figure, *(() if bounds else with_first(figure, first))]
        figures += _with_previous(figure, previous)
    return tuple(figures)


def has_bounds(points: Sequence[Figure | None]) -> bool:
    return any(_is_bound(figure) for figure in points if figure is not None)


def bounds_remark(points: Sequence[Figure | None], what: str) -> Remarks:
    """Returns why there is no comparison with the first figure; empty if there is one."""
    return (Remark.of(Topic.NO_COMPARISON, what=what),) if has_bounds(points) else ()


def _with_previous(figure: Figure, previous: Figure | None) -> tuple[Figure, ...]:
    if previous is None or _is_bound(figure) or _is_bound(previous) or not median(previous.values):
        return ()
    ratio = median(figure.values) / median(previous.values)
    return (of_point(figure, name=PREVIOUS, unit="times", value=ratio, primary=False),)


def of_point(
    figure: Figure, *, name: str, unit: Unit, value: float, primary: bool = True
) -> Figure:
    """Returns a value that is computed from a figure, at the same point."""
    return Figure(
        name=name,
        unit=unit,
        at=figure.at,
        at_value=figure.at_value,
        at_unit=figure.at_unit,
        found=figure.found,
        values=(value,),
        primary=primary,
    )


def _is_bound(figure: Figure) -> bool:
    return any(figure.lower_bound)
