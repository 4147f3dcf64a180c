"""Masquerading rules: sources inside become the gateway's address outside."""

from natxy.dut.execution import execute, in_namespace
from natxy.dut.gateway import Site

TABLE = "natxy"


def nftables_rules(inside: str, outside: str) -> str:
    """Returns the rules for an IPv4 prefix inside and an interface outside."""
    return (
        f"table ip {TABLE} {{\n"
        "  chain postrouting {\n"
        "    type nat hook postrouting priority srcnat\n"
        f'    ip saddr {inside} oifname "{outside}" masquerade\n'
        "  }\n"
        "}\n"
    )


def iptables_rules(inside: str, outside: str) -> str:
    """Returns what iptables-restore reads, which replaces the rules from before."""
    rule = iptables_rule(inside, outside)
    return f"*nat\n-F POSTROUTING\n{rule}\nCOMMIT\n"


def iptables_rule(inside: str, outside: str) -> str:
    return f"-A POSTROUTING -s {inside} -o {outside} -j MASQUERADE"


class NftablesRules:
    name = "nftables"

    def __init__(self, site: Site) -> None:
        self._site = site

    def set(self) -> None:
        """Sets the rules in place of those from before."""
        execute(self._nft(["-f", "-"]), feed=f"table ip {TABLE}\ndelete table ip {TABLE}\n{self}")

    def version(self) -> str:
        return execute(["nft", "--version"]).strip()

    def __str__(self) -> str:
        return nftables_rules(*ends(self._site))

    def _nft(self, arguments: list[str]) -> list[str]:
        return in_namespace(self._site.namespace, ["nft", *arguments])


class IptablesRules:
    name = "iptables"

    def __init__(self, site: Site) -> None:
        self._site = site

    def set(self) -> None:
        """Sets the rules in place of those from before."""
        command = ["iptables-restore", "--noflush"]
        feed = iptables_rules(*ends(self._site))
        execute(in_namespace(self._site.namespace, command), feed=feed)

    def version(self) -> str:
        return execute(["iptables", "--version"]).strip()

    def __str__(self) -> str:
        return iptables_rule(*ends(self._site))


Rules = NftablesRules | IptablesRules


def ends(site: Site) -> tuple[str, str]:
    """Returns the IPv4 prefix inside and the interface outside."""
    inside, outside = site.plan.inside, site.plan.outside
    return inside.ipv4_prefix, site.links.gateway_end(outside)
