"""The rates of the capacity search: what it asks for, and of which it says that they are bounds."""

from fractions import Fraction

from natxy.search.capacity_attempt import Answer, Attempt
from natxy.search.capacity_goal import CapacityGoal
from tests.unit.capacity_search import device, found


def test_no_step_passes_below_beta_times_the_last_rate() -> None:
    goal = CapacityGoal(c0=1000, beta=Fraction(1, 7))
    result, attempts = found(goal, device(1999))
    least_cps = goal.beta * result.r0_cps
    assert least_cps.denominator > 1
    tried_cps = min(each.rate_cps for each in attempts if each.connections == 2000)
    assert least_cps < tried_cps < least_cps + 1


def test_a_tester_that_is_too_slow_with_more_connections_makes_a_lower_bound() -> None:
    def answer(attempt: Attempt) -> Answer:
        if attempt.connections > 1000 and attempt.rate_cps > 80_000:
            return Answer.TOO_SLOW
        return device(3000, 100_000)(attempt)

    result, _ = found(CapacityGoal(c0=1000), answer)
    assert not result.r0_at_least
    assert result.rs_at_least
    assert result.rs_cps <= 80_000 < result.r0_cps
    assert result.c == 3000
