"""Skips the check of a gateway during a restart, in which it is gone for a moment."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RestartGuard:
    """A lock for drivers whose `restart` another thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def restarting(self) -> Iterator[None]:
        with self._lock:
            yield

    def unless_restarting(self, check: Callable[[], None]) -> None:
        """Runs the check, unless a restart is in progress, which itself checks the gateway."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            check()
        finally:
            self._lock.release()
