"""Examines the capabilities of this process, of which a container's root has few."""

import os
from collections.abc import Callable

from natxy.doctor.finding import Finding, Machine, costs, good
from natxy.dut.af_xdp import RefusedError, load_program

# linux/capability.h
NUMBERS = {
    "NET_ADMIN": 12,
    "NET_RAW": 13,
    "SYS_ADMIN": 21,
    "SYS_NICE": 23,
    "PERFMON": 38,
    "BPF": 39,
}
NEEDS = {  # docs/privileges.md
    "no labs": ("SYS_ADMIN", "NET_ADMIN"),
    "no net_af_packet ports": ("NET_RAW",),
    "no net_af_xdp ports": ("NET_RAW", "NET_ADMIN", "BPF"),
    "no real-time priority: more invalid trials": ("SYS_NICE",),
    "no watch of a lab's gateway: its core's absences are its loss": ("PERFMON",),
}
INCLUDED = {"BPF": "SYS_ADMIN", "PERFMON": "SYS_ADMIN"}  # before Linux 5.8
FILTERED = "2"  # Seccomp in /proc/self/status


def examine_capabilities(machine: Machine, load: Callable[[], int] = load_program) -> list[Finding]:
    held = _held(int(machine.status("CapEff") or "0", 16))
    found = [capabilities(held, no_new=machine.status("NoNewPrivs") == "1")]
    if "BPF" in held:
        found.append(bpf(load, filtered=machine.status("Seccomp") == FILTERED))
    return found


def _held(mask: int) -> set[str]:
    own = {name for name, number in NUMBERS.items() if mask >> number & 1}
    return own | {name for name, wider in INCLUDED.items() if wider in own}


def capabilities(held: set[str], *, no_new: bool) -> Finding:
    missing = [name for name in NUMBERS if name not in held]
    if not missing:
        return good("capabilities", "all that are needed")
    without = [effect for effect, needed in NEEDS.items() if not held.issuperset(needed)]
    words = "; no_new_privs is set: sudo and file capabilities give none" if no_new else ""
    return costs(
        "capabilities",
        f"missing: {', '.join(f'CAP_{name}' for name in missing)}{words}",
        cost="; ".join(without),
        remedy="start the container with "
        f"{' '.join(f'--cap-add={name}' for name in missing)}; docs/privileges.md",
    )


def bpf(load: Callable[[], int], *, filtered: bool) -> Finding:
    """Loads a program, which a filter of system calls (seccomp) may refuse to root as well."""
    try:
        os.close(load())
    except (RefusedError, OSError) as error:
        why = "the container's filter of system calls (seccomp)" if filtered else "the kernel"
        return costs(
            "bpf()",
            f"refused by {why}: {error}",
            cost="no net_af_xdp ports; labs use packet sockets",
            remedy="start the container with --security-opt seccomp=unconfined"
            if filtered
            else "use a kernel with CONFIG_BPF_SYSCALL that is not locked down",
        )
    return good("bpf()", "allowed")
