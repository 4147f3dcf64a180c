"""Masquerading rules: sources inside become the gateway's address outside."""

from dataclasses import dataclass
from typing import ClassVar

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


@dataclass(frozen=True)
class NftablesRules:
    """Rules for an IPv4 prefix inside and an interface outside, and the program that sets them."""

    inside: str
    outside: str
    name: ClassVar[str] = "nftables"
    program: ClassVar[str] = "nft"
    command: ClassVar[str] = "nft -f -"

    @property
    def text(self) -> str:
        return nftables_rules(self.inside, self.outside)

    @property
    def feed(self) -> str:
        """What the command reads to set the rules in place of those from before."""
        return f"table ip {TABLE}\ndelete table ip {TABLE}\n{self.text}"

    def __str__(self) -> str:
        return self.text


class IptablesRules(NftablesRules):
    name: ClassVar[str] = "iptables"
    program: ClassVar[str] = "iptables"
    command: ClassVar[str] = "iptables-restore --noflush"

    @property
    def text(self) -> str:
        return f"*nat\n-F POSTROUTING\n{self}\nCOMMIT\n"

    @property
    def feed(self) -> str:
        return self.text

    def __str__(self) -> str:
        return f"-A POSTROUTING -s {self.inside} -o {self.outside} -j MASQUERADE"
