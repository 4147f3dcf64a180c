"""The search for a throughput is the profile's, in every verb that makes one."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.cli.searching import searching
from natxy.cli.series_options import SeriesOptions
from natxy.errors import ConfigurationError
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import RATE_FPS
from natxy.search.written import search_error
from natxy.trial.profile import QUICK, RFC

OPTIONS = SeriesOptions(testbed=Path("testbed.toml"), profile="quick", seed=7)


def test_quick_searches_verify_a_loss_and_are_as_short_as_the_buffers_let_them_be() -> None:
    error = search_error(RATE_FPS, "1%")
    plan = OPTIONS.defaults.plan(ThroughputPlan, error=error, max_rate_fps=10**6)
    assert (plan.buffer_frames, plan.loss_verifications) == (QUICK.buffer_frames, 1)
    assert plan.repetitions == QUICK.repetitions
    assert plan.duration_s(10**6) == Fraction(1, 20)
    search = OPTIONS.defaults.plan(ThroughputPlan)
    assert OPTIONS.defaults.search_first() == replace(search, repetitions=1)
    assert searching(OPTIONS, "throughput", error=error, max_rate_fps=10**6) == plan


def test_a_duration_that_is_given_is_every_trials() -> None:
    plan = replace(OPTIONS, duration=0.5).defaults.search_first()
    assert plan.buffer_frames is None
    assert plan.duration_s(10**6) == Fraction(1, 2)
    longer = replace(OPTIONS, duration=120.0).defaults.search_first()
    assert longer.timing.duration_s == RFC.timing.duration_s


def test_the_rfcs_search_is_whole_and_believes_each_trial() -> None:
    plan = replace(OPTIONS, profile="rfc").defaults.search_first()
    assert (plan.buffer_frames, plan.loss_verifications, plan.repetitions) == (None, 0, 1)
    assert plan.timing == RFC.timing
    with pytest.raises(ConfigurationError, match="profile"):
        _ = replace(OPTIONS, profile="none").defaults


def test_an_establishment_rates_search_verifies_a_loss_as_well() -> None:
    plan = searching(OPTIONS, "validated")
    assert isinstance(plan, EstablishmentPlan)
    assert plan.loss_verifications == 1
