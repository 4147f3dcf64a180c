"""An observer that keeps what it is told."""

from collections.abc import Sequence

from natxy.model.measurement import Figure
from natxy.model.remark import Remark
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.observer import Observer


class Kept(Observer):
    def __init__(self) -> None:
        self.trials: list[TrialRecord] = []
        self.figures: list[Figure] = []
        self.started: list[tuple[int, int]] = []  # number and count of the repetitions
        self.parts: list[tuple[int, int]] = []
        self.remarks: list[Remark] = []

    def trial_ended(self, trial: TrialRecord) -> None:
        self.trials.append(trial)

    def part_started(self, number: int, count: int) -> None:
        self.parts.append((number, count))

    def repetition_started(self, number: int, count: int) -> None:
        self.started.append((number, count))

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        self.figures += figures

    def remarked(self, remark: Remark) -> None:
        self.remarks.append(remark)

    @property
    def rates(self) -> list[int]:
        return [trial.rate_fps for trial in self.trials]

    @property
    def told(self) -> list[tuple[int, Verdict]]:
        return [(trial.rate_fps, trial.verdict) for trial in self.trials]
