"""What tests of capacity search share with others."""

from collections.abc import Callable

from natxy.search.capacity import Capacity, CapacitySearch
from natxy.search.capacity_attempt import Answer, Attempt, Outcome
from natxy.search.capacity_goal import CapacityGoal

Device = Callable[[Attempt], Answer]


def device(capacity: int, rate_cps: int = 100_000) -> Device:
    """Takes as many connections, at rates up to this one."""

    def answer(attempt: Attempt) -> Answer:
        takes = attempt.connections <= capacity and attempt.rate_cps <= rate_cps
        return Answer.PASS if takes else Answer.FAIL

    return answer


def found(goal: CapacityGoal, answer: Device) -> tuple[Capacity, list[Attempt]]:
    search = CapacitySearch(goal)
    attempts: list[Attempt] = []
    while (attempt := search.next()) is not None:
        attempts.append(attempt)
        assert len(attempts) < 500
        search.tell(Outcome(answer=answer(attempt)))
    assert search.result is not None
    return search.result, attempts
