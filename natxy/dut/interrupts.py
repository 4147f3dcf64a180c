"""Cleaning up is not cut short by Ctrl-C."""

import contextlib
import signal
import threading
from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """What comes meanwhile comes after it.

    By handlers, not by a mask: a signal that is masked here is taken by another thread, and Python
    handles it here all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts the main thread only
        return
    came: list[int] = []
    before = {s: signal.signal(s, lambda number, _: came.append(number)) for s in SIGNALS}
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
        for number in came[:1]:
            signal.raise_signal(number)
