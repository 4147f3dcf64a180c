"""Stateful NAT64 in two parts: tayga translates one to one, then the kernel masquerades.

It is the setup of Lencse and Shima, stateful NAT64 methodology, appendix A.3.
"""

from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import Conntrack
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.masquerade import IptablesRules
from natxy.dut.nat44 import Nat44
from natxy.dut.tayga import Tayga, Translation, single_translation

PACKAGES = {"tayga": "tayga", "iptables": "iptables", "conntrack": "conntrack"}


class Nat64(Gateway):
    table: Conntrack

    def __init__(self, site: Site, config: NamespaceConfig, translation: Translation) -> None:
        super().__init__(site)
        self._tayga = Tayga(site, translation)
        self._nat44 = Nat44(site, config, IptablesRules(site))
        self.table = self._nat44.table

    def translate(self) -> None:
        self._tayga.translate()
        self._nat44.translate()

    def stop(self) -> None:
        self._nat44.stop()
        self._tayga.stop()

    def reset(self) -> None:
        """Empties the connection tracking table; tayga's own mappings are static."""
        self._nat44.reset()

    def restart(self) -> str:
        done = self._tayga.restart()
        self.reset()
        return f"{done}, connection tracking table emptied"

    def recover(self) -> None:
        self._tayga.recover()
        self._nat44.recover()

    def check(self) -> None:
        self._tayga.check()

    @property
    def processes(self) -> tuple[int, ...]:
        return self._tayga.processes

    def fault(self) -> str | None:
        return self._nat44.fault()

    def describe(self) -> dict[str, str]:
        return described_together(self._tayga.describe(), self._nat44.describe())


def described_together(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """Returns the description of a gateway that has two parts."""
    both = {key: f"{one[key]}; {other[key]}" for key in ("software", "configuration")}
    return {**one, **other, **both}


DRIVERS = (
    LabDriver(
        name="nat64",
        gateway="stateful NAT64: tayga translates, iptables masquerades",
        ip_versions=((6, 4),),
        make=lambda site, config: Nat64(site, config, single_translation(site.plan)),
        stateful=True,
        needs_connections=True,
        packages=PACKAGES,
    ),
)
