"""The rate that counts of a trial that passed (docs/decisions/0017).

A sender that paused took longer to offer its frames, and a gateway that still held frames when
sending ended did not forward them at the trial's rate.
"""

from dataclasses import dataclass
from fractions import Fraction

from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.verdict import Verdict
from natxy.verdict.away import Away

# Polls find the ends of a trial, so shorter times of holding back or lateness are not significant.
# It is 0.2 % of the shortest trials.
POLLS_NS = 100_000


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The condition under which a search counts a trial that passed."""

    above_fps: int  # the rate that counts must exceed this to tell the search anything
    # In short trials, buffers may hide an overload: frames that the gateway still holds when
    # sending ends are not forwarded at the trial's rate.
    short: bool
    # With bursts, the silence after the last burst, in which the gateway may still forward frames
    # of this burst (less the gap between two frames of steady traffic).
    silence_s: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The rate that counts, and the verdict that follows from it.

    `fps` is frames / (time to send + pauses + time that the gateway held frames back). If a
    sender was late at the end without having paused, its time to send includes this lateness.
    """

    fps: int
    gateway_fps: int  # without pauses of the tester, and what noise explains
    verdict: Verdict
    sentence: str = ""  # why the verdict is not PASS


def counted(counting: Counting, rate_fps: int, result: TrialResult, away: Away) -> Counted:
    """Judges a trial without loss."""
    streams = [stream for stream in result.streams if stream.due]
    gap_s = max((port.worst_poll_gap_ns for port in result.ports), default=0.0) / 1e9
    rates = [_rates(counting, rate_fps, stream, away.total_s + gap_s) for stream in streams]
    fps = min((of_all for of_all, _ in rates), default=rate_fps)
    without_noise_fps = min((of_gateway for _, of_gateway in rates), default=rate_fps)
    if fps > counting.above_fps:
        return Counted(fps=fps, gateway_fps=without_noise_fps, verdict=Verdict.PASS)
    if without_noise_fps <= counting.above_fps:
        return Counted(
            fps=fps, gateway_fps=without_noise_fps, verdict=Verdict.FAIL, sentence=_held(result)
        )
    return Counted(
        fps=fps,
        gateway_fps=without_noise_fps,
        verdict=Verdict.INVALID,
        sentence=slowed(rate_fps, fps),
    )


def slowed(rate_fps: int, fps: int) -> str:
    """Returns why a trial is INVALID whose rate that counts tells the search nothing."""
    return (
        f"pauses of the tester or the gateway reduced {rate_fps:,} fps to {fps:,} fps, but a rate "
        "at least as high has passed already"
    )


def _rates(
    counting: Counting, rate_fps: int, stream: StreamResult, noise_s: float
) -> tuple[int, int]:
    """Returns two rates, rounded down: the rate that counts, and the rate without noise.

    The first includes pauses, lateness and the time that frames were held back, the second only
    the time of holding back that noise does not explain.
    """
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
        f"no frame was lost, but the frames took {held_ns / 1e6:.2f} ms longer to leave the "
        "gateway than to enter it: a longer trial would have filled its buffers"
    )
