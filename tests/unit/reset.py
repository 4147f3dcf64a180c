"""What tests of reset share with others."""

import time
from collections.abc import Callable

from natxy.dut.none import NoDut

GONE = range(400, 650)  # 25 ms


class Switch(NoDut):
    """A gateway that says when it was reset."""

    def __init__(self, does: Callable[[], None] = lambda: None) -> None:
        self.resets = 0
        self._does = does

    def restart(self) -> str:
        self._does()
        self.resets += 1
        return "power interruption: a switch"


def pause() -> None:
    """Waits as long as the trial that is not really run."""
    time.sleep(0.03)
