"""Cleaning up is not cut short by the second Ctrl-C."""

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C and SIGTERM are held back, and come after it."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
