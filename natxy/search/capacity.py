"""The search for a connection tracking table's capacity (draft-lencse-v6ops-transition-scalability
section 2.6, RFC 9693).

An exponential search doubles the number of connections until a step fails: the validated
establishment rate drops too low, or the gateway collapses. The final search then finds the capacity
between the last step that passed and the one that failed. It tries the number of connections that
the full table held, then one more; otherwise it bisects.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection
from natxy.search.capacity_goal import Answer, Attempt, CapacityGoal, Outcome

AGREE = 2  # failures with the same count of held connections that show a full table
# If no more than FEW connections are missing, this many failures must agree.
FEW, AGREE_WHERE_FEW = 3, 4
HINTS = 2  # the number that a full table held, and one more; often these two decide
# A failure that lacks more than this share of the connections is confirmed only if it matters.
FAR_SHORT = Fraction(1, 10)


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The result, named as in Figure 6 of the draft: C0 R0 CS RS CT C.

    CS, RS and CT are the values with which the exponential search ended.
    """

    c0: int
    r0_cps: int
    cs: int
    rs_cps: int
    ct: int
    c: int
    # The capacity may be larger: `most` connections did not fill the table, or the search was cut
    # off.
    at_most_tested: bool
    cut_off: bool  # trials of more connections stayed INVALID
    # The gateway may be faster: a higher rate was not allowed, or the tester could not send it.
    ct_at_least: bool  # the step of CT has not failed
    r0_at_least: bool
    rs_at_least: bool


class TooManyInvalid(Exception):
    """Trials stayed invalid, so that it is unknown whether the gateway holds the connections."""


class UnsafeStart(Exception):
    """The gateway does not hold C0 connections at any rate."""


@dataclass(kw_only=True)
class Step:
    """The last step of the exponential search that passed; its rate may be a lower bound."""

    rs_cps: int
    at_least: bool
    cs: int  # the number of connections of this step
    ct: int  # that of the step after it
    failed: bool = False  # whether that step failed


class CapacitySearch:
    """The search: `next` returns the trial to run, and `tell` takes its outcome.

    When `next` returns None, `result` is set.
    """

    def __init__(self, goal: CapacityGoal) -> None:
        self._goal = goal
        self._safe = goal.c0
        self._tested = goal.c0
        # How often failed trials held each count of connections.
        self._full: Counter[int] = Counter()
        self._hints = HINTS  # hints that the final search may still follow
        self._doubtful: set[int] = set()  # numbers whose failure is not confirmed
        self.result: Capacity | None = None
        self._steps = self._search()
        self._next: Attempt | None = next(self._steps)

    def next(self) -> Attempt | None:
        return self._next

    def tell(self, outcome: Outcome) -> None:
        try:
            self._next = self._steps.send(outcome)
        except StopIteration:
            self._next = None

    def _search(self) -> Generator[Attempt, Outcome, None]:
        goal = self._goal
        first = yield from self._highest_rate(goal.c0, goal.first_cps, goal.max_cps)
        if (r0 := first.result_fps) is None:
            raise TooManyInvalid if first.limit is Limit.TESTER else UnsafeStart
        step = Step(rs_cps=r0, at_least=first.limit is not Limit.DUT, cs=goal.c0, ct=goal.c0)
        r0_at_least = step.at_least
        cut_off = False
        try:
            filled = yield from self._filled(step)
        except TooManyInvalid:
            filled, cut_off = False, True
        self.result = Capacity(
            c0=goal.c0,
            r0_cps=r0,
            cs=step.cs,
            rs_cps=step.rs_cps,
            ct=step.ct,
            c=self._safe,
            at_most_tested=not filled,
            cut_off=cut_off,
            ct_at_least=not step.failed,
            r0_at_least=r0_at_least,
            rs_at_least=step.at_least,
        )

    def _filled(self, step: Step) -> Generator[Attempt, Outcome, bool]:
        """Finds the number that fills the table; returns whether one of those allowed does."""
        while (yield from self._double(step)):
            yield from self._narrow(step.rs_cps)
            if not (yield from self._overturned(step.rs_cps)):
                return True
        return False

    def _double(self, step: Step) -> Generator[Attempt, Outcome, bool]:
        """Doubles the number until one fails or `most` is reached; returns whether one failed."""
        while self._safe < self._goal.most:
            self._tested = min(2 * self._safe, self._goal.most)
            step.cs, step.ct, step.failed = self._safe, self._tested, False
            least = _share(step.rs_cps, self._goal.beta)
            # A trial at a likely rate is shorter than one at the lowest rate, and closer to the
            # highest. If the step is going to fail, only the lowest rate remains to be tried.
            passed_cps = yield from self._passes(self._tested, least, _likely(step.rs_cps, least))
            if passed_cps is None:
                step.failed = True
                return True
            search = yield from self._highest_rate(
                self._tested, passed_cps, step.rs_cps, passed=True
            )
            self._safe = step.cs = self._tested
            step.rs_cps = search.result_fps or passed_cps
            # No rate above the last step's is tried, so a bound of that step is one of this too.
            step.at_least &= search.limit is Limit.MAXIMUM
            step.at_least |= search.limit is Limit.TESTER
        return False

    def _narrow(self, rs_cps: int) -> Generator[Attempt, Outcome, None]:
        """Runs the final search until the bracket is no wider than E."""
        while self._tested - self._safe > self._goal.error:
            number = self._number()
            if (yield from self._passes_final(number, rs_cps)):
                self._safe = number
            else:
                self._tested = number

    def _passes_final(self, number: int, rs_cps: int) -> Generator[Attempt, Outcome, bool]:
        least = _share(rs_cps, self._goal.gamma)
        return (yield from self._passes(number, least, _likely(rs_cps, least))) is not None

    def _overturned(self, rs_cps: int) -> Generator[Attempt, Outcome, bool]:
        """Tries the number that limits the capacity again, if its failure is not confirmed.

        Returns whether it passes now; then it had failed by chance, and the search continues.
        """
        if self._tested not in self._doubtful:
            return False
        passes = yield from self._passes_final(self._tested, rs_cps)
        if passes:
            self._safe = self._tested
        return passes

    def _number(self) -> int:
        """Returns the next number of the final search: a hint, or the middle of the bracket.

        A hint, which is what the gateway held or reports, may mislead, for example where new
        connections replace old ones. The search follows at most two hints more than middles, so it
        needs at most about twice the steps of a bisection.
        """
        hinted = self._hinted()
        if hinted is not None and self._hints:
            self._hints -= 1
            return hinted
        self._hints += 1
        return (self._safe + self._tested) // 2

    def _hinted(self) -> int | None:
        """Returns the number that the gateway reports, else the most that a full table held.

        If that number is known to pass, it returns `error` more, which should fail. None: there is
        no hint within the bracket.
        """
        told = self._goal.told
        if told is not None and self._safe < told < self._tested:
            return told
        if told == self._safe:
            return told + self._goal.error
        held = max((each for each in self._full if each < self._tested), default=0)
        if held < self._safe:
            return None
        return held if held > self._safe else held + self._goal.error

    def _highest_rate(
        self, connections: int, first_cps: int, most_cps: int, *, passed: bool = False
    ) -> Generator[Attempt, Outcome, Bisection]:
        """Returns the ended bisection for the highest rate; `passed`: the first rate has passed.

        A rate whose trials stay invalid is a ceiling, whatever the reason, since at a lower rate
        queues can bridge longer absences.
        """
        first_cps = min(first_cps, most_cps)
        bisection = Bisection(
            upper_fps=most_cps,
            first_fps=first_cps,
            error=self._goal.rate_error,
        )
        if passed:
            bisection.tell(first_cps, Verdict.PASS)
        while (rate_cps := bisection.next()) is not None:
            answer = yield from self._at(connections, rate_cps)
            bisection.tell(rate_cps, answer.verdict)
        return bisection

    def _at(self, connections: int, rate_cps: int) -> Generator[Attempt, Outcome, Answer]:
        """Returns the answer at a rate; repeats the trial while the tester is too slow for it."""
        for _ in range(self._goal.invalid_repeats + 1):
            outcome = yield self._attempt(connections, rate_cps)
            if outcome.answer is not Answer.TOO_SLOW or not outcome.may_repeat:
                break
        return outcome.answer

    def _passes(
        self, connections: int, rate_cps: int, first_cps: int
    ) -> Generator[Attempt, Outcome, int | None]:
        """Returns the rate at which the number passes, or None.

        `first_cps`, the higher rate, is tried first, then `rate_cps`. A failure is confirmed by
        another trial, since frames may be lost for other reasons. A failure that lacks many
        connections is confirmed only if the search ends there. A collapse needs no confirmation.
        """
        held: list[int | None] = []
        slow = disturbed = 0
        repeats = 2 * self._goal.invalid_repeats  # for the two rates together
        while len(held) < self._goal.patience:
            # While the tester is too slow, the rates take turns: it may be too slow for one only.
            at_first = not disturbed and _faster(held) and slow % 2 == 0
            tried_cps = first_cps if at_first else rate_cps
            outcome = yield self._attempt(connections, tried_cps)
            if outcome.answer is Answer.PASS:
                return tried_cps
            if outcome.answer is Answer.COLLAPSE:
                self._doubtful.discard(connections)
                return None
            if outcome.answer is Answer.INVALID:
                disturbed += 1
            if outcome.answer is Answer.TOO_SLOW:
                slow += 1
            if outcome.answer.verdict is Verdict.INVALID:
                if max(slow, disturbed) > repeats or not outcome.may_repeat:
                    raise TooManyInvalid
                continue
            last = outcome.held
            held.append(last)
            if self._is_full(connections, held):
                self._full.update(each for each in held if each is not None)
                break
            if (last is not None and self._may_wait(connections, last)) and (
                not at_first or self._is_beyond_told(connections)
            ):
                self._full[last] += 1
                self._doubtful.add(connections)
                return None
        self._doubtful.discard(connections)
        return None

    def _is_beyond_told(self, connections: int, within: float = inf) -> bool:
        """Returns whether the number is above what the gateway reports, by at most `within`.

        It is False if a trial has shown that the gateway holds more than it reports.
        """
        told = self._goal.told
        return told is not None and self._safe <= told < connections <= told + within

    def _may_wait(self, connections: int, held: int) -> bool:
        """Returns whether a failure may be confirmed later: it lacks many, and is the first."""
        far_short = connections - held > connections * FAR_SHORT
        return far_short and connections not in self._doubtful

    def _is_full(self, connections: int, held: list[int | None]) -> bool:
        """Returns whether the failures show a full table: it held the same number each time.

        If only a few connections are missing, a few frames may have been lost twice by chance, so
        more failures must agree, unless the gateway itself reports that it takes no more.

        A table that was full at other numbers is recognized by the number that it held there. Only
        the highest such number counts. A lower one arises where a frame or two of a full table were
        lost, and a table that is not full could reach it if it lost as many frames.
        """
        last = held[-1]
        if self._is_beyond_told(connections, within=FEW):
            return len(held) >= AGREE
        if last is None:
            return len(held) >= AGREE and held[-AGREE:] == [None] * AGREE
        needed = AGREE_WHERE_FEW if connections - last <= FEW else AGREE
        if last < connections and last == max(self._full, default=None):
            needed = 1 if self._full[last] >= needed else needed
        return len(held) >= needed and held[-needed:] == [last] * needed

    def _attempt(self, connections: int, rate_cps: int) -> Attempt:
        return Attempt(
            connections=connections, rate_cps=rate_cps, safe=self._safe, tested=self._tested
        )


def _faster(held: list[int | None]) -> bool:
    """Returns whether the higher rate is tried next.

    It is tried first. It is tried again if the lower rate, which comes second, held exactly as many
    connections, since then the rate is not the limit.
    """
    return not held or (len(held) > 1 and held[0] is not None and len(set(held)) == 1)


def _share(rate_cps: int, share: Fraction) -> int:
    return max(1, -(-rate_cps * share.numerator // share.denominator))


def _likely(passed_cps: int, least_cps: int) -> int:
    """Returns a rate that is hardly too high for a gateway that passed at `passed_cps`."""
    return max(least_cps, passed_cps * 3 // 4)
