"""A lab with a virtual machine: the tester in a network namespace, the gateway in a guest.

    natxy-t-LABEL            guest
engine: t0 ──── tap ──── eth0 ┐
                              ├ Jool, ...
        t1 ──── tap ──── eth1 ┘
"""

import platform
import time
from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.base import Dut
from natxy.dut.config import GuestConfig
from natxy.dut.conntrack import Conntrack
from natxy.dut.cpus import gateway_cpus, watched_cpus
from natxy.dut.ds_lite import Aftr, DsLite
from natxy.dut.execution import execute, in_namespace, ip_batch
from natxy.dut.gateway import Gateway
from natxy.dut.jool import Jool, JoolSiit
from natxy.dut.lab import ENDS, GatewayLab
from natxy.dut.namespaces import namespace_exists, read_inside
from natxy.dut.proc_files import cpu_times, cpu_times_in, ring_drops
from natxy.dut.recipe import Recipe
from natxy.dut.site import GUEST_MTU_BYTES, GuestSite
from natxy.errors import DutError
from natxy.guest.image import image_of_this_process, versions_in
from natxy.guest.machine import QEMU, Machine, MachineSpec, boot, need_qemu
from natxy.model.telemetry import Snapshot
from natxy.model.trial_spec import WatchedCpu

RING_FRAMES = 1000  # of a tap; 50 ms of frames for a guest that forwards 20,000 a second
FIRST = ["nice", "-n", "-20"]  # before other programs on its CPU; it must share it with itself
# First the memory of slabs, then a line for all CPUs and one for each. It is one question for the
# channel, and no program that the guest would have to start.
USE = """
while read -r name kb _; do [ $name = Slab: ] && echo $kb && break; done </proc/meminfo
while read -r line && [[ $line = cpu* ]]; do echo "$line"; done </proc/stat"""
MEMORY_OF = "the slabs of the guest's kernel"

# Those whose table is not the kernel's, or that make a tunnel for each subscriber. The others are
# what their recipes say.
MAKERS: dict[str, type[Gateway]] = {
    "aftr": Aftr,
    "ds-lite": DsLite,
    "jool": Jool,
    "jool-siit": JoolSiit,
}


def gateway_of(site: GuestSite, recipe: Recipe) -> Gateway:
    """Returns the gateway of a recipe in a guest, not started yet."""
    tracks = recipe.stateful and recipe.in_lab.conntrack
    make = MAKERS.get(recipe.in_lab.driver, Gateway)
    return make(site, recipe, Conntrack(site) if tracks else None)


class GuestDut(GatewayLab):
    _config: GuestConfig
    _mtu_bytes: int = GUEST_MTU_BYTES
    _cores: int = 1
    _folder: Path | None = None
    _image: Path | None = None  # its folder in the cache
    _machine: Machine | None = None

    def recover(self) -> None:
        """Boots the guest anew: a table that was too large may have taken all of its memory."""
        self._boot()

    def serves_as(self, other: Dut) -> bool:
        """Returns whether the other device would be the same lab, with as many cores."""
        return isinstance(other, GuestDut) and self._needs() == other._needs()

    def renew(self) -> None:
        self._check()
        self._running.renew()

    def _needs(self) -> tuple[object, ...]:
        return self._config, self._plan, self._tester_cpus, self._cpus

    def set_cores(self, cores: int) -> None:
        """Boots the guest with so many virtual CPUs, on as many of this machine's."""
        if self._cpu is None:
            raise DutError(
                "The guest has no core of its own (expected a machine on which tester.cores leaves "
                "a CPU free)."
            )
        cpus = gateway_cpus(self._cpu, self._tester_cpus, cores)
        if cpus != self._cpus:
            self._cpus, self._cores = cpus, cores
            self._boot()

    def describe(self) -> dict[str, str]:
        assert self._image is not None, "a guest that runs has an image"
        own = dict.fromkeys(self._driver.in_lab.packages.values())
        packages = (*own, f"linux-image-{self._release}")
        return {
            "kind": "guest",
            "name": f"guest-{self._config.driver}",
            "driver": self._config.driver,
            **self._running.describe(),
            "packages": versions_in(self._image, packages),
            "kernel": f"Linux {self._release}",
            "host_kernel": f"{platform.system()} {platform.release()}",
            "qemu": execute([QEMU, "--version"]).splitlines()[0],
            "accelerator": self.machine.accelerator,
            "cores": str(self._cores),
            "memory_mb": str(self._config.memory_mb),
            "gateway_cpu": ", ".join(map(str, self._cpus)) or "any",
            "mtu_bytes": str(GUEST_MTU_BYTES),
            "tester_device": str(self._device_kind),
        }

    def before_trial(self) -> None:
        self.machine.check()

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        """The CPUs of QEMU, with all of its threads: the guest's CPUs, and what moves frames."""
        return watched_cpus(self._cpus, self.machine.threads)

    def telemetry(self) -> Snapshot:
        """Returns what the guest says of its CPUs and its kernel, and times of QEMU's CPUs.

        Each question takes the guest some milliseconds, more than a lab in namespaces needs.
        """
        drops: dict[str, int] = {}
        ends = dict(zip(ENDS, (LEFT.name, RIGHT.name), strict=True))
        read_inside({str(self._namespace): lambda: drops.update(ring_drops(ends))})
        slab_kb, *stat = self.machine.run(USE).splitlines()
        return Snapshot(
            at_s=time.monotonic(),
            cpus=cpu_times_in(stat),
            host_cpus=cpu_times(self._cpus),
            memory_bytes=int(slab_kb) * 1024,
            memory_of=MEMORY_OF,
            connections=None if self.table is None else self.table.count(),
            drops=drops or None,
        )

    def _check(self) -> None:
        self.machine.check()
        self._running.check()
        if self._namespace is None or not namespace_exists(self._namespace):
            raise DutError(f"The lab is gone: namespace {self._namespace} has been removed.")

    @property
    def machine(self) -> Machine:
        """The guest; DutError if the lab is not running."""
        if self._machine is None:
            raise DutError("The lab is not running; start it first.")
        return self._machine

    @property
    def _release(self) -> str:
        return self.machine.run("uname -r").strip()

    def _make(self) -> None:
        need_qemu()
        self._image = image_of_this_process()
        lines = [f"tuntap add dev {tap} mode tap" for tap in ENDS]
        more = f"mtu {GUEST_MTU_BYTES} txqueuelen {RING_FRAMES} up"
        lines += [f"link set {tap} {more}" for tap in ENDS]
        ip_batch(self._make_namespace(), lines)
        self._open_ends(self._config.device)
        self._folder = self._ledger.make_folder()
        self._boot()

    def _boot(self) -> None:
        """Boots the guest, in place of one that runs, and starts the gateway in it."""
        assert self._namespace is not None, "a lab has a namespace"
        assert self._folder is not None, "a lab has a folder"
        assert self._image is not None, "a lab has an image"
        self._end_machine()
        cpus = ["taskset", "-c", ",".join(map(str, self._cpus))] if self._cpus else []
        spec = MachineSpec(
            image=self._image,
            taps=ENDS,
            prefix=tuple(in_namespace(self._namespace, [*cpus, *FIRST])),
            console=self._folder / "console.log",
            cores=self._cores,
            memory_mb=self._config.memory_mb,
            accelerator=self._config.accelerator,
        )
        self._machine = boot(spec, self._ledger.note_process)
        clocks = self._machine.clocks()
        site = GuestSite(ask=self._machine.run, plan=self._plan, config=self._config)
        site.route()
        site.spread_frames(self._cores)
        self._gateway = gateway_of(site, self._driver)
        self._gateway.start()
        self._machine.check_clock(clocks)

    def _end(self) -> None:
        self._end_machine()
        self._namespace = None

    def _end_machine(self) -> None:
        self._gateway = None
        if self._machine is not None:
            machine, self._machine = self._machine, None
            machine.stop()
