"""The proposed rule of losses, with the simulated gateways."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from natxy.model.verdict import Verdict
from natxy.search.bisection import SearchError
from tests.simulation import gateways as g
from tests.simulation import noise, rule
from tests.simulation.search import Proposed, Result, Trials
from tests.simulation.trial import Bench, run

GATEWAYS = {
    "queue of 8": g.queue(50_000, 8),
    "queue of 1,000": g.queue(50_000, 1000),
    "policer": g.limited(50_000, 8),
    "poller": g.poller(50_000, 256),
}


def judged(bench: Bench, rate_fps: int, seed: int) -> rule.Judged:
    return rule.judged(run(bench, rate_fps, 0.2, np.random.default_rng(seed)), 0)


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_noise_makes_no_failure_that_the_rate_explains(gateway: g.Gateway) -> None:
    bench = Bench(gateway=gateway, share=0.05)
    assert not any(judged(bench, 49_000, seed).spread for seed in range(15))


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_an_overload_tells_what_the_gateway_does_when_it_is_full(gateway: g.Gateway) -> None:
    """Whatever its queue or bucket holds."""
    bench = Bench(gateway=gateway, share=0.05)
    found = [judged(bench, 60_000, seed) for seed in range(10)]
    full = [each.full_fps for each in found if each.spread]
    assert len(full) >= 8
    assert all(abs(fps / 50_000 - 1) < 0.01 for fps in full)


def test_a_loss_in_an_absence_does_not_count() -> None:
    bench = Bench(gateway=g.queue(50_000, 64), share=0.05)
    seen = run(bench, 45_000, 0.2, np.random.default_rng(1))
    found = rule.judged(seen, 0)
    assert seen.lost > 0
    assert found.verdict is Verdict.PASS
    assert found.excused == seen.lost


def search(bench: Bench, seed: int) -> Result:
    error = SearchError(fraction=Fraction(1, 100))
    return Proposed(
        trials=Trials(bench=bench, chance=np.random.default_rng(seed), error=error)
    ).run()


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_a_short_queue_is_measured_in_noise(share: float) -> None:
    for seed in range(3):
        found = search(Bench(gateway=g.queue(50_000, 8), share=share), seed)
        assert found.exact
        assert abs(found.fps / 50_000 - 1) <= found.error


def test_pauses_that_nobody_watches_make_no_exact_figure() -> None:
    bench = Bench(gateway=g.limited(20_000, 8), share=0.05, watched=False)
    for seed in range(3):
        assert not search(bench, seed).exact


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
    slow = replace(Bench(gateway=g.queue(50_000, 8)), share=0.0)
    assert judged(slow, 49_999, 0).verdict is Verdict.PASS
