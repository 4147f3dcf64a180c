"""The values that a lab gives to the variables of a recipe (OF_LABS and SITE of recipe.py)."""

from natxy.dut.addresses import (
    CLAT_PREFIX,
    LEFT,
    NAT64_PREFIX,
    RIGHT,
    VIRTUAL_IPV6_PREFIX,
    AddressPlan,
)
from natxy.dut.gateway import Site


def lab_values(site: Site) -> dict[str, str]:
    plan = site.plan
    inside, outside = plan.inside, plan.outside
    shown = dict(plan.double_mappings())
    return {
        "folder": str(site.folder),
        "mtu_bytes": str(site.inner_mtu_bytes),
        "inside": site.end(inside),
        "outside": site.end(outside),
        "inside_network": inside.ipv4_prefix,
        "outside_network": outside.ipv4_prefix,
        # Two gateways in a row: IPv4 alone at the tester, IPv6 alone between the two.
        "inside_hosts_as_six": shown[inside.ipv4_prefix],
        "outside_hosts_as_six": shown[outside.ipv4_prefix],
        "clat_prefix": CLAT_PREFIX,
        "nat64_prefix": NAT64_PREFIX,
        **(_of_translation(site, plan) if plan.translates else {}),
    }


def _of_translation(site: Site, plan: AddressPlan) -> dict[str, str]:
    """Returns the mappings between the IPv6 side and the IPv4 side, one for each network."""
    six, four = (LEFT, RIGHT) if plan.left_ip_version == 6 else (RIGHT, LEFT)
    mappings = plan.mappings()
    half = len(mappings) // 2
    of_six, of_four = mappings[:half], mappings[half:]
    return {
        "six": site.end(six),
        "four": site.end(four),
        "six_hosts": " ".join(ipv6 for _, ipv6 in of_six),
        "six_hosts_as_four": " ".join(ipv4 for ipv4, _ in of_six),
        "four_hosts": " ".join(ipv4 for ipv4, _ in of_four),
        "four_hosts_as_six": " ".join(ipv6 for _, ipv6 in of_four),
        "six_network_as_four": six.ipv4_prefix,
        "four_network_as_six": VIRTUAL_IPV6_PREFIX,
    }
