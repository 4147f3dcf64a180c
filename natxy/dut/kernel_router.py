"""The Linux kernel as a router, IPv4 and IPv6."""

from natxy.dut.gateway import Gateway
from natxy.dut.lab_drivers import LabDriver


class KernelRouter(Gateway):
    """A gateway without state that a trial leaves behind, and without a process that can end."""

    def restart(self) -> str:
        return self._site.restart_forwarding()

    def recover(self) -> None:
        self.restart()

    def describe(self) -> dict[str, str]:
        return {"software": "Linux kernel, IPv4 and IPv6 forwarding"}


DRIVERS = (
    LabDriver(
        name="kernel-router",
        gateway="the Linux kernel as a router",
        ip_versions=((4, 4), (6, 6)),
        make=KernelRouter,
    ),
)
