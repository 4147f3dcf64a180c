"""464XLAT in two gateways in a row (RFC 6877): a CLAT, and a PLAT behind it.

    initiator ── IPv4 ── CLAT: tayga ── IPv6 ── PLAT: tayga, iptables ── IPv4 ── responder

It is the dual DUT setup of RFC 8219 section 4.2. The CLAT translates each private address to one
IPv6 address (RFC 7915). The PLAT translates back, and masquerades: it is the NAT64 of nat64.py.
"""

from dataclasses import replace

from natxy.dut.addresses import CLAT_PREFIX, NAT64_PREFIX
from natxy.dut.gateway import GatewayOfParts
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.namespace_site import NamespaceSite
from natxy.dut.nat64 import PACKAGES, namespace_nat64
from natxy.dut.tayga import TaygaProcess, Translation


class Xlat464(GatewayOfParts):
    """Both gateways, of which the PLAT has the connection tracking table."""

    def __init__(self, site: NamespaceSite) -> None:
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
        front = TaygaProcess(replace(site, is_front=True), clat)
        super().__init__(site, front, namespace_nat64(site, plat))

    def describe(self) -> dict[str, str]:
        return {**super().describe(), "inner_mtu_bytes": str(self._site.inner_mtu_bytes)}


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
