"""Scale up: what more cores of the device are good for (RFC 9693; SD section 2.3)."""

from dataclasses import dataclass

from natxy.dut.base import Dut
from natxy.errors import ConfigurationError, DutError
from natxy.model.measurement import Figure, Measurement
from natxy.procedure.observer import Observer
from natxy.procedure.places import (
    Searching,
    beside_previous,
    conditions_of,
    figure_of,
    is_bound,
    measured,
    total,
)
from natxy.procedure.setup import ReadyTester, name_of
from natxy.statistics import median

RELATIVE = "relative scale up"


@dataclass(frozen=True, kw_only=True)
class ScaleUpPlan:
    """`search` finds the figure at each number of `cores`, the first of which is 1."""

    search: Searching
    cores: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.cores or self.cores[0] != 1:
            raise ConfigurationError(
                "--cores: the first is what others are compared with, 1,2,4 is right"
            )
        if list(self.cores) != sorted(set(self.cores)):
            raise ConfigurationError("--cores: they must increase, 1,2,4 is right")


def scale_up(
    plan: ScaleUpPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """The figure at each number of cores, value(k) / (k x value(1)), and the ratio to the figure at
    the number before."""
    observer = observer or Observer()
    found: dict[int, Measurement] = {}
    has: int | None = None  # cores, as far as is known
    try:
        # The most first: what the device cannot have is said before anything is measured. Each
        # number is set once, which may be a reboot.
        for cores in reversed(plan.cores):
            has = None
            dut.set_cores(cores)
            has = cores
            found[cores] = measured(plan.search, cores, tester, dut, observer)
    finally:
        _leave(dut, has, observer)
    figures = {cores: figure_of(found[cores], _at(cores)) for cores in plan.cores}
    alone = figures[1]
    if not median(alone.values):
        raise DutError(f"{name_of(dut)} passes nothing with one core: there is nothing to compare.")
    bounds = any(is_bound(figure) for figure in figures.values())
    first = found[1]
    return Measurement(
        procedure="scale-up",
        title=f"Scale up of {alone.name}",
        reference="RFC 9693",
        conditions=conditions_of(plan.search, tester, dut),
        departures=first.departures,
        remarks=(
            *first.remarks,
            *(("No scale up is given where a value is a lower bound.",) if bounds else ()),
        ),
        figures=tuple(
            figure
            for previous, (cores, found_figure) in zip(
                (None, *figures.values()), figures.items(), strict=False
            )
            for figure in (
                *_figures(cores, found_figure, alone, bounds=bounds),
                *beside_previous(found_figure, previous),
            )
        ),
        counts=total([each.counts for each in found.values()]),
    )


def _leave(dut: Dut, has: int | None, observer: Observer) -> None:
    """Nobody knows how many the device had before: it is left with those that it was measured with
    last, or with one where it has refused a number. A lab is taken down anyway."""
    of_a_lab = dut.tester_ports() is not None
    try:
        if has is None:
            dut.set_cores(1)
    except DutError as refused:
        said = f"Nobody knows how many cores the device is left with ({refused})."
    else:
        said = f"The device is left with {_at(has or 1)}; how many it had before nobody can ask."
    if not of_a_lab:
        observer.remarked(said)


def _at(cores: int) -> str:
    return f"{cores:,} core{'s' if cores > 1 else ''}"


def _figures(cores: int, figure: Figure, alone: Figure, *, bounds: bool) -> tuple[Figure, ...]:
    if bounds:
        return (figure,)
    relative = median(figure.values) / (cores * median(alone.values))
    return figure, Figure(name=RELATIVE, unit="times", at=figure.at, values=(relative,))
