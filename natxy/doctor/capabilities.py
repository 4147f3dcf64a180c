"""Examines the capabilities of this process, of which a container's root has few."""

import os
from collections.abc import Callable

from natxy.doctor.finding import Finding, Machine, costs, good
from natxy.dut.af_xdp import RefusedError, load_program
from natxy.dut.namespaces import CAPABILITIES as OF_LABS
from natxy.dut.namespaces import needed_for_a_lab

NUMBERS = {**OF_LABS, "CAP_PERFMON": 38, "CAP_BPF": 39}  # linux/capability.h
NEEDS = {  # beside those of labs; docs/privileges.md
    "no net_af_packet ports": ("CAP_NET_RAW",),
    "no net_af_xdp ports": ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"),
    "no real-time priority: more invalid trials": ("CAP_SYS_NICE",),
    "no watch of a lab's gateway: its core's absences are its loss": ("CAP_PERFMON",),
}
INCLUDED = {"CAP_BPF": "CAP_SYS_ADMIN", "CAP_PERFMON": "CAP_SYS_ADMIN"}  # before Linux 5.8
FILTERED = "2"  # Seccomp in /proc/self/status


def examine_capabilities(machine: Machine, load: Callable[[], int] = load_program) -> list[Finding]:
    held = _held(int(machine.status("CapEff") or "0", 16))
    found = [capabilities(held, no_new=machine.status("NoNewPrivs") == "1")]
    if "CAP_BPF" in held:
        found.append(bpf(load, filtered=machine.status("Seccomp") == FILTERED))
    return found


def _held(mask: int) -> set[str]:
    own = {name for name, number in NUMBERS.items() if mask >> number & 1}
    return own | {name for name, wider in INCLUDED.items() if wider in own}


def capabilities(held: set[str], *, no_new: bool) -> Finding:
    needs = {"no labs": needed_for_a_lab(), **NEEDS}
    asked = {name for needed in needs.values() for name in needed}
    missing = [name for name in NUMBERS if name in asked - held]
    if not missing:
        return good("capabilities", "all that are needed")
    without = [effect for effect, needed in needs.items() if not held.issuperset(needed)]
    added = " ".join(name.replace("CAP_", "--cap-add=") for name in missing)
    words = "; no_new_privs is set: sudo and file capabilities give none" if no_new else ""
    return costs(
        "capabilities",
        f"missing: {', '.join(missing)}{words}",
        cost="; ".join(without),
        remedy=f"# start the container with {added}; docs/privileges.md",
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
            remedy="# start the container with --security-opt seccomp=unconfined"
            if filtered
            else "# use a kernel with CONFIG_BPF_SYSCALL that is not locked down",
        )
    return good("bpf()", "allowed")
