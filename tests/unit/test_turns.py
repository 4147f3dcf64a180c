"""Campaigns that take turns: their trials alternate, and none is left behind."""

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from natxy.campaign.turns import Turn, take_turns

TRIAL: Any = None  # what a turn does not look at
Campaign = Callable[[Turn], None]


def campaign(name: str, trials: int, log: list[str]) -> Campaign:
    def run(turn: Turn) -> None:
        for number in range(trials):
            log.append(f"{name}{number}")
            turn.trial_ended(TRIAL)
        log.append(f"{name} ends")

    return run


def test_the_trials_of_two_campaigns_alternate() -> None:
    log: list[str] = []
    take_turns([campaign("a", 3, log), campaign("b", 3, log)])
    assert log == ["a0", "b0", "a1", "b1", "a2", "b2", "a ends", "b ends"]


def test_the_longer_campaign_goes_on_alone() -> None:
    log: list[str] = []
    take_turns([campaign("a", 1, log), campaign("b", 3, log)])
    assert log == ["a0", "b0", "a ends", "b1", "b2", "b ends"]


def test_a_trial_of_the_journal_takes_no_turn() -> None:
    log: list[str] = []

    def resumed(turn: Turn) -> None:
        turn.trial_read(TRIAL)
        log.append("read")
        campaign("a", 1, log)(turn)

    take_turns([resumed, campaign("b", 1, log)])
    assert log == ["read", "a0", "b0", "a ends", "b ends"]


@pytest.mark.parametrize("error", [ValueError("full"), KeyboardInterrupt()])
def test_a_failure_ends_all(error: BaseException) -> None:
    """Each removes what it has made, then the error is raised."""
    log: list[str] = []

    def fails(turn: Turn) -> None:
        turn.trial_ended(TRIAL)
        raise error

    def waits(turn: Turn) -> None:
        try:
            campaign("b", 9, log)(turn)
        finally:
            log.append("b removed")

    with pytest.raises(type(error)):
        take_turns([fails, waits])
    assert log == ["b0", "b removed"]
    assert threading.active_count() == 1


def test_an_interrupt_ends_a_trial_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python interrupts the main thread, which waits; the trial learns it from its progress."""
    log: list[str] = []
    runs = threading.Event()

    def measures(turn: Turn) -> None:
        try:
            while True:  # each second, in a trial
                runs.set()
                turn.trial_progressed(TRIAL)
        finally:
            log.append("removed")

    def interrupted(of: threading.Condition, *_: Any) -> None:
        if threading.current_thread() is threading.main_thread() and not log:
            runs.wait()
            raise KeyboardInterrupt
        wait_for(of, *_)

    wait_for = cast("Callable[..., None]", threading.Condition.wait_for)
    monkeypatch.setattr(threading.Condition, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        take_turns([measures, campaign("b", 1, log)])
    assert log == ["removed"]


def test_what_a_campaign_calls_runs_where_an_interrupt_ends_it() -> None:
    log: list[str] = []

    def installs(turn: Turn) -> None:
        turn.call(lambda: log.append(threading.current_thread().name))
        campaign("a", 1, log)(turn)

    take_turns([installs, campaign("b", 1, log)])
    assert log == [threading.main_thread().name, "a0", "b0", "a ends", "b ends"]


def test_what_a_campaign_calls_may_fail() -> None:
    log: list[str] = []

    def full() -> None:
        raise OSError("full")

    def installs(turn: Turn) -> None:
        try:
            turn.call(full)
        finally:
            log.append("removed")

    with pytest.raises(OSError, match="full"):
        take_turns([installs, campaign("b", 1, log)])
    assert log == ["removed"]
    assert threading.active_count() == 1
