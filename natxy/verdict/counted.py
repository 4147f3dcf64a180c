"""The counted rate of a trial that passed (docs/decisions/0017).

A sender that paused took longer to offer its frames, and a gateway that still held frames when
sending ended did not forward them at the trial's rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.model.reason import Code, Reason
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Verdict

# Polls find the ends of a trial, so shorter times of holding back or lateness are not significant.
# It is 0.2 % of the shortest trials.
POLLS_NS = 100_000


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The condition under which a search counts a trial that passed."""

    above_fps: int  # the counted rate must exceed this to tell the search anything
    # In short trials, buffers may hide an overload: frames that the gateway still holds when
    # sending ends are not forwarded at the trial's rate.
    short: bool
    # With bursts, the silence after the last burst, in which the gateway may still forward frames
    # of this burst (less the gap between two frames of steady traffic).
    silence_s: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A stream, the rate at which its frames were due, and the gateway's absences meanwhile."""

    stream: StreamResult
    rate_fps: int
    away_s: float = 0.0  # their sum
    longest_away_s: float = 0.0
    growth_ns: tuple[float, float] | None = None  # of the delay, and at most; None: not known

    @property
    def held_s(self) -> list[Fraction]:
        """The time that the gateway held frames back, and the longest that it may be.

        What it held when sending ended may have waited for it to come back. In clean time, only a
        gateway that is too slow holds back more and more.
        """
        held_ns = self.stream.held_back_ns
        grown_ns = self.growth_ns or (held_ns, held_ns)
        return [Fraction(min(each, held_ns + self.away_s * 1e9)) / 10**9 for each in grown_ns]


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The counted rate, and the verdict that follows from it.

    `fps` is frames / (time to send + pauses + time that the gateway held frames back, or was away
    at the end). If a sender was late at the end without having paused, its time to send includes
    this lateness.
    """

    fps: int
    gateway_fps: int  # without pauses by the tester's core, and what noise explains
    verdict: Verdict
    reason: Reason | None = None  # why the verdict is not PASS


def counted(
    counting: Counting, rate_fps: int, offers: Sequence[Offer], result: TrialResult
) -> Counted:
    """Judges a trial without loss.

    `rate_fps` is the trial's rate. A stream may have another one; then its share of that rate
    counts.
    """
    poll_gap_s = max((port.worst_poll_gap_ns for port in result.ports), default=0.0) / 1e9
    rates = [_rates(counting, rate_fps, offer, poll_gap_s) for offer in offers if offer.stream.due]
    fps = min((of_all for of_all, _ in rates), default=rate_fps)
    without_noise_fps = min((of_gateway for _, of_gateway in rates), default=rate_fps)
    if fps > counting.above_fps:
        return Counted(fps=fps, gateway_fps=without_noise_fps, verdict=Verdict.PASS)
    verdict, reason = Verdict.FAIL, _held(offers)
    if without_noise_fps > counting.above_fps:
        verdict = Verdict.INVALID
        reason = Reason.of(Code.SLOWED, rate_fps=rate_fps, counted_fps=fps)
    return Counted(fps=fps, gateway_fps=without_noise_fps, verdict=verdict, reason=reason)


def _rates(counting: Counting, rate_fps: int, offer: Offer, poll_gap_s: float) -> tuple[int, int]:
    """Returns two rates, rounded down: the counted rate, and the rate without noise.

    The first includes pauses, lateness, and the longest time that frames may have been held back or
    that the gateway was away at the end. The second includes only pauses by the port, which what is
    behind it may cause, and the time of holding back that noise does not explain.
    """
    stream = offer.stream
    sending_s = Fraction(stream.due, offer.rate_fps)
    held_s, most_held_s = (_significant_s(each - counting.silence_s) for each in offer.held_s)
    ended_late_s = _significant_s(_away_at_the_end_s(offer) - counting.silence_s)
    if not counting.short:
        held_s = most_held_s = ended_late_s = Fraction(0)
    paused_s = Fraction(stream.pauses.total_ns) / 10**9
    took_s = Fraction(stream.sending_ns) / 10**9 + Fraction(1, offer.rate_fps) + counting.silence_s
    late_s = _significant_s(took_s - sending_s - paused_s)
    own_s = held_s
    if offer.growth_ns is None:
        own_s = max(Fraction(0), held_s - Fraction(offer.away_s + poll_gap_s))
    own_s += Fraction(stream.pauses.by_port_ns) / 10**9
    longer_s = paused_s + late_s + max(most_held_s, ended_late_s)
    return (
        int(rate_fps * sending_s / (sending_s + longer_s)),
        int(rate_fps * sending_s / (sending_s + own_s)),
    )


def _away_at_the_end_s(offer: Offer) -> Fraction:
    """Returns by how much an absence at the end may have lengthened the gateway's time.

    A gateway that limits a rate goes on counting the time while it is away, and frames that wait
    for it meet a limit that they would have exceeded.
    """
    excess_s = Fraction(offer.stream.last_delay_excess_ns) / 10**9
    return min(excess_s, Fraction(offer.longest_away_s))


def _significant_s(time_s: Fraction) -> Fraction:
    return time_s if time_s * 10**9 > POLLS_NS else Fraction(0)


def _held(offers: Sequence[Offer]) -> Reason:
    if any(offer.stream.is_refused_by_port for offer in offers):
        refused_ns = max(offer.stream.pauses.by_port_ns for offer in offers)
        return Reason.of(Code.PORT_SLOW, refused_ns=refused_ns)
    held_ns = max(offer.stream.held_back_ns for offer in offers)
    return Reason.of(Code.HELD_BACK, held_ns=held_ns)
