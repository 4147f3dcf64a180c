"""Says now and then what a long measurement does, where a console is a file or a pipe."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

from rich.console import Console

from natxy.cli.estimate import ERROR_FRACTION, Estimate
from natxy.cli.progress import SearchDisplay, asked_clause, found_by, why_of
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Unit
from natxy.model.remark import Remark
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.report.numbers import rate
from natxy.trial.observer import Observer

EVERY_S = 10.0  # what is shorter has no line of its own between its begin and its end


@dataclass(kw_only=True)
class Lines:
    """The lines about one cell or one command, one of which follows another only after a while."""

    say: Callable[[str], None]
    begun: bool = True  # a line has been said; else the first one need not wait
    _newest_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._newest_s = time.monotonic() if self.begun else -inf

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

    def part_started(self, number: int, count: int) -> None:
        self._estimate.part_started(number, count)

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
        why = why_of(trial)
        reason = f" ({why})" if why else ""
        self._lines.offer(lambda: self._line(f"{trial.verdict}{asked_clause(trial)}{reason}"))

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        self._found = found_by(figures)

    def remarked(self, remark: Remark) -> None:
        self._lines.say(str(remark))

    def _loaded(self, rate_fps: int) -> str:
        if self._connections is None:
            return f"{rate(rate_fps)} {self._unit}"
        return f"{self._connections:,} connections, {rate(rate_fps)} cps"  # to establish them

    def _line(self, step: str) -> str:
        invalid = f" ({self._invalid} invalid so far)" if self._invalid else ""
        found = f"; found: {self._found}" if self._found else ""
        left = str(self._estimate)
        left = f"; {left}" if left else ""
        return (
            f"  repetition {self._repetition} of {self._repetitions}, trial {self._trials}"
            f"{invalid}: {self._load}, {step}{found}{left}"
        )


@contextmanager
def watching(
    console: Console,
    title: str,
    lines: Lines | None,
    *,
    unit: Unit = "fps",
    error_fraction: float = ERROR_FRACTION,
) -> Iterator[Observer]:
    """Yields who shows the progress: a panel on a terminal, elsewhere lines; without lines, nobody.

    `error_fraction` is the error at which a search ends, if it is known.
    """
    if lines is None:
        yield Observer()
    elif console.is_terminal:
        with SearchDisplay(console, title, error_fraction, unit=unit) as display:
            yield display
    else:
        lines.offer(lambda: title)
        yield NowAndThen(lines, unit=unit)
