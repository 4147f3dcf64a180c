"""What labs in namespaces and in guests share: the gateway in them, its CPUs, and its restart."""

from abc import abstractmethod

from natxy.dut.addresses import AddressPlan, SideAddresses
from natxy.dut.base import ConnectionTable
from natxy.dut.cpus import gateway_cpu
from natxy.dut.devices import warn_of_fallback
from natxy.dut.gateway import Gateway
from natxy.dut.lab import TesterLab
from natxy.dut.restart_guard import RestartGuard
from natxy.errors import DutError
from natxy.model.testbed import Port


class GatewayLab(TesterLab):
    """A gateway in a lab of its own, which `start` makes and `stop` removes."""

    def __init__(self, cpu: int | None, plan: AddressPlan, tester_cpus: tuple[int, ...]) -> None:
        """`cpu` is the one that the testbed gives the gateway; None: a free one."""
        super().__init__()
        self._plan = plan
        self._cpu = gateway_cpu(cpu, tester_cpus)
        self._cpus = [] if self._cpu is None else [self._cpu]  # those that it uses now
        self._tester_cpus = tester_cpus
        self._gateway: Gateway | None = None
        self._guard = RestartGuard()

    def reset(self) -> None:
        self._running.reset()

    def restart(self) -> str:
        with self._guard.restarting():
            return self._running.restart()

    def trial_fault(self) -> str | None:
        self._guard.unless_restarting(self._check)
        return None

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
        return self._plan.tester_port(side, device)

    def _open_ends(self, wanted: str) -> None:
        super()._open_ends(wanted)
        warn_of_fallback(self._device_kind)
