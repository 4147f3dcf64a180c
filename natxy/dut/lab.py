"""Bases of the gateways that this process makes, and a cable in place of one.

The tester's ends of a lab's links are AF_XDP or packet sockets for DPDK.
"""

import logging
import sys
import threading
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from natxy.dut import af_xdp
from natxy.dut.addresses import LEFT, RIGHT, AddressPlan, SideAddresses, looped_port
from natxy.dut.base import ConnectionTable, Dut, TesterPorts
from natxy.dut.config import GuestConfig, NamespaceConfig
from natxy.dut.cpus import gateway_cpu
from natxy.dut.execution import execute, in_namespace, ip_batch, set_sysctls
from natxy.dut.gateway import Gateway
from natxy.dut.ledger import Ledger, sweep
from natxy.dut.links import send_whole_frames, veth_line
from natxy.dut.namespaces import make_namespace, need_capabilities
from natxy.dut.recipe import drivers
from natxy.errors import ConfigurationError, DutError
from natxy.interrupts import without_interrupts
from natxy.model.reason import Reason
from natxy.model.testbed import Port

PACKET_BLOCK_BYTES, PACKET_FRAMES = 65536, 8192
LOG = logging.getLogger(__name__)
ENDS = ("t0", "t1")  # the tester's interfaces
LOOP_MTU_BYTES = 1500


class Lab(Dut):
    """A gateway that `start` makes and `stop` removes, with all that its ledger names.

    The tester is in a network namespace, natxy-t-LABEL, if the lab makes one.
    """

    needs_root: ClassVar[bool] = True

    def __init__(self) -> None:
        self._made: Ledger | None = None  # None: not started, or stopped
        self._namespace: str | None = None
        self._device_kind = DeviceKind(name="")

    def start(self) -> None:
        if self.needs_root:
            need_capabilities()
        sweep()
        try:
            self._made = Ledger()
            self._make()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Removes the lab; a second Ctrl-C waits until it is removed."""
        with without_interrupts():
            self._end()
            if self._made is not None:
                ledger, self._made = self._made, None
                ledger.undo()

    def _make(self) -> None:
        """Makes the gateway; what it has made when it raises is removed."""
        raise NotImplementedError

    def _end(self) -> None:
        """Ends the gateway's programs; may be called twice, and after a failed `_make`."""

    @property
    def _ledger(self) -> Ledger:
        """The record of what is made, from `start` to `stop`."""
        assert self._made is not None, "a lab that was started has a ledger"
        return self._made

    @property
    def tester_namespace(self) -> str | None:
        return self._namespace

    def tester_ports(self) -> TesterPorts | None:
        if self._namespace is None:
            return None
        left, right = (
            device_string(self._device_kind, number, end, mtu_bytes=self._mtu_bytes)
            for number, end in enumerate(ENDS)
        )
        return TesterPorts(
            left=self._port(LEFT, left), right=self._port(RIGHT, right), mtu_bytes=self._mtu_bytes
        )

    def _port(self, side: SideAddresses, device: str) -> Port:
        """Returns the tester's port on a side, whose next hop is the port on the other one."""
        return looped_port(side, RIGHT if side is LEFT else LEFT, device)

    @property
    def _mtu_bytes(self) -> int:
        """The MTU of the tester's links."""
        raise NotImplementedError

    def _make_namespace(self) -> str:
        """Makes the namespace; returns its name.

        Its kernel has no IPv6, whose addresses are the engine's, and forwards nothing: it inherits
        that from a machine that forwards.
        """
        name = f"natxy-t-{self._ledger.label}"
        self._ledger.note_namespace(name)
        make_namespace(name)
        set_sysctls(name, {"net/ipv6/conf/default/disable_ipv6": 1, "net/ipv4/ip_forward": 0})
        self._namespace = name
        return name

    def _open_ends(self, wanted: str) -> None:
        """Decides as what the tester's interfaces are opened."""
        self._device_kind = usable_device_kind(str(self._namespace), ENDS[0], wanted)


class VethLoop(Lab):
    """A veth pair between the tester's two ports in place of a gateway, for the self-test."""

    _mtu_bytes: int = LOOP_MTU_BYTES

    def restart(self) -> str:
        raise DutError("A cable cannot be reset (expected a testbed with a gateway).")

    def describe(self) -> dict[str, str]:
        return {"kind": "loop", "name": "veth", "device_kind": str(self._device_kind)}

    def _make(self) -> None:
        name = self._make_namespace()
        ip_batch(name, [veth_line(*ENDS, name, LOOP_MTU_BYTES)])
        for end in ENDS:
            send_whole_frames(name, end)
        ip_batch(name, [f"link set {end} up" for end in ENDS])
        self._open_ends("auto")

    def _end(self) -> None:
        self._namespace = None


class GatewayLab(Lab):
    """A gateway in a lab of its own, which `start` makes and `stop` removes."""

    def __init__(
        self,
        config: NamespaceConfig | GuestConfig,
        plan: AddressPlan,
        *,
        tester_cpus: tuple[int, ...],
    ) -> None:
        driver = drivers(config.kind)[config.driver]
        driver.check_versions(f"dut.driver {config.driver}", plan)
        if driver.stateful and plan.translates and not plan.stateful:  # not even unused connections
            raise ConfigurationError(
                f'connections: is missing, and dut.driver "{config.driver}" is stateful (expected '
                "for example count = 10000)"
            )
        super().__init__()
        self._config = config
        self._driver = driver
        self._plan = plan
        self._cpu = gateway_cpu(config.gateway_cpu, tester_cpus)
        self._cpus = [] if self._cpu is None else [self._cpu]  # those that it uses now
        self._tester_cpus = tester_cpus
        self._gateway: Gateway | None = None
        self._restarting = threading.Lock()  # another thread may call `restart`

    def reset(self) -> None:
        self._running.reset()

    def restart(self) -> str:
        with self._restarting:
            return self._running.restart()

    def trial_fault(self) -> Reason | None:
        if self._restarting.acquire(blocking=False):  # a restart itself checks the gateway
            try:
                self._check()
            finally:
                self._restarting.release()
        return self._running.fault()

    @property
    def table(self) -> ConnectionTable | None:
        return self._gateway.table if self._gateway else None

    @property
    def cpus(self) -> tuple[int, ...]:
        return tuple(self._cpus)

    @abstractmethod
    def _check(self) -> None:
        """Raises DutError if the gateway, or a part of the lab, is gone."""

    @property
    def _running(self) -> Gateway:
        if self._gateway is None:
            raise DutError("The lab is not running; start it first.")
        return self._gateway

    def _port(self, side: SideAddresses, device: str) -> Port:
        if self._driver.in_lab.bridges:
            return super()._port(side, device)
        return self._plan.tester_port(side, device)

    def _open_ends(self, wanted: str) -> None:
        super()._open_ends(wanted)
        warn_of_fallback(self._device_kind)


@dataclass(frozen=True, kw_only=True)
class DeviceKind:
    """The kind of port as which the tester's ends of a lab's links are opened."""

    name: str  # af_xdp or af_packet
    refusal: str = ""  # why it is not af_xdp, which was preferred

    def __str__(self) -> str:
        return f"{self.name}, since {self.refusal}" if self.refusal else self.name


def usable_device_kind(namespace: str, interface: str, wanted: str) -> DeviceKind:
    """Returns `af_xdp` if it works, else `af_packet`; DutError if only af_xdp is wanted."""
    if wanted == "af_packet":
        return DeviceKind(name=wanted)
    try:
        execute(in_namespace(namespace, [sys.executable, "-P", af_xdp.__file__, interface]))
    except DutError as error:
        if wanted == "af_xdp":
            raise DutError(
                f'{error.in_options}; set dut.device = "af_packet" to do without.'
            ) from error
        return DeviceKind(name="af_packet", refusal=_probes_words(error))
    return DeviceKind(name="af_xdp")


def warn_of_fallback(kind: DeviceKind) -> None:
    """Warns if the lab's ports are packet sockets although AF_XDP was preferred."""
    if kind.refusal:
        LOG.warning(
            "natxy: %s. The lab uses packet sockets (net_af_packet) instead, with about half of "
            'the rate and longer delays. Set dut.device = "af_packet" to avoid this message.',
            kind.refusal,
        )


def _probes_words(error: DutError) -> str:
    """Returns the probe's own sentence without its command."""
    return "AF_XDP is refused" + error.in_options.rpartition("AF_XDP is refused")[2]


def device_string(kind: DeviceKind, number: int, interface: str, *, mtu_bytes: int) -> str:
    if kind.name == "af_xdp":
        return f"net_af_xdp{number},iface={interface},busy_budget=0"
    frame_bytes = 2048 if mtu_bytes <= 1500 else 4096  # includes the kernel's header
    return (
        f"net_af_packet{number},iface={interface},blocksz={PACKET_BLOCK_BYTES},"
        f"framesz={frame_bytes},framecnt={PACKET_FRAMES},qdisc_bypass=1"
    )
