"""What a person, or a program, sees of a running campaign."""

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from natxy.campaign.plan import Cell
from natxy.campaign.runner import Place
from natxy.cli.progress import SearchDisplay
from natxy.cli.series import LOOKS_FOR_CONNECTIONS
from natxy.model.measurement import Measurement, Unit
from natxy.report.bounds import marked
from natxy.report.numbers import seconds_left
from natxy.statistics import median
from natxy.trial.observer import Observer


@dataclass(kw_only=True)
class Pace:
    """How long the cells took, and from that how long the others will take."""

    testbeds: int = 1  # on which cells are measured at the same time
    took_s: dict[str, list[float]] = field(default_factory=dict)  # by the measurement's name
    _began_s: dict[str, float] = field(default_factory=dict)  # by the cell's key

    def began(self, cell: Cell) -> None:
        self._began_s[cell.key] = time.monotonic()

    def ended(self, cell: Cell) -> float:
        seconds = time.monotonic() - self._began_s.pop(cell.key)
        self.took_s.setdefault(cell.measure.name, []).append(seconds)
        return seconds

    def left_s(self, cells: Sequence[Cell]) -> float | None:
        """Returns the seconds for these cells; None if one of their measurements is new."""
        if any(cell.measure.name not in self.took_s for cell in cells):
            return None
        means = {name: sum(all_s) / len(all_s) for name, all_s in self.took_s.items()}
        return sum(means[cell.measure.name] for cell in cells) / self.testbeds


@dataclass(kw_only=True)
class Narrator:
    """Says what a campaign does, on a console."""

    console: Console
    pace: Pace = field(default_factory=Pace)
    _unit: Unit = field(default="fps", init=False)  # of the rates that the cell tries

    def cell_started(self, cell: Cell, place: Place) -> None:
        rounds = f", round {cell.round}" if cell.round > 1 else ""
        left_s = self.pace.left_s(place.left)
        left = "" if left_s is None else f" (about {seconds_left(left_s)} left)"
        self._say(f"[{place.number}/{place.count}] {cell.title}{rounds}{left}")
        self._unit = "cps" if cell.measure.command in LOOKS_FOR_CONNECTIONS else "fps"
        self.pace.began(cell)

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        self.pace.ended(cell)
        if self.pace.testbeds > 1:  # the line before may be another cell's
            self._say(f"{cell.title}, round {cell.round}:")
        if error:
            self._say(f"  failed: {error}")
        for result in results:
            self._say(f"  {found(result)}")

    def hook_started(self, when: str, command: Sequence[str]) -> None:
        self._say(f"{when}: {shlex.join(command)}")

    def remarked(self, sentence: str) -> None:
        self._say(sentence)

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        display: AbstractContextManager[Observer] = (
            SearchDisplay(self.console, title, unit=self._unit)
            if self.console.is_terminal
            else _nobody()
        )
        with display as observer:
            yield observer

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


@dataclass
class JsonNarrator:
    """Prints what a campaign does as JSON, one object a line, on standard output."""

    pace: Pace = field(default_factory=Pace)

    def cell_started(self, cell: Cell, place: Place) -> None:
        left_s = self.pace.left_s(place.left)
        self._print(
            "cell-started",
            **_named(cell),
            number=place.number,
            count=place.count,
            seconds_left=None if left_s is None else round(left_s),
        )
        self.pace.began(cell)

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        seconds = round(self.pace.ended(cell), 3)
        figures = [
            {
                "name": figure.name,
                "at": figure.at,
                "direction": figure.direction,
                "unit": figure.unit,
                "median": median(figure.values),
                "bound": figure.bound(median(figure.values)),
            }
            for result in results
            for figure in result.figures
            if figure.primary and figure.values
        ]
        self._print("cell-ended", **_named(cell), seconds=seconds, error=error, figures=figures)

    def hook_started(self, when: str, command: Sequence[str]) -> None:
        self._print("hook-started", when=when, command=list(command))

    def remarked(self, sentence: str) -> None:
        self._print("remark", sentence=sentence)

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        self._print("measuring", title=title)
        yield Observer()

    def _print(self, event: str, **members: Any) -> None:
        print(json.dumps({"event": event, **members}, ensure_ascii=False), flush=True)


def _named(cell: Cell) -> dict[str, Any]:
    return {"measure": cell.measure.name, "column": cell.column.label, "round": cell.round}


@contextmanager
def _nobody() -> Iterator[Observer]:
    yield Observer()


def found(result: Measurement) -> str:
    """Returns the main figures of a result in one line."""
    return ", ".join(
        f"{figure.name}{' ' + figure.at if figure.at else ''} "
        f"{marked(figure, median(figure.values))}{_unit(figure.unit)}"
        for figure in result.figures
        if figure.primary and figure.values
    )


def _unit(unit: str) -> str:
    return f" {unit}" if unit in ("fps", "cps") else ""
