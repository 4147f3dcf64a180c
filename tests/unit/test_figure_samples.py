"""The figures of a campaign as samples: what noise did to them, and whether that counts."""

import dataclasses
from typing import Any

import pytest

from natxy.model.measurement import Figure
from natxy.model.remark import Remark, Topic
from natxy.procedure.frame_loss import LOSS
from natxy.report.cell_figures import CellResult
from natxy.report.change import Sample
from natxy.report.comparison import compared
from natxy.report.figure_samples import figures_in
from tests.unit.campaign_report import cell
from tests.unit.measurement_report import measurement


def loss_rates(*values: float, noise: Topic | None = None, **of: Any) -> CellResult:
    figure = Figure(name=LOSS, unit="%", values=values, **of)
    remarks = () if noise is None else (Remark.of(noise),)
    result = measurement(procedure="frame-loss", figures=(figure,), remarks=remarks)
    return dataclasses.replace(cell("a", measure="frame-loss"), results=(result,))


def sample(campaign: CellResult, *, in_turn: bool) -> Sample:
    (found,) = figures_in([campaign], in_turn=in_turn).values()
    return found


def test_in_turn_all_trials_count_and_their_mean_is_the_figure() -> None:
    campaign = loss_rates(40, 41, errors=(9, 9), excused=(50, 61))
    alone, both = (sample(campaign, in_turn=each) for each in (False, True))
    assert (alone.figure.benchmark, alone.stated_error) == (40.5, 9)
    assert (both.figure.benchmark, both.stated_error) == (48, 0)


def test_in_turn_a_bound_of_noise_is_a_value() -> None:
    of_losses = loss_rates(56, noise=Topic.LOST_AT_MOST, upper_bound=(True,), excused=(50, 61))
    assert sample(of_losses, in_turn=False).is_noisy
    both = sample(of_losses, in_turn=True)
    assert (both.figure.values, both.figure.benchmark_bound) == ((50, 61), "exact")
    assert not both.is_noisy


def test_in_turn_a_point_without_a_valid_trial_has_a_value() -> None:
    campaign = loss_rates(missing="no valid trial", excused=(50, 61))
    assert figures_in([campaign]) == {}
    assert sample(campaign, in_turn=True).figure.benchmark == 55.5


def test_a_bound_of_the_gateway_stays_one() -> None:
    (throughput,) = cell("a", 100, 101, lower=True).results
    remarks = (Remark.of(Topic.BOUND_UNEXPLAINED),)
    result = throughput.model_copy(update={"remarks": remarks})
    bound = dataclasses.replace(cell("a", 100), results=(result,))
    assert sample(bound, in_turn=True).figure.benchmark_bound == "lower"


@pytest.mark.parametrize(("slower", "verdict"), [(0, "no change shown"), (4, "worse")])
def test_in_turn_runs_that_noise_left_with_bounds_are_told_apart(
    slower: float, verdict: str
) -> None:
    def runs(more: float) -> list[list[CellResult]]:
        return [
            [
                loss_rates(
                    70,
                    noise=Topic.LOST_AT_MOST,
                    upper_bound=(True,),
                    excused=tuple(state + more + few for few in (-0.5, 0, 0.3)),
                )
            ]
            for state in (40, 52, 61, 47, 55)
        ]

    later = [[loss] for (loss,) in runs(slower)]
    later[0] = [loss_rates(44 + slower / 2, excused=(44 + slower, 35 + slower))]
    (found,) = compared(runs(0), later, None, in_turn=True)
    assert found.verdict == verdict
    (found,) = compared(runs(0), later, None)
    assert found.verdict == "cannot be told"
