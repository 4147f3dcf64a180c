"""Keeps a check of a device apart from a restart of it, in which it is gone for a moment."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RestartGuard:
    """For a driver whose `restart` another thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def restarting(self) -> Iterator[None]:
        with self._lock:
            yield

    def unless_restarting(self, check: Callable[[], None]) -> None:
        """Runs the check; a restart that still goes on says itself whether the device came back."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            check()
        finally:
            self._lock.release()
