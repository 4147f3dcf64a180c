"""Whether a failure that the rate explains bounds the result of a search (docs/decisions/0039).

Pauses of a gateway that nobody watched, and losses by chance, also make trials fail. Their losses
do not fill the time in which the gateway was full.
"""

from dataclasses import dataclass, field

from natxy.search.bisection import SearchError

NEAR = 2.5  # errors above the result
ABOVE = (2, 4)  # errors above the result at which further trials are run
MORE = 3  # errors by which a gateway that is full forwards more than the result
LESS = 1.5  # errors by which it forwards less, if a bucket or a queue helped the pass
LONGER = (4, 16)  # times the trial that passed


@dataclass(kw_only=True)
class Confirmation:
    """The failures of a search whose losses the rate explains, by rate.

    Their values are the rates that came through while the gateway was full.
    """

    error: SearchError
    explained: dict[int, float] = field(default_factory=dict)
    most_full_fps: float = 0.0  # of any of them, also of those that a pass overturned

    def failed(self, rate_fps: int, full_fps: float) -> None:
        self.explained[rate_fps] = full_fps
        self.most_full_fps = max(self.most_full_fps, full_fps)

    def passed(self, rate_fps: int) -> None:
        self.explained = {rate: full for rate, full in self.explained.items() if rate > rate_fps}

    def near(self, result_fps: int) -> int | None:
        """Returns the lowest rate that bounds the result; None if none does."""
        highest_fps = result_fps + NEAR * self.error.at(result_fps)
        return min((rate for rate in self.explained if rate <= highest_fps), default=None)

    def rates_above(self, result_fps: int) -> list[int]:
        return [result_fps + factor * self.error.at(result_fps) + 1 for factor in ABOVE]

    def is_helped(self, result_fps: int) -> bool:
        """Returns whether the gateway forwards less than the result while it is full: a bucket or a
        queue helped the pass, or the gateway gets slower when it is overloaded."""
        near_fps = self.near(result_fps)
        least_fps = result_fps - LESS * self.error.at(result_fps)
        return near_fps is not None and self.explained[near_fps] < least_fps

    def explains(self, result_fps: int) -> bool:
        """Returns whether the rate, and neither pauses nor chance, bounds the result."""
        forwards_more = self.most_full_fps > result_fps + MORE * self.error.at(result_fps)
        return self.near(result_fps) is not None and not forwards_more
