"""Examines what interrupts the workers: throttling, interrupts, other programs; and memory."""

from natxy.doctor.finding import Finding, Machine, costs, cpu_list, good, only_if

LOAD_TOLERATED = 0.5
HUGE_PAGES = "sys/kernel/mm/hugepages"
ENGINE_MB = 512  # engine/options.hpp
ENOUGH_KIB = ENGINE_MB * 1024  # free in pages of one size, else the engine uses none


def examine_kernel(machine: Machine, worker_cpus: tuple[int, ...]) -> list[Finding]:
    return [
        real_time_throttling(machine),
        interrupts(machine, worker_cpus),
        load(machine),
        huge_pages(machine),
    ]


def real_time_throttling(machine: Machine) -> Finding:
    runtime = machine.text("proc/sys/kernel/sched_rt_runtime_us")
    period = machine.text("proc/sys/kernel/sched_rt_period_us")
    if runtime == "-1" or (runtime and runtime == period):
        return good("real-time throttling", "off")
    return costs(
        "real-time throttling",
        f"{runtime or '?'} of {period or '?'} us",
        cost="the kernel stops a worker of real-time policy for tens of milliseconds a second",
        remedy=only_if(
            "the tester's cores are isolated; trials of at most 0.25 s need nothing",
            "sysctl -w kernel.sched_rt_runtime_us=-1",
        ),
    )


def interrupts(machine: Machine, worker_cpus: tuple[int, ...]) -> Finding:
    paths = machine.paths("proc/irq/[0-9]*/smp_affinity_list")
    lists = [cpu_list(machine.text(path)) for path in paths]
    there = sum(1 for cpus in lists if set(cpus) & set(worker_cpus))
    name = f"interrupts on CPU {', '.join(map(str, worker_cpus))}"
    if there == 0:
        return good(name, f"none of {len(lists)} allowed")
    return costs(
        name,
        f"{there} of {len(lists)} allowed",
        cost="each interrupt stops a worker for some microseconds",
        remedy=_elsewhere(machine, worker_cpus),
    )


def _elsewhere(machine: Machine, worker_cpus: tuple[int, ...]) -> str:
    """Returns the remedy that gives interrupts to the other CPUs; some cannot be moved."""
    others = set(cpu_list(machine.text("sys/devices/system/cpu/online"))) - set(worker_cpus)
    if not others:
        return "# give the machine a core that the tester does not use"
    listed = ",".join(map(str, sorted(others)))
    return (
        f"for list in /proc/irq/[0-9]*/smp_affinity_list; do echo {listed} > $list; done "
        f"2> /dev/null  # irqaffinity={listed} at boot lasts"
    )


def load(machine: Machine) -> Finding:
    words = machine.text("proc/loadavg").split()
    average = float(words[0]) if words else 0.0
    if average <= LOAD_TOLERATED:
        return good("load", f"{average:.2f}")
    return costs(
        "load",
        f"{average:.2f} over the last minute",
        cost="other programs share the cores of tester and gateway: invalid trials",
        remedy="ps -eo pid,pcpu,comm --sort=-pcpu | head  # end what takes CPU time, or wait",
    )


def huge_pages(machine: Machine) -> Finding:
    free = free_pages(machine, HUGE_PAGES)
    if enough(free):
        return good("huge pages", listed(free))
    return costs(
        "huge pages",
        listed(free),
        cost="the engine uses small pages: TLB misses, and a NIC needs an IOMMU",
        remedy=f"echo {ENOUGH_KIB // 2048} > /{HUGE_PAGES}/hugepages-2048kB/nr_hugepages",
    )


def free_pages(machine: Machine, folder: str) -> list[tuple[int, int]]:
    """Returns the sizes of huge pages in KiB, each with the number of free ones."""
    sizes = [(_size_kib(path.name), path.name) for path in machine.paths(f"{folder}/hugepages-*")]
    counts = ((kib, machine.text(f"{folder}/{name}/free_hugepages")) for kib, name in sorted(sizes))
    return [(kib, int(count or 0)) for kib, count in counts]


def enough(free: list[tuple[int, int]]) -> bool:
    return any(kib * n >= ENOUGH_KIB for kib, n in free)


def listed(free: list[tuple[int, int]]) -> str:
    return ", ".join(f"{n} free of {kib // 1024} MB" for kib, n in free) or "none"


def _size_kib(folder: str) -> int:
    return int(folder.removeprefix("hugepages-").removesuffix("kB"))
