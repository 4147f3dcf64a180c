"""Loss verification: by cases, by properties, and by thousands of searches in noise."""

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from natxy.model.verdict import Limit, Verdict
from natxy.procedure.throughput import FIRST_GUESS_FPS
from natxy.search.bisection import GROWTH, Bisection, SearchError
from natxy.search.loss_verification import LossVerification
from tests.unit.noisy_device import NoisyDevice

PASS, FAIL, INVALID = Verdict.PASS, Verdict.FAIL, Verdict.INVALID
FEW, HALF = 1 / 1000, 1 / 2
ONE_PERCENT = SearchError(fraction=Fraction(1, 100))
SEARCHES = 3000


@dataclass(frozen=True, kw_only=True)
class Found:
    rate_fps: int
    limit: Limit
    trials: int
    overturned: int


def found(
    device: NoisyDevice,
    chance: Random,
    *,
    repeats: int,
    growth: int = GROWTH,
    error: SearchError = ONE_PERCENT,
) -> Found:
    """Of a search as throughput makes it where nobody knows a maximum. An INVALID trial is repeated
    8 times: with 20 % of them INVALID the tester's ceiling is not what is looked at here."""
    search = Bisection(upper_fps=2**33, first_fps=FIRST_GUESS_FPS, growth=growth, error=error)
    verified = LossVerification(search=search, repeats=repeats)
    passed: set[int] = set()
    trials = 0
    while (rate_fps := search.next()) is not None:
        for _ in range(9):
            verdict, lost = device.trial(rate_fps, chance)
            trials += 1
            if verdict is not INVALID:
                break
        verified.tell(rate_fps, verdict, lost)
        passed |= {rate_fps} if verdict is PASS else set()
    result_fps = search.result_fps or 0
    assert result_fps == 0 or result_fps in passed, "a result was tested and passed"
    return Found(
        rate_fps=result_fps, limit=search.limit, trials=trials, overturned=verified.overturned
    )


def searches(device: NoisyDevice, *, repeats: int, growth: int = GROWTH) -> list[Found]:
    chance = Random(9)
    return [found(device, chance, repeats=repeats, growth=growth) for _ in range(SEARCHES)]


def share_below(results: list[Found], rate_fps: float) -> float:
    return mean(result.rate_fps < rate_fps for result in results)


def at_400k() -> LossVerification:
    return LossVerification(search=Bisection(upper_fps=400_000), repeats=2)


def test_a_rate_fails_when_all_repetitions_have_failed() -> None:
    verified = at_400k()
    for _ in range(2):
        verified.tell(400_000, FAIL, FEW)
        assert verified.search.next() == 400_000
    verified.tell(400_000, FAIL, FEW)
    assert verified.search.next() != 400_000
    assert (verified.search.bracket, verified.overturned) == ((0, 400_000), 0)


def test_a_repetition_that_passes_overturns_the_failures() -> None:
    verified = at_400k()
    for verdict in (FAIL, FAIL, PASS):
        verified.tell(400_000, verdict, FEW)
    assert (verified.search.result_fps, verified.search.limit) == (400_000, Limit.MAXIMUM)
    assert verified.overturned == 2


def test_what_counts_of_a_rate_that_passed_is_the_result() -> None:
    """A pause makes it a little less; the failures before were at the rate itself."""
    verified = at_400k()
    verified.tell(400_000, FAIL, FEW)
    verified.tell(400_000, PASS, counted_fps=390_000)
    assert (verified.search.result_fps, verified.overturned) == (390_000, 1)


def test_a_failure_that_stays_unconfirmed_is_the_testers_limit() -> None:
    """What is found below is a lower bound: nobody could say whether the loss was chance."""
    verified = at_400k()
    verified.tell(400_000, FAIL, FEW)
    assert verified.search.next() == 400_000
    verified.tell(400_000, INVALID)
    assert verified.search.next() != 400_000
    assert verified.search.limit is Limit.TESTER


def test_a_gross_loss_needs_no_confirmation_and_another_does() -> None:
    verified = at_400k()
    verified.tell(400_000, FAIL, HALF)
    assert verified.search.next() == 400_000
    verified = at_400k()
    verified.tell(400_000, FAIL, HALF + FEW)
    assert verified.search.next() != 400_000


@given(
    throughput_fps=st.integers(0, 10**8),
    repeats=st.integers(0, 4),
    growth=st.integers(2, 16),
)
def test_without_noise_the_result_is_the_same_however_often_it_is_confirmed(
    throughput_fps: int, repeats: int, growth: int
) -> None:
    device = NoisyDevice(throughput_fps=throughput_fps)
    plain = found(device, Random(0), repeats=0, growth=growth)
    verified = found(device, Random(0), repeats=repeats, growth=growth)
    assert (verified.rate_fps, verified.limit) == (plain.rate_fps, plain.limit)
    assert plain.trials <= verified.trials <= plain.trials * (repeats + 1)
    assert verified.overturned == 0


@pytest.mark.parametrize("invalid", [0.0, 0.2])
def test_one_stray_loss_does_not_cap_a_search(invalid: float) -> None:
    """5 % of the trials lose one frame: without verification 1 search in 4 is too low by more than
    1 %, and 1 in 20 by more than 90 %."""
    device = NoisyDevice(stray=0.05, invalid=invalid)
    truth_fps = device.throughput_fps
    plain = searches(device, repeats=0)
    assert share_below(plain, truth_fps * 0.99) > 0.2
    assert share_below(plain, truth_fps * 0.1) > 0.05
    verified = searches(device, repeats=1)
    rates = sorted(each.rate_fps for each in verified)
    spread = f"P5 {rates[SEARCHES // 20]}, P1 {rates[SEARCHES // 100]}, least {rates[0]}"
    assert median(rates) == pytest.approx(truth_fps, rel=0.01)
    assert max(rates) <= truth_fps
    assert share_below(verified, truth_fps * 0.99) < 0.03, spread
    overturned = sum(each.overturned for each in verified)
    assert overturned > SEARCHES * 0.05 * 5, "about five rates below the truth are tried"


@pytest.mark.parametrize("invalid", [0.0, 0.2])
def test_medians_of_three_stray_little(invalid: float) -> None:
    """A measurement is the median of its repetitions."""
    device = NoisyDevice(stray=0.05, invalid=invalid)

    def too_low(repeats: int) -> float:
        rates = [each.rate_fps for each in searches(device, repeats=repeats)]
        figures = [median(rates[n : n + 3]) for n in range(0, SEARCHES, 3)]
        return mean(figure < device.throughput_fps * 0.99 for figure in figures)

    assert too_low(repeats=0) > 0.1
    assert too_low(repeats=1) < 0.005


def test_twice_as_many_stray_losses_are_met_by_verifying_twice() -> None:
    """5 % in each of two directions. A bisection that doubles finds a fraction of the truth."""
    device = NoisyDevice(stray=1 - 0.95**2)
    doubling = [each.rate_fps for each in searches(device, repeats=0, growth=2)]
    assert median(doubling) < device.throughput_fps / 2
    verified = searches(device, repeats=2)
    assert share_below(verified, device.throughput_fps * 0.99) < 0.01


def test_a_start_at_the_guess_costs_few_trials() -> None:
    """Over two decades of throughput; doubling takes 15 trials, and 11 with what the repetition
    before has found."""
    chance = Random(1)
    devices = [NoisyDevice(throughput_fps=int(10 ** chance.uniform(4, 6))) for _ in range(1000)]

    def trials(*, repeats: int, growth: int) -> float:
        return mean(
            found(device, chance, repeats=repeats, growth=growth).trials for device in devices
        )

    assert trials(repeats=0, growth=GROWTH) < trials(repeats=0, growth=2) - 2
    assert trials(repeats=0, growth=GROWTH) < 13
    assert trials(repeats=1, growth=GROWTH) < 17.5


def test_a_failure_without_confirmation_does_not_count_after_others_were_revoked() -> None:
    """It was followed by INVALID trials alone, so that its rate is the tester's ceiling."""
    search = Bisection(upper_fps=1000, first_fps=400, error=SearchError(rate_fps=200))
    verified = LossVerification(search=search, repeats=1)
    for verdict in (FAIL, INVALID):
        verified.tell(400, verdict, FEW)
    for _ in range(2):
        verified.tell(300, FAIL, FEW)
    verified.tell(250, PASS)
    limits = [search.limit]
    verified.keep_failures({400})  # those at 300 were revoked
    limits.append(search.limit)
    assert limits == [Limit.DUT, Limit.TESTER]


def test_a_failure_that_was_not_revoked_counts_on() -> None:
    search = Bisection(upper_fps=1000, first_fps=400)
    verified = LossVerification(search=search, repeats=1)
    for rate_fps in (400, 400, 300, 300):
        verified.tell(rate_fps, FAIL, FEW)
    verified.keep_failures({400})  # those at 300 were revoked
    assert (search.bracket, search.limit) == ((0, 400), Limit.DUT)


def test_a_failure_that_was_revoked_confirms_no_later_one() -> None:
    search = Bisection(upper_fps=1000, first_fps=400)
    verified = LossVerification(search=search, repeats=1)
    verified.tell(400, FAIL, FEW)
    verified.keep_failures(set())
    verified.tell(400, FAIL, FEW)
    assert search.next() == 400


def test_a_rate_that_passed_fails_only_after_as_many_failures_as_any_other() -> None:
    """It is asked for again if the rate that counted was lower."""
    search = Bisection(upper_fps=1000, first_fps=400)
    verified = LossVerification(search=search, repeats=1)
    verified.tell(400, FAIL, FEW)
    verified.tell(400, PASS, counted_fps=390)
    limits = []
    for _ in range(2):
        verified.tell(400, FAIL, FEW)
        limits.append(search.limit)
    assert limits == [Limit.MAXIMUM, Limit.DUT]
    assert verified.overturned == 1


def test_a_failure_at_a_ceiling_that_is_retried_is_confirmed_there() -> None:
    """The ceiling is the maximum: without it, the search would end as if the maximum had passed."""
    search = Bisection(upper_fps=1000, error=SearchError(rate_fps=100))
    verified = LossVerification(search=search, repeats=1)
    verified.tell(1000, Verdict.INVALID)
    verified.tell(950, Verdict.PASS)
    assert search.next() is None
    search.retry_ceiling()
    verified.tell(1000, Verdict.FAIL)
    assert search.next() == 1000
    verified.tell(1000, Verdict.FAIL)
    assert search.next() is None
    assert search.limit is Limit.DUT
