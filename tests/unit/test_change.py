"""How often the interval of a change is right, for gateways whose runs differ in a known way."""

import math
import random

import pytest

from natxy.model.measurement import Figure
from natxy.report.change import Sample, change_of
from natxy.report.comparison import LEVEL, RUN_VARIATION
from natxy.statistics import holm_levels, student_p, student_t

PAIRS = 1000
CHANCE = 0.015  # two standard deviations of a share of 5 % of so many pairs
LEAST_FOUND = 18 / 20
SLOWER = 0.92
REPETITIONS_VARY = 0.005
# The difference of two runs of one gateway then has a standard deviation of 2.5 %.
RUNS_VARY = 0.025 / math.sqrt(2)


def campaign(draw: random.Random, rate_fps: float, runs_vary: float) -> Sample:
    """A campaign of five repetitions, which share what is particular to the run."""
    of_run_fps = rate_fps * math.exp(draw.gauss(0, runs_vary))
    values = (of_run_fps * math.exp(draw.gauss(0, REPETITIONS_VARY)) for _ in range(5))
    figure = Figure(name="throughput", unit="fps", values=tuple(values))
    return Sample(figure=figure, search_error=rate_fps / 1000)


def share_told_apart(
    slower: float,
    campaigns: int,
    *,
    runs_vary: float = RUNS_VARY,
    run_variation: float | None = RUN_VARIATION,
    level: float = LEVEL,
) -> float:
    draw = random.Random(7)
    told = 0
    for _ in range(PAIRS):
        before = [campaign(draw, 100_000, runs_vary) for _ in range(campaigns)]
        after = [campaign(draw, 100_000 * slower, runs_vary) for _ in range(campaigns)]
        told += change_of(before, after, run_variation).p < level
    return told / PAIRS


@pytest.mark.parametrize("campaigns", [1, 2, 3])
def test_a_gateway_seldom_differs_from_itself(campaigns: int) -> None:
    assert share_told_apart(1, campaigns) < LEVEL + CHANCE


@pytest.mark.parametrize("campaigns", [1, 2, 3])
def test_a_gateway_that_is_8_percent_slower_is_found(campaigns: int) -> None:
    assert share_told_apart(SLOWER, campaigns) > LEAST_FOUND


@pytest.mark.parametrize("runs_vary", [0.02, 0.025, 0.03])
def test_on_a_noisy_machine_three_campaigns_and_its_own_variation_are_enough(
    runs_vary: float,
) -> None:
    """With one campaign of each, no method could do both."""
    assert share_told_apart(1, 3, runs_vary=runs_vary, run_variation=runs_vary) < LEVEL + CHANCE
    found = share_told_apart(SLOWER, 3, runs_vary=runs_vary, run_variation=runs_vary)
    assert found > LEAST_FOUND - 0.02 * (runs_vary == 0.03)


@pytest.mark.parametrize("runs_vary", [0.005, 0.02, 0.05])
def test_if_only_the_runs_show_the_noise_the_rate_of_false_alarms_holds(runs_vary: float) -> None:
    """On any machine, however noisy."""
    rate = share_told_apart(1, 5, runs_vary=runs_vary, run_variation=None, level=0.01)
    assert rate < 0.01 + 2 * math.sqrt(0.01 / PAIRS)


@pytest.mark.parametrize("runs_vary", [0.01, 0.02])
def test_so_many_runs_find_a_change_nine_times_of_ten(runs_vary: float) -> None:
    draw = random.Random(5)
    before, after = ([campaign(draw, 100_000, runs_vary) for _ in range(200)] for _ in range(2))
    change = change_of(before, after, None)
    assert change.run_error == pytest.approx(runs_vary, rel=0.15)
    runs = change.runs_for(0.05, 0.01)
    assert runs is not None
    for number, found in ((runs, True), (runs - 2, False)):
        share = share_told_apart(0.95, number, runs_vary=runs_vary, run_variation=None, level=0.01)
        assert (share > 0.87) is found, number


def test_no_number_of_runs_finds_a_change_below_the_stated_error() -> None:
    figure = Figure(name="throughput", unit="fps", values=(100_000.0, 100_100.0))
    side = [Sample(figure=figure, search_error=3_000)] * 5
    assert change_of(side, side, None).runs_for(0.05, 0.01) is None


def test_the_repetitions_are_the_least_that_runs_differ_by() -> None:
    """Runs that are equal by chance do not make a small difference certain."""

    def side(rate_fps: float) -> list[Sample]:
        values = tuple(rate_fps * (1 + share) for share in (-0.02, 0.0, 0.02))
        return [Sample(figure=Figure(name="throughput", unit="fps", values=values))] * 2

    change = change_of(side(100_000), side(99_000), None)
    assert change.run_error == pytest.approx(0.02 / math.sqrt(3), rel=0.01)
    assert change.p > 0.1


def test_the_interval_has_the_true_change_in_it() -> None:
    draw, inside = random.Random(3), 0
    for _ in range(PAIRS):
        before, after = (campaign(draw, rate_fps, RUNS_VARY) for rate_fps in (100_000, 92_000))
        low, high = change_of([before], [after], RUN_VARIATION).interval(LEVEL)
        inside += low < SLOWER - 1 < high
    assert inside / PAIRS > 1 - LEVEL - CHANCE


def test_repetitions_count_by_their_spread_not_by_their_number() -> None:
    def error(values: list[float], rounds: int = 1) -> float:
        figure = Figure(name="throughput", unit="fps", values=tuple(values))
        side = [Sample(figure=figure, rounds=rounds)]
        return change_of(side, side, 0.0).error

    assert error([95, 105] * 10) == pytest.approx(error([95, 105] * 100), rel=0.05)
    assert error([95, 105]) > 1.9 * error([97.5, 102.5])
    assert error([95, 105] * 10, rounds=4) == pytest.approx(error([95, 105] * 10) / 2)


def loss(*percent: float) -> list[Sample]:
    return [Sample(figure=Figure(name="frame loss rate", unit="%", values=percent))]


def test_a_share_that_is_0_has_a_difference_in_percentage_points() -> None:
    same = change_of(loss(0, 0), loss(0, 0), 0.01)
    assert (same.p, same.share) == (1, 0)
    more = change_of(loss(0, 0), loss(5, 5), 0.01)
    assert more.p < LEVEL
    assert more.share == math.inf
    assert change_of(loss(0, 0), loss(2, 2), 0.01).p > LEVEL, "runs differ by 1 % of all frames"
    assert change_of(loss(40, 40), loss(30, 30), 0.01).share == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042)]
)
def test_student_is_that_of_the_tables(freedom: int, t: float) -> None:
    assert student_t(0.05, freedom) == pytest.approx(t, abs=5e-4)
    assert student_p(-t, freedom) == pytest.approx(0.05, rel=1e-3)


def test_levels_of_holm() -> None:
    assert holm_levels([0.03, 0.001, 0.9, 0.015], 0.05) == pytest.approx(
        [0.05 / 2, 0.05 / 4, 0.05 / 2, 0.05 / 3]
    )
    assert holm_levels([], 0.05) == []


def share_of_pairs_told_apart(slower: float, *, level: float) -> float:
    """Ten pairs of campaigns; what the machine does in each moves both by far more than 8 %."""
    draw = random.Random(3)
    told = 0
    for _ in range(PAIRS):
        states = [math.exp(draw.gauss(0, 0.2)) for _ in range(10)]
        before = [campaign(draw, 100_000 * state, 0.03) for state in states]
        after = [campaign(draw, 100_000 * state * slower, 0.03) for state in states]
        told += change_of(before, after, None, paired=True).p < level
    return told / PAIRS


def test_what_meets_both_campaigns_of_a_pair_hides_no_change() -> None:
    assert share_of_pairs_told_apart(SLOWER, level=0.01) > LEAST_FOUND
    alarms = share_of_pairs_told_apart(1, level=0.01)
    assert alarms < 0.01 + 2 * math.sqrt(0.01 / PAIRS)


def test_the_runs_of_pairs_that_find_a_change() -> None:
    draw = random.Random(5)
    states = [math.exp(draw.gauss(0, 0.2)) for _ in range(200)]
    before, after = ([campaign(draw, 100_000 * state, 0.02) for state in states] for _ in range(2))
    change = change_of(before, after, None, paired=True)
    assert change.run_error == pytest.approx(0.02, rel=0.15)
    alone = change_of(before, after, None)
    found, without = change.runs_for(0.05, 0.01), alone.runs_for(0.05, 0.01)
    assert found is not None
    assert 5 < found < 12
    assert without is None
