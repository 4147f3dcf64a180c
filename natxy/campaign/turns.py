"""Campaigns that take turns: after each trial of one, the next one goes on.

Only the campaign whose turn it is does anything, so that none disturbs another's trial. What else
the machine does meets all of them alike.
"""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread

from natxy.model.event import Progress
from natxy.model.trial_record import TrialRecord
from natxy.trial.observer import Observer


class _Stopped(BaseException):
    """Ends a campaign whose turn does not come again; a campaign lets it pass as it does Ctrl-C."""


class Turn(Observer):
    """The turn of one campaign; it ends with each trial, but not with one of the journal."""

    def __init__(self, turns: "_Turns") -> None:
        self._turns = turns

    def call(self, function: Callable[[], None]) -> None:
        """Calls a function in the thread that Ctrl-C interrupts; an error of it ends all."""
        self._turns.call(function)

    def trial_progressed(self, progress: Progress) -> None:
        del progress
        self._turns.check()

    def trial_ended(self, trial: TrialRecord) -> None:
        del trial
        self._turns.pass_on(self)

    def trial_read(self, trial: TrialRecord) -> None: ...


class _Turns:
    def __init__(self) -> None:
        self.changed = Condition()
        self.waiting: deque[Turn] = deque()  # all campaigns that have not ended, the next one first
        self.error: BaseException | None = None  # of the first campaign that failed
        self.asked: Callable[[], None] | None = None  # what the waiting thread is to call

    def pass_on(self, turn: Turn) -> None:
        with self.changed:
            self.waiting.rotate(-1)
            self.changed.notify_all()
        self.wait_for(turn)

    def wait_for(self, turn: Turn) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.error or self.waiting[0] is turn)
        self.check()

    def check(self) -> None:
        if self.error:
            raise _Stopped

    def call(self, function: Callable[[], None]) -> None:
        with self.changed:
            self.check()
            self.asked = function
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.error or self.asked is None)
        self.check()

    def answer(self) -> None:
        """Calls what campaigns ask for, until all have ended."""
        while self.waiting:
            with self.changed:
                self.changed.wait_for(lambda: self.asked or not self.waiting)
            if self.asked:
                self.asked()
                with self.changed:
                    self.asked = None
                    self.changed.notify_all()

    def stop(self, error: BaseException) -> None:
        with self.changed:
            self.error = self.error or error
            self.asked = None
            self.changed.notify_all()

    def run(self, turn: Turn, campaign: Callable[[Turn], None]) -> None:
        try:
            self.wait_for(turn)
            campaign(turn)
        except _Stopped:
            pass
        except BaseException as error:  # it is raised in the thread that waits for all
            self.stop(error)
        finally:
            with self.changed:
                self.waiting.remove(turn)
                self.changed.notify_all()


def take_turns(campaigns: Sequence[Callable[[Turn], None]]) -> None:
    """Runs the campaigns, each of which gets its turn, and is to pass the turn its trials.

    If one fails, or at Ctrl-C, all end as if they were interrupted, and the error is raised.
    """
    turns = _Turns()
    own = [Turn(turns) for _ in campaigns]
    turns.waiting += own
    threads = [Thread(target=turns.run, args=each) for each in zip(own, campaigns, strict=True)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        try:
            turns.answer()
            for thread in threads:
                thread.join()
        except BaseException as error:  # Ctrl-C: the labs are removed before this returns
            turns.stop(error)
    if turns.error:
        raise turns.error
