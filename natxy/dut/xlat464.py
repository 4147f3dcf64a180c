"""464XLAT in two gateways in a row (RFC 6877): a CLAT, and a PLAT behind it.

    initiator ── IPv4 ── CLAT: tayga ── IPv6 ── PLAT: tayga, iptables ── IPv4 ── responder

It is the dual DUT setup of RFC 8219 section 4.2. The CLAT translates each private address to one
IPv6 address (RFC 7915). The PLAT translates back, and masquerades: it is the NAT64 of nat64.py.
"""

from dataclasses import replace

from natxy.dut.addresses import CLAT_PREFIX, NAT64_PREFIX
from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import Conntrack
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.nat64 import PACKAGES, Nat64, described_together
from natxy.dut.tayga import Tayga, Translation


class Xlat464(Gateway):
    """Both gateways, of which the PLAT has the connection tracking table."""

    table: Conntrack

    def __init__(self, site: Site, config: NamespaceConfig) -> None:
        super().__init__(site)
        plan = site.plan
        clat = Translation(
            role="CLAT: ",
            device="clat",
            mappings=plan.double_mappings(),
            prefixes=(plan.outside.ipv4_prefix, CLAT_PREFIX),
        )
        plat = Translation(
            role="PLAT: ",
            device="plat",
            mappings=plan.double_mappings(),
            prefixes=(plan.inside.ipv4_prefix, NAT64_PREFIX),
        )
        self._clat = Tayga(replace(site, is_front=True), clat)
        self._plat = Nat64(site, config, plat)
        self.table = self._plat.table

    def translate(self) -> None:
        self._plat.translate()
        self._clat.translate()

    def stop(self) -> None:
        self._clat.stop()
        self._plat.stop()

    def reset(self) -> None:
        """Empties the PLAT's connection tracking table; the CLAT has no state."""
        self._plat.reset()

    def restart(self) -> str:
        return f"{self._clat.restart()}; {self._plat.restart()}"

    def recover(self) -> None:
        self._clat.recover()
        self._plat.recover()

    def check(self) -> None:
        self._clat.check()
        self._plat.check()

    @property
    def processes(self) -> tuple[int, ...]:
        return (*self._clat.processes, *self._plat.processes)

    def fault(self) -> str | None:
        return self._plat.fault()

    def describe(self) -> dict[str, str]:
        inner_mtu_bytes = self._site.links.inner_mtu_bytes
        described = described_together(self._clat.describe(), self._plat.describe())
        return {**described, "inner_mtu_bytes": str(inner_mtu_bytes)}


DRIVERS = (
    LabDriver(
        name="464xlat",
        gateway="464XLAT, two gateways in a row: CLAT by tayga, PLAT by tayga and iptables",
        ip_versions=((4, 4),),
        make=Xlat464,
        stateful=True,
        in_a_row=True,
        packages=PACKAGES,
    ),
)
