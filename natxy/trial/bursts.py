"""Repeated bursts (RFC 2544 section 21): frames at a high rate, then silence."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated

from natxy.errors import ConfigurationError
from natxy.exact import check_settings
from natxy.model.trial_spec import MAX_BURST_FRAMES, MAX_RATE_FPS, Segment
from natxy.setting import Setting
from natxy.trial.maximum import maximum_of
from natxy.trial.profile import RFC
from natxy.trial.session import Session

# Bursts of a trial, at least. A buffer may hold fewer bursts, whatever their interval.
LEAST_BURSTS = 10

BURSTS = Setting(
    "frames",
    "Send repeated bursts of N frames, search for the highest mean rate without loss, and report "
    "the interval between bursts at that rate",
    "N,...",
    option="bursts",
    default="steady traffic",
    lowest=2,
    highest=MAX_BURST_FRAMES,
    panel="Bursts",
)
BURST_RATE = Setting(
    "rate_fps",
    (
        *("With ", BURSTS, ": rate within a burst, in frames a second; on veth and memif, whose "),
        "media have no rate, it is required",
    ),
    "FPS",
    option="burst-rate",
    default="the media's rate",
    lowest=1,
    highest=MAX_RATE_FPS,
    panel="Bursts",
)


@dataclass(frozen=True, kw_only=True)
class Bursts:
    """The bursts of a search; their interval follows from the mean rate that the search tries."""

    frames: Annotated[int, BURSTS]
    rate_fps: Annotated[int | None, BURST_RATE] = None

    def __post_init__(self) -> None:
        check_settings(self)

    def rate_of(self, session: Session) -> int:
        return burst_rate(session, self.rate_fps)

    def least_fps(self, duration_s: Fraction) -> int:
        """Returns the lowest mean rate to try: at lower rates, a trial would be too long or would
        have too few bursts."""
        return ceil(LEAST_BURSTS * self.frames / max(duration_s, RFC.timing.duration_s))

    def segment(self, mean_fps: int, duration_s: Fraction, burst_rate_fps: int) -> Segment:
        """Returns a segment of whole bursts that lasts about as long as asked for, or longer."""
        bursts = max(LEAST_BURSTS, int(mean_fps * duration_s) // self.frames)
        return Segment(
            frames=bursts * self.frames,
            rate_fps=mean_fps,
            pause_ns=0,
            burst_frames=self.frames,
            burst_rate_fps=burst_rate_fps,
        )


def burst_rate(session: Session, given_fps: int | None, setting: Setting = BURST_RATE) -> int:
    """Returns the rate within a burst: the media's, or the given one."""
    rate_fps = maximum_of(session.hello, session.traffic, given_fps).rate_fps
    if rate_fps is None:
        raise ConfigurationError(
            setting,
            ": is missing: the ports' media have no rate (expected frames a second, such as the "
            "limit that `natxy self-test` reports)",
        )
    return rate_fps


def silence_s(segment: Segment) -> Fraction:
    """Returns by how much the gap between two bursts is longer than the gap between two frames of
    steady traffic."""
    if segment.burst_frames == 1:
        return Fraction(0)
    gaps = segment.burst_frames - 1
    return Fraction(gaps, segment.rate_fps) - Fraction(gaps, segment.burst_rate_fps)
