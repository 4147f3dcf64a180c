"""MLRsearch against simulated devices: a hard limit, a curve of losses, noise, a weak tester."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from statistics import mean
from types import SimpleNamespace
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.verdict import Limit, Verdict
from natxy.search.mlr import GoalOutcome, Measure, MeasuredTrial, mlr_search
from natxy.search.mlr_goal import MlrGoal, pdr_goal, rfc2544_goal
from natxy.search.settings import LossTolerance
from tests.unit.noisy_device import NoisyDevice

NDR = rfc2544_goal()
PDR = pdr_goal(LossTolerance(fraction=Fraction(5, 1000)))
WIDTH = Fraction(1, 1000)


def losing(sent: int, lost: int) -> MeasuredTrial:
    verdict = Verdict.FAIL if lost else Verdict.PASS
    return MeasuredTrial(sent=sent, lost=lost, verdict=verdict)


def hard_limit(limit_fps: int) -> Measure:
    """Loses all that is above the limit, as a rate limiter does."""

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        sent = int(duration_s * rate_fps)
        return losing(sent, max(0, sent - int(duration_s * limit_fps)))

    return measure


def weak_tester(device: Measure, beyond_fps: int) -> Measure:
    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        if rate_fps >= beyond_fps:
            return MeasuredTrial(sent=0, lost=0, verdict=Verdict.INVALID)
        return device(duration_s, rate_fps)

    return measure


def search(device: Measure, *goals: MlrGoal, maximum_fps: int = 8000) -> tuple[GoalOutcome, ...]:
    """Searches; each rate that it finds has passed at the goal's full duration."""
    tried: list[tuple[Fraction, int, MeasuredTrial]] = []

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        tried.append((duration_s, rate_fps, device(duration_s, rate_fps)))
        return tried[-1][-1]

    outcomes = mlr_search(measure, goals, minimum_fps=100, maximum_fps=maximum_fps)
    for found in outcomes:
        assert found.rate_fps is None or any(
            rate_fps == found.rate_fps
            and duration_s == found.goal.final_duration_s
            and found.goal.tolerance.accepts(sent=trial.sent, lost=trial.lost)
            for duration_s, rate_fps, trial in tried
        )
    return outcomes


@pytest.mark.parametrize("limit_fps", [151, 1234, 5000, 7990])
def test_finds_a_hard_limit_within_the_width(limit_fps: int) -> None:
    (found,) = search(hard_limit(limit_fps), NDR)
    assert found.rate_fps is not None
    assert found.upper_fps is not None
    assert found.rate_fps <= limit_fps < found.upper_fps
    # Rates are whole numbers: each bound may be half a frame a second off the package's.
    assert found.upper_fps - found.rate_fps <= found.upper_fps * WIDTH + 1
    assert found.limit is Limit.DUT


def test_ndr_and_pdr_in_one_search() -> None:
    ndr, pdr = search(hard_limit(5000), NDR, PDR)
    assert ndr.rate_fps == pytest.approx(5000, rel=0.0015)
    assert pdr.rate_fps == pytest.approx(5000 / 0.995, rel=0.0015)
    assert pdr.conditional_fps == pytest.approx(5000, rel=0.0015)  # what was forwarded of it
    assert "0.5 % loss" in pdr.goal.name


def test_a_curve_of_losses_that_only_long_trials_see() -> None:
    """One frame in 100,000 above 3000 fps: 1 s trials pass, 60 s trials do not."""

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        sent = int(duration_s * rate_fps)
        return losing(sent, sent // 100_000 if rate_fps > 3000 else 0)

    (found,) = search(measure, NDR)
    assert found.rate_fps == pytest.approx(3000, rel=0.0015)


def test_a_search_may_last_for_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package would end one after 20 minutes."""
    passed_s = [0.0]

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        passed_s[0] += float(duration_s)
        return hard_limit(5000)(duration_s, rate_fps)

    clock = SimpleNamespace(monotonic=lambda: passed_s[0])
    monkeypatch.setattr("MLRsearch.multiple_loss_ratio_search.time", clock)
    (found,) = search(measure, replace(NDR, duration_sum_s=Fraction(3600)))
    assert found.rate_fps == pytest.approx(5000, rel=0.0015)
    assert passed_s[0] > 3600


@pytest.mark.parametrize("seed", range(5))
def test_noise_ends_and_yields_a_tested_rate(seed: int) -> None:
    noise = random.Random(seed)

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        return hard_limit(round(5000 * noise.uniform(0.98, 1.02)))(duration_s, rate_fps)

    outcomes = search(measure, NDR, PDR)
    assert all(4500 < (found.rate_fps or 0) < 5200 for found in outcomes)


def test_an_exceed_ratio_keeps_one_stray_loss_from_capping_a_search() -> None:
    """5 % of the trials lose one frame. The other goal is that of TST009 (half of two trials)."""
    device, chance = NoisyDevice(stray=0.05), random.Random(5)
    lasting_s = Fraction(1, 5)
    short = rfc2544_goal(final_duration_s=lasting_s, width=Fraction(1, 100))
    plain = replace(short, initial_duration_s=lasting_s / 5)
    halved = replace(plain, exceed_ratio=Fraction(1, 2), duration_sum_s=2 * lasting_s)

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        sent = int(duration_s * rate_fps)
        _, lost = device.trial(rate_fps, chance)
        return losing(sent, math.ceil(lost * sent))

    def too_low(goal: MlrGoal) -> float:
        outcomes = (search(measure, goal, maximum_fps=1_488_095) for _ in range(300))
        rates = [found.rate_fps or 0 for (found,) in outcomes]
        return mean(rate < device.throughput_fps * 0.99 for rate in rates)

    assert too_low(plain) > 0.08
    assert too_low(halved) < 0.03


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"exceed_ratio": Fraction(1)}, "exceed_ratio: 1 is out of range"),
        ({"exceed_ratio": Fraction(-1, 10)}, "exceed_ratio: -0.1 is out of range"),
        ({"duration_sum_s": Fraction(59)}, "duration_sum_s: 59 s is out of range"),
        ({"initial_duration_s": Fraction(61)}, "initial_duration_s: 61 s is out of range"),
        ({"initial_duration_s": Fraction(0)}, "initial_duration_s: 0 s is out of range"),
    ],
)
def test_attributes_that_make_no_sense_are_refused(changes: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigurationError, match=option):
        replace(NDR, **changes)


@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("exceed_ratio", "exceed_ratio"),
        ("width", "width"),
        ("initial_duration_s", "initial_duration_s"),
        ("final_duration_s", "final_duration_s"),
        ("duration_sum_s", "duration_sum_s"),
    ],
)
def test_numbers_are_taken_as_written_and_named(member: str, name: str) -> None:
    goal = replace(NDR, initial_duration_s=Fraction(1, 10), final_duration_s=Fraction(1, 10))
    # What a caller writes whom no type checker stops.
    exact = replace(goal, **{member: 0.1})  # type: ignore[arg-type]
    assert getattr(exact, member) == Fraction(1, 10)
    with pytest.raises(ConfigurationError, match=f"^{name}: much is not valid"):
        replace(goal, **{member: "much"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("final_s", "initial_s"), [(None, 1), (Fraction(3, 2), 1), (Fraction(1, 2), Fraction(1, 2))]
)
def test_the_goals_that_have_names(final_s: Fraction | None, initial_s: Fraction) -> None:
    """Attributes that are not given are RFC 2544's: one trial of 60 s."""
    given: dict[str, Any] = {} if final_s is None else {"final_duration_s": final_s}
    tolerance = LossTolerance(fraction=Fraction(5, 1000))
    times: dict[str, Any] = {
        "final_duration_s": final_s or Fraction(60),
        "initial_duration_s": Fraction(initial_s),
    }
    assert rfc2544_goal(**given) == MlrGoal(name="NDR", width=WIDTH, **times)
    assert pdr_goal(tolerance, **given) == MlrGoal(
        name="PDR (0.5 % loss)", tolerance=tolerance, width=WIDTH, **times
    )
    wide = Fraction(1, 50)
    assert rfc2544_goal(width=wide).width == pdr_goal(tolerance, width=wide).width == wide


def test_an_exceed_ratio_that_makes_no_sense_is_refused_in_a_sentence() -> None:
    sentence = "exceed_ratio: 1 is out of range (expected at least 0, less than 1)"
    with pytest.raises(ConfigurationError) as refused:
        replace(NDR, exceed_ratio=Fraction(1))
    assert str(refused.value) == sentence


def test_a_bare_number_is_no_tolerance() -> None:
    # What a caller writes whom no type checker stops.
    with pytest.raises(ConfigurationError) as refused:
        MlrGoal(name="mine", tolerance=0.01)  # type: ignore[arg-type]
    assert str(refused.value) == (
        "tolerance: 0.01 is not valid (expected for example LossTolerance(fraction=0.01) for 1 %)"
    )


def test_a_device_that_takes_the_maximum() -> None:
    (found,) = search(hard_limit(5000), NDR, maximum_fps=4000)
    assert (found.rate_fps, found.upper_fps, found.limit) == (4000, None, Limit.MAXIMUM)
    assert found.limit is not Limit.TESTER


def test_a_device_that_passes_nothing() -> None:
    (found,) = search(hard_limit(0), NDR)
    assert (found.rate_fps, found.upper_fps, found.limit) == (None, 100, Limit.DUT)


def test_a_tester_that_is_weaker_than_the_device() -> None:
    tried_fps: list[int] = []

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        tried_fps.append(rate_fps)
        return weak_tester(hard_limit(7000), 5000)(duration_s, rate_fps)

    (found,) = search(measure, NDR)
    assert found.rate_fps is not None
    assert 2500 <= found.rate_fps < 5000
    assert found.limit is Limit.TESTER
    assert tried_fps[:2] == [8000, 4050]


@pytest.mark.parametrize("spoils", ["the first long trial", "a rate that was tried before"])
def test_a_search_begins_again_halfway_to_what_was_valid_below(spoils: str) -> None:
    tried: list[tuple[int, Verdict]] = []

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        long, again = duration_s == 60, rate_fps in [rate for rate, _ in tried]
        trial = hard_limit(3000)(duration_s, rate_fps)
        spoiled = Verdict.INVALID in [verdict for _, verdict in tried]
        if not spoiled and (long if spoils == "the first long trial" else again):
            trial = MeasuredTrial(sent=0, lost=0, verdict=Verdict.INVALID)
        tried.append((rate_fps, trial.verdict))
        return trial

    search(measure, NDR)
    where = [verdict for _, verdict in tried].index(Verdict.INVALID)
    beyond, before = tried[where][0], [rate for rate, _ in tried[:where]]
    assert max(before) > beyond
    assert (beyond in before) == (spoils == "a rate that was tried before")
    assert (min(before) < beyond) == (spoils == "the first long trial")
    below = min(before) if min(before) < beyond else 100
    assert tried[where + 1][0] == (below + beyond) // 2


def test_the_devices_own_limit_below_a_weak_testers() -> None:
    (found,) = search(weak_tester(hard_limit(3000), 5000), NDR)
    assert found.rate_fps == pytest.approx(3000, rel=0.0015)
    assert found.limit is not Limit.TESTER


def test_a_tester_that_can_do_nothing() -> None:
    outcomes = search(weak_tester(hard_limit(7000), 1), NDR, PDR)
    assert {found.rate_fps for found in outcomes} == {None}
    assert {found.limit for found in outcomes} == {Limit.TESTER}


def test_a_failure_without_loss_is_a_failure() -> None:
    """A trial can fail for what is no loss, a misdelivered frame."""

    def measure(duration_s: Fraction, rate_fps: int) -> MeasuredTrial:
        verdict = Verdict.FAIL if rate_fps > 2000 else Verdict.PASS
        return MeasuredTrial(sent=int(duration_s * rate_fps), lost=0, verdict=verdict)

    (found,) = search(measure, NDR)
    assert found.rate_fps == pytest.approx(2000, rel=0.0015)


def test_refuses_an_empty_range_and_goals_twice() -> None:
    for minimum_fps, maximum_fps in ((10, 10), (0, 10)):
        with pytest.raises(ValueError, match="empty"):
            mlr_search(hard_limit(1), [NDR], minimum_fps=minimum_fps, maximum_fps=maximum_fps)
    for goals in ([NDR, NDR], []):
        with pytest.raises(ValueError, match=r"^MLRsearch needs goals, each different"):
            mlr_search(hard_limit(1), goals, minimum_fps=1, maximum_fps=10)


def test_a_tolerance_is_exact_and_says_itself() -> None:
    tolerance = LossTolerance(fraction=Fraction(5, 1000))
    assert tolerance.accepts(sent=1000, lost=5)
    assert not tolerance.accepts(sent=1000, lost=6)
    assert (str(tolerance), str(LossTolerance())) == ("0.5 % loss", "no loss")
    # What a caller writes whom no type checker stops.
    assert LossTolerance(fraction=0.1).fraction == Fraction(1, 10)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="less than 1"):
        LossTolerance(fraction=Fraction(1))
    with pytest.raises(ConfigurationError, match=r"^a loss tolerance: much is not valid"):
        LossTolerance(fraction="much")  # type: ignore[arg-type]
