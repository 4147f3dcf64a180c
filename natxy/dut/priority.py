"""The gateway comes before other programs on its CPU.

A frame must not wait for another program's time slice: a veth holds 256 frames, 1 ms at 256 kfps,
and a slice is 3 ms or more. On a busy machine the highest nice value was measured to be not enough.
The kernel's real-time throttling stops a gateway only where it needs more than 95 % of its CPU for
a second: at such a rate it loses frames in any case.
"""

import os

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
