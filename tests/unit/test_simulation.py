"""The simulated gateways and their noise, with which the time line of losses is tested."""

import numpy as np
import pytest

from tests.simulation import gateways as g
from tests.simulation import noise


def test_what_a_watch_sees_contains_each_long_absence() -> None:
    chance = np.random.default_rng(3)
    true = noise.pieces(0.1, 1.0, chance)
    long = true[true[:, 1] - true[:, 0] >= 1.5 * noise.PERIOD_S]
    seen = noise.seen(true, chance)
    assert (seen[:, 0] <= long[:, 0]).all()
    assert (seen[:, 1] >= long[:, 1]).all()


def test_a_core_works_nothing_while_it_is_away() -> None:
    clock = noise.WorkTime(np.array([[1.0, 1.5]]))
    assert clock.at(np.array([0.5, 1.2, 2.0])) == pytest.approx([0.5, 1.0, 1.5])
    assert clock.real(np.array([0.5, 1.25])) == pytest.approx([0.5, 1.75])


def test_a_queue_in_the_model_serves_at_its_rate() -> None:
    times = np.arange(6000) / 60_000
    kept, left = g.leaky(times, 1 / 50_000, 0, 8)
    assert kept.sum() == pytest.approx(5008, abs=2)
    assert np.diff(left[kept]).min() == pytest.approx(1 / 50_000)
