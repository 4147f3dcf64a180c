"""The Linux kernel as a router, IPv4 and IPv6."""

from natxy.dut.gateway import Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.links import forwarding_restarted


class KernelRouter:
    """A gateway without state that a trial leaves behind, and without a process that can end."""

    table = None

    def __init__(self, site: Site) -> None:
        self._site = site

    def start(self) -> None:
        self._site.links.route(self._site.plan)

    def stop(self) -> None:
        pass

    def reset(self) -> None:
        pass

    def restart(self) -> str:
        return forwarding_restarted(self._site.namespace)

    def recover(self) -> None:
        forwarding_restarted(self._site.namespace)

    def check(self) -> None:
        pass

    processes: tuple[int, ...] = ()  # the kernel's own threads forward

    def fault(self) -> str | None:
        return None

    def describe(self) -> dict[str, str]:
        return {"software": "Linux kernel, IPv4 and IPv6 forwarding"}


DRIVERS = (
    LabDriver(
        name="kernel-router",
        gateway="the Linux kernel as a router",
        ip_versions=((4, 4), (6, 6)),
        make=lambda site, _: KernelRouter(site),
    ),
)
