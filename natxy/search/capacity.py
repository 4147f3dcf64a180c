"""The search for a connection tracking table's capacity (draft-lencse-v6ops-transition-scalability
section 2.6, RFC 9693); pure.

Exponential search doubles the number of connections until the validated establishment rate falls
too low, or the device collapses; then the capacity is searched between the last step that did not
fail and the one that did: what the full table held is tried, and one more, else it is bisected.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.exact import make_exact
from natxy.model.verdict import Limit, Verdict
from natxy.search.bisection import Bisection, SearchError

COARSE = SearchError(fraction=Fraction(1, 20))  # a step needs to know of what order its rate is

MOST_CPS = 2**33  # the engine's
AGREE = 2  # failures that hold as many connections
FEW, AGREE_WHERE_FEW = 3, 4  # connections that are short
HINTS = 2  # what a full table held, and one more: an honest one needs no other numbers


class Answer(Enum):
    """What became of a validated trial."""

    PASS = "pass"
    FAIL = "fail"
    TOO_SLOW = "too slow"  # the tester, for this rate: says nothing of the device
    INVALID = "invalid"  # stays so for another reason, however often it is tried
    COLLAPSE = "collapse"  # the device is gone, or answers no more

    @property
    def verdict(self) -> Verdict:
        if self is Answer.PASS:
            return Verdict.PASS
        return Verdict.FAIL if self in (Answer.FAIL, Answer.COLLAPSE) else Verdict.INVALID


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """`held`: connections that proved to be there; None: nobody knows."""

    answer: Answer
    held: int | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A validated trial to be made: so many connections at that rate."""

    connections: int
    rate_cps: int
    safe: int  # CS and CT as they are now, for who watches
    tested: int


@dataclass(frozen=True, kw_only=True)
class CapacityGoal:
    """`c0` connections are surely taken. A step of the exponential search fails below beta times
    the safe rate, one of the final search below gamma times it."""

    c0: int
    error: int = 1  # E, connections
    beta: Fraction = Fraction(1, 5)
    gamma: Fraction = Fraction(2, 5)
    most: int = 2**32  # connections that can be tested
    rate_error: SearchError = COARSE
    first_cps: int = 1000  # where the search for R0 begins
    max_cps: int = MOST_CPS
    # A failure is confirmed by another one. A full table holds as many connections each time; where
    # failures differ, frames were lost elsewhere, and it takes so many before they count.
    patience: int = 5
    invalid_repeats: int = 10  # of a rate at which a number stays invalid, before it is given up

    def __post_init__(self) -> None:
        make_exact(self, beta="capacity: beta", gamma="capacity: gamma")
        if not 1 <= self.c0 <= self.most:
            raise ConfigurationError(f"capacity: C0 of {self.c0}: 1 to {self.most} is right")
        for option, rate_cps in (("--first-rate", self.first_cps), ("--max-rate", self.max_cps)):
            if not 1 <= rate_cps <= MOST_CPS:
                raise ConfigurationError(
                    f"capacity: {option} {rate_cps}: 1 to {MOST_CPS} connections a second is right"
                )
        if self.error < 1:
            raise ConfigurationError(f"capacity: an error of {self.error}: at least 1 is right")
        for name in ("beta", "gamma"):
            if not 0 < (share := getattr(self, name)) < 1:
                raise ConfigurationError(
                    f"capacity: {name} of {float(share):g}: more than 0, less than 1 is right"
                )


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """SD Figure 6: C0 R0 CS RS CT C; CS, RS and CT are those that exponential search ended with."""

    c0: int
    r0_cps: int
    cs: int
    rs_cps: int
    ct: int
    c: int
    at_most_tested: bool  # the capacity may be larger: `most` connections did not fill the table
    # The device may be faster: no higher rate was to be tried, or the tester could not send it.
    r0_at_least: bool = False
    rs_at_least: bool = False


class TooManyInvalid(Exception):
    """A trial stayed invalid: nobody knows whether the device takes so many connections."""


class UnsafeStart(Exception):
    """C0 connections are not taken at any rate."""


class CapacitySearch:
    """`next` says what to try, `tell` what came of it; `result` is there when `next` is None."""

    def __init__(self, goal: CapacityGoal) -> None:
        self._goal = goal
        self._safe = goal.c0
        self._tested = goal.c0
        self._full: Counter[int] = Counter()  # what numbers that do not fit held, how often
        self._hints = HINTS  # that may be followed now
        self.result: Capacity | None = None
        self._steps = self._search()
        self._next: Attempt | None = next(self._steps)

    def next(self) -> Attempt | None:
        return self._next

    def tell(self, answer: Answer, held: int | None = None) -> None:
        try:
            self._next = self._steps.send(Outcome(answer=answer, held=held))
        except StopIteration:
            self._next = None

    def _search(self) -> Generator[Attempt, Outcome, None]:
        goal = self._goal
        first = yield from self._highest_rate(goal.c0, goal.first_cps, goal.max_cps)
        if (r0 := first.result_fps) is None:
            raise TooManyInvalid if first.limit is Limit.TESTER else UnsafeStart
        rs, failed = r0, False
        rs_at_least = r0_at_least = first.limit is not Limit.DUT
        while not failed and self._safe < goal.most:
            self._tested = min(2 * self._safe, goal.most)
            least = max(1, -(-rs * goal.beta.numerator // goal.beta.denominator))
            # What passes at a higher rate is done sooner, and its highest rate is nearer. A search
            # that is hopeless is over with its lowest rate, here and below.
            passed_cps = yield from self._passes(self._tested, least, _likely(rs, least))
            failed = passed_cps is None
            if passed_cps is not None:
                step = yield from self._highest_rate(self._tested, passed_cps, rs, passed=True)
                self._safe, rs = self._tested, step.result_fps or passed_cps
                # No rate above the last step's is tried: what its limit was is this one's too.
                rs_at_least &= step.limit is Limit.MAXIMUM
                rs_at_least |= step.limit is Limit.TESTER
        cs, ct = self._safe, self._tested
        least = max(1, -(-rs * goal.gamma.numerator // goal.gamma.denominator))
        while failed and self._tested - self._safe > goal.error:
            number = self._number()
            passed_cps = yield from self._passes(number, least, _likely(rs, least))
            if passed_cps is None:
                self._tested = number
            else:
                self._safe = number
        self.result = Capacity(
            c0=goal.c0,
            r0_cps=r0,
            cs=cs,
            rs_cps=rs,
            ct=ct,
            c=self._safe,
            at_most_tested=not failed,
            r0_at_least=r0_at_least,
            rs_at_least=rs_at_least,
        )

    def _number(self) -> int:
        """The next number of the final search: by a hint, or the middle.

        What a device held may mislead, as where old connections are thrown out for new ones. There
        are at most two hints more than middles, so it costs about twice a bisection's numbers."""
        hinted = self._hinted()
        if hinted is not None and self._hints:
            self._hints -= 1
            return hinted
        self._hints += 1
        return (self._safe + self._tested) // 2

    def _hinted(self) -> int | None:
        """The most that a full table held; where so many are known to be taken, an error more,
        which are not to be. None: no table was full, or what it held is out of question."""
        held = max((each for each in self._full if each < self._tested), default=0)
        if held < self._safe:
            return None
        return held if held > self._safe else held + self._goal.error

    def _highest_rate(
        self, connections: int, first_cps: int, most_cps: int, *, passed: bool = False
    ) -> Generator[Attempt, Outcome, Bisection]:
        """By bisection, which has ended; `passed`: the first rate has been tried already.

        A rate whose trials stay invalid is a ceiling, whatever the reason: at a lower one queues
        outlast longer absences."""
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
        """Asks again while the tester is too slow for the rate."""
        for _ in range(self._goal.invalid_repeats + 1):
            outcome = yield self._attempt(connections, rate_cps)
            if outcome.answer is not Answer.TOO_SLOW:
                break
        return outcome.answer

    def _passes(
        self, connections: int, rate_cps: int, first_cps: int
    ) -> Generator[Attempt, Outcome, int | None]:
        """At this rate, or at a higher one that is tried first; which it was, None: at neither. A
        failure is confirmed: frames may be lost for other reasons. A collapse is one."""
        held: list[int | None] = []
        slow = disturbed = 0
        repeats = 2 * self._goal.invalid_repeats  # as many at each rate
        while len(held) < self._goal.patience:
            # In turn while the tester is too slow: it may be so for the higher one alone.
            at_first = not held and not disturbed and slow % 2 == 0
            tried_cps = first_cps if at_first else rate_cps
            outcome = yield self._attempt(connections, tried_cps)
            if outcome.answer is Answer.PASS:
                return tried_cps
            if outcome.answer is Answer.COLLAPSE:
                return None
            if outcome.answer is Answer.INVALID:
                disturbed += 1
            if outcome.answer is Answer.TOO_SLOW:
                slow += 1
            if max(slow, disturbed) > repeats:
                raise TooManyInvalid
            if outcome.answer.verdict is Verdict.INVALID:
                continue
            held.append(outcome.held)
            if self._is_full(connections, held):
                self._full.update(each for each in held if each is not None)
                return None
        return None

    def _is_full(self, connections: int, held: list[int | None]) -> bool:
        """As many were held again. A few frames may be lost twice by chance as well: there it
        takes more failures that agree.

        A table that was full at other numbers is known again by what it held there. Of that only
        the most counts: less is what a full table held of which a frame or two were lost as well,
        and would be found again where as many are lost of a table that is not full.
        """
        last = held[-1]
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


def _likely(passed_cps: int, least_cps: int) -> int:
    """A rate that a device which took `passed_cps` will hardly fail at for its rate."""
    return max(least_cps, passed_cps * 3 // 4)
