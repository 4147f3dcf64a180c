"""Stateful NAT64 in two parts: tayga translates one to one, then the kernel masquerades.

It is the setup of Lencse and Shima, stateful NAT64 methodology, appendix A.3.
"""

from natxy.dut.gateway import GatewayOfParts
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.masquerade import IptablesRules
from natxy.dut.namespace_site import NamespaceSite
from natxy.dut.nat44 import NamespaceNat44
from natxy.dut.tayga import TaygaProcess, Translation

PACKAGES = {"tayga": "tayga", "iptables": "iptables", "conntrack": "conntrack"}


class Nat64(GatewayOfParts):
    """A tayga, whose own mappings are static, and a NAT44."""

    def restart(self) -> str:
        done = self._parts[0].restart()
        self.reset()
        return f"{done}, connection tracking table emptied"


def namespace_nat64(site: NamespaceSite, translation: Translation | None = None) -> Nat64:
    """Returns the NAT64 of a namespace; without a translation, with that of its IP versions."""
    return Nat64(site, TaygaProcess(site, translation), NamespaceNat44(site, IptablesRules))


DRIVERS = (
    LabDriver(
        name="nat64",
        gateway="stateful NAT64: tayga translates, iptables masquerades",
        ip_versions=((6, 4),),
        make=namespace_nat64,
        stateful=True,
        packages=PACKAGES,
    ),
)
