"""The CPU keys of siitperf.conf as the tester's cores."""

import os

from natxy.model.testbed import TesterSection
from natxy.siitperf.configuration import Configuration
from natxy.siitperf.entries import Warn


def cpu_keys(configuration: Configuration) -> dict[str, int]:
    """Of the active directions, in the engine's order: the senders, then the receivers."""
    active = {
        "CPU-L-Send": configuration.has_forward,
        "CPU-R-Send": configuration.has_reverse,
        "CPU-R-Recv": configuration.has_forward,
        "CPU-L-Recv": configuration.has_reverse,
    }
    return {key: configuration.entries.value(key) for key, wanted in active.items() if wanted}


def cores_of(configuration: Configuration) -> tuple[int, ...]:
    """Each once: where keys name the same core, it does the work of each."""
    return tuple(dict.fromkeys(cpu_keys(configuration).values()))


def with_cores(tester: TesterSection, configuration: Configuration) -> TesterSection:
    """Refuses a core that is not there."""
    for key, cpu in cpu_keys(configuration).items():
        if cpu not in os.sched_getaffinity(0):
            configuration.entries.refuse(
                key, f"there is no CPU {cpu} here, {_list(os.sched_getaffinity(0))} is right"
            )
    return tester.model_copy(update={"cores": cores_of(configuration)})


def with_cores_where_possible(
    tester: TesterSection, configuration: Configuration, warn: Warn
) -> TesterSection:
    """Of a testbed's file: what it says goes before, as its lab may need the other CPUs."""
    cores = cores_of(configuration)
    if "cores" not in tester.model_fields_set and set(cores) <= os.sched_getaffinity(0):
        return tester.model_copy(update={"cores": cores})
    if cores != tester.cores:
        warn(f"{', '.join(cpu_keys(configuration))}: the testbed's cores {tester.cores} are used")
    return tester


def _list(cpus: set[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
