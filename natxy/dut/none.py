"""A gateway that Natxy does not control, and a cable in place of one.

If a gateway that Natxy did not start is on this machine, its CPUs and its threads may be known.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from natxy.dut.base import Dut
from natxy.dut.config import NoDutConfig, OnThisMachine
from natxy.dut.cpus import watched_cpus
from natxy.dut.peers import AtPorts
from natxy.dut.proc_files import local_snapshot
from natxy.dut.process import allowed_cpus, kernel_threads, program_threads, threads_of
from natxy.errors import ConfigurationError, DutError
from natxy.model.source import bytes_of
from natxy.model.telemetry import Snapshot
from natxy.model.trial_spec import WatchedCpu

MOST_DIGITS = 10  # of the number of a process
MOST_THREADS = 1000  # of a gateway on a CPU


class Here:
    """The part of a driver whose gateway may be on this machine: what `[dut]` says of its place."""

    _place = OnThisMachine()
    at_ports: AtPorts | None = None  # where its programs are looked for if no CPU is named
    _found: Mapping[int, int] = MappingProxyType({})  # by thread, the CPU

    @property
    def cpus(self) -> tuple[int, ...]:
        return self._place.cpus

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        """Its CPUs, with the threads of its processes; if none is named, those of programs that may
        run on these CPUs only.

        Of a gateway that is the kernel, or uses it, those are threads of NAPI as well. If no CPU is
        named, those of the programs at the tester's ports. Raises DutError if a process has ended.
        """
        if not self._place.cpus:
            found = self.at_ports.threads() if self.at_ports else {}
            self._found = found if len(found) <= MOST_THREADS else {}
            return watched_cpus(self._runs_on, self._found)
        numbers = self._process_numbers()
        threads = {thread for number in numbers for thread in _threads(number)}
        if not numbers:
            # Where the tester's CPUs are isolated, every program may run on the others only.
            usual = allowed_cpus(1)
            confined = _only_on(self.cpus, program_threads())
            threads = {thread for thread, allowed in confined.items() if allowed != usual}
        threads |= set(_only_on(self.cpus, (each for _, each in kernel_threads("napi/"))))
        if len(threads) > MOST_THREADS:
            raise DutError(
                f"dut.processes: they have {len(threads):,} threads (expected at most "
                f"{MOST_THREADS:,}; name only those that move frames)."
            )
        return watched_cpus(self.cpus, threads)

    def telemetry(self) -> Snapshot:
        if not self._runs_on:
            return Snapshot()
        found = self.at_ports.processes if self.at_ports else ()
        return local_snapshot(self._runs_on, processes=self._process_numbers() or found)

    def _where(self) -> dict[str, str]:
        """Returns what a description has of its place."""
        cpus = self._runs_on
        return {"gateway_cpu": ", ".join(map(str, cpus))} if cpus else {}

    @property
    def _runs_on(self) -> tuple[int, ...]:
        return self.cpus or tuple(sorted(set(self._found.values())))

    def _process_numbers(self) -> tuple[int, ...]:
        return (*self._place.processes, *map(_written, map(Path, self._place.pid_files)))


class NoDut(Here, Dut):
    """Does nothing, so that procedures need not check for a driver."""

    tester_namespace: str | None = None
    _name: str | None = None

    def __init__(self, config: NoDutConfig | None = None) -> None:
        if config is not None:
            self._place, self._name = config, config.name

    def restart(self) -> str:
        raise DutError(
            'dut.kind: natxy cannot reset a gateway of kind "none" (expected kind = "command" with '
            "a command `restart`)."
        )

    def describe(self) -> dict[str, str]:
        named = {"name": self._name} if self._name else {}
        return {"kind": "none"} | named | self._where()


class Cable(NoDut):
    """A cable between the tester's two ports, for the self-test, which keeps no connections."""

    def describe(self) -> dict[str, str]:
        return {"kind": "loop"}


def _written(path: Path) -> int:
    try:
        first, *_ = bytes_of(path).decode().split() or [""]
    except ConfigurationError as error:
        raise DutError(f"dut.pid_files: {error}.") from None
    except UnicodeDecodeError:
        first = ""
    if not first.isdecimal() or len(first) > MOST_DIGITS:
        raise DutError(f"dut.pid_files: {path} has no number (expected that of a process).")
    return int(first)


def _threads(process: int) -> list[int]:
    if threads := threads_of(process):
        return threads
    raise DutError(f"dut.processes: there is no process {process} (expected one of this machine).")


def _only_on(cpus: tuple[int, ...], threads: Iterable[int]) -> dict[int, set[int]]:
    """Returns the threads that may run on these CPUs only, each with the CPUs that it may use."""
    allowed = {thread: allowed_cpus(thread) for thread in threads}
    return {thread: on for thread, on in allowed.items() if on and on <= set(cpus)}
