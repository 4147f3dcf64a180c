"""The kernel's NAT44: masquerading by nftables, with connection tracking."""

from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.execution import execute, in_namespace, set_sysctls
from natxy.dut.gateway import Site
from natxy.dut.links import forwarding_restarted

CONNTRACK = Path("/proc/sys/net/netfilter")  # sizes are the first namespace's, for all of them


class Nat44:
    """The left side's sources become the gateway's right address."""

    def __init__(self, site: Site, *, entries: int | None, udp_timeout_s: int) -> None:
        self._site = site
        self._entries = entries
        self._udp_timeout_s = udp_timeout_s

    def start(self) -> None:
        self._site.links.route(self._site.plan)
        self._masquerade()
        names = ("nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream")
        timeouts: dict[str, str | int] = {f"net/netfilter/{n}": self._udp_timeout_s for n in names}
        set_sysctls(self._site.namespace, timeouts)
        if self._entries is not None:
            for name in ("nf_conntrack_max", "nf_conntrack_buckets"):
                self._site.ledger.change_setting(str(CONNTRACK / name), str(self._entries))

    def stop(self) -> None:
        pass

    def reset(self) -> None:
        """Empties the connection tracking table."""
        execute(in_namespace(self._site.namespace, ["conntrack", "-F"]), timeout_s=120)

    def restart(self) -> str:
        done = forwarding_restarted(self._site.namespace)
        self.reset()
        return f"{done}, connection tracking table emptied"

    def check(self) -> None:
        pass

    def describe(self) -> dict[str, str]:
        return {
            "software": f"Linux kernel, masquerading; {execute(['nft', '--version']).strip()}",
            "configuration": self._rules(),
            "conntrack_entries": (CONNTRACK / "nf_conntrack_max").read_text().strip(),
            "conntrack_buckets": (CONNTRACK / "nf_conntrack_buckets").read_text().strip(),
            "udp_timeout_s": str(self._udp_timeout_s),
        }

    def _masquerade(self) -> None:
        execute(in_namespace(self._site.namespace, ["nft", "-f", "-"]), feed=self._rules())

    def _rules(self) -> str:
        return (
            "table ip natxy {\n"
            "  chain postrouting {\n"
            "    type nat hook postrouting priority srcnat\n"
            f'    iifname "{self._site.links.gateway_end(LEFT)}"'
            f' oifname "{self._site.links.gateway_end(RIGHT)}" masquerade\n'
            "  }\n"
            "}\n"
        )
