"""The search for a throughput is the profile's, in every verb that makes one."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.cli.options import search_error
from natxy.cli.searching import searching
from natxy.cli.series_options import SeriesOptions
from natxy.cli.throughput_search import found_first, throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.search.bisection import RATE_FPS
from natxy.trial.profile import QUICK, RFC

OPTIONS = SeriesOptions(testbed=Path("testbed.toml"), profile="quick", seed=7)


def test_quick_searches_verify_a_loss_and_are_as_short_as_the_buffers_let_them_be() -> None:
    plan = throughput_search(OPTIONS, error=search_error(RATE_FPS, "1%"), max_rate_fps=10**6)
    assert (plan.buffer_frames, plan.loss_verifications) == (QUICK.buffer_frames, 1)
    assert plan.repetitions == QUICK.repetitions
    assert plan.duration_s(10**6) == Fraction(1, 20)
    assert found_first(OPTIONS) == replace(throughput_search(OPTIONS), repetitions=1)
    assert (
        searching(OPTIONS, "throughput", error=search_error(RATE_FPS, "1%"), max_rate_fps=10**6)
        == plan
    )


def test_a_duration_that_is_given_is_every_trials() -> None:
    plan = found_first(replace(OPTIONS, duration=0.5))
    assert plan.buffer_frames is None
    assert plan.duration_s(10**6) == Fraction(1, 2)
    assert found_first(replace(OPTIONS, duration=120.0)).timing.duration_s == RFC.timing.duration_s


def test_the_rfcs_search_is_whole_and_believes_each_trial() -> None:
    plan = found_first(replace(OPTIONS, profile="rfc"))
    assert (plan.buffer_frames, plan.loss_verifications, plan.repetitions) == (None, 0, 1)
    assert plan.timing == RFC.timing
    with pytest.raises(ConfigurationError, match="profile"):
        found_first(replace(OPTIONS, profile="none"))


def test_an_establishment_rates_search_verifies_a_loss_as_well() -> None:
    plan = searching(OPTIONS, "validated")
    assert isinstance(plan, EstablishmentPlan)
    assert plan.loss_verifications == 1
