"""The times of trials (RFC 2544 sections 23 and 24), with checks of their ranges."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.model.trial_spec import MAX_FRAMES, MAX_RATE_FPS, MAX_TRIAL_NS

# After about a second, the kernel's real-time throttling stops a polling worker for tens of
# milliseconds, so longer trials use the ordinary policy.
REALTIME_LIMIT_S = Fraction(1, 2)
LONGEST_S = Fraction(MAX_TRIAL_NS, 10**9)


@dataclass(frozen=True, kw_only=True)
class Timing:
    duration_s: Fraction
    drain_s: Fraction
    settle_s: Fraction = Fraction(0)
    frame_timeout_s: Fraction = Fraction(0)  # 0: none
    retry_s: Fraction | None = None  # of all INVALID trials of a measurement; None: see RetryTime

    def __post_init__(self) -> None:
        make_exact(
            self,
            duration_s="--duration",
            drain_s="--drain",
            settle_s="--settle",
            frame_timeout_s="--frame-timeout",
            retry_s="--retry-time",
        )
        check("--duration", self.duration_s, lowest=Fraction(1, 10**6), highest=LONGEST_S)
        check("--drain", self.drain_s, lowest=0, highest=LONGEST_S)
        check("--settle", self.settle_s, lowest=0, highest=LONGEST_S)
        check("--frame-timeout", self.frame_timeout_s, lowest=0, highest=LONGEST_S)
        if self.retry_s is not None:
            check("--retry-time", self.retry_s, lowest=0, highest=LONGEST_S)
        # A second for what phases add, such as the time between the directions.
        both_s = self.duration_s + self.drain_s
        check("--duration and --drain", both_s, lowest=0, highest=LONGEST_S - 1)

    @property
    def highest_rate_fps(self) -> int:
        """The highest rate at which the frames of a trial of this duration can be numbered."""
        return min(MAX_RATE_FPS, int(MAX_FRAMES / self.duration_s))

    def check_rate(self, option: str, rate_fps: int) -> None:
        check(option, rate_fps, lowest=1, highest=self.highest_rate_fps)


def refuse_frame_timeout(timing: Timing) -> None:
    """Refuses a frame timeout where times of loss are measured: late frames have no such time."""
    if timing.frame_timeout_s:
        raise ConfigurationError(
            f"--frame-timeout: {float(timing.frame_timeout_s):g} is not possible where times of "
            "loss are measured (expected 0)"
        )


def check(
    option: str, value: Fraction | int, *, lowest: Fraction | int, highest: Fraction | int
) -> None:
    if not lowest <= value <= highest:
        expected = f"(expected {_text(lowest)} to {_text(highest)})"
        raise ConfigurationError(f"{option}: {_text(value)} is out of range {expected}")


def _text(value: Fraction | int) -> str:
    return str(value) if value == int(value) else f"{float(value):g}"
