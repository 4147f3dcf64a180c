"""Gives the gateway a higher priority than other programs on its CPU.

A frame must not wait for another program's time slice: a veth holds 256 frames, which is 1 ms at
256,000 fps, and a slice is 3 ms or more. Measurements on a busy machine showed that the best nice
value is not enough. Real-time throttling would stop a gateway that needs more than 95 % of its CPU
for 50 ms of each second, so a lab switches it off. It would stop a tester and a calibration
gateway as well, which spin in each trial, where one trial follows another within milliseconds.
"""

import os
from contextlib import suppress

from natxy.dut.ledger import Ledger

THROTTLING = "/proc/sys/kernel/sched_rt_runtime_us"
OFF = "-1"

# NAPI threads and the translator have the same rank. With a higher one, a NAPI thread interrupts
# the translator for each frame, which costs more than half of its rate; with a lower one, it waits
# for the translator, and one direction starves under overload.
RANK = 3
NICE = -20  # used where the real-time policy is refused, as in some containers


def put_first(pid: int) -> None:
    """Raises a process's priority; OSError if it has ended or belongs to another user."""
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(RANK))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)


def without_throttling(ledger: Ledger) -> None:
    """Switches real-time throttling off until the lab is removed.

    Some containers refuse this; a trial that the kernel throttles is then INVALID.
    """
    if os.access(THROTTLING, os.W_OK):
        with suppress(OSError):
            ledger.change_setting(THROTTLING, OFF)
