"""Shows the progress of a measurement: a live panel on a terminal, plain lines elsewhere."""

from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from natxy.cli.estimate import ERROR_FRACTION, Estimate
from natxy.cli.sentences import say
from natxy.cli.streams import show_beside_panel
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Unit
from natxy.model.remark import Remark
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.report.numbers import ARROWS, marked, rate
from natxy.trial.observer import Observer

MARKS = {
    Verdict.PASS: ("●", "green"),
    Verdict.FAIL: ("●", "red"),
    Verdict.INVALID: ("○", "yellow"),
}
FOUND_SHOWN = 5


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
            show_beside_panel()
        else:
            say(self._console, self._title)
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def part_started(self, number: int, count: int) -> None:
        self._estimate.part_started(number, count)

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

    def remarked(self, remark: Remark) -> None:
        self._say(str(remark))

    def _plain_line(self, trial: TrialRecord) -> str:
        why = why_of(trial)
        reason = f" ({why})" if why else ""
        return (
            f"{self._repetition}/{self._repetitions} {self._connections}"
            f"{rate(trial.verdict_fps):>12} {self._trial_unit} {trial.verdict}"
            f"{asked_clause(trial)}{reason}{self._left()}"
        )

    def _say(self, line: str) -> None:
        say(self._console, line)

    def _left(self) -> str:
        left = str(self._estimate)
        return f", {left}" if left else ""

    def _draw(self) -> None:
        if not self._console.is_terminal:
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_row("repetition", f"{self._repetition} of {self._repetitions}{self._left()}")
        of_phase_1 = self._trial_unit == "cps"
        what = "connections a second" if of_phase_1 else "frames a second per direction"
        grid.add_row("rate", Text.assemble((rate(self._rate_fps), "bold"), f" {what}"))
        if self._connections:
            grid.add_row("trying", self._connections)
        lower, upper = self._bracket_fps
        grid.add_row("bracket", f"{rate(lower)} to {rate(upper)}")
        grid.add_row("trial", f"{self._stage} {self._share:.0%}" if self._stage else "")
        marks = (Text(*MARKS[verdict]) for verdict in self._verdicts)
        grid.add_row("verdicts", Text(" ").join(marks))
        if self._found:
            grid.add_row("found", "; ".join(self._found[-FOUND_SHOWN:]))
        self._live.update(Group(Text(self._title, style="bold"), grid), refresh=True)


def lost_of(trial: TrialRecord) -> dict[Direction, int]:
    """Returns how many frames each direction lost in the measured phase."""
    lost: dict[Direction, int] = {}
    for stream, _, counters in trial.result.counters():
        lost[stream.direction] = lost.get(stream.direction, 0) + counters.lost
    return lost


def why_of(trial: TrialRecord) -> str:
    """Returns why a trial did not pass, and how many frames each direction lost."""
    losses = ", ".join(f"{ARROWS[way]} {lost:,}" for way, lost in lost_of(trial).items() if lost)
    reasons = (*trial.invalid_reasons, trial.lost_connections, trial.fail_reason)
    why = str(next(filter(None, reasons), ""))
    return "; ".join(filter(None, (why, f"lost {losses}" if losses else "")))


def asked_clause(trial: TrialRecord) -> str:
    """Returns the rate that was asked for, if the verdict is about another one."""
    return "" if trial.verdict_fps == trial.rate_fps else f" (asked for {rate(trial.rate_fps)})"


def found_by(figures: Sequence[Figure]) -> str:
    """Returns the main figures of a repetition in one line."""
    main = (figure for figure in figures if figure.primary)
    return ", ".join(in_words(figure, figure.shown_name, figure.values[-1]) for figure in main)


def in_words(figure: Figure, name: str, value: float) -> str:
    """Returns a value of a figure with its direction and this name."""
    unit = {"fps": " fps per direction", "cps": " cps"}.get(figure.unit, "")
    words = (ARROWS[figure.direction], name, marked(figure, value) + unit)
    return " ".join(word for word in words if word)
