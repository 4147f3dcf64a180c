"""The capabilities of this process (capabilities(7)), and those that a lab needs."""

import os
from pathlib import Path

# linux/capability.h
NUMBERS = {
    "CAP_DAC_OVERRIDE": 1,
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21,
    "CAP_SYS_NICE": 23,
}
# Namespaces and their mounts; links, routes and settings; the tester's ports, and their memory; the
# CPUs of the gateway's threads.
OF_A_LAB = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_SYS_NICE")
# Of other users than root, whom /run/netns and /sys do not belong to.
OF_OTHERS = ("CAP_DAC_OVERRIDE",)
STATUS = Path("/proc/self/status")


def needed_for_a_lab() -> tuple[str, ...]:
    """Returns the capabilities that a lab of this user needs."""
    return OF_A_LAB if os.geteuid() == 0 else (*OF_A_LAB, *OF_OTHERS)


def lacking_for_a_lab() -> tuple[str, ...]:
    """Returns the capabilities that a lab needs and this process has not."""
    held = _held()
    return tuple(name for name in needed_for_a_lab() if not held >> NUMBERS[name] & 1)


def _held() -> int:
    """Returns the effective capabilities, one bit each."""
    lines = STATUS.read_text().splitlines()
    (mask,) = (line.split()[1] for line in lines if line.startswith("CapEff:"))
    return int(mask, 16)
