"""The gateway comes before other programs on its CPU.

A frame must not wait for another program's time slice: a veth holds 256 frames, 1 ms at 256 kfps,
and a slice is 3 ms or more. On a busy machine a high nice value was measured to be not enough.
The kernel's real-time throttling stops a gateway only where it needs more than 95 % of its CPU for
a second: at such a rate it loses frames in any case.
"""

import os

NAPI = 3  # before the translator: its queue of 10000 frames can wait, a veth's 256 cannot
TRANSLATOR = 2
NICE = -20  # where the real-time policy is refused, as in some containers


def put_first(pid: int, rank: int) -> None:
    """OSError if the process has ended, or belongs to somebody else."""
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(rank))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, pid, NICE)
