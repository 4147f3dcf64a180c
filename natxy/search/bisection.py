"""The search for the highest rate that passes (RFC 2544 section 26.1); pure."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from natxy.exact import make_exact
from natxy.model.verdict import Limit, Verdict


@dataclass(frozen=True, kw_only=True)
class SearchError:
    """When to stop: at an absolute width, or at a fraction of the bracket's lower end."""

    rate_fps: int | None = None
    fraction: Fraction = Fraction(1, 1000)

    def __post_init__(self) -> None:
        make_exact(self, fraction="--error")

    def at(self, lower_fps: int) -> int:
        """Rates are whole numbers, so the bracket is never narrower than 1."""
        width = self.rate_fps if self.rate_fps is not None else int(lower_fps * self.fraction)
        return max(1, width)

    def __str__(self) -> str:
        if self.rate_fps is not None:
            return f"{self.rate_fps} fps"
        return f"{float(self.fraction * 100):g} %"


DEFAULT_ERROR = SearchError()


@dataclass(kw_only=True)
class Bisection:
    """`next` says which rate to try, `tell` what came of it; the result was tested and passed.

    `first` is tested first: the maximum, so that a device that takes it is done with in one trial.
    Where nobody knows a maximum it is a guess instead: while rates pass, the next is `growth` times
    as high, up to `upper` (exponential search); from the first that does not, the bracket is
    bisected.
    INVALID is told of a rate whose trials stay so: it becomes the tester's ceiling.
    """

    upper_fps: int
    lower_fps: int = 0  # is tested only if all above it fail; 0 is not tested
    first_fps: int | None = None
    error: SearchError = DEFAULT_ERROR
    growth: int = 2

    def __post_init__(self) -> None:
        if not 0 <= self.lower_fps < self.upper_fps:
            raise ValueError(f"the bracket {self.lower_fps} to {self.upper_fps} is empty")
        self._passed_fps: int | None = None
        self._failed_fps: int | None = None
        self._ceiling_fps: int | None = None

    @property
    def result_fps(self) -> int | None:
        """The highest rate that passed; None: none did."""
        return self._passed_fps

    @property
    def bracket(self) -> tuple[int, int]:
        """The result is at least the first; the second failed, or is the highest to be tried."""
        return self._floor, self.upper_fps if self._top is None else self._top

    @property
    def limit(self) -> Limit:
        """Meaningful when the search has ended."""
        if self._top is None:
            return Limit.MAXIMUM
        return Limit.DUT if self._top == self._failed_fps else Limit.TESTER

    def next(self) -> int | None:
        """The rate to try now; None: the search has ended."""
        if self._top is None:
            return self._upwards()
        if self._top - self._floor <= self.error.at(self._floor):
            untested = self._passed_fps is None and 0 < self.lower_fps < self._top
            return self.lower_fps if untested else None
        return _middle(self._floor, self._top)

    def tell(self, rate_fps: int, verdict: Verdict) -> None:
        if verdict is Verdict.PASS:
            self._passed_fps = max(rate_fps, self._passed_fps or 0)
        elif verdict is Verdict.FAIL:
            self._failed_fps = min(rate_fps, self._failed_fps or rate_fps)
        else:
            self._ceiling_fps = min(rate_fps, self._ceiling_fps or rate_fps)

    def _upwards(self) -> int | None:
        if self._passed_fps is None:
            return min(self.first_fps or self.upper_fps, self.upper_fps)
        # What counts of a trial at the highest rate may be a little less than the rate.
        if self.upper_fps - self._passed_fps < self.error.at(self._passed_fps):
            return None
        return min(self._passed_fps * self.growth, self.upper_fps)

    @property
    def _floor(self) -> int:
        return self.lower_fps if self._passed_fps is None else self._passed_fps

    @property
    def _top(self) -> int | None:
        """The lowest rate known to be too high; a failure is a firmer thing to know."""
        known = [rate for rate in (self._failed_fps, self._ceiling_fps) if rate is not None]
        return min(known, default=None)


def _middle(lower_fps: int, upper_fps: int) -> int:
    """Of ratios while the bracket is wide, as growth by a factor leaves it; then of differences."""
    if lower_fps and upper_fps > 2 * lower_fps:
        return max(lower_fps + 1, isqrt(lower_fps * upper_fps))
    return (lower_fps + upper_fps) // 2
