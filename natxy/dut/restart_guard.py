"""Skips the check of a gateway during a restart, in which it is gone for a moment."""

import threading
from collections.abc import Callable


class RestartGuard:
    """A lock for drivers whose `restart` another thread may call."""

    def __init__(self) -> None:
        self.restarting = threading.Lock()  # taken for the time of a restart

    def unless_restarting(self, check: Callable[[], object]) -> None:
        """Runs the check, unless a restart is in progress, which itself checks the gateway."""
        if not self.restarting.acquire(blocking=False):
            return
        try:
            check()
        finally:
            self.restarting.release()
