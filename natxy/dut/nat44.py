"""The kernel's NAT44: nftables or iptables masquerade, with connection tracking."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from natxy.dut.conntrack import ConnectionLog, Conntrack, SharedConntrack
from natxy.dut.execution import TIMEOUT_S, execute
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.masquerade import IptablesRules, NftablesRules
from natxy.dut.namespace_site import NamespaceSite
from natxy.model.reason import Reason

Rules = Callable[[str, str], NftablesRules]  # of the ends inside and outside


class Nat44(Gateway):
    """Replaces sources inside by the gateway's address outside."""

    table: Conntrack
    before: ClassVar[str] = ""  # what it does beside masquerading, in its description
    sets_within_s: ClassVar[float] = TIMEOUT_S

    def __init__(self, site: Site, rules: Rules = NftablesRules) -> None:
        super().__init__(site)
        plan = site.plan
        self._rules = rules(plan.inside.ipv4_prefix, site.end(plan.outside))
        self.table = Conntrack(site)
        self._at_start: dict[str, int] = {}

    def start(self) -> None:
        """Sets rules and table."""
        self._masquerade()
        config = self._site.config
        self.table.set_timeout(config.udp_timeout_s)
        entries = config.conntrack_entries
        self.table.resize(entries=entries, hash_size=config.hash_size or entries)
        self._at_start = self.table.sizes()

    def reset(self) -> None:
        """Empties the connection tracking table."""
        self.table.clear()

    def restart(self) -> str:
        done = self._site.restart_forwarding()
        self.reset()
        return f"{done}, connection tracking table emptied"

    def recover(self) -> None:
        self._masquerade()
        self.reset()

    def renew(self) -> None:
        self.reset()
        self.table.set_timeout(self._site.config.udp_timeout_s)
        self.table.resize(**self._at_start)

    def describe(self) -> dict[str, str]:
        table = self.table.parameters()
        return {
            "software": f"Linux kernel, {self.before}masquerading by {self._rules.name}",
            "configuration": self._rules.text,
            "conntrack_entries": str(table.entries),
            "conntrack_buckets": str(table.hash_size),
            "udp_timeout_s": f"{table.timeout_s:g}",
        }

    def _masquerade(self) -> None:
        self._site.run(self._rules.command, feed=self._rules.feed, within_s=self.sets_within_s)


class NamespaceNat44(Nat44):
    """A NAT44 in a namespace, which can log its new connections."""

    table: SharedConntrack

    def __init__(self, site: NamespaceSite, rules: Rules) -> None:
        super().__init__(site, rules)
        self.table = SharedConntrack(site)
        self._log = ConnectionLog(site) if site.config.logging else None

    def start(self) -> None:
        super().start()
        if self._log is not None:
            self._log.start()

    def stop(self) -> None:
        if self._log is not None:
            self._log.stop()

    def reset(self) -> None:
        super().reset()
        if self._log is not None:
            self._log.clear()

    def fault(self) -> Reason | None:
        return self.table.fault() or (self._log.fault() if self._log else None)

    def describe(self) -> dict[str, str]:
        described = super().describe()
        version = execute([self._rules.program, "--version"]).strip()
        return {
            **described,
            "software": f"{described['software']}; {version}",
            "configuration": str(self._rules),
            "logging": "off" if self._log is None else self._log.words,
        }


DRIVERS = (
    LabDriver(
        name="nat44",
        gateway="stateful NAT44: masquerading by nftables",
        ip_versions=((4, 4),),
        make=partial(NamespaceNat44, rules=NftablesRules),
        stateful=True,
        packages={"nft": "nftables", "conntrack": "conntrack"},
    ),
    LabDriver(
        name="nat44-iptables",
        gateway="stateful NAT44: masquerading by iptables",
        ip_versions=((4, 4),),
        make=partial(NamespaceNat44, rules=IptablesRules),
        stateful=True,
        packages={"iptables": "iptables", "conntrack": "conntrack"},
    ),
)
