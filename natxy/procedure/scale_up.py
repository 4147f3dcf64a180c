"""Scale up: how a figure grows with the cores of the gateway (RFC 9693; SD section 2.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from natxy.errors import ConfigurationError, DutError
from natxy.measure.memory import MemorySamples, memory_at_points
from natxy.measure.plan import check_members
from natxy.measure.search_remarks import lacking_remarks
from natxy.model.deviation import each_once
from natxy.model.measurement import Figure, Measurement, TrialCounts
from natxy.model.remark import Remark, Remarks, Topic
from natxy.procedure.series import (
    Searching,
    at_points,
    bounds_remark,
    compared,
    conditions_of,
    figure_of,
    measured,
    of_point,
)
from natxy.setting import Setting
from natxy.statistics import median
from natxy.trial.session import Session

RELATIVE = "relative scale up"
CORES = Setting(
    "cores",
    "Numbers of cores that the gateway uses, in turn",
    "LIST",
    short="Numbers of cores that the gateway uses, in turn",
)


@dataclass(frozen=True, kw_only=True)
class ScaleUpPlan:
    """The options of a measurement, checked when the plan is created.

    `search` measures the figure at each number of `cores`, the first of which is 1.
    """

    search: Searching
    cores: Annotated[tuple[int, ...], CORES]

    def __post_init__(self) -> None:
        check_members(self, search=Searching)
        if not self.cores or self.cores[0] != 1:
            raise ConfigurationError(
                CORES,
                ": does not start with 1, with which others are compared (expected a list such as "
                "1,2,4)",
            )
        if list(self.cores) != sorted(set(self.cores)):
            raise ConfigurationError(CORES, ": does not increase (expected a list such as 1,2,4)")


def scale_up(plan: ScaleUpPlan, session: Session) -> Measurement:
    """Measures the figure at each number k of cores.

    The result also has the relative scale up, value(k) / (k x value(1)), the ratio of each figure
    to that at the previous number of cores, and the memory per connection of a stateful gateway.
    """
    found: dict[int, Measurement] = {}
    memory: dict[int, MemorySamples] = {}
    has: int | None = None  # cores that the gateway has now; None: unknown
    try:
        # The highest number comes first, so that an impossible one is reported before anything is
        # measured. Each number is set only once, since this may take a reboot.
        for cores in reversed(plan.cores):
            has = None
            session.dut.set_cores(cores)
            has = cores
            memory[cores] = MemorySamples()
            watched = session.with_observer(memory[cores])
            found[cores] = measured(plan.search, cores, watched)
    finally:
        _leave(session, has)
    figures = {cores: figure_of(found[cores], _at(cores), cores, "cores") for cores in plan.cores}
    alone = figures[1]
    if not median(alone.values):
        raise DutError(
            f"{session.dut_name} passes no trial with one core, so there is no figure to compare "
            "with."
        )
    points = list(figures.values())
    first = found[1]
    of_memory, about_memory = _memory(figures, memory, session)
    return Measurement(
        procedure="scale-up",
        title=f"Scale up of {alone.name}",
        reference="RFC 9693",
        conditions=conditions_of(plan.search, session),
        deviations=each_once(found[cores].deviations for cores in plan.cores),
        remarks=(
            *first.remarks,
            *bounds_remark(points, "scale up"),
            *lacking_remarks(plan.search.repetitions, points),
            *about_memory,
        ),
        figures=(
            *compared(points, _relative),
            *at_points(of_memory, points),
        ),
        counts=TrialCounts.total(each.counts for each in found.values()),
    )


def _memory(
    figures: Mapping[int, Figure], memory: Mapping[int, MemorySamples], session: Session
) -> tuple[tuple[Figure, ...], Remarks]:
    """Returns the memory per connection with each number of cores; none of a stateless gateway."""
    if session.traffic.connections is None:
        return (), ()
    points = {
        figure.at: memory[cores].samples[: len(figure.values)] for cores, figure in figures.items()
    }
    return memory_at_points(points, started_anew=True)


def _leave(session: Session, has: int | None) -> None:
    """Leaves the gateway with the last number of cores, or with one if it refused a number.

    The number that it had before the measurement is unknown. The user gets a remark, except for a
    lab, which is taken down anyway.
    """
    of_a_lab = session.dut.tester_ports() is not None
    try:
        if has is None:
            session.dut.set_cores(1)
    except DutError as refused:
        said = Remark.of(Topic.CORES_UNKNOWN, why=refused.in_options)
    else:
        said = Remark.of(Topic.CORES_LEFT, cores=has or 1)
    if not of_a_lab:
        session.observer.remarked(said)


def _at(cores: int) -> str:
    return f"{cores:,} core{'s' if cores > 1 else ''}"


def _relative(figure: Figure, alone: Figure) -> tuple[Figure, ...]:
    assert figure.at_value is not None, "the point of a series of cores is their number"
    relative = median(figure.values) / (figure.at_value * median(alone.values))
    return (of_point(figure, name=RELATIVE, unit="times", value=relative),)
