"""Observers of a procedure, such as a progress display or a journal."""

from collections.abc import Callable, Sequence
from typing import Any

from natxy.model.event import Progress
from natxy.model.measurement import Figure
from natxy.model.remark import Remark
from natxy.model.trial_record import Collapse, TrialRecord


class Observer:
    """Ignores all events; subclasses override the methods that they need."""

    def part_started(self, number: int, count: int) -> None:
        """Is called when part `number` of `count` of a measurement starts, such as a frame size."""

    def repetition_started(self, number: int, count: int) -> None:
        """Is called when repetition `number` of `count` starts; numbers start at 1."""

    def trial_started(
        self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
    ) -> None:
        """Is called when a trial starts, with the current bracket of the search.

        `connections` is set if the search varies their number; the bracket then is of connections.
        """

    def trial_progressed(self, progress: Progress) -> None:
        """Is called at least once a second during a trial."""

    def trial_ended(self, trial: TrialRecord) -> None:
        """Is called as soon as a trial has ended."""

    def trial_read(self, trial: TrialRecord) -> None:
        """Is called in place of `trial_ended` with a trial that the journal has."""
        self.trial_ended(trial)

    def collapsed(self, collapse: Collapse) -> None:
        """Is called if a search goes on after the gateway collapsed in a trial."""

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        """Is called with the figures of a repetition, which have one value each."""

    def remarked(self, remark: Remark) -> None:
        """Is called with a remark that the user should see even if there is no result."""


class Observers(Observer):
    """Passes each event to several observers, in this order; put a journal first."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers


def _passed_on(event: str) -> Callable[..., None]:
    def pass_on(self: Observers, *members: Any, **named: Any) -> None:
        for observer in self._observers:
            getattr(observer, event)(*members, **named)

    return pass_on


for _event in [name for name in vars(Observer) if not name.startswith("_")]:
    setattr(Observers, _event, _passed_on(_event))
