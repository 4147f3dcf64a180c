"""Whether a failure that the rate explains bounds the result of a search (docs/decisions/0039).

Pauses of a gateway that nobody watched, and losses by chance, also make trials fail. Their losses
do not fill the time in which the gateway was full.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Self

from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import AGAIN
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import SearchError

NEAREST = 2  # errors above the result at which further trials begin, each time twice as far
SHOWN = 8  # errors above the result at which an overload shows itself in each trial
WIDEST = 1 / 2  # of the result; a failure further above says too little of it
TELLING = 40  # lost frames, which fill a time if the rate is why
SURELY = 3  # times what a bucket leaves to be lost is more than noise explains
NO_CHANCE = 4  # standard deviations between what a pass lost and what chance would have lost
FAR = 2  # times a rate, at which far more would come through if that rate is no limit
ABOUT = 0.95  # of a trial's time: rates are rounded
MORE = 3  # errors by which a gateway that is full forwards more than the result


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """The failed trials of a search: those that the rate explains, and others."""

    error: SearchError
    accepted: float  # the share of frames that may be lost
    failed: tuple[TrialRecord, ...]
    passed: tuple[tuple[int, float], ...]  # the rates of the trials that passed, and how long
    bounding: dict[int, TrialRecord]  # by rate, what the rate explains and no pass has overturned
    can_last: bool = True  # False: each trial has the same number of frames

    @classmethod
    def of(
        cls,
        trials: Iterable[TrialRecord],
        error: SearchError,
        accepted: float,
        *,
        can_last: bool = True,
    ) -> Self:
        """Takes the trials of a search that count, in their order."""
        failed: list[TrialRecord] = []
        passed: list[tuple[int, float]] = []
        bounding: dict[int, TrialRecord] = {}
        for trial in trials:
            if trial.verdict is Verdict.PASS:
                passed.append((trial.verdict_fps, lasts_s(trial)))
                bounding = {at: one for at, one in bounding.items() if at > trial.verdict_fps}
            elif trial.verdict is Verdict.FAIL:
                failed.append(trial)
                known = bounding.get(trial.rate_fps)
                # Losses that fill a time say more than that nothing was lost.
                if trial.spread or (trial.is_explained and not (known and known.spread)):
                    bounding[trial.rate_fps] = trial
        return cls(
            error=error,
            accepted=accepted,
            failed=tuple(failed),
            passed=tuple(passed),
            bounding=bounding,
            can_last=can_last,
        )

    def near(self, result_fps: int) -> TrialRecord | None:
        """Returns the failure at the lowest rate that bounds the result; None if none does.

        The rate is not the reason where another failure forwarded more. If no frame was lost, the
        rate that counts must come again: that of noise does not.
        """
        error_fps = self._error_fps(result_fps)
        farthest_fps = result_fps + max(WIDEST * result_fps, (SHOWN + 1) * error_fps)
        near = [
            trial
            for at, trial in self.bounding.items()
            if at <= farthest_fps
            and (not trial.fail_reason or trial.full_fps[0] >= result_fps - error_fps)
            and not self._is_surpassed(trial)
        ]
        return min(near, key=lambda trial: trial.rate_fps, default=None)

    def _is_surpassed(self, trial: TrialRecord) -> bool:
        """Returns whether more than a trial's rate came through in a failure of the same phase.

        What a bucket or a queue holds comes through in a shorter trial as well: such a one must
        have forwarded more frames than were sent in this one.
        """
        lasted_s = lasts_s(trial) if self.can_last else 0.0
        return any(
            (each.is_explained and each.full_fps[0] > trial.rate_fps)
            or (
                not each.fail_reason
                and each.forwarded_fps > trial.rate_fps * max(1.0, lasted_s / lasts_s(each))
            )
            for each in _alike(self.failed, trial)
        )

    def is_untried_above(self, trial: TrialRecord) -> bool:
        """Returns whether no failure far above this one lasted as long, so that nobody knows
        whether far more would come through: pauses at a low rate lose few frames each, and a row
        of them fills a trial."""
        if trial.fail_reason:
            return False
        enough_s = ABOUT * lasts_s(trial) if self.can_last else 0.0
        return not any(
            each.rate_fps >= FAR * trial.rate_fps and lasts_s(each) >= enough_s
            for each in self.failed
        )

    def is_alone(self, near: TrialRecord) -> bool:
        """Returns whether this failure may have lost its frames by chance, the same share at each
        rate: no pass is too long for that, and no failure above lost more."""
        lost = lost_share(near)
        longest = max((at * seconds for at, seconds in self.passed), default=0.0)
        if near.fail_reason or not lost:
            return False
        if (lost - self.accepted) * sqrt(longest / lost) >= NO_CHANCE:
            return False
        return not any(
            each.rate_fps >= self._telling_from(near)
            and lost_share(each) - lost >= (1 - near.rate_fps / each.rate_fps) / 2
            and any(2 * of.lost >= TELLING for of in each.counted)
            for each in _alike(self.failed, near)
        )

    def telling_above(self, result_fps: int, near: TrialRecord, highest_fps: int) -> int:
        """Returns the rate at which an overload shows itself, if the rate explains this failure; 0:
        it is above the highest one."""
        error_fps = self._error_fps(result_fps)
        above_fps = result_fps + max(SHOWN * error_fps, 2 * (near.rate_fps - result_fps))
        rate_fps = min(highest_fps, above_fps)
        return rate_fps if rate_fps >= self._telling_from(near) else 0

    def _telling_from(self, near: TrialRecord) -> int:
        """Returns the lowest rate at which another failure says more than this one."""
        return near.rate_fps + NEAREST * self._error_fps(near.rate_fps)

    def rates_above(self, result_fps: int, failed_fps: int) -> list[int]:
        """Returns the rates at which longer trials tell why `failed_fps` failed."""
        rates, above_fps = [failed_fps], NEAREST * self._error_fps(result_fps)
        while above_fps <= WIDEST * result_fps:
            rates.append(result_fps + above_fps + 1)
            above_fps *= 2
        return rates

    def overloaded_fps(self, result_fps: int) -> int | None:
        """Returns what the gateway forwards at most while it is full, if it probably is less than
        the result."""
        lowest = self._lowest_spread
        if lowest is None:
            return None
        least_fps, most_fps = lowest.full_fps
        below_fps = (1 - self.accepted) * (result_fps - self.error.at(result_fps))
        return int(most_fps) if least_fps + most_fps < 2 * below_fps else None

    @property
    def sustained_fps(self) -> int:
        """The rate at which a full gateway surely loses no more than is accepted; 0: not known.

        A failure further above may show it more closely, but not more than the lowest one allows.
        """
        lowest = self._lowest_spread
        if lowest is None:
            return 0
        spread = (each for each in self.bounding.values() if each.spread)
        least_fps = max(each.full_fps[0] for each in _alike(spread, lowest))
        if least_fps > lowest.full_fps[1]:
            least_fps = lowest.full_fps[0]
        return int(least_fps / (1 - self.accepted))

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
        seconds = lasts_s(trial)
        frames = seconds * trial.rate_fps
        held = (result_fps - full_fps) * self._passed_s(half_way(result_fps, full_fps))
        least = (trial.rate_fps - full_fps) * seconds - held
        lost = lost_share(trial) * frames
        slack = (self.accepted + self.error.at(result_fps) / result_fps) * frames
        return lost <= SURELY * max(0.0, least) + slack

    def _passed_s(self, least_fps: float) -> float:
        """Returns how long the last trial lasted that passed at this rate; where noise lowered the
        rate of a longer one, it does not show that the gateway can do the result for so long."""
        lasted_s = [seconds for at, seconds in self.passed if at >= least_fps]
        return lasted_s[-1] if lasted_s else 0.0

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

    def doubt(self, result_fps: int, *, repeated: bool, shown_at: int = SHOWN) -> Limit | None:
        """Returns what may have bounded the result instead of the rate; None: nothing.

        `repeated`: failures without a reason were repeated. Those that were not are believed, as
        RFC 2544 asks, if trials are too short to show their reason `shown_at` errors above the
        result.
        """
        more_fps = (1 - self.accepted) * result_fps + MORE * self.error.at(result_fps)
        if self.near(result_fps) is not None:
            return None
        lowest = min(self.failed, key=lambda each: each.rate_fps, default=None)
        same = _alike(self.failed, lowest)
        if any(each.is_explained and each.full_fps[0] > more_fps for each in same):
            return Limit.VARIES
        more = any(each.forwarded_fps > more_fps for each in same if not each.is_explained)
        frames = _frames_at(result_fps, same)
        tells = frames * shown_at * self.error.at(result_fps) / result_fps >= TELLING
        return Limit.UNEXPLAINED if repeated or more or tells else None

    def _error_fps(self, result_fps: int) -> int:
        """Returns the search's error or, if trials are too short for it, what they can show: an
        overload by 8 errors has to lose TELLING frames."""
        frames = _frames_at(result_fps, self.failed)
        shown = ceil(result_fps * TELLING / (SHOWN * frames)) if frames else 0
        return max(self.error.at(result_fps), shown)


def half_way(result_fps: int, full_fps: int) -> float:
    """Returns the least rate at which a longer trial passes that confirms the result: a bucket
    fills while the tester pauses."""
    return (result_fps + full_fps) / 2


def why_is_known(trials: Iterable[TrialRecord]) -> bool:
    """Returns whether it is known of each failure whether the rate explains it.

    A trial may also have failed by frames that were late or wrong, or by lost connections.
    """
    return all(
        not trial.lost_connections and (trial.fail_reason or trial.is_placed_in_time)
        for trial in trials
        if trial.verdict is Verdict.FAIL
    )


def lasts_s(trial: TrialRecord) -> float:
    return max(stream.due for stream in trial.result.streams) / trial.rate_fps


def lost_share(trial: TrialRecord) -> float:
    """Returns the lost share of the clean frames, in the worse direction; phases that repeat lost
    frames do not count."""
    phases = (of for of in trial.counted if of.clean and of.phase not in AGAIN)
    return max((of.lost / of.clean for of in phases), default=0.0)


def _frames_at(rate_fps: int, trials: Collection[TrialRecord]) -> float:
    """Returns how many frames a trial at a rate has, by the trials at the nearest rate; 0 if there
    is no trial."""
    if not trials:
        return 0
    nearest_fps = min((each.rate_fps for each in trials), key=lambda fps: abs(fps - rate_fps))
    near = (each for each in trials if each.rate_fps == nearest_fps)
    frames = max((stream.due for trial in near for stream in trial.result.streams), default=0)
    return frames * rate_fps / nearest_fps


def _alike(failed: Iterable[TrialRecord], trial: TrialRecord | None) -> list[TrialRecord]:
    """Returns the failures in a phase in which this trial lost frames, or all if it lost none.

    Connections may be created faster than they are used.
    """
    losing = set() if trial is None else _losing(trial)
    return [each for each in failed if not losing or _losing(each) & losing]


def _losing(trial: TrialRecord) -> set[str]:
    return {each.phase for each in trial.counted if each.lost}
