"""Whether a failure that the rate explains bounds the result of a search (docs/decisions/0039).

Pauses of a gateway that nobody watched, and losses by chance, also make trials fail. Their losses
do not fill the time in which the gateway was full.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Self

from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import SearchError

ABOVE = (2, 4, 8)  # errors above the result at which further trials are run
NEAR = ABOVE[-1] + 0.5
TELLING = 40  # lost frames, which fill a time if the rate is why
SURELY = 3  # times what a bucket leaves to be lost is more than noise explains
MORE = 3  # errors by which a gateway that is full forwards more than the result


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """The failed trials of a search: those that the rate explains, and others."""

    error: SearchError
    accepted: float  # the share of frames that may be lost
    failed: tuple[TrialRecord, ...]
    passed_s: float  # the duration of the last trial that passed
    bounding: dict[int, TrialRecord]  # by rate, what the rate explains and no pass has overturned

    @classmethod
    def of(cls, trials: Iterable[TrialRecord], error: SearchError, accepted: float) -> Self:
        """Takes the trials of a search that count, in their order."""
        failed: list[TrialRecord] = []
        passed_s = 0.0
        bounding: dict[int, TrialRecord] = {}
        for trial in trials:
            if trial.verdict is Verdict.PASS:
                passed_s = max(stream.due for stream in trial.result.streams) / trial.rate_fps
                bounding = {at: one for at, one in bounding.items() if at > trial.verdict_fps}
            elif trial.verdict is Verdict.FAIL:
                failed.append(trial)
                if trial.is_explained:
                    bounding[trial.rate_fps] = trial
        return cls(
            error=error,
            accepted=accepted,
            failed=tuple(failed),
            passed_s=passed_s,
            bounding=bounding,
        )

    def near(self, result_fps: int) -> TrialRecord | None:
        """Returns the failure at the lowest rate that bounds the result; None if none does.

        If no frame was lost, the rate that counts must come again: that of noise does not.
        """
        error_fps = self._error_fps(result_fps)
        near = [
            trial
            for at, trial in self.bounding.items()
            if at <= result_fps + NEAR * error_fps
            and (not trial.fail_reason or trial.full_fps[0] >= result_fps - error_fps)
        ]
        return min(near, key=lambda trial: trial.rate_fps, default=None)

    def rates_above(self, result_fps: int, failed_fps: int) -> list[int]:
        """Returns the rates at which longer trials tell why `failed_fps` failed."""
        error_fps = self._error_fps(result_fps)
        return [failed_fps, *(result_fps + factor * error_fps + 1 for factor in ABOVE)]

    def overloaded_fps(self, result_fps: int) -> int | None:
        """Returns what the gateway forwards while it is full, if that is less than the result."""
        lowest = self._lowest_spread
        if lowest is None:
            return None
        _, most_fps = lowest.full_fps
        least_fps = (1 - self.accepted) * (result_fps - self.error.at(result_fps))
        return int(most_fps) if most_fps < least_fps else None

    def is_helped(self, result_fps: int) -> bool:
        """Returns whether a bucket or a queue may have helped the pass.

        What it holds was enough for the trial that passed. If far more is lost at the rate that
        failed than this leaves, in each of its trials, overload makes the gateway slower.
        """
        full_fps = self.overloaded_fps(result_fps)
        if full_fps is None:
            return False
        return any(self._leaves(trial, result_fps, full_fps) for trial in self.lowest_failures)

    def _leaves(self, trial: TrialRecord, result_fps: int, full_fps: int) -> bool:
        """Returns whether a trial lost no more than what the bucket of the pass leaves."""
        frames = max(stream.due for stream in trial.result.streams)
        seconds = frames / trial.rate_fps
        held = (result_fps - full_fps) * self.passed_s
        least = (trial.rate_fps - full_fps) * seconds - held
        lost = max((of.lost / of.clean for of in trial.counted if of.clean), default=0.0) * frames
        slack = (self.accepted + self.error.at(result_fps) / result_fps) * frames
        return lost <= SURELY * max(0.0, least) + slack

    @property
    def lowest_failures(self) -> tuple[TrialRecord, ...]:
        """The trials that lost frames at the lowest rate at which the losses of one fill a time."""
        lowest = self._lowest_spread
        if lowest is None:
            return ()
        losing = (each for each in self.failed if not each.fail_reason)
        return tuple(each for each in losing if each.rate_fps == lowest.rate_fps)

    @property
    def _lowest_spread(self) -> TrialRecord | None:
        """The failure at the lowest rate whose losses fill a time, if enough frames came in it.

        A trial that failed without a loss says nothing of a bucket, since it was not used up.
        """
        spread = [trial for trial in self.bounding.values() if trial.spread]
        lowest = min(spread, key=lambda trial: trial.rate_fps, default=None)
        if lowest is None or lowest.full_fps[0] < lowest.full_fps[1] / 2:
            return None
        return lowest

    def doubt(self, result_fps: int, *, repeated: bool, shown_at: int = ABOVE[-1]) -> Limit | None:
        """Returns what may have bounded the result instead of the rate; None: nothing.

        `repeated`: failures without a reason were repeated. Those that were not are believed, as
        RFC 2544 asks, if trials are too short to show their reason `shown_at` errors above the
        result.
        """
        more_fps = (1 - self.accepted) * result_fps + MORE * self.error.at(result_fps)
        near = self.near(result_fps)
        bound = near or min(self.failed, key=lambda each: each.rate_fps, default=None)
        losing = set() if bound is None else _losing(bound)
        # Connections may be created faster than they are used.
        same = [each for each in self.failed if not losing or _losing(each) & losing]
        if any(each.is_explained and each.full_fps[0] > more_fps for each in same):
            return Limit.VARIES
        if near is not None:
            return None
        more = any(each.forwarded_fps > more_fps for each in same if not each.is_explained)
        frames = _frames_at(result_fps, same)
        tells = frames * shown_at * self.error.at(result_fps) / result_fps >= TELLING
        return Limit.UNEXPLAINED if repeated or more or tells else None

    def _error_fps(self, result_fps: int) -> int:
        """Returns the search's error or, if trials are too short for it, what they can show: an
        overload by 8 errors has to lose TELLING frames."""
        frames = _frames_at(result_fps, self.failed)
        shown = ceil(result_fps * TELLING / (ABOVE[-1] * frames)) if frames else 0
        return max(self.error.at(result_fps), shown)


def why_is_known(trials: Iterable[TrialRecord]) -> bool:
    """Returns whether it is known of each failure whether the rate explains it.

    A trial may also have failed by frames that were late or wrong, or by lost connections.
    """
    return all(
        not trial.lost_connections and (trial.fail_reason or trial.is_placed_in_time)
        for trial in trials
        if trial.verdict is Verdict.FAIL
    )


def _frames_at(rate_fps: int, trials: Collection[TrialRecord]) -> float:
    """Returns how many frames a trial at a rate has, by the trials at the nearest rate; 0 if there
    is no trial."""
    if not trials:
        return 0
    nearest_fps = min((each.rate_fps for each in trials), key=lambda fps: abs(fps - rate_fps))
    near = (each for each in trials if each.rate_fps == nearest_fps)
    frames = max((stream.due for trial in near for stream in trial.result.streams), default=0)
    return frames * rate_fps / nearest_fps


def _losing(trial: TrialRecord) -> set[str]:
    return {each.phase for each in trial.counted if each.lost}
