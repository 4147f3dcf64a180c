"""The times of trials (RFC 2544 sections 23 and 24), with checks of their ranges."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check, check_settings
from natxy.model.trial_spec import MAX_FRAMES, MAX_RATE_FPS, MAX_TRIAL_NS
from natxy.setting import Setting
from natxy.trial.repeats import INVALID_REPEATS, MEASUREMENT_S, VALID_FACTOR

# After about a second, the kernel's real-time throttling stops a polling worker for tens of
# milliseconds, so longer trials use the ordinary policy.
REALTIME_LIMIT_S = Fraction(1, 2)
LONGEST_S = Fraction(MAX_TRIAL_NS, 10**9)

time_of = partial(Setting, metavar="S", lowest=0, highest=LONGEST_S, panel="Trials")
DURATION = time_of(
    "duration_s",
    "Seconds during which a trial sends frames",
    lowest=Fraction(1, 10**6),
    of_profile=True,
)
DRAIN = time_of(
    "drain_s", "Seconds during which a trial still receives after its last frame", of_profile=True
)
SETTLE = time_of("settle_s", "Seconds between two trials", of_profile=True)
FRAME_TIMEOUT = time_of(
    "frame_timeout_s",
    "Delay in seconds after which a frame is late and counts as lost, for example 0.01",
    default="no limit",
    panel=None,
)
RETRY_TIME = time_of(
    "retry_s",
    "Limit in seconds for the invalid trials of a measurement, which is all repetitions at one "
    "frame size, mix, number of networks and burst length. Each invalid trial counts with its "
    "planned time, which is its duration plus its drain. With connections, duration and drain of "
    "phase 1 are added. When a limit that you set is used up, no invalid trial is repeated. When "
    f"the default limit is used up, there are {INVALID_REPEATS} repeats at each rate. If a command "
    "first searches for its rate, as latency does, the invalid trials of this search count, too",
    option="retry-time",
    default=f"{MEASUREMENT_S}, plus {VALID_FACTOR} times the time of the valid trials",
)
RATE = Setting(
    "rate_fps",
    "Rate of the trials, in frames a second per direction",
    "FPS",
    default="the throughput, which is searched for first",
    short="Rate of the trials; by default the throughput",
)


@dataclass(frozen=True, kw_only=True)
class Timing:
    duration_s: Annotated[Fraction, DURATION]
    drain_s: Annotated[Fraction, DRAIN]
    settle_s: Annotated[Fraction, SETTLE] = Fraction(0)
    frame_timeout_s: Annotated[Fraction, FRAME_TIMEOUT] = Fraction(0)  # 0: none
    retry_s: Annotated[Fraction | None, RETRY_TIME] = None  # None: see RetryTime

    def __post_init__(self) -> None:
        check_settings(self)
        # A second for what phases add, such as the time between the directions.
        both_s = self.duration_s + self.drain_s
        if both_s > LONGEST_S - 1:
            raise ConfigurationError(
                *(DURATION, " and ", DRAIN),
                f": {float(both_s):g} is out of range (expected 0 to {LONGEST_S - 1})",
            )

    @property
    def highest_rate_fps(self) -> int:
        """The highest rate at which the frames of a trial of this duration can be numbered."""
        return min(MAX_RATE_FPS, int(MAX_FRAMES / self.duration_s))

    def check_rate(self, setting: Setting | str, rate_fps: int) -> None:
        check(setting, rate_fps, lowest=1, highest=self.highest_rate_fps)


def refuse_frame_timeout(timing: Timing) -> None:
    """Refuses a frame timeout where times of loss are measured: late frames have no such time."""
    if timing.frame_timeout_s:
        raise ConfigurationError(
            FRAME_TIMEOUT,
            f": {float(timing.frame_timeout_s):g} is not possible where times of loss are "
            "measured (expected 0)",
        )
