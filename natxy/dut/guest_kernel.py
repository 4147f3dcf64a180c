"""The guest's Linux kernel as a router, and as a NAT44 by nftables or iptables."""

from math import ceil
from typing import ClassVar

from natxy.dut.base import Deletion, TableParameters
from natxy.dut.conntrack import DELETES_WITHIN_S, TIMEOUTS
from natxy.dut.guest_gateway import GuestGateway, GuestSite, fed, seconds_of, timed
from natxy.dut.masquerade import TABLE, iptables_rules, nftables_rules
from natxy.errors import DutError

SETS_WITHIN_S = 600.0  # rules with an element for each of 4,096 B4s, in an emulated guest
CONNTRACK = "/proc/sys/net/netfilter"


class GuestRouter(GuestGateway):
    title: ClassVar[str] = "Linux router"
    packages: ClassVar[tuple[str, ...]] = ()  # of the guest itself
    outward: ClassVar[tuple[tuple[int, int], ...]] = ((4, 4), (6, 6))

    def restart(self) -> str:
        return forwarding_restarted(self._site)

    def describe(self) -> dict[str, str]:
        return {"software": "Linux kernel, IPv4 and IPv6 forwarding"}


class GuestNat44(GuestGateway):
    title: ClassVar[str] = "Linux, stateful NAT44 by nftables"
    packages: ClassVar[tuple[str, ...]] = ("nftables",)
    outward: ClassVar[tuple[tuple[int, int], ...]] = ((4, 4),)
    by: ClassVar[str] = "masquerading by nftables"
    table: "GuestConntrack"

    def __init__(self, site: GuestSite) -> None:
        super().__init__(site)
        self.table = GuestConntrack(site)
        self._at_start = TableParameters()

    def start(self) -> None:
        self._masquerade()
        config = self._site.config
        self.table.set_timeout(config.udp_timeout_s)
        self.table.resize(
            entries=config.conntrack_entries,
            hash_size=config.hash_size or config.conntrack_entries,
        )
        self._at_start = self.table.parameters()

    def renew(self) -> None:
        self.reset()
        self.table.set_timeout(self._site.config.udp_timeout_s)
        self.table.resize(entries=self._at_start.entries, hash_size=self._at_start.hash_size)

    def reset(self) -> None:
        self._site.run("conntrack -F", DELETES_WITHIN_S)

    def restart(self) -> str:
        done = forwarding_restarted(self._site)
        self.reset()
        return f"{done}, connection tracking table emptied"

    def describe(self) -> dict[str, str]:
        table = self.table.parameters()
        return {
            "software": f"Linux kernel, {self.by}",
            "configuration": self._rules,
            "conntrack_entries": str(table.entries),
            "conntrack_buckets": str(table.hash_size),
            "udp_timeout_s": f"{table.timeout_s:g}",
        }

    def _masquerade(self) -> None:
        """Sets the rules in place of those from before."""
        rules = f"table ip {TABLE}\ndelete table ip {TABLE}\n{self._rules}"
        self._site.run(fed("nft -f -", rules), SETS_WITHIN_S)

    @property
    def _rules(self) -> str:
        return nftables_rules(*self._ends)

    @property
    def _ends(self) -> tuple[str, str]:
        """Returns the IPv4 prefix inside and the interface outside."""
        plan = self._site.plan
        return plan.inside.ipv4_prefix, self._site.end(plan.outside)


class GuestIptablesNat44(GuestNat44):
    title: ClassVar[str] = "Linux, stateful NAT44 by iptables"
    packages: ClassVar[tuple[str, ...]] = ("iptables",)
    by: ClassVar[str] = "masquerading by iptables"

    def _masquerade(self) -> None:
        self._site.run(fed("iptables-restore --noflush", self._rules))

    @property
    def _rules(self) -> str:
        return iptables_rules(*self._ends)


class GuestConntrack:
    """The ConnectionTable of the guest's kernel, all of whose sizes belong to the guest alone."""

    def __init__(self, site: GuestSite) -> None:
        self._site = site

    def parameters(self) -> TableParameters:
        names = ("nf_conntrack_max", "nf_conntrack_buckets", *TIMEOUTS)
        entries, hash_size, *timeouts = (self._number(name) for name in names)
        return TableParameters(entries=entries, hash_size=hash_size, timeout_s=float(min(timeouts)))

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        for name, value in (("nf_conntrack_buckets", hash_size), ("nf_conntrack_max", entries)):
            if value is not None:
                self._site.run(f"echo {value} >{CONNTRACK}/{name}")

    def set_timeout(self, timeout_s: float) -> None:
        whole_s = ceil(timeout_s)
        for name in TIMEOUTS:
            self._site.run(f"echo {whole_s} >{CONNTRACK}/{name}")

    def count(self) -> int:
        return self._number("nf_conntrack_count")

    def delete_all(self) -> Deletion:
        """Runs `conntrack -F` and times it by the guest's clock."""
        connections = self.count()
        seconds = seconds_of(self._site.run(timed("conntrack -F"), DELETES_WITHIN_S))
        if left := self.count():
            raise DutError(f"`conntrack -F` left {left:,} connections in the guest's table.")
        return Deletion(connections=connections, seconds=seconds)

    def _number(self, name: str) -> int:
        return int(self._site.run(f"read -r n <{CONNTRACK}/{name}; echo $n"))


def forwarding_restarted(site: GuestSite) -> str:
    site.forward(on=False)
    site.forward(on=True)  # switching it resets what depends on it
    return "software reset: forwarding of IPv4 and IPv6 switched off and on again"
