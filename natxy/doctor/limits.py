"""Examines what a control group or a container keeps from this process.

These are CPU time, CPUs and memory, and capabilities, of which a container's root has few.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from natxy.doctor.finding import Finding, Machine, costs, cpu_list, good, impossible, only_if
from natxy.doctor.kernel import ENGINE_MB
from natxy.dut.af_xdp import load_program
from natxy.dut.namespaces import CAPABILITIES as OF_LABS
from natxy.dut.namespaces import needed_for_a_lab

ENOUGH_MB = ENGINE_MB + 256  # with this program
NO_LIMIT_MB = 2**40  # version 1 of control groups writes a large number
NUMBERS = {**OF_LABS, "CAP_PERFMON": 38, "CAP_BPF": 39}  # linux/capability.h
NEEDS = {  # beside those of labs; docs/privileges.md
    "no net_af_packet ports": ("CAP_NET_RAW",),
    "no net_af_xdp ports": ("CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF"),
    "no real-time priority: more invalid trials": ("CAP_SYS_NICE",),
    "no watch of a lab's gateway: its core's absences are its loss": ("CAP_PERFMON",),
}
INCLUDED = {"CAP_BPF": "CAP_SYS_ADMIN", "CAP_PERFMON": "CAP_SYS_ADMIN"}  # before Linux 5.8
FILTERED = "2"  # Seccomp in /proc/self/status


def examine_limits(machine: Machine, worker_cpus: tuple[int, ...]) -> list[Finding]:
    return [cpu_time(machine), allowed_cpus(machine, worker_cpus), memory(machine)]


def allowed_cpus(machine: Machine, worker_cpus: tuple[int, ...]) -> Finding:
    name, shown = "allowed CPUs", machine.status("Cpus_allowed_list")
    allowed = cpu_list(shown)
    kept = [cpu for cpu in worker_cpus if allowed and cpu not in allowed]
    if not kept:
        return good(name, shown or "not visible")
    return impossible(
        name,
        f"{shown}, without CPU {', '.join(map(str, kept))} of the tester",
        cost="the tester does not start on other CPUs",
        remedy="# name allowed CPUs in tester.cores and --cores, or change the cpuset",
    )


@dataclass(frozen=True, kw_only=True)
class Quota:
    """The share of CPU time that a control group has, and how often it was used up."""

    cpus: float
    throttled: int
    periods: int
    where: Path
    remedy: str

    @property
    def words(self) -> str:
        return (
            f"{self.cpus:g} CPUs in {self.where}, throttled in {self.throttled} of {self.periods} "
            "periods"
        )


def cpu_time(machine: Machine) -> Finding:
    """Looks for a quota of this process's control group, and of those around it."""
    name = "CPU quota"
    quotas = [quota for folder in groups(machine, "cpu") if (quota := _quota(machine, folder))]
    if not quotas:
        return good(name, "none")
    least = min(quotas, key=lambda quota: (quota.cpus, -quota.throttled))
    worst = max(quotas, key=lambda quota: quota.throttled)
    allowed = len(cpu_list(machine.status("Cpus_allowed_list")))
    shown = worst if worst.throttled else least
    if not worst.throttled and least.cpus >= allowed > 0:
        return good(name, least.words)
    return costs(
        name,
        shown.words,
        cost="the kernel stops tester and gateway for tens of milliseconds: invalid trials",
        remedy=only_if(
            "the quota is yours; or start it without one (docker: no --cpus; systemd: no "
            "CPUQuota=)",
            shown.remedy,
        ),
    )


def _quota(machine: Machine, folder: Path) -> Quota | None:
    limit, _, period = machine.text(folder / "cpu.max").partition(" ")
    remedy = f"echo max > {shlex.quote(f'/{folder}/cpu.max')}"
    if not limit:  # version 1
        limit = machine.text(folder / "cpu.cfs_quota_us")
        period = machine.text(folder / "cpu.cfs_period_us")
        remedy = f"echo -1 > {shlex.quote(f'/{folder}/cpu.cfs_quota_us')}"
    if not (limit.isdigit() and period.isdigit()):  # "max", "-1", or no such file
        return None
    counted = dict(line.split() for line in machine.text(folder / "cpu.stat").splitlines())
    return Quota(
        cpus=int(limit) / int(period),
        throttled=int(counted.get("nr_throttled", 0)),
        periods=int(counted.get("nr_periods", 0)),
        where=folder,
        remedy=remedy,
    )


def memory(machine: Machine) -> Finding:
    name = "memory limit"
    files = [
        folder / file
        for folder in groups(machine, "memory")
        for file in ("memory.max", "memory.limit_in_bytes")
    ]
    limits = [
        (int(text) // 2**20, file) for file in files if (text := machine.text(file)).isdigit()
    ]
    limit_mb, path = min(limits, default=(NO_LIMIT_MB, Path()))
    if limit_mb >= NO_LIMIT_MB:
        return good(name, "none")
    if limit_mb >= ENOUGH_MB:
        return good(name, f"{limit_mb} MB in {path}")
    return costs(
        name,
        f"{limit_mb} MB in {path}",
        cost=f"the kernel ends the engine, which takes {ENGINE_MB} MB, or a gateway",
        remedy=f"# give at least {ENOUGH_MB} MB, or set tester.memory_mb to less",
    )


def groups(machine: Machine, controller: str) -> list[Path]:
    """Returns the folders of this process's control group, and of those around it that are visible.

    With version 1, each controller has groups of its own.
    """
    own = dict(_memberships(machine))
    found: list[Path] = []
    for kind, options, root, place in _mounts(machine):
        group = own.get("" if kind == "cgroup2" else controller)
        if group is None or (kind == "cgroup" and controller not in options):
            continue
        # A container may see only its own group, as the root.
        inner = group.removeprefix(root.rstrip("/")) if group.startswith(root) else "/"
        folder = Path(place.lstrip("/")) / inner.lstrip("/")
        found += [each for each in (folder, *folder.parents) if each.is_relative_to(place[1:])]
    return [folder for folder in found if ".." not in folder.parts]


def _memberships(machine: Machine) -> Iterator[tuple[str, str]]:
    """Returns each controller of version 1 with its group, and "" with that of version 2."""
    for line in machine.text("proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, group


def _mounts(machine: Machine) -> Iterator[tuple[str, list[str], str, str]]:
    for line in machine.text("proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            root, place = before.split()[3:5]
            yield kind, options.split(","), root, place


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
    except OSError as error:
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
