"""Delays Ctrl-C until everything is cleaned up."""

import contextlib
import signal
import threading
from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Raises signals that arrive in the block only after it.

    It uses handlers instead of a signal mask: the kernel would deliver a masked signal to another
    thread, and Python would still handle it in this one.
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
