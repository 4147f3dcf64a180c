"""Examines cores, frequency, clock and virtualisation."""

from natxy.doctor.finding import Finding, Machine, at_boot, costs, cpu_list, good, only_if

CPU = "sys/devices/system/cpu"
STEAL_TOLERATED = 0.001


def examine_processor(machine: Machine) -> list[Finding]:
    return [
        cores(machine),
        isolated_cores(machine),
        threads_of_a_core(machine),
        governor(machine),
        turbo(machine),
        time_stamp_counter(machine),
        clock_source(machine),
        virtualisation(machine),
    ]


def cores(machine: Machine) -> Finding:
    online = cpu_list(machine.text(f"{CPU}/online"))
    state = f"{len(online)} online"
    if len(online) >= 2:
        return good("cores", state)
    return costs(
        "cores",
        state,
        cost="a lab's gateway runs inside the tester's send call: overload makes the tester late "
        "instead of causing loss",
        remedy="# give the machine a second core",
    )


def isolated_cores(machine: Machine) -> Finding:
    isolated = machine.text(f"{CPU}/isolated")
    tickless = machine.text(f"{CPU}/nohz_full").replace("(null)", "")
    if isolated and tickless:
        return good("isolated cores", f"{isolated}; without timer tick: {tickless}")
    return costs(
        "isolated cores",
        f"isolated: {isolated or 'none'}; without timer tick: {tickless or 'none'}",
        cost="other programs and the timer interrupt a worker: invalid trials, longer delays",
        remedy=_isolating(machine),
    )


def _isolating(machine: Machine) -> str:
    """Returns the remedy that isolates all CPUs but the first, which is left to other work."""
    cpus = ",".join(map(str, cpu_list(machine.text(f"{CPU}/online"))[1:]))
    if not cpus:
        return "# give the machine a second core, and isolate it"
    parameters = f"isolcpus={cpus} nohz_full={cpus} rcu_nocbs={cpus}"
    return at_boot("cores", parameters, "name these CPUs in tester.cores")


def threads_of_a_core(machine: Machine) -> Finding:
    if machine.text(f"{CPU}/smt/active") != "1":
        return good("hyper-threading", "off, or not visible")
    return costs(
        "hyper-threading",
        "on",
        cost="a program on a worker's sibling takes up to half of the worker's speed",
        remedy=only_if(
            "other programs can do without these CPUs; or leave the siblings idle",
            "echo off > /sys/devices/system/cpu/smt/control",
        ),
    )


def governor(machine: Machine) -> Finding:
    paths = machine.paths(f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor")
    found = sorted({path.read_text().strip() for path in paths})
    if not found:
        return good("frequency governor", "not visible")
    if found == ["performance"]:
        return good("frequency governor", "performance")
    return costs(
        "frequency governor",
        ", ".join(found),
        cost="the first trials run slower than later ones",
        remedy=f"echo performance | tee /{CPU}/cpu[0-9]*/cpufreq/scaling_governor",
    )


def turbo(machine: Machine) -> Finding:
    intel = machine.text(f"{CPU}/intel_pstate/no_turbo")
    boost = machine.text(f"{CPU}/cpufreq/boost")
    if intel == "0" or boost == "1":
        return costs(
            "turbo",
            "on",
            cost="the tester's and the gateway's speed depend on temperature and on other cores",
            remedy=f"echo 1 > /{CPU}/intel_pstate/no_turbo"
            if intel == "0"
            else f"echo 0 > /{CPU}/cpufreq/boost",
        )
    return good("turbo", "off" if intel or boost else "not visible")


def time_stamp_counter(machine: Machine) -> Finding:
    information = machine.text("proc/cpuinfo")
    line = next((x for x in information.splitlines() if x.startswith(("flags", "Features"))), "")
    flags = set(line.split())
    if line.startswith("Features") or {"constant_tsc", "nonstop_tsc"} <= flags:
        return good("time stamp counter", "invariant")
    missing = ", ".join(sorted({"constant_tsc", "nonstop_tsc"} - flags))
    return costs(
        "time stamp counter",
        f"not reported as invariant ({missing} missing)",
        cost="rates and delays are wrong when the processor's frequency changes",
        remedy="# fix the frequency; in a virtual machine, pass the host's CPU flags on to it",
    )


def clock_source(machine: Machine) -> Finding:
    source = machine.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source in ("tsc", "arch_sys_counter"):
        return good("clock source", source)
    return costs(
        "clock source",
        source or "unknown",
        cost="the kernel does not trust the counter that the tester measures with",
        remedy="dmesg | grep -i clocksource  # boot with tsc=reliable if you know that it is",
    )


def virtualisation(machine: Machine) -> Finding:
    guest = " hypervisor" in machine.text("proc/cpuinfo")
    stolen = _stolen_share(machine)
    if not guest and stolen <= STEAL_TOLERATED:
        return good("virtual machine", "no")
    return costs(
        "virtual machine",
        f"yes; {stolen:.2%} of its time was taken by the host since it started",
        cost="the host stops a worker for milliseconds: invalid trials, delays that the host adds",
        remedy="# measure on hardware, or pin the virtual CPUs; look at the invalid trials",
    )


def _stolen_share(machine: Machine) -> float:
    """Returns the stolen share of time: the eighth of the first eight figures of /proc/stat."""
    line = machine.text("proc/stat").partition("\n")[0].split()[1:9]
    ticks = [int(tick) for tick in line]
    total = sum(ticks)
    return ticks[7] / total if len(ticks) == 8 and total > 0 else 0.0
