"""The figures of a campaign as samples: what noise did to them, and whether that counts."""

import dataclasses
from typing import Any

import pytest

from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Topic
from natxy.procedure.frame_loss import FORWARDING, LOSS
from natxy.report.cell_figures import CellResult, doubled
from natxy.report.change import Sample
from natxy.report.comparison import compared
from natxy.report.figure_samples import figures_in
from tests.unit.campaign_report import cell
from tests.unit.measurement_report import measurement


def forwarded(*values: float, noise: Topic | None = None, **of: Any) -> CellResult:
    figures = (
        Figure(name=LOSS, unit="%", values=(9,), direction="forward", errors=(5,)),
        Figure(name=FORWARDING, unit="fps", values=values, primary=False, **of),
    )
    remarks = () if noise is None else (Remark.of(noise),)
    result = measurement(procedure="frame-loss", figures=figures, remarks=remarks)
    return dataclasses.replace(cell("a", measure="frame-loss"), results=(result,))


def sample(campaign: CellResult, *, in_turn: bool) -> Sample:
    (found,) = figures_in([campaign], in_turn=in_turn).values()
    return found


def test_in_turn_the_forwarding_rate_stands_for_the_loss_rates() -> None:
    campaign = forwarded(40, 41, excused=(50, 61))
    alone, both = (sample(campaign, in_turn=each) for each in (False, True))
    assert (alone.figure.name, both.figure.name) == (LOSS, FORWARDING)
    assert both.figure.benchmark == 48, "the mean of all trials, with those that noise left out"


@pytest.mark.parametrize("noise", [Topic.LOST_AT_MOST, None])
def test_in_turn_a_bound_of_noise_is_a_value(noise: Topic | None) -> None:
    """Nothing else makes a forwarding rate a bound, also where no loss rate is one."""
    campaign = forwarded(56, noise=noise, lower_bound=(True,), excused=(50, 61))
    both = sample(campaign, in_turn=True)
    assert (both.figure.values, both.figure.benchmark_bound) == ((50, 61), "exact")
    assert not both.is_noisy


@pytest.mark.parametrize(
    ("why", "in_turn"), [(Topic.BOUND_BY_NOISE, "exact"), (Topic.BOUND_UNEXPLAINED, "lower")]
)
def test_in_turn_a_bound_of_the_gateway_stays_one(why: Topic, in_turn: str) -> None:
    (throughput,) = cell("a", 100, 101, lower=True).results
    result = throughput.model_copy(update={"remarks": (Remark.of(why),)})
    bound = dataclasses.replace(cell("a", 100), results=(result,))
    assert sample(bound, in_turn=True).figure.benchmark_bound == in_turn
    assert sample(bound, in_turn=False).figure.benchmark_bound == "lower"


@pytest.mark.parametrize(("slower", "verdict"), [(1, "no change shown"), (0.92, "worse")])
def test_in_turn_runs_that_noise_left_with_bounds_are_told_apart(
    slower: float, verdict: str
) -> None:
    """The state of the machine moves both runs of a round, by far more than the change."""
    noise: dict[str, Any] = {"noise": Topic.LOST_AT_MOST, "lower_bound": (True,)}
    states = (70_000, 92_000, 61_000, 84_000, 78_000)

    def runs(factors: tuple[float, ...]) -> list[list[CellResult]]:
        return [
            [forwarded(1, excused=(state * factor, state * factor * 1.02), **noise)]
            for state, factor in zip(states, factors, strict=True)
        ]

    before = runs((1, 1.01, 0.99, 1, 1))
    after = runs(tuple(slower * each for each in (1, 0.995, 1, 1.01, 0.99)))
    (found,) = compared(before, after, None, in_turn=True)
    assert (found.figure, found.verdict) == (FORWARDING, verdict)


def test_in_turn_a_round_without_the_figure_of_both_does_not_count() -> None:
    def run(*values: float) -> list[CellResult]:
        return [forwarded(*values)] if values else [cell("a", measure="frame-loss")]

    before = [run(70_000), run(90_000), run(60_000), run(80_000)]
    after = [run(77_000), run(), run(66_100), run(88_200)]
    (found,) = compared(before, after, None, in_turn=True)
    assert (found.campaigns, found.verdict) == ((3, 3), "better")


def test_the_sum_of_both_directions_has_all_trials() -> None:
    (measured,) = forwarded(40, excused=(50,)).results
    (_, figure) = measured.figures
    assert doubled(figure).excused == (100,)
