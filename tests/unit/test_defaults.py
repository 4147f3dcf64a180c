"""Tests of the defaults of plans, goals and profiles, by the values of the reference pages."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.procedure import (
    back_to_back,
    capacity,
    delay_variation,
    establishment_search,
    frame_loss,
    latency,
    mlr_throughput,
    recovery,
    reset,
    self_test,
    tear_down,
    throughput,
)
from natxy.search.bisection import SearchError
from natxy.search.capacity_goal import CapacityGoal
from natxy.search.mlr_goal import MlrGoal
from natxy.search.settings import LossTolerance
from natxy.trial.profile import Profile
from natxy.trial.seeds import MAX_SEED
from natxy.trial.timing import Timing

SECONDS = Timing(duration_s=Fraction(60), drain_s=Fraction(2))
PLAN: dict[str, Any] = {"timing": SECONDS, "seed": 1, "repetitions": 1}
AT_RATE = {"invalid_repeats": 3, "records": False}
SEARCH = {
    "error": SearchError(fraction=Fraction(1, 1000)),
    "invalid_repeats": 3,
    "early_end": False,
    "loss_verifications": 0,
}


@pytest.mark.parametrize(
    ("kind", "given", "defaults"),
    [
        (throughput.ThroughputPlan, PLAN, SEARCH),
        (establishment_search.EstablishmentPlan, PLAN, SEARCH),
        (latency.LatencyPlan, PLAN, {**AT_RATE, "tags": 50_000}),
        (delay_variation.PdvPlan, PLAN, AT_RATE),
        (delay_variation.IpdvPlan, PLAN, AT_RATE),
        (recovery.RecoveryPlan, PLAN, {**AT_RATE, "after_s": None}),
        (reset.ResetPlan, PLAN, AT_RATE),
        (back_to_back.BackToBackPlan, PLAN, {"invalid_repeats": 3}),
        (
            frame_loss.FrameLossPlan,
            {"timing": SECONDS, "seed": 1},
            {"repetitions": 1, "step": Fraction(1, 10), "invalid_repeats": 3},
        ),
        (
            mlr_throughput.MlrThroughputPlan,
            {"timing": SECONDS, "seed": 1, "goals": (MlrGoal(name="NDR"),)},
            {"repetitions": 1, "min_rate_fps": 100, "invalid_repeats": 3},
        ),
        (tear_down.TearDownPlan, PLAN, {"incomplete_repeats": 3}),
        (capacity.CapacityPlan, {**PLAN, "goal": CapacityGoal(c0=1)}, {"alpha": Fraction(1, 2)}),
        (
            self_test.SelfTestPlan,
            {"seed": 1},
            {
                "sizes_bytes": (84, 128, 256, 512, 1024, 1280, 1518),
                "timing": Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20)),
                "error": SearchError(fraction=Fraction(1, 100)),
            },
        ),
        (
            CapacityGoal,
            {"c0": 1000},
            {
                "error": 1,
                "beta": Fraction(1, 5),
                "gamma": Fraction(2, 5),
                "rate_error": SearchError(fraction=Fraction(1, 20)),
                "first_cps": 1000,
                "patience": 5,
                "invalid_repeats": 10,
            },
        ),
        (
            MlrGoal,
            {"name": "NDR"},
            {
                "tolerance": LossTolerance(fraction=Fraction(0)),
                "exceed_ratio": Fraction(0),
                "width": Fraction(1, 1000),
                "initial_duration_s": Fraction(1),
                "final_duration_s": Fraction(60),
            },
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_what_is_not_given_has_its_default(
    kind: Any, given: dict[str, Any], defaults: dict[str, Any]
) -> None:
    assert kind(**given) == kind(**given, **defaults)


@pytest.mark.parametrize(
    ("profiles", "rfc", "quick"),
    [
        (establishment_search.PROFILES, (60, 2, 5, 10), (0.2, 0.05, 0, 3)),
        (capacity.PROFILES, (60, 2, 5, 10), (0.2, 0.05, 0, 1)),
        (latency.PROFILES, (120, 2, 5, 20), (0.4, 0.05, 0, 3)),
        (delay_variation.PROFILES, (60, 2, 5, 20), (0.2, 0.05, 0, 3)),
        (frame_loss.PROFILES, (60, 2, 5, 1), (0.2, 0.05, 0, 1)),
        (back_to_back.PROFILES, (2, 2, 0, 50), (0.2, 0.2, 0, 3)),
        (recovery.PROFILES, (60, 2, 5, 20), (0.2, 0.05, 0, 3)),
        (reset.PROFILES, (60, 2, 5, 10), (1, 0.1, 0, 3)),
    ],
)
def test_profiles_have_the_durations_and_repetitions_of_the_reference(
    profiles: Mapping[str, Profile], rfc: tuple[float, ...], quick: tuple[float, ...]
) -> None:
    """Duration, drain, settle time and repetitions, as docs/reference/commands.md lists them."""
    for name, expected in (("rfc", rfc), ("quick", quick)):
        profile = profiles[name]
        timing = profile.timing
        times_s = (timing.duration_s, timing.drain_s, timing.settle_s)
        assert (*map(float, times_s), profile.repetitions) == expected


def test_quick_searches_confirm_a_failure_once_and_find_rates_of_a_capacity_coarsely() -> None:
    assert establishment_search.PROFILES["quick"].loss_verifications == 1
    errors = [capacity.PROFILES[name].rate_error.fraction for name in ("rfc", "quick")]
    assert errors == [Fraction(1, 20), Fraction(1, 5)]


@pytest.mark.parametrize(
    ("kind", "given", "member", "option"),
    [
        (latency.LatencyPlan, PLAN, "tags_after_s", "tags_after_s"),
        (recovery.RecoveryPlan, PLAN, "after_s", "after_s"),
        (reset.ResetPlan, PLAN, "reset_after_s", "reset_after_s"),
        (frame_loss.FrameLossPlan, PLAN, "step", "step"),
        (establishment_search.EstablishmentPlan, PLAN, "alpha", "alpha"),
        (capacity.CapacityPlan, {**PLAN, "goal": CapacityGoal(c0=1)}, "alpha", "alpha"),
    ],
)
def test_numbers_are_taken_as_written_and_refused_by_their_option(
    kind: Any, given: dict[str, Any], member: str, option: str
) -> None:
    assert getattr(kind(**given, **{member: 0.1}), member) == Fraction(1, 10)
    with pytest.raises(ConfigurationError, match=f"^{option}: much is not valid"):
        kind(**given, **{member: "much"})
    with pytest.raises(ConfigurationError, match=f"^{option}: -1.* is out of range"):
        kind(**given, **{member: -1})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"repetitions": 0}, "repetitions: 0 is out of range (expected 1 to 1000000)"),
        ({"repetitions": 10**6 + 1}, "repetitions: 1000001 is out of range"),
        ({"seed": -1}, "seed: -1 is out of range (expected 0 to "),
        ({"seed": MAX_SEED + 1}, f"seed: {MAX_SEED + 1} is out of range"),
        ({"seed": "a"}, "seed: 'a' (expected an integer)"),
        ({"seed": "7"}, "seed: '7' (expected an integer)"),
        ({"timing": 0.2}, "timing: 0.2 (expected a Timing)"),
    ],
)
@pytest.mark.parametrize("kind", [delay_variation.PdvPlan, throughput.ThroughputPlan])
def test_a_plan_refuses_repetitions_and_seeds_out_of_their_ranges(
    kind: Any, changes: dict[str, Any], said: str
) -> None:
    for lowest in ({"repetitions": 1, "seed": 0}, {"repetitions": 10**6, "seed": MAX_SEED}):
        assert kind(**PLAN | lowest).seed == lowest["seed"]
    with pytest.raises(ConfigurationError) as refused:
        kind(**PLAN | changes)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    "kind", [throughput.ThroughputPlan, establishment_search.EstablishmentPlan]
)
def test_a_loss_is_verified_at_most_a_hundred_times(kind: Any) -> None:
    assert kind(**PLAN, loss_verifications=100).loss_verifications == 100
    refused = r"^loss_verifications: 101 is out of range \(expected 0 to 100\)$"
    with pytest.raises(ConfigurationError, match=refused):
        kind(**PLAN, loss_verifications=101)
