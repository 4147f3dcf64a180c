"""The rate that counts of a trial that passed (docs/decisions/0017).

A sender that paused has offered its frames in a longer time, and a gateway that still held frames
when sending ended has not forwarded them at the rate at which they came.
"""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.verdict import Verdict
from natxy.procedure.away import Away

# The ends of a trial are found by polls: what was held back, or late, for less is not known to have
# been. It is 0.2 % of the shortest trials.
POLLS_NS = 100_000


@dataclass(frozen=True, kw_only=True)
class Counting:
    """What a search asks of a trial that passed."""

    above_fps: int  # a rate that does not exceed this tells the search nothing
    # Trials so short that buffers may hide an overload: frames that the gateway still holds when
    # sending has ended are not forwarded at the trial's rate.
    short: bool
    # After the last frame, beyond a period: the rest of the interval between bursts. What the
    # gateway holds of a burst may come out in it.
    silence_s: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """`fps` is frames / (time to send + pauses + time that the gateway held them longer). A sender
    that was late at the end, and had not paused, took that much more time to send."""

    fps: int
    verdict: Verdict
    sentence: str = ""  # why it is not PASS


def counted(counting: Counting, rate_fps: int, result: TrialResult, away: Away) -> Counted:
    """Judges a trial in which nothing was lost."""
    streams = [stream for stream in result.streams if stream.due]
    gap_s = max((port.worst_poll_gap_ns for port in result.ports), default=0.0) / 1e9
    rates = [_rates(counting, rate_fps, stream, away.total_s + gap_s) for stream in streams]
    fps = min((of_all for of_all, _ in rates), default=rate_fps)
    without_noise_fps = min((of_gateway for _, of_gateway in rates), default=rate_fps)
    if fps > counting.above_fps:
        return Counted(fps=fps, verdict=Verdict.PASS)
    if without_noise_fps <= counting.above_fps:
        return Counted(fps=fps, verdict=Verdict.FAIL, sentence=_held(result))
    return Counted(
        fps=fps,
        verdict=Verdict.INVALID,
        sentence=slowed(rate_fps, fps),
    )


def slowed(rate_fps: int, fps: int) -> str:
    """Why a trial whose rate was no news to the search is INVALID."""
    return (
        f"pauses of the tester or the gateway made {rate_fps:,} fps {fps:,} fps, which a rate that "
        "has passed exceeds"
    )


def _rates(
    counting: Counting, rate_fps: int, stream: StreamResult, noise_s: float
) -> tuple[int, int]:
    """Rounded down: with pauses and what was held back, and with what noise does not explain."""
    sending_s = Fraction(stream.due, rate_fps)
    beyond_s = Fraction(stream.held_back_ns) / 10**9 - counting.silence_s
    held_s = beyond_s if counting.short and beyond_s * 10**9 > POLLS_NS else Fraction(0)
    paused_s = Fraction(stream.pauses.total_ns) / 10**9
    took_s = Fraction(stream.sending_ns) / 10**9 + Fraction(1, rate_fps) + counting.silence_s
    late_s = took_s - sending_s - paused_s
    late_s = late_s if late_s * 10**9 > POLLS_NS else Fraction(0)
    own_s = max(Fraction(0), held_s - Fraction(noise_s))
    return (
        int(stream.due / (sending_s + paused_s + late_s + held_s)),
        int(stream.due / (sending_s + own_s)),
    )


def _held(result: TrialResult) -> str:
    held_ns = max(stream.held_back_ns for stream in result.streams)
    return (
        f"nothing was lost, but the frames took {held_ns / 1e6:.2f} ms longer to come out of the "
        "gateway than to go in: a longer trial would have filled its buffers"
    )
