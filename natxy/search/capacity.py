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

# A step needs to know of what order its rate is.
COARSE = SearchError(fraction=Fraction(1, 20))
COARSEST = SearchError(fraction=Fraction(1, 5))

FIRST_CPS = 1000
MOST_CPS = 2**33  # the engine's
AGREE = 2  # failures that hold as many connections
FEW, AGREE_WHERE_FEW = 3, 4  # connections that are short
HINTS = 2  # what a full table held, and one more: an honest one needs no other numbers
FAR_SHORT = Fraction(1, 10)  # of the connections: a failure that is confirmed later, if it matters


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
    # Entries, as the device says: where to look first. It is believed nothing that is not shown.
    told: int | None = None
    rate_error: SearchError = COARSE
    first_cps: int = FIRST_CPS  # where the search for R0 begins
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


@dataclass(kw_only=True)
class Step:
    """The last step of the exponential search that passed: its rate, whether that is a bound."""

    rs_cps: int
    at_least: bool


class CapacitySearch:
    """`next` says what to try, `tell` what came of it; `result` is there when `next` is None."""

    def __init__(self, goal: CapacityGoal) -> None:
        self._goal = goal
        self._safe = goal.c0
        self._tested = goal.c0
        self._full: Counter[int] = Counter()  # what numbers that do not fit held, how often
        self._hints = HINTS  # that may be followed now
        self._doubtful: set[int] = set()  # numbers that failed, which nobody has confirmed
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
        step = Step(rs_cps=r0, at_least=first.limit is not Limit.DUT)
        r0_at_least = step.at_least
        decided = False
        while not decided:
            failed = yield from self._double(step)
            cs, ct = self._safe, self._tested
            if failed:
                yield from self._narrow(step.rs_cps)
            decided = not failed or not (yield from self._overturned(step.rs_cps))
        self.result = Capacity(
            c0=goal.c0,
            r0_cps=r0,
            cs=cs,
            rs_cps=step.rs_cps,
            ct=ct,
            c=self._safe,
            at_most_tested=not failed,
            r0_at_least=r0_at_least,
            rs_at_least=step.at_least,
        )

    def _double(self, step: Step) -> Generator[Attempt, Outcome, bool]:
        """Returns whether a number failed, else `most` was reached."""
        while self._safe < self._goal.most:
            self._tested = min(2 * self._safe, self._goal.most)
            least = _share(step.rs_cps, self._goal.beta)
            # What passes at a higher rate is done sooner, and its highest rate is nearer. A search
            # that is hopeless is over with its lowest rate, here and below.
            passed_cps = yield from self._passes(self._tested, least, _likely(step.rs_cps, least))
            if passed_cps is None:
                return True
            search = yield from self._highest_rate(
                self._tested, passed_cps, step.rs_cps, passed=True
            )
            self._safe, step.rs_cps = self._tested, search.result_fps or passed_cps
            # No rate above the last step's is tried: what its limit was is this one's too.
            step.at_least &= search.limit is Limit.MAXIMUM
            step.at_least |= search.limit is Limit.TESTER
        return False

    def _narrow(self, rs_cps: int) -> Generator[Attempt, Outcome, None]:
        """The final search, to within E."""
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
        """Returns whether the number that limits the capacity had failed by chance: it passes now,
        and the search goes on from there."""
        if self._tested not in self._doubtful:
            return False
        passes = yield from self._passes_final(self._tested, rs_cps)
        if passes:
            self._safe = self._tested
        return passes

    def _number(self) -> int:
        """The next number of the final search: by a hint, or the middle.

        What a device held, or tells, may mislead, as where old connections are thrown out for new
        ones. There are at most two hints more than middles, so it costs about twice a bisection's
        numbers."""
        hinted = self._hinted()
        if hinted is not None and self._hints:
            self._hints -= 1
            return hinted
        self._hints += 1
        return (self._safe + self._tested) // 2

    def _hinted(self) -> int | None:
        """What the device tells, else the most that a full table held; where so many are known to
        be taken, an error more, which are not to be. None: neither is in question."""
        told = self._goal.told
        if told is not None and self._safe < told < self._tested:
            return told
        if told == self._safe and told + self._goal.error < self._tested:
            return told + self._goal.error
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
        """At this rate, or at a higher one that is tried first; which it was, None: at neither.

        A failure is confirmed: frames may be lost for other reasons. One that is far short is so
        only if the search ends there. A collapse needs none."""
        held: list[int | None] = []
        slow = disturbed = 0
        repeats = 2 * self._goal.invalid_repeats  # so many at each rate
        while len(held) < self._goal.patience:
            # In turn while the tester is too slow: it may be so for the higher one alone.
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
            if max(slow, disturbed) > repeats:
                raise TooManyInvalid
            if outcome.answer.verdict is Verdict.INVALID:
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

    def _is_beyond_told(self, connections: int, within: int = 2**32) -> bool:
        """Whether the device itself says that it does not take so many, and no trial has shown that
        it takes more than it says; `within` so many of what it says."""
        told = self._goal.told
        return told is not None and self._safe <= told < connections <= told + within

    def _may_wait(self, connections: int, held: int) -> bool:
        """Whether a failure can be confirmed later: it is far short, and not in doubt already."""
        far_short = connections - held > connections * FAR_SHORT
        return far_short and connections not in self._doubtful

    def _is_full(self, connections: int, held: list[int | None]) -> bool:
        """As many were held again. A few frames may be lost twice by chance as well: there it
        takes more failures that agree, but where the device says itself that it takes no more.

        A table that was full at other numbers is known again by what it held there. Of that only
        the most counts: less is what a full table held of which a frame or two were lost as well,
        and would be found again where as many are lost of a table that is not full.
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
    """Whether the higher rate is tried next: first of all, and where the lower one, which comes
    second, held exactly what the higher one did, so that the rate is not what limits it."""
    return not held or (len(held) > 1 and held[0] is not None and len(set(held)) == 1)


def _share(rate_cps: int, share: Fraction) -> int:
    return max(1, -(-rate_cps * share.numerator // share.denominator))


def _likely(passed_cps: int, least_cps: int) -> int:
    """A rate that a device which took `passed_cps` will hardly fail at for its rate."""
    return max(least_cps, passed_cps * 3 // 4)
