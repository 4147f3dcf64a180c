"""The search for the highest rate that passes (RFC 2544 section 26.1)."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check_settings
from natxy.model.verdict import Limit, Verdict
from natxy.setting import Setting

RATE_FPS = Setting("rate_fps", "An absolute width, in place of `fraction`", option="error")
FRACTION = Setting("fraction", "A share: 0.01 is 1 %", option="error")


@dataclass(frozen=True, kw_only=True)
class SearchError:
    """The width of the bracket at which a search ends: absolute, or a share of its lower end."""

    rate_fps: Annotated[int | None, RATE_FPS] = None
    fraction: Annotated[Fraction, FRACTION] = Fraction(1, 1000)

    def __post_init__(self) -> None:
        check_settings(self)
        if not 0 < self.fraction < 1:
            raise ConfigurationError(
                FRACTION,
                f": {float(self.fraction * 100):g} % is out of range (expected more than 0 %, less "
                "than 100 %)",
            )
        if self.rate_fps is not None and self.rate_fps < 1:
            raise ConfigurationError(
                RATE_FPS,
                f": {self.rate_fps} is out of range (expected 1 or more frames a second)",
            )

    def at(self, lower_fps: int) -> int:
        """Returns the width in frames a second, at least 1, since rates are whole numbers."""
        width = self.rate_fps if self.rate_fps is not None else int(lower_fps * self.fraction)
        return max(1, width)

    def __str__(self) -> str:
        return self.shown("fps")

    def shown(self, unit: str) -> str:
        """Returns the error as a person reads it; `unit` is that of the rates."""
        if self.rate_fps is not None:
            return f"{self.rate_fps} {unit}"
        return f"{float(self.fraction * 100):g} %"


DEFAULT_ERROR = SearchError()
# Growth in a search for a rate: it takes 6 trials to a million, where doubling takes 11. A larger
# factor saves little, and makes the first rate that fails so high that the tester may not send it
# (docs/decisions/0016).
GROWTH = 4


@dataclass(kw_only=True)
class Bisection:
    """The search: `next` returns the rate to try, and `tell` takes the verdict of its trial.

    The first rate tried is `first_fps`, by default `upper_fps`: if a gateway passes at the maximum,
    one trial is enough. Where the maximum is unknown, `first_fps` is a guess. As long as rates
    pass, the next one is `growth` times as high, up to `upper_fps` (exponential search). After the
    first rate that does not pass, the bracket is bisected. The result is a rate that was tested and
    passed. The verdict INVALID means that trials at this rate stayed invalid; the rate then is a
    ceiling, until it is retried.
    """

    upper_fps: int
    first_fps: int | None = None
    error: SearchError = DEFAULT_ERROR
    growth: int = 2

    def __post_init__(self) -> None:
        self._passed_fps: int | None = None
        self._failed_fps: set[int] = set()
        self._ceilings_fps: set[int] = set()
        self._untold_fps: set[int] = set()  # tried, and it tells nothing
        self._retried_fps: int | None = None

    @property
    def result_fps(self) -> int | None:
        """The highest rate that passed, or None."""
        return self._passed_fps

    @property
    def bracket(self) -> tuple[int, int]:
        """The rates between which the result lies.

        The result is at least the first one. The second one did not pass, or is `upper_fps`.
        """
        return self._floor, self.upper_fps if self._top is None else self._top

    @property
    def limit(self) -> Limit:
        """Returns what limits the result; valid only after the search has ended."""
        if self._top is None:
            return Limit.MAXIMUM
        return Limit.DUT if self._top in self._failed_fps else Limit.TESTER

    def next(self) -> int | None:
        """Returns the rate to try next; None if the search has ended."""
        if self._retried_fps is not None:
            return self._retried_fps
        if self._top is None:
            return self._upwards()
        if self._top - self._floor <= self.error.at(self._floor):
            return None
        return _middle(self._floor, self._top)

    def tell(self, rate_fps: int, verdict: Verdict, counted_fps: int | None = None) -> None:
        """Takes the verdict of a trial; `counted_fps` is the rate that counts if it passed, and by
        default `rate_fps`."""
        self._retried_fps = None
        self._untold_fps.discard(rate_fps)  # it tells something now
        if verdict is Verdict.PASS:
            passed_fps = rate_fps if counted_fps is None else counted_fps
            self._passed_fps = max(passed_fps, self._passed_fps or 0)
            # A pass overturns what failed at lower rates.
            self._failed_fps = {each for each in self._failed_fps if each > rate_fps}
            self._untold_fps = {each for each in self._untold_fps if each > rate_fps}
            self._ceilings_fps = {each for each in self._ceilings_fps if each > passed_fps}
        elif verdict is Verdict.FAIL:
            self._failed_fps.add(rate_fps)
        else:
            self._ceilings_fps.add(rate_fps)

    def keep_failures(self, kept_fps: set[int]) -> None:
        """Forgets the failures at other rates than these, which tell nothing; goes on above the
        result, by these rates."""
        self._untold_fps |= self._failed_fps - kept_fps
        self._failed_fps &= kept_fps

    def restart(self, first_fps: int) -> None:
        """Goes on below the result, which failed, and forgets what passed."""
        self._passed_fps, self._retried_fps = None, first_fps

    def retry_ceiling(self) -> None:
        """Forgets the lowest ceiling: this rate is tried again next, until it has a verdict."""
        self._retried_fps = min(self._ceilings_fps)
        self._ceilings_fps.remove(self._retried_fps)

    def _upwards(self) -> int | None:
        if self._passed_fps is None:
            return min(self.first_fps or self.upper_fps, self.upper_fps)
        # The counted rate may be slightly lower than the rate of the trial.
        if self.upper_fps - self._passed_fps < self.error.at(self._passed_fps):
            return None
        return min(self._passed_fps * self.growth, self.upper_fps, *self._untold_fps)

    @property
    def _floor(self) -> int:
        return self._passed_fps or 0

    @property
    def _top(self) -> int | None:
        """The lowest rate that failed or stayed INVALID, or None."""
        return min(self._failed_fps | self._ceilings_fps, default=None)


def _middle(lower_fps: int, upper_fps: int) -> int:
    """Returns the geometric mean of a wide bracket, which growth leaves, else the arithmetic."""
    if lower_fps and upper_fps > 2 * lower_fps:
        return max(lower_fps + 1, isqrt(lower_fps * upper_fps))
    return (lower_fps + upper_fps) // 2
