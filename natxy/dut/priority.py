"""The gateway comes before other programs on its CPU.

A frame must not wait for another program's time slice: a veth holds 256 frames, 1 ms at 256 kfps,
and a slice is 3 ms or more. On a busy machine the highest nice value was measured to be not enough.
Real-time throttling would stop a gateway that needs more than 95 % of its CPU for 50 ms of each
second, so a lab switches it off.
"""

import os
from contextlib import suppress

from natxy.dut.ledger import Ledger

THROTTLING = "/proc/sys/kernel/sched_rt_runtime_us"
OFF = "-1"

# One rank for all: a NAPI thread that interrupts the translator for each frame costs more than
# half of its rate, and one that has to wait for it starves a direction under overload.
RANK = 3
NICE = -20  # where the real-time policy is refused, as in some containers


def put_first(pid: int) -> None:
    """OSError if the process has ended, or belongs to somebody else."""
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(RANK))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)


def without_throttling(ledger: Ledger) -> None:
    """Until the lab is taken down. As in some containers it may be refused: a trial that the kernel
    throttles is then INVALID."""
    if os.access(THROTTLING, os.W_OK):
        with suppress(OSError):
            ledger.change_setting(THROTTLING, OFF)
