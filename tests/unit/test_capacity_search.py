"""The capacity search against gateways whose capacity is known."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from natxy.errors import ConfigurationError
from natxy.search.bisection import SearchError
from natxy.search.capacity import Capacity, CapacitySearch, TooManyInvalid, UnsafeStart
from natxy.search.capacity_goal import Answer, Attempt, CapacityGoal, Outcome

Device = Callable[[Attempt], Answer]


def device(capacity: int, rate_cps: int = 100_000) -> Device:
    """Takes as many connections, at rates up to this one."""

    def answer(attempt: Attempt) -> Answer:
        takes = attempt.connections <= capacity and attempt.rate_cps <= rate_cps
        return Answer.PASS if takes else Answer.FAIL

    return answer


def run(
    search: CapacitySearch, outcome: Callable[[Attempt], Outcome]
) -> tuple[Capacity, list[Attempt]]:
    attempts: list[Attempt] = []
    while (attempt := search.next()) is not None:
        attempts.append(attempt)
        assert len(attempts) < 500
        search.tell(outcome(attempt))
    assert search.result is not None
    return search.result, attempts


def found(goal: CapacityGoal, answer: Device) -> tuple[Capacity, list[Attempt]]:
    return run(CapacitySearch(goal), lambda attempt: Outcome(answer=answer(attempt)))


def full_at(capacity: int, attempt: Attempt) -> Outcome:
    """Of a device that holds what it takes."""
    held = min(attempt.connections, capacity)
    return Outcome(answer=device(capacity)(attempt), held=held)


@pytest.mark.parametrize("capacity", [10_000, 100_007])
def test_finds_it_exactly(capacity: int) -> None:
    result, attempts = found(CapacityGoal(c0=capacity // 3), device(capacity))
    assert result.c == capacity
    assert not result.at_most_tested
    assert result.cs <= capacity < result.ct == 2 * result.cs
    assert len(attempts) < 100


@given(st.integers(1, 10**9), st.integers(1, 1000), st.integers(1, 50), st.integers(1, 10**7))
def test_finds_any_within_the_error(capacity: int, share: int, error: int, rate_cps: int) -> None:
    goal = CapacityGoal(c0=max(1, capacity // share), error=error)
    result, _ = found(goal, device(capacity, rate_cps))
    assert result.c <= capacity < result.c + error
    assert 0.9 * rate_cps - 1 <= result.r0_cps <= rate_cps


def test_rates_that_fall_with_the_load_are_no_limit_while_they_fall_slowly() -> None:
    """The rate is the lower the fuller the table is, and falls to a third."""

    def answer(attempt: Attempt) -> Answer:
        rate_cps = 100_000 / (1 + 2 * attempt.connections / 50_000)
        full = attempt.connections > 50_000
        return Answer.FAIL if full or attempt.rate_cps > rate_cps else Answer.PASS

    result, _ = found(CapacityGoal(c0=10_000), answer)
    assert result.c == 50_000


def test_a_collapse_is_a_failed_step_and_not_repeated() -> None:
    collapses: list[Attempt] = []

    def answer(attempt: Attempt) -> Answer:
        if attempt.connections > 3000:
            collapses.append(attempt)
            return Answer.COLLAPSE
        return device(3000)(attempt)

    result, _ = found(CapacityGoal(c0=1000), answer)
    assert result.c == 3000
    assert len({attempt.connections for attempt in collapses}) == len(collapses)


@given(st.integers(0, 10**6))
def test_failures_by_chance_are_told_from_a_full_table(seed: int) -> None:
    """One trial in five loses frames; how many differs from one to the next."""
    chance = Random(seed)

    def outcome(attempt: Attempt) -> Outcome:
        if chance.random() < 0.2:
            held = min(attempt.connections, 12_345) - chance.randrange(1, 4000)
            return Outcome(answer=Answer.FAIL, held=held)
        return full_at(12_345, attempt)

    result, _ = run(CapacitySearch(CapacityGoal(c0=5000, patience=20)), outcome)
    assert result.c == 12_345


def test_a_hopeless_rate_search_ends_with_its_first_rate() -> None:
    goal = CapacityGoal(c0=1000)
    _, attempts = found(goal, device(1500))
    assert [a.connections for a in attempts if a.connections > 1500].count(2000) == 2


def test_nothing_is_found_beyond_what_can_be_tested() -> None:
    result, _ = found(CapacityGoal(c0=1000, most=5000), device(10**6))
    assert result.at_most_tested
    assert result.c == 5000


def test_invalid_trials_are_repeated_and_do_not_count_as_failures() -> None:
    seen: dict[Attempt, int] = {}

    def answer(attempt: Attempt) -> Answer:
        seen[attempt] = seen.get(attempt, 0) + 1
        return Answer.TOO_SLOW if seen[attempt] < 3 else device(1234)(attempt)

    assert found(CapacityGoal(c0=1000), answer)[0].c == 1234


@pytest.mark.parametrize("repeats", [0, 2])
def test_a_rate_that_the_tester_is_too_slow_for_is_repeated_as_often_as_asked(
    repeats: int,
) -> None:
    def answer(attempt: Attempt) -> Answer:
        return Answer.TOO_SLOW if attempt.rate_cps > 10_000 else device(3000)(attempt)

    _, attempts = found(CapacityGoal(c0=1000, invalid_repeats=repeats), answer)
    rates = Counter(each.rate_cps for each in attempts if each.connections == 1000)
    assert {n for rate_cps, n in rates.items() if rate_cps > 10_000} == {1 + repeats}


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(UnsafeStart):
        found(CapacityGoal(c0=1000), device(999))
    with pytest.raises(TooManyInvalid):
        found(
            CapacityGoal(c0=1000),
            lambda _: Answer.INVALID,
        )


def cut_off_above(connections: int, device: Device) -> tuple[Capacity, list[Attempt]]:
    """Runs a search in which trials of more connections are INVALID, and none is repeated."""

    def outcome(attempt: Attempt) -> Outcome:
        invalid = attempt.connections > connections
        return Outcome(answer=Answer.INVALID if invalid else device(attempt), may_repeat=False)

    return run(CapacitySearch(CapacityGoal(c0=1000)), outcome)


@pytest.mark.parametrize(("connections", "passed"), [(1000, 1000), (1500, 1000), (4000, 4000)])
def test_what_passed_before_trials_stayed_invalid_is_a_lower_bound(
    connections: int, passed: int
) -> None:
    result, attempts = cut_off_above(connections, device(10**6))
    assert result.cut_off
    assert result.at_most_tested
    assert result.c == result.cs == passed
    assert result.ct == 2 * passed
    assert result.ct_at_least
    assert [each.connections for each in attempts].count(attempts[-1].connections) == 1


def test_a_cut_off_final_search_keeps_what_passed_in_it() -> None:
    passed = 0

    def outcome(attempt: Attempt) -> Outcome:
        nonlocal passed
        if 0 < attempt.tested - attempt.safe < 200:
            return Outcome(answer=Answer.INVALID, may_repeat=False)
        answer = device(1700)(attempt)
        passed = max(passed, attempt.connections) if answer is Answer.PASS else passed
        return Outcome(answer=answer)

    result, _ = run(CapacitySearch(CapacityGoal(c0=1000)), outcome)
    assert result.cut_off
    assert result.c == passed > 1500
    assert (result.cs, result.ct, result.ct_at_least) == (1000, 2000, False)


def test_shares_are_taken_as_written() -> None:
    goal = CapacityGoal(c0=1000, beta=0.2, gamma=0.4)  # type: ignore[arg-type]
    assert found(goal, device(5000)) == found(CapacityGoal(c0=1000), device(5000))


@pytest.mark.parametrize(
    "wrong",
    [
        {"c0": 0},
        {"c0": 1, "error": 0},
        {"c0": 1, "beta": 1.5},
        {"c0": 1, "beta": 0},
        {"c0": 1, "gamma": 1},
        {"c0": 1, "first_cps": -5},
        {"c0": 1, "max_cps": 0},
    ],
)
def test_a_goal_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=r"^[a-z0-9_]+: .* is out of range \(expected "):
        CapacityGoal(**wrong)  # type: ignore[arg-type]


def test_an_error_of_the_rates_is_a_matter_of_taste() -> None:
    goal = CapacityGoal(c0=1000, rate_error=SearchError(rate_fps=1))
    assert found(goal, device(1500, 98_765))[0].r0_cps == 98_765


def test_rates_that_the_device_was_not_the_limit_of_are_lower_bounds() -> None:
    of_the_device = found(CapacityGoal(c0=1000), device(3000, 5000))[0]
    assert not of_the_device.r0_at_least
    assert not of_the_device.rs_at_least
    of_the_maximum = found(CapacityGoal(c0=1000, max_cps=4000), device(3000, 5000))[0]
    assert (of_the_maximum.r0_cps, of_the_maximum.rs_cps) == (4000, 4000)
    assert of_the_maximum.r0_at_least
    assert of_the_maximum.rs_at_least


def test_the_testers_limit_is_a_lower_bound_until_the_device_is_slower() -> None:
    """The tester is too slow for more than 10,000 a second; 2000 connections are made at 6000."""

    def answer(attempt: Attempt) -> Answer:
        if attempt.rate_cps > 10_000:
            return Answer.TOO_SLOW
        slow = attempt.connections >= 2000 and attempt.rate_cps > 6000
        return Answer.FAIL if slow or attempt.connections > 3000 else Answer.PASS

    result, _ = found(CapacityGoal(c0=1000), answer)
    assert 9000 < result.r0_cps <= 10_000
    assert result.r0_at_least
    assert 5500 < result.rs_cps <= 6000
    assert not result.rs_at_least
    assert result.c == 3000


def test_a_tester_that_can_do_nothing_is_not_the_devices_fault() -> None:
    with pytest.raises(TooManyInvalid):
        found(CapacityGoal(c0=1000), lambda _: Answer.TOO_SLOW)


@pytest.mark.parametrize("above", [1000, 2000])
def test_what_passed_below_a_number_that_is_always_disturbed_is_a_lower_bound(
    above: int,
) -> None:
    def answer(attempt: Attempt) -> Answer:
        return Answer.INVALID if attempt.connections > above else device(3000)(attempt)

    result, _ = found(CapacityGoal(c0=1000), answer)
    assert result.cut_off
    assert result.c == above


def test_where_a_rate_is_disturbed_a_lower_one_is_tried() -> None:
    """At which queues outlast longer absences."""

    def answer(attempt: Attempt) -> Answer:
        return Answer.INVALID if attempt.rate_cps > 400 else device(3000, 20_000)(attempt)

    result, _ = found(CapacityGoal(c0=1000, first_cps=1000), answer)
    assert result.r0_cps <= 400
    assert result.r0_at_least
    assert result.c == 3000


def test_a_disturbed_rate_above_one_that_passed_is_the_testers_limit() -> None:
    def answer(attempt: Attempt) -> Answer:
        disturbed = attempt.connections == 1000 and attempt.rate_cps > 8000
        return Answer.INVALID if disturbed else device(3000, 20_000)(attempt)

    result, _ = found(CapacityGoal(c0=1000), answer)
    assert 7600 < result.r0_cps <= 8000
    assert result.r0_at_least
    assert result.c == 3000


class Bisecting(CapacitySearch):
    """Takes the middle, whatever a full table held."""

    def _hinted(self) -> int | None:
        return None


class Forgetful(Bisecting):
    """Confirms each failure anew, whatever a full table was found to hold at other numbers."""

    def _is_full(self, connections: int, held: list[int | None]) -> bool:
        self._full.clear()
        return super()._is_full(connections, held)


def wrong_and_trials(kind: type[CapacitySearch], losing: float, most: int) -> tuple[int, int]:
    """Of 2000 searches, in which this share of the trials loses one frame, or up to `most`."""
    wrong = trials = 0
    for seed in range(2000):
        chance = Random(seed)
        capacity = chance.randint(1000, 200_000)
        goal = CapacityGoal(c0=max(1, int(capacity * chance.uniform(0.2, 0.9))))

        def outcome(attempt: Attempt, capacity: int = capacity, drawn: Random = chance) -> Outcome:
            if drawn.random() < losing:
                held = min(attempt.connections, capacity) - drawn.randint(1, most)
                return Outcome(answer=Answer.FAIL, held=held)
            return full_at(capacity, attempt)

        result, attempts = run(kind(goal), outcome)
        trials += len(attempts)
        wrong += result.c != capacity
    return wrong, trials


@pytest.mark.parametrize("losing", [pytest.param(0.05, marks=pytest.mark.long), 0.1, 0.2])
@pytest.mark.parametrize("most", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_full_table_that_is_known_again_is_no_more_often_wrong(losing: float, most: int) -> None:
    """One stray frame lost twice looks like a table that is full, one entry too small."""
    wrong, trials = wrong_and_trials(Bisecting, losing, most)
    before, trials_before = wrong_and_trials(Forgetful, losing, most)
    assert wrong <= before + 2 * (before + 1) ** 0.5
    assert trials < 0.75 * trials_before
    hinted, trials_hinted = wrong_and_trials(CapacitySearch, losing, most)
    assert hinted <= wrong + 2 * (wrong + 1) ** 0.5
    assert trials_hinted < 0.75 * trials


def test_a_table_that_was_full_before_is_not_confirmed_again() -> None:
    """Two trials at the first number that does not fit, one at each of the others."""
    result, attempts = run(Bisecting(CapacityGoal(c0=1000)), partial(full_at, 1234))
    tried = [each.connections for each in attempts if each.connections > 1234]
    assert result.c == 1234
    assert tried[:2] == [2000, 2000]
    assert len(set(tried)) == len(tried) - 1 > 4


@pytest.mark.parametrize("kind", [CapacitySearch, Bisecting])
def test_what_a_table_held_where_another_trial_held_less_is_known_as_well(
    kind: type[CapacitySearch],
) -> None:
    """It is a hint at once, and one of the two that it takes to know the full table again."""
    held = iter([262_000])
    attempts = attempts_of(kind, CapacityGoal(c0=1000), 262_144, lambda _: next(held, 262_144))
    failed = Counter(each.connections for each in attempts if each.connections > 262_144)
    if kind is CapacitySearch:
        assert final_numbers(attempts) == {262_144, 262_145}
    else:
        assert list(failed.values())[:4] == [2, 2, 1, 1]


def attempts_of(
    kind: type[CapacitySearch], goal: CapacityGoal, capacity: int, held: Callable[[int], int]
) -> list[Attempt]:
    """Of a search that finds a table that is full at `capacity` and then holds so many."""

    def outcome(attempt: Attempt) -> Outcome:
        asked = attempt.connections
        answer = device(capacity, 150_000)(attempt)
        return Outcome(answer=answer, held=asked if asked <= capacity else held(asked))

    result, attempts = run(kind(goal), outcome)
    assert result.c <= capacity < result.c + goal.error
    return attempts


def final_numbers(attempts: list[Attempt]) -> set[int]:
    """Those that were tried between CS and CT."""
    return {each.connections for each in attempts if each.safe < each.connections < each.tested}


def test_what_a_full_table_held_is_tried_and_one_more_and_that_is_all() -> None:
    goal = CapacityGoal(c0=1000)
    hinted = attempts_of(CapacitySearch, goal, 262_144, lambda _: 262_144)
    bisected = attempts_of(Bisecting, goal, 262_144, lambda _: 262_144)
    assert final_numbers(hinted) == {262_144, 262_145}
    assert len(final_numbers(bisected)) == 18
    assert (len(hinted), len(bisected)) == (37, 50)  # trials, of which 32 come before that


@pytest.mark.parametrize("misled", [-2, -1, 1, 2])
def test_a_table_that_holds_a_few_less_or_seems_to_hold_more_is_found_all_the_same(
    misled: int,
) -> None:
    attempts = attempts_of(
        CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda _: 262_144 + misled
    )
    assert len(final_numbers(attempts)) < 2 * 18 + 4


def test_a_device_that_holds_one_less_than_it_is_asked_for_costs_twice_the_numbers() -> None:
    attempts = attempts_of(CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda asked: asked - 1)
    assert 18 < len(final_numbers(attempts)) < 2 * 18 + 4


def test_after_two_hints_that_mislead_the_middle_is_tried() -> None:
    attempts = attempts_of(CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda asked: asked - 1)
    final = [each for each in attempts if each.safe < each.connections < each.tested]
    tried = list(dict.fromkeys(each.connections for each in final))
    assert tried[:3] == [511_999, 511_998, (256_000 + 511_998) // 2]


@given(st.integers(1, 10**6), st.integers(1, 20), st.integers(0, 10**6))
def test_whatever_a_full_table_seems_to_hold_costs_at_most_twice_the_numbers(
    capacity: int, error: int, seed: int
) -> None:
    def held(asked: int) -> int:
        return Random(seed * asked).randrange(asked + 1)

    goal = CapacityGoal(c0=max(1, capacity // 3), error=error)
    hinted = final_numbers(attempts_of(CapacitySearch, goal, capacity, held))
    bisected = final_numbers(attempts_of(Bisecting, goal, capacity, held))
    assert len(hinted) <= 2 * len(bisected) + 4


@pytest.mark.parametrize("kind", [CapacitySearch, Bisecting])
def test_what_fails_though_nothing_is_missing_is_not_a_full_table(
    kind: type[CapacitySearch],
) -> None:
    """A misdelivered reply, once, with exactly as many connections as the table takes."""
    spoiled = iter([Outcome(answer=Answer.FAIL, held=1234)])

    def outcome(attempt: Attempt) -> Outcome:
        plain = full_at(1234, attempt)
        return next(spoiled, plain) if attempt.connections == 1234 else plain

    assert run(kind(CapacityGoal(c0=1000)), outcome)[0].c == 1234
    assert not list(spoiled)


def test_a_rate_that_only_the_tester_is_too_slow_for_is_not_insisted_on() -> None:
    """It is too slow for half of RS once there are many connections; gamma RS is 0.4 RS."""

    def answer(attempt: Attempt) -> Answer:
        if attempt.connections > 2000 and attempt.rate_cps > 50_000:
            return Answer.TOO_SLOW
        return device(2345)(attempt)

    assert found(CapacityGoal(c0=2000), answer)[0].c == 2345


def rates_tried(
    goal: CapacityGoal, connections: int, answers: Callable[[int], tuple[Answer, int | None]]
) -> list[int]:
    """At this number, by a gateway that takes fewer of them, at rates up to 100,000; it answers the
    n-th attempt with the n-th of `answers`, from 0."""
    search = CapacitySearch(goal)
    tried: list[int] = []
    try:
        while (attempt := search.next()) is not None:
            if attempt.connections == connections:
                answer, held = answers(len(tried))
                tried.append(attempt.rate_cps)
            else:
                answer, held = device(connections - 1)(attempt), attempt.connections
            search.tell(Outcome(answer=answer, held=held))
    except TooManyInvalid:
        pass
    assert all(isinstance(rate_cps, int) for rate_cps in tried), "rates are whole numbers"
    return tried


@pytest.mark.parametrize("invalid_repeats", [0, 1, 3, 10])
@pytest.mark.parametrize("answer", [Answer.TOO_SLOW, Answer.INVALID])
def test_what_stays_invalid_is_repeated_as_often_at_each_of_two_rates(
    answer: Answer, invalid_repeats: int
) -> None:
    """In turn where the tester is too slow; at the lower one alone once one was disturbed."""
    goal = CapacityGoal(c0=1000, invalid_repeats=invalid_repeats)
    first, *others = rates_tried(goal, 2000, lambda _: (answer, None))
    assert len(others) == 2 * invalid_repeats
    assert first > 60_000
    in_turn = answer is Answer.TOO_SLOW
    low = {cps for n, cps in enumerate(others) if not (in_turn and n % 2)}
    assert all(15_000 < cps < 25_000 for cps in low)
    assert len(low) <= 1
    if in_turn:
        assert {cps for n, cps in enumerate(others) if n % 2} <= {first}


@pytest.mark.parametrize(
    ("helds", "tries"),
    [
        ((1997,), 4),  # a few short, which may be lost by chance
        ((1996,), 2),
        ((None,), 2),
        ((1990, None, 1985, None, 1980), 5),  # the default patience
        ((1990, 1980, 1990, 1980, 1990), 5),
        ((1990, 1980, 1980), 3),
    ],
)
def test_a_number_fails_when_as_many_were_held_again_or_patience_is_over(
    helds: tuple[int | None, ...], tries: int
) -> None:
    goal = CapacityGoal(c0=1000, error=10_000)
    tried = rates_tried(goal, 2000, lambda n: (Answer.FAIL, helds[n % len(helds)]))
    assert len(tried) == tries
    higher, lower, *others = tried
    assert lower < higher
    again = higher if len(set(helds)) == 1 else lower
    assert set(others) <= {again}, "the lower rate alone, but where it held as many"


def test_a_device_that_fails_and_holds_all_is_asked_as_often_at_each_number() -> None:
    """What it held is the number itself: no hint."""
    attempts = attempts_of(CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda asked: asked)
    failed = Counter(each.connections for each in attempts if each.connections > 262_144)
    assert len(failed) > 10
    assert set(failed.values()) == {4}


def test_hints_that_were_not_needed_are_there_later() -> None:
    """What a full table held is known from the second number of the final search on."""

    def outcome(attempt: Attempt) -> Outcome:
        known = attempt.connections not in (2000, 1500)
        plain = full_at(1234, attempt)
        return plain if known else replace(plain, held=None)

    result, attempts = run(CapacitySearch(CapacityGoal(c0=1000)), outcome)
    assert result.c == 1234
    assert final_numbers(attempts) == {1500, 1250, 1234, 1235}


def test_only_the_most_that_a_full_table_held_is_known_again() -> None:
    """A table of 4100 of which one more is lost at every large number: 4099 is met five times, and
    once more where 4100 are asked for and one is lost."""
    spoiled = iter([Outcome(answer=Answer.FAIL, held=4099)])

    def outcome(attempt: Attempt) -> Outcome:
        held = min(attempt.connections, 4100) - (attempt.connections > 4300)
        plain = Outcome(answer=device(4100)(attempt), held=held)
        return next(spoiled, plain) if attempt.connections == 4100 else plain

    assert run(Bisecting(CapacityGoal(c0=4000)), outcome)[0].c == 4100
    assert not list(spoiled)


def seconds_of(attempts: list[Attempt]) -> float:
    """At most: of validated trials with an alpha of a half."""
    return sum(3 * each.connections / each.rate_cps for each in attempts)


def test_a_step_begins_near_the_rate_of_the_step_before() -> None:
    """A trial at beta times that rate lasts five times as long."""
    attempts = attempts_of(CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda _: 262_144)
    steps = [each for each in attempts if 1000 < each.connections <= 256_000]
    assert len(steps) == 2 * 8
    assert min(each.rate_cps for each in steps) > 100_000
    assert seconds_of(attempts) < 160


def disturbed_attempts(number: int, times: int) -> tuple[Capacity, list[Attempt]]:
    """Of a search for 262,144 connections whose first trials of this number at the lowest rate,
    and each one at a higher rate, lose a third."""

    def outcome(attempt: Attempt) -> Outcome:
        nonlocal times
        if attempt.connections == number and times:
            fast = attempt.rate_cps > 100_000
            times -= not fast
            return Outcome(answer=Answer.FAIL, held=attempt.connections * 2 // 3 - fast)
        held = min(attempt.connections, 262_144)
        return Outcome(answer=device(262_144, 150_000)(attempt), held=held)

    return run(CapacitySearch(CapacityGoal(c0=1000)), outcome)


def test_a_failure_that_is_far_short_is_confirmed_only_where_it_decides() -> None:
    """512,000 connections at a fifth of the rate take 45 s a trial."""
    result, attempts = disturbed_attempts(512_000, times=9)
    assert result.c == 262_144
    assert [a.rate_cps > 100_000 for a in attempts if a.connections == 512_000] == [True, False]


@pytest.mark.parametrize(("least_held", "trials"), [(1800, 5), (1799, 2 + 5)])
def test_a_failure_that_lacks_more_than_a_tenth_is_confirmed_only_at_the_end(
    least_held: int, trials: int
) -> None:
    """Until then, it has one trial at each of two rates; patience is five trials."""
    goal = CapacityGoal(c0=1000, error=1000)
    tried = rates_tried(goal, 2000, lambda n: (Answer.FAIL, least_held + (n + 1) * (1 - n % 2)))
    assert len(tried) == trials


@pytest.mark.parametrize("number", [128_000, 256_000, 262_144])
def test_a_number_that_failed_by_chance_is_tried_again_and_the_search_goes_on(number: int) -> None:
    result, _ = disturbed_attempts(number, times=1)
    assert result.c == 262_144
    assert not result.at_most_tested


def test_what_a_full_table_held_at_two_rates_is_confirmed_at_the_higher_one() -> None:
    attempts = attempts_of(CapacitySearch, CapacityGoal(c0=1000), 262_144, lambda _: 262_144)
    fast = [a.rate_cps > 100_000 for a in attempts if a.connections == 262_145]
    assert fast == [True, False, True, True]


@pytest.mark.parametrize(
    "told", [262_144, 1000, 200_000, 262_143, 262_145, 300_000, 512_000, 10**9]
)
def test_what_a_device_tells_is_tried_and_not_believed(told: int) -> None:
    """It throws out old connections for new ones: what it holds is no hint."""
    goal = CapacityGoal(c0=1000, told=told)
    attempts = attempts_of(CapacitySearch, goal, 262_144, lambda asked: 2 * 262_144 - asked)
    if told == 262_144:
        assert final_numbers(attempts) == {262_144, 262_145}
    if told == 512_000:
        assert [each.connections for each in attempts].count(told) == 2, "it is known to fail"


def test_more_than_a_device_tells_is_tried_at_one_rate_where_much_is_missing() -> None:
    goal = CapacityGoal(c0=1000, told=262_144)
    attempts = attempts_of(CapacitySearch, goal, 262_144, lambda _: 131_072)
    assert [a.rate_cps > 100_000 for a in attempts if a.connections == 512_000] == [True]
    assert seconds_of(attempts) < 100


@pytest.mark.parametrize("error", [1, 3])
def test_a_number_just_beyond_what_a_device_tells_fails_twice(error: int) -> None:
    """Whatever it held: each answer that is missing may have thrown out another connection."""
    held = iter(range(262_144, 0, -1))
    goal = CapacityGoal(c0=1000, error=error, told=262_144)
    attempts = attempts_of(CapacitySearch, goal, 262_144, lambda _: next(held))
    assert [a.connections for a in attempts].count(262_144 + error) == 2


def test_what_a_trial_has_shown_to_be_wrong_is_not_believed_any_more() -> None:
    """A gateway that takes more than it says is tried at the lowest rate as well."""
    goal = CapacityGoal(c0=2000, told=1000)
    attempts = attempts_of(CapacitySearch, goal, 262_144, lambda _: 131_072)
    assert [a.rate_cps > 100_000 for a in attempts if a.connections == 512_000][1:] == [False]


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
