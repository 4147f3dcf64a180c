"""No figure that is marked as exact is outside its stated error: any gateway, in noise or not."""

import pytest

from tests.accuracy import truth

RUNS = 10
QUICK = ["policer-8", "connections"]


def check(name: str, noise_percent: float, number: int, *, watch: truth.Watch) -> None:
    found = truth.runs(name, noise_percent, number, watch=watch)
    print(truth.line(name, noise_percent, found, watch=watch))
    assert truth.wrong(name, noise_percent, found, watch=watch) == []


@pytest.mark.parametrize("name", QUICK)
def test_a_search_in_noise_finds_the_rate_or_says_that_it_does_not(name: str) -> None:
    check(name, 5, 1, watch="record")


@pytest.mark.parametrize("noise_percent", [0, 5])
def test_a_gateway_that_polls_is_watched_by_its_cpu_and_loses_no_time(noise_percent: float) -> None:
    """What kept its CPU awake took 4 ms from it: more than its queue of 64 frames holds."""
    check("queue-64", noise_percent, 1, watch="cpu")


@pytest.mark.long
@pytest.mark.parametrize("watch", truth.KINDS)
@pytest.mark.parametrize("noise_percent", [0, 5, 10])
@pytest.mark.parametrize("name", truth.ROWS)
def test_no_exact_figure_is_wrong(name: str, noise_percent: float, watch: truth.Watch) -> None:
    check(name, noise_percent, RUNS, watch=watch)
