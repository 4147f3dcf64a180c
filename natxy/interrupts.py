"""Delays Ctrl-C until everything is cleaned up."""

import contextlib
import signal
import threading
from collections.abc import Iterator

# The program itself is wrong: Python would return from a handler into the same fault.
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
# These do not end a process, or cannot be handled.
OTHERS = {
    *(signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGKILL),
    *(signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
}
SIGNALS = tuple(sorted(signal.valid_signals() - FAULTS - OTHERS))  # they end a process


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
    before = {s: signal.signal(s, lambda number, _: came.append(number)) for s in _held()}
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _held() -> list[int]:
    """Returns the signals that would interrupt Python code, and the two that ask a process to end.

    Others have their default: a Python program that uses Natxy may have handlers in C for them.
    One that is ignored, as by nohup, stays so: a program that is started here inherits it.
    """
    ends = (signal.SIGTERM, signal.SIGHUP)
    handlers = {s: signal.getsignal(s) for s in SIGNALS}
    return [
        s
        for s, handler in handlers.items()
        if callable(handler) or (s in ends and handler == signal.SIG_DFL)
    ]
