"""Shows the progress of a measurement: a live panel on a terminal, plain lines elsewhere."""

import math
import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from natxy.cli.sentences import say
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Unit
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.report.numbers import ARROWS, marked, rate, seconds_left
from natxy.trial.observer import Observer

MARKS = {Verdict.PASS: "[green]●[/]", Verdict.FAIL: "[red]●[/]", Verdict.INVALID: "[yellow]○[/]"}
FOUND_SHOWN = 5
ERROR_FRACTION = 0.001  # of a search, if it is not known
UNKNOWN_STEPS = 12.0  # assumed before a search's first trial


class Estimate:
    """Estimates the time left: the search's remaining steps times the mean time of a trial."""

    def __init__(self) -> None:
        self._started_s = time.monotonic()
        self._trials = 0
        self._repetitions_done = 0
        self._repetitions = 1
        self._steps_left = UNKNOWN_STEPS

    def repetition_started(self, number: int, count: int) -> None:
        self._repetitions_done, self._repetitions = number - 1, count
        self._steps_left = UNKNOWN_STEPS

    def trial_started(
        self, bracket_fps: tuple[int, int], error_fraction: float = ERROR_FRACTION
    ) -> None:
        lower, upper = bracket_fps
        goal = max(1.0, lower * error_fraction)
        self._steps_left = max(1.0, math.log2(max(2.0, (upper - lower) / goal)))

    def trial_ended(self) -> None:
        self._trials += 1
        self._steps_left = max(0.0, self._steps_left - 1)

    @property
    def left_s(self) -> float | None:
        """Seconds; None before the first trial has ended."""
        if not self._trials:
            return None
        trial_s = (time.monotonic() - self._started_s) / self._trials
        done = self._repetitions_done
        steps = self._trials / done if done else UNKNOWN_STEPS
        return trial_s * (self._steps_left + steps * (self._repetitions - done - 1))


class SearchDisplay(Observer):
    """Observes a procedure and draws its progress; a context manager, so that the panel goes."""

    def __init__(
        self,
        console: Console,
        title: str,
        error_fraction: float = ERROR_FRACTION,
        *,
        unit: Unit = "fps",
    ) -> None:
        self._console = console
        self._title = title
        self._unit: Unit = unit
        self._trial_unit: Unit = unit  # differs in a search for phase 1's rate
        self._error_fraction = error_fraction
        self._estimate = Estimate()
        self._repetition, self._repetitions = 0, 0
        self._rate_fps, self._bracket_fps = 0, (0, 0)
        self._stage, self._share = "", 0.0
        self._connections = ""
        self._verdicts: list[Verdict] = []
        self._found: list[str] = []
        # Events redraw it: a drawing thread would take time from the workers' core.
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        else:
            self._console.print(self._title, highlight=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def repetition_started(self, number: int, count: int) -> None:
        self._repetition, self._repetitions = number, count
        self._verdicts.clear()
        self._estimate.repetition_started(number, count)
        self._draw()

    def trial_started(
        self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
    ) -> None:
        self._rate_fps, self._bracket_fps = rate_fps, bracket_fps
        self._connections = "" if connections is None else f"{connections:,} connections"
        self._trial_unit = self._unit if connections is None else "cps"
        self._stage, self._share = "starting", 0.0
        self._estimate.trial_started(bracket_fps, self._error_fraction)
        self._draw()

    def trial_progressed(self, progress: Progress) -> None:
        self._stage = progress.stage
        self._share = min(1.0, progress.elapsed_ns / max(1, progress.duration_ns))
        self._draw()

    def trial_ended(self, trial: TrialRecord) -> None:
        self._verdicts.append(trial.verdict)
        self._estimate.trial_ended()
        if not self._console.is_terminal:
            self._say(self._plain_line(trial))
        self._draw()

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        self._found.append(found_by(figures))
        if not self._console.is_terminal:
            self._say(f"repetition {self._repetition}/{self._repetitions}: {self._found[-1]}")
        self._draw()

    def remarked(self, sentence: str) -> None:
        self._say(sentence)

    def _plain_line(self, trial: TrialRecord) -> str:
        why = (*trial.invalid_reasons, trial.lost_connections)[0]
        reason = f" ({why})" if why else ""
        return (
            f"{self._repetition}/{self._repetitions} {self._connections}"
            f"{rate(trial.verdict_fps):>12} {self._trial_unit} {trial.verdict}"
            f"{asked_clause(trial)}{reason}{self._left()}"
        )

    def _say(self, line: str) -> None:
        say(self._console, line)

    def _left(self) -> str:
        left_s = self._estimate.left_s
        return "" if left_s is None else f", about {seconds_left(left_s)} left"

    def _draw(self) -> None:
        if not self._console.is_terminal:
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_row("repetition", f"{self._repetition} of {self._repetitions}{self._left()}")
        of_phase_1 = self._trial_unit == "cps"
        what = "connections a second" if of_phase_1 else "frames a second per direction"
        grid.add_row("rate", f"[bold]{rate(self._rate_fps)}[/] {what}")
        if self._connections:
            grid.add_row("trying", self._connections)
        lower, upper = self._bracket_fps
        grid.add_row("bracket", f"{rate(lower)} to {rate(upper)}")
        grid.add_row("trial", f"{self._stage} {self._share:.0%}" if self._stage else "")
        grid.add_row("verdicts", " ".join(MARKS[verdict] for verdict in self._verdicts))
        if self._found:
            grid.add_row("found", "; ".join(self._found[-FOUND_SHOWN:]))
        self._live.update(Group(Text(self._title, style="bold"), grid), refresh=True)


def asked_clause(trial: TrialRecord) -> str:
    """Returns the rate that was asked for, if the verdict is about another one."""
    return "" if trial.verdict_fps == trial.rate_fps else f" (asked for {rate(trial.rate_fps)})"


def found_by(figures: Sequence[Figure]) -> str:
    """Returns the main figures of a repetition in one line."""
    return ", ".join(_found(figure) for figure in figures if figure.primary)


def _found(figure: Figure) -> str:
    unit = f" {figure.unit}" if figure.unit in ("fps", "cps") else ""
    value = marked(figure, figure.values[-1]) + unit
    return " ".join(word for word in (ARROWS[figure.direction], figure.shown_name, value) if word)
