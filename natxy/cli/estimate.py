"""Estimates how long a measurement still takes, from the pace of its own steps."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from natxy.report.numbers import seconds_left

ERROR_FRACTION = 0.001  # of a search, if it is not known
UNKNOWN_STEPS = 12.0  # assumed before a search has passed a rate
NEWEST = 3  # steps whose pace the search may keep
WIDE = 1.5  # a range is shown from this ratio of its ends on


@dataclass
class Estimate:
    """Estimates the time left: the steps that are left times the time of a step.

    A step is all trials at one bracket of a search, so that a trial that is repeated makes its step
    longer, and no further step. Noise often begins near the limit that a search looks for. So the
    rest of the search may take as long as the slowest of its newest steps, and all else the mean.
    """

    clock: Callable[[], float] = time.monotonic
    _steps_s: list[float] = field(default_factory=list, init=False)  # of those that have ended
    _began_s: float = field(init=False)  # the step that runs
    _bracket: tuple[int, int] | None = field(default=None, init=False)
    _steps_left: float = field(default=UNKNOWN_STEPS, init=False)  # of this repetition
    _steps_before: float = field(default=UNKNOWN_STEPS, init=False)  # the same before the trial
    _repetition: tuple[int, int] = field(default=(1, 1), init=False)  # number and count
    _part: tuple[int, int] = field(default=(1, 1), init=False)
    _at_part: int = field(default=0, init=False)  # steps before this part
    _of_ended: float = field(default=0.0, init=False)  # steps of a repetition that has ended
    _has_tried: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._began_s = self.clock()

    def part_started(self, number: int, count: int) -> None:
        self._end_step()
        self._part = (number, count)
        self._at_part = len(self._steps_s)
        self._repetition, self._of_ended = (1, 1), 0.0

    def repetition_started(self, number: int, count: int) -> None:
        self._end_step()
        self._repetition = (number, count)
        if number > 1:
            self._of_ended = (len(self._steps_s) - self._at_part) / (number - 1)
        self._steps_left = self._of_ended or UNKNOWN_STEPS

    def trial_started(
        self, bracket_fps: tuple[int, int], error_fraction: float = ERROR_FRACTION
    ) -> None:
        if bracket_fps == self._bracket:
            self._steps_left = self._steps_before
            return
        self._end_step()
        self._bracket = bracket_fps
        lower, upper = bracket_fps
        if lower:
            goal = max(1.0, lower * error_fraction)
            self._steps_left = math.log2(max(2.0, (upper - lower) / goal))
        self._steps_left = self._steps_before = max(1.0, self._steps_left)

    def trial_ended(self) -> None:
        self._has_tried = True
        self._steps_left = max(0.0, self._steps_left - 1)

    def __str__(self) -> str:
        """Returns the time left in words; empty before the first trial has ended."""
        if not self._has_tried:
            return ""
        least_s, most_s = self.range_s
        if most_s < WIDE * max(1.0, least_s):
            return f"about {seconds_left(most_s)} left"
        return f"about {seconds_left(least_s)} to {seconds_left(most_s)} left"

    @property
    def range_s(self) -> tuple[float, float]:
        """The time left if the pace is the mean one, and if the search keeps that of its end."""
        newest_s = [*self._steps_s, self.clock() - self._began_s]
        mean_s = sum(newest_s) / len(newest_s)
        number, count = self._repetition
        part, parts = self._part
        others = self._of_repetition() * (count - number) + self._of_part() * (parts - part)
        slowest_s = max(mean_s, *newest_s[-NEWEST:])
        others_s = mean_s * others
        return mean_s * self._steps_left + others_s, slowest_s * self._steps_left + others_s

    def _end_step(self) -> None:
        if self._bracket is None:
            return
        now_s = self.clock()
        self._steps_s.append(now_s - self._began_s)
        self._began_s, self._bracket = now_s, None

    def _of_repetition(self) -> float:
        """Returns the steps of a repetition of this part, as far as they are known."""
        return self._of_ended or len(self._steps_s) - self._at_part + 1 + self._steps_left

    def _of_part(self) -> float:
        """Returns the steps of a part, as far as they are known."""
        if self._at_part:
            return self._at_part / (self._part[0] - 1)
        return self._of_repetition() * self._repetition[1]
