"""Says now and then what a long cell does, where a console is a file or a pipe."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from natxy.cli.progress import Estimate, asked_clause, found_by
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Unit
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.report.numbers import rate, seconds_left
from natxy.trial.observer import Observer

EVERY_S = 10.0  # a cell that is shorter has no line of its own between its begin and its end


@dataclass(kw_only=True)
class Lines:
    """The lines about one cell, of which one may follow another only after a while."""

    say: Callable[[str], None]
    _newest_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._newest_s = time.monotonic()

    def offer(self, line: Callable[[], str]) -> None:
        """Says the line if it is time for one."""
        now_s = time.monotonic()
        if now_s - self._newest_s >= EVERY_S:
            self._newest_s = now_s
            self.say(line())


class NowAndThen(Observer):
    """Observes a measurement, and offers a line about each step of it."""

    def __init__(self, lines: Lines, *, unit: Unit) -> None:
        self._lines = lines
        self._unit = unit
        self._estimate = Estimate()
        self._repetition, self._repetitions = 1, 1
        self._trials, self._invalid = 0, 0
        self._load = ""
        self._connections: int | None = None
        self._found = ""

    def repetition_started(self, number: int, count: int) -> None:
        self._repetition, self._repetitions = number, count
        self._estimate.repetition_started(number, count)

    def trial_started(
        self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
    ) -> None:
        self._connections = connections
        self._load = self._loaded(rate_fps)
        self._trials += 1
        self._estimate.trial_started(bracket_fps)

    def trial_progressed(self, progress: Progress) -> None:
        share = min(1.0, progress.elapsed_ns / max(1, progress.duration_ns))
        self._lines.offer(lambda: self._line(f"{progress.stage} {share:.0%}"))

    def trial_ended(self, trial: TrialRecord) -> None:
        self._estimate.trial_ended()
        self._invalid += trial.verdict is Verdict.INVALID
        self._load = self._loaded(trial.verdict_fps)
        why = f" ({trial.invalid_reasons[0]})" if trial.invalid_reasons else ""
        self._lines.offer(lambda: self._line(f"{trial.verdict}{asked_clause(trial)}{why}"))

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        self._found = found_by(figures)

    def _loaded(self, rate_fps: int) -> str:
        if self._connections is None:
            return f"{rate(rate_fps)} {self._unit}"
        return f"{self._connections:,} connections, {rate(rate_fps)} cps"  # to establish them

    def _line(self, step: str) -> str:
        invalid = f" ({self._invalid} invalid so far)" if self._invalid else ""
        found = f"; found: {self._found}" if self._found else ""
        left_s = self._estimate.left_s
        left = "" if left_s is None else f"; about {seconds_left(left_s)} left"
        return (
            f"  repetition {self._repetition} of {self._repetitions}, trial {self._trials}"
            f"{invalid}: {self._load}, {step}{found}{left}"
        )
