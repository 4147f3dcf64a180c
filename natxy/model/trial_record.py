"""A trial as it is kept: which it was, how it ended, and all that the engine said of it."""

from typing import Literal

from natxy.model.base import Model
from natxy.model.disturbance import Disturbance
from natxy.model.trial_result import ConnectionCounters, StreamResult, TrialResult
from natxy.model.verdict import Verdict


class TrialRecord(Model):
    record: Literal["trial"] = "trial"
    number: int  # from 1, within the campaign
    repetition: int  # from 1
    rate_fps: int  # per direction
    # What a search may count of a trial that passed: frames / (sending time + pauses + what the
    # gateway held them longer). None: the rate as it was asked for.
    counted_fps: int | None = None
    started: str  # ISO 8601
    verdict: Verdict
    invalid_reasons: tuple[str, ...]  # the engine's, and the DUT's own
    fail_reason: str = ""  # where a trial that lost nothing failed
    # How the gateway lost connections that phase 1 had made; empty: it did not. Then it is a FAIL.
    lost_connections: str = ""
    excused: bool = False  # INVALID since the gateway's absence explains what it lost
    too_slow: bool = False  # INVALID for a reason that grows with the rate
    away_ns: float = 0.0  # of the gateway, in the phase that is measured
    longest_away_ns: float = 0.0
    result: TrialResult  # of a stateful gateway's: phase 2, which is what is measured
    phase_1: StreamResult | None = None
    sample: StreamResult | None = None  # of phase 1's connections, asked for an answer
    starting: tuple[StreamResult, ...] = ()  # of flows that start one after another

    @property
    def disturbance(self) -> Disturbance:
        """None of a trial that does not count."""
        if self.verdict is Verdict.INVALID:
            return Disturbance()
        return Disturbance(
            sending_ns=self.result.sending_ns,
            paused_ns=self.result.paused_ns,
            away_ns=self.away_ns,
            longest_away_ns=self.longest_away_ns,
            unwatched_reason=self.result.unwatched_reason,
        )

    @property
    def phases(self) -> tuple[str, ...]:
        """Names, in order."""
        streams = (*self._early, *self.result.streams)
        return tuple(dict.fromkeys(stream.phase for stream in streams))

    @property
    def misdelivered(self) -> int:
        """In all phases, as those below."""
        early = sum(c.misdelivered.total for s in self._early for _, c in s.counters())
        return early + self.result.misdelivered

    @property
    def without_udp_checksum(self) -> int:
        early = sum(c.without_udp_checksum for s in self._early for _, c in s.counters())
        return early + self.result.without_udp_checksum

    @property
    def changed(self) -> int:
        return sum(of.changed for of in self._early_connections) + self.result.changed

    @property
    def wrong(self) -> int:
        return sum(of.wrong for of in self._early_connections) + self.result.wrong

    @property
    def collided(self) -> int:
        return sum(of.collided for of in self._early_connections) + self.result.collided

    @property
    def _early(self) -> tuple[StreamResult, ...]:
        """Of the phases before the one that is measured."""
        early = (self.phase_1, self.sample, *self.starting)
        return tuple(stream for stream in early if stream is not None)

    @property
    def _early_connections(self) -> tuple[ConnectionCounters, ...]:
        return tuple(stream.connections for stream in self._early if stream.connections)
