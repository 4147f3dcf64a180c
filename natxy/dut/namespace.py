"""A lab on this machine: the tester in one network namespace, the gateway in another.

    natxy-t-LABEL                natxy-g-LABEL
engine: t0 ──────── veth ──────── d0-LABEL ┐
                                           ├ kernel, tayga, ...
        t1 ──────── veth ──────── d1-LABEL ┘

Two gateways in a row have a namespace each: natxy-f-LABEL is the one on the initiator's side.
"""

import platform

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import SharedConntrack
from natxy.dut.cpus import gateway_cpus, thread_napi, watched_cpus, without_throttling
from natxy.dut.execution import how_to_install, missing_programs
from natxy.dut.gateway import Gateway
from natxy.dut.lab import GatewayLab
from natxy.dut.links import LabLinks, spread_frames
from natxy.dut.namespaces import make_namespace
from natxy.dut.proc_files import local_snapshot
from natxy.dut.site import NamespaceSite
from natxy.errors import DutError
from natxy.model.telemetry import Snapshot
from natxy.model.trial_spec import WatchedCpu

PLAIN_MTU_BYTES = 1500
TRANSLATING_MTU_BYTES = 2000  # a frame grows by 20 octets from IPv4 to IPv6


class NamespaceDut(GatewayLab):
    _config: NamespaceConfig
    _links: LabLinks | None = None
    _napi_threads: tuple[int, ...] = ()

    def recover(self) -> None:
        self._running.recover()

    def set_cores(self, cores: int) -> None:
        """Uses the gateway's CPU and others; frames are spread over them by flow."""
        if self._links is None or self._cpu is None:
            raise DutError(
                "The gateway runs on the tester's CPU and has no core of its own (expected a "
                "machine on which tester.cores leaves a CPU free)."
            )
        self._cpus = gateway_cpus(self._cpu, self._tester_cpus, cores)
        spread_frames(self._links, self._cpus)

    def describe(self) -> dict[str, str]:
        return {
            "kind": "namespace",
            "name": self._name,
            "driver": self._config.driver,
            **self._running.describe(),
            "kernel": f"{platform.system()} {platform.release()}",
            "gateway_cpu": "the tester's, inside its send call"
            if self._cpu is None
            else ", ".join(map(str, self._cpus)),
            "mtu_bytes": str(self._mtu_bytes),
            "tester_device": str(self._device_kind),
        }

    def before_trial(self) -> None:
        self._running.check()

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        """The gateway's CPUs; none if it runs inside the tester's send call."""
        if self._links is None or self._cpu is None:
            return ()
        return watched_cpus(self._cpus, (*self._napi_threads, *self._running.processes))

    def telemetry(self) -> Snapshot:
        """Returns the times of its CPUs; of all if it runs inside the tester's send call."""
        return local_snapshot(
            self.cpus,
            processes=self._running.processes,
            links=self._links,
            tracks=self.table is not None,
        )

    @property
    def gateway_namespace(self) -> str | None:
        return self._links.gateway if self._links else None

    def _check(self) -> None:
        self._running.check()
        assert self._links is not None, "a gateway has links"
        self._links.check()

    @property
    def _name(self) -> str:
        """The name in results; the kernel is one router for IPv4 and another for IPv6."""
        version = self._plan.left_ip_version
        driver = self._config.driver
        return f"{driver}-ipv{version}" if driver == "kernel-router" else driver

    @property
    def _mtu_bytes(self) -> int:
        plain = TRANSLATING_MTU_BYTES if self._plan.translates else PLAIN_MTU_BYTES
        return self._config.mtu_bytes or plain

    def check_programs(self) -> None:
        """Raises DutError if a program that the gateway runs is not installed."""
        if missing := missing_programs(self._driver.in_lab.packages):
            raise DutError(f"dut.driver {self._config.driver}: {how_to_install(missing)}.")

    def _make(self) -> None:
        self.check_programs()
        self._napi_threads = ()
        self._links = links = LabLinks(
            label=self._ledger.label,
            mtu_bytes=self._mtu_bytes,
            front=self._plan.inside if self._driver.in_lab.in_a_row else None,
        )
        self._make_namespace()
        for name in links.gateways:
            self._ledger.note_namespace(name)
            make_namespace(name)
        links.make()
        if self._cpu is not None:
            without_throttling(self._ledger)
            # The link between two gateways gets no NAPI threads. What sends on it runs on the
            # gateway's CPU already, where a plain veth hands each frame on at once, to the long
            # queue of the next translator. A NAPI thread has the same rank as the translators: it
            # would wait while one of them sends, and its ring of 256 frames would overflow.
            for side in (LEFT, RIGHT):
                name = links.gateway_end(side)
                self._napi_threads += thread_napi(links.gateway_of(side), name, self._cpu)
        self._open_ends(self._config.device)
        links.route(self._plan)
        site = NamespaceSite(
            links=links,
            plan=self._plan,
            config=self._config,
            cpu=self._cpu,
            ledger=self._ledger,
            folder=self._ledger.make_folder(),
        )
        table = SharedConntrack(site) if self._driver.stateful else None
        self._gateway = Gateway(site, self._driver, table)
        self._gateway.start()

    def _end(self) -> None:
        if self._gateway is not None:
            self._gateway.stop()
            self._gateway = None
