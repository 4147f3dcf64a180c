"""The time left that a person is told, beside what it then takes, by a clock of the test."""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.cli.estimate import Estimate
from natxy.cli.now_and_then import NowAndThen
from natxy.model.traffic import TrafficPlan
from natxy.model.verdict import Verdict
from natxy.procedure.self_test import SelfTestPlan, self_test
from natxy.search.bisection import Bisection
from natxy.trial.observer import Observers
from natxy.trial.timing import Timing
from tests.unit.fake_engine import FakeEngine, first_above
from tests.unit.kept import Kept

SHORT = Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0))


@dataclass
class Told:
    """What was said after each trial, at which second."""

    at_s: list[float] = field(default_factory=list)
    range_s: list[tuple[float, float]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    now_s: float = 0.0

    def after(self, share: float) -> tuple[tuple[float, float], float]:
        """Returns the range that was said after this share of the time, and what was then left."""
        place = next(place for place, at_s in enumerate(self.at_s) if at_s >= share * self.now_s)
        return self.range_s[place], self.now_s - self.at_s[place]


def measured(
    *, repeats_above: int = 0, repeats: int = 0, repetitions: int = 1, parts: int = 1
) -> Told:
    """Searches for 200,000 fps; above a rate, noise repeats each trial so often."""
    told = Told()
    estimate = Estimate(clock=lambda: told.now_s)
    for part in range(1, parts + 1):
        if parts > 1:
            estimate.part_started(part, parts)
        for repetition in range(1, repetitions + 1):
            estimate.repetition_started(repetition, repetitions)
            search = Bisection(upper_fps=14_880_952, first_fps=1000, growth=4)
            while (rate_fps := search.next()) is not None:
                noisy = repeats_above and rate_fps > repeats_above
                for _ in range(1 + (repeats if noisy else 0)):
                    estimate.trial_started(search.bracket)
                    told.now_s += 0.3
                    estimate.trial_ended()
                    told.at_s.append(told.now_s)
                    told.range_s.append(estimate.range_s)
                    told.words.append(str(estimate))
                search.tell(rate_fps, Verdict.PASS if rate_fps <= 200_000 else Verdict.FAIL)
    return told


@pytest.mark.parametrize(
    ("repetitions", "parts"), [(1, 1), (5, 1), (1, 7), (3, 4)], ids=lambda number: str(number)
)
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_without_noise_it_is_the_time_that_it_takes(
    repetitions: int, parts: int, share: float
) -> None:
    told = measured(repetitions=repetitions, parts=parts)
    (least_s, most_s), left_s = told.after(share)
    assert 0.6 * left_s <= least_s <= 1.7 * left_s + 1
    assert most_s <= 1.7 * left_s + 1
    assert told.words[-1] == "about 0 s left"


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(("repetitions", "parts"), [(1, 1), (5, 1), (1, 7)])
def test_trials_that_are_repeated_count_as_the_time_that_they_take(
    repetitions: int, parts: int, share: float
) -> None:
    """Noise begins near the limit: 8 s as the trials are planned, and ten times that."""
    told = measured(repeats_above=100_000, repeats=30, repetitions=repetitions, parts=parts)
    (least_s, most_s), left_s = told.after(share)
    assert least_s <= 1.8 * left_s
    assert most_s >= 0.5 * left_s


def test_it_grows_while_a_trial_is_repeated() -> None:
    told = measured(repeats_above=100_000, repeats=30)
    first = next(place for place in range(1, 99) if told.at_s[place] > 2 and place > 6)
    during = [most_s for _, most_s in told.range_s[first + 2 : first + 25]]
    assert during == sorted(during)
    assert during[-1] > 3 * during[0]
    assert any(" to " in words for words in told.words), "a range, as the pace varies"


def test_the_sizes_of_a_series_count_before_the_first_has_ended() -> None:
    one, seven = measured(), measured(parts=7)
    (_, of_one_s), _ = one.after(0.5)
    place = len(one.at_s) // 2
    assert seven.range_s[place][1] > 4 * of_one_s


def test_nothing_is_said_before_the_first_trial() -> None:
    estimate = Estimate()
    estimate.repetition_started(1, 5)
    estimate.trial_started((0, 1000))
    assert str(estimate) == ""


def test_every_trial_has_its_estimate() -> None:
    told = measured()
    assert all(words.startswith("about ") and words.endswith(" left") for words in told.words)


def engine_of_40_000_fps() -> FakeEngine:
    return FakeEngine(lose=first_above(40_000))


def test_a_self_test_and_a_series_say_how_many_sizes_they_have(
    nat64: TrafficPlan,
    testbed_file: Path,
    engine: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Kept()
    plan = SelfTestPlan(seed=1, sizes_bytes=(84, 128, 256), timing=SHORT)
    self_test(plan, engine_of_40_000_fps().session(nat64, observer=Observers([seen])))
    assert seen.parts == [(1, 3), (2, 3), (3, 3)]
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(NowAndThen, "part_started", lambda _, *part: told.append(part))
    words = ["pdv", str(testbed_file), "--profile", "quick", "--duration", "0.01", "--rate", "1000"]
    words += ["--frame-size", "84,512", "--repetitions", "1", "--output", str(tmp_path / "out")]
    assert run_command(words) == 0
    assert told == [(1, 2), (2, 2)]
