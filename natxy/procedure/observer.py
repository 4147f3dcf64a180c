"""Who watches a procedure: a progress display, a journal. Does nothing until told otherwise."""

from collections.abc import Sequence

from natxy.model.event import Progress
from natxy.model.measurement import Figure
from natxy.model.trial_record import TrialRecord


class Observer:
    def repetition_started(self, number: int, count: int) -> None:
        """Repetition `number` of `count`, from 1."""

    def trial_started(self, rate_fps: int, bracket_fps: tuple[int, int]) -> None:
        """The rate lies in the search's bracket."""

    def trial_progressed(self, progress: Progress) -> None:
        """At least once a second."""

    def trial_ended(self, trial: TrialRecord) -> None:
        """Is called the moment it ended."""

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        """What it has found: figures of one value each."""

    def remarked(self, sentence: str) -> None:
        """What a person should know, also where there is no result in the end."""


class Observers(Observer):
    """Several of them, told in this order: put what must not be lost first."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers

    def repetition_started(self, number: int, count: int) -> None:
        for observer in self._observers:
            observer.repetition_started(number, count)

    def trial_started(self, rate_fps: int, bracket_fps: tuple[int, int]) -> None:
        for observer in self._observers:
            observer.trial_started(rate_fps, bracket_fps)

    def trial_progressed(self, progress: Progress) -> None:
        for observer in self._observers:
            observer.trial_progressed(progress)

    def trial_ended(self, trial: TrialRecord) -> None:
        for observer in self._observers:
            observer.trial_ended(trial)

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        for observer in self._observers:
            observer.repetition_ended(figures)

    def remarked(self, sentence: str) -> None:
        for observer in self._observers:
            observer.remarked(sentence)
