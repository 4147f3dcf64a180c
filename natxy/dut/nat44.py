"""The kernel's NAT44: nftables or iptables masquerade, with connection tracking."""

from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import ConnectionLog, Conntrack
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.links import forwarding_restarted
from natxy.dut.masquerade import IptablesRules, NftablesRules, Rules


class Nat44(Gateway):
    """Replaces sources inside by the gateway's address outside."""

    table: Conntrack

    def __init__(self, site: Site, config: NamespaceConfig, rules: Rules) -> None:
        super().__init__(site)
        self._config = config
        self._rules = rules
        self.table = Conntrack(site)
        self._log = ConnectionLog(site) if config.logging else None

    def translate(self) -> None:
        """Sets rules, table and log."""
        self._rules.set()
        self.table.set_timeout(self._config.udp_timeout_s)
        entries = self._config.conntrack_entries
        self.table.resize(entries=entries, hash_size=self._config.hash_size or entries)
        if self._log is not None:
            self._log.start()

    def stop(self) -> None:
        if self._log is not None:
            self._log.stop()

    def reset(self) -> None:
        """Empties the connection tracking table."""
        self.table.clear()
        if self._log is not None:
            self._log.clear()

    def restart(self) -> str:
        done = forwarding_restarted(self._site.namespace)
        self.reset()
        return f"{done}, connection tracking table emptied"

    def recover(self) -> None:
        self._rules.set()
        self.reset()

    def fault(self) -> str | None:
        return self.table.fault() or (self._log.fault() if self._log else None)

    def describe(self) -> dict[str, str]:
        table = self.table.parameters()
        return {
            "software": f"Linux kernel, masquerading by {self._rules.name}; "
            f"{self._rules.version()}",
            "configuration": str(self._rules),
            "conntrack_entries": str(table.entries),
            "conntrack_buckets": str(table.hash_size),
            "udp_timeout_s": f"{table.timeout_s:g}",
            "logging": "off" if self._log is None else self._log.words,
        }


DRIVERS = (
    LabDriver(
        name="nat44",
        gateway="stateful NAT44: masquerading by nftables",
        ip_versions=((4, 4),),
        make=lambda site, config: Nat44(site, config, NftablesRules(site)),
        stateful=True,
        packages={"nft": "nftables", "conntrack": "conntrack"},
    ),
    LabDriver(
        name="nat44-iptables",
        gateway="stateful NAT44: masquerading by iptables",
        ip_versions=((4, 4),),
        make=lambda site, config: Nat44(site, config, IptablesRules(site)),
        stateful=True,
        packages={"iptables": "iptables", "conntrack": "conntrack"},
    ),
)
