"""Tells a person, or a program, what happens in a running campaign."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from rich.console import Console

from natxy.campaign.plan import Cell
from natxy.campaign.records import CampaignState
from natxy.campaign.runner import Notice, Watcher
from natxy.cli.now_and_then import Lines, watching
from natxy.cli.progress import lost_of
from natxy.cli.sentences import joined, say
from natxy.cli.series import LOOKS_FOR_CONNECTIONS
from natxy.model.measurement import Figure, Measurement, Unit
from natxy.model.remark import Remark
from natxy.model.trial_record import TrialRecord
from natxy.report.cell_figures import in_directions, rate_words, told_apart, variant_of
from natxy.report.found_words import found
from natxy.report.numbers import seconds_left, with_bound
from natxy.statistics import median
from natxy.trial.observer import Observer


@dataclass(kw_only=True)
class Pace:
    """Estimates how long the remaining cells will take from how long the others took."""

    testbeds: int = 1  # on which cells are measured at the same time
    # By the cell's key, for measurements of which no cell has ended yet.
    planned_s: Mapping[str, float] = field(default_factory=dict)
    took_s: dict[str, list[float]] = field(default_factory=dict)  # by the measurement's name
    _began_s: dict[str, float] = field(default_factory=dict)  # by the cell's key

    @classmethod
    def of(cls, state: CampaignState, *, planned_s: Mapping[str, float], testbeds: int = 1) -> Self:
        """Returns the pace of the cells that have ended, as the journal says it."""
        pace = cls(testbeds=testbeds, planned_s=planned_s)
        for cell in state.cells.values():
            # A cell that failed may have ended at once, and one that was resumed has waited.
            if cell.end is not None and not cell.failed and not cell.resumed:
                begin, end = map(datetime.fromisoformat, (cell.begun.started, cell.end.ended))
                of_measure = pace.took_s.setdefault(cell.begun.measure, [])
                of_measure.append((end - begin).total_seconds())
        return pace

    def began(self, cell: Cell) -> None:
        self._began_s[cell.key] = time.monotonic()

    def ended(self, cell: Cell, *, failed: bool) -> float:
        seconds = time.monotonic() - self._began_s.pop(cell.key)
        if not failed:
            self.took_s.setdefault(cell.measure.name, []).append(seconds)
        return seconds

    def left_s(self, cells: Sequence[Cell]) -> float | None:
        """Returns the seconds for these cells; None if nothing is known of one of them."""
        each_s = [self._of(cell) for cell in cells]
        known_s = [cell_s for cell_s in each_s if cell_s is not None]
        return sum(known_s) / self.testbeds if len(known_s) == len(each_s) else None

    def _of(self, cell: Cell) -> float | None:
        took_s = self.took_s.get(cell.measure.name)
        return sum(took_s) / len(took_s) if took_s else self.planned_s.get(cell.key)


@dataclass(kw_only=True)
class Narrator(Watcher):
    """Says what a campaign does, on a console."""

    console: Console
    pace: Pace = field(default_factory=Pace)
    _unit: Unit = field(default="fps", init=False)  # of the rates that the cell tries
    _lines: Lines = field(init=False)  # about the cell that runs

    def cell_started(self, left: Sequence[Cell], number: int, count: int) -> None:
        cell = left[0]
        rounds = f", round {cell.round}" if cell.round > 1 else ""
        left_s = self.pace.left_s(left)
        words = "" if left_s is None else f" (about {seconds_left(left_s)} left)"
        self._say(f"[{number}/{count}] {cell.title}{rounds}{words}")
        self._unit = "cps" if cell.measure.command in LOOKS_FOR_CONNECTIONS else "fps"
        self._lines = Lines(say=self._say)
        self.pace.began(cell)

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        self.pace.ended(cell, failed=bool(error))
        if self.pace.testbeds > 1:  # the line before may be another cell's
            self._say(f"{cell.title}, round {cell.round}:")
        if error:
            self._say(f"  failed: {error}")
        for line in found(results, summed=cell.measure.both_directions):
            self._say(f"  {line}")

    def hook_started(self, when: str, command: Sequence[str]) -> None:
        self._say(f"{when}: {joined(command)}")

    def remarked(self, remark: Remark | Notice) -> None:
        self._say(str(remark))

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        with watching(self.console, title, self._lines, unit=self._unit) as observer:
            yield observer

    def _say(self, line: str) -> None:
        say(self.console, line)


@dataclass
class JsonNarrator(Watcher):
    """Prints what a campaign does as JSON, one object a line, on standard output."""

    pace: Pace = field(default_factory=Pace)

    def cell_started(self, left: Sequence[Cell], number: int, count: int) -> None:
        left_s = self.pace.left_s(left)
        _print_event(
            "cell-started",
            **_named(left[0]),
            number=number,
            count=count,
            seconds_left=None if left_s is None else round(left_s),
        )
        self.pace.began(left[0])

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        seconds = round(self.pace.ended(cell, failed=bool(error)), 3)
        figures = _figures(results, summed=cell.measure.both_directions)
        _print_event("cell-ended", **_named(cell), seconds=seconds, error=error, figures=figures)

    def hook_started(self, when: str, command: Sequence[str]) -> None:
        _print_event("hook-started", when=when, command=list(command))

    def remarked(self, remark: Remark | Notice) -> None:
        _print_event("remark", code=remark.code.code, sentence=str(remark))

    @contextmanager
    def measuring(self, title: str) -> Iterator[Observer]:
        _print_event("measuring", title=title)
        yield JsonProgress()


class JsonProgress(Observer):
    """Prints each trial of a measurement, and what each repetition found."""

    def trial_ended(self, trial: TrialRecord) -> None:
        _print_event(
            "trial-ended",
            repetition=trial.repetition,
            number=trial.number,
            rate=trial.verdict_fps,
            asked=trial.rate_fps,
            verdict=trial.verdict,
            lost=lost_of(trial),
        )

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        _print_event("repetition-ended", figures=described(figures))


def _print_event(event: str, **members: Any) -> None:
    print(json.dumps({"event": event, **members}, ensure_ascii=False), flush=True)


def described(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Returns the main figures, as JSON: their benchmarks are those of the tables."""
    return [
        {
            "name": figure.name,
            "at": figure.at,
            "at_value": figure.at_value,
            "at_unit": figure.at_unit,
            "found": figure.found,
            "uncertain": figure.uncertain,
            "direction": figure.direction,
            "unit": figure.unit,
            "median": median(figure.values),
            "statistic": figure.statistic,
            "benchmark": with_bound(figure)[0],
            "bound": with_bound(figure)[1],
        }
        for figure in figures
        if figure.primary and figure.values
    ]


def _named(cell: Cell) -> dict[str, Any]:
    return {"measure": cell.measure.name, "column": cell.column.label, "round": cell.round}


def _figures(results: Sequence[Measurement], *, summed: bool) -> list[dict[str, Any]]:
    """Returns the main figures as JSON, as the report shows them."""
    words = told_apart([variant_of(result.conditions) for result in results])
    return [
        {
            **members,
            "series": series,
            "rates": rate_words(result.conditions, figure, summed=summed),
        }
        for series, result in zip(words, results, strict=True)
        for figure in in_directions(result, summed=summed).figures
        for members in described([figure])
    ]
