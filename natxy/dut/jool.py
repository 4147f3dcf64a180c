"""Jool in a guest: a stateless NAT64 (SIIT, RFC 7915), and a stateful one (RFC 6146)."""

import json
from math import ceil
from typing import Any

from natxy.dut.addresses import NAT64_PREFIX
from natxy.dut.base import ConnectionTable, TableParameters
from natxy.dut.config import JOOL_LEAST_TIMEOUT_S
from natxy.dut.conntrack import DELETES_WITHIN_S, Conntrack
from natxy.dut.gateway import Gateway
from natxy.dut.recipe import Recipe
from natxy.dut.site import GuestSite, seconds_of, timed
from natxy.errors import DutError

# The shortest that Jool takes (RFC 6146 section 4): of UDP, of a TCP handshake, of TCP after it.
LEAST_TIMEOUTS_S = {
    "udp-timeout": JOOL_LEAST_TIMEOUT_S,
    "tcp-trans-timeout": 240,
    "tcp-est-timeout": 7200,
}


class JoolSiit(Gateway):
    """An instance of one of Jool's modules, with what it is told in a file.

    Its program has the module's name.
    """

    def restart(self) -> str:
        self._reload()
        return "software reset: Jool's module removed and loaded again, with a new instance"

    def describe(self) -> dict[str, str]:
        version = self._run(f"{self._module} --version").strip()
        return {
            "software": f"Jool {version}, {self._lab.software}",
            "configuration": self._configuration,
        }

    @property
    def _module(self) -> str:
        return self._lab.modules[0]

    def _reload(self) -> float:
        """Removes and loads the module; returns the seconds that the removal took."""
        removed_s = seconds_of(self._run(timed(f"modprobe -r {self._module}")))
        self.start()
        return removed_s

    def _run(self, command: str) -> str:
        return self._site.run(command, within_s=DELETES_WITHIN_S)

    def _set_up(self) -> None:
        """Adds an instance with all of its settings, which the one before it has taken along.

        One command for each of them, or for each mapping, would take an emulated guest half a
        second or more.
        """
        file = f"/tmp/{self._module}.json"
        handled = f"{self._module} file handle {file}"  # named in an error: the first line is
        self._run(f"cat >{file} <<'NATXY' && {handled}\n{self._configuration}\nNATXY")

    @property
    def _configuration(self) -> str:
        """The instance, as Jool reads it."""
        return json.dumps({"instance": "default", "framework": "netfilter", **self._settings})

    @property
    def _settings(self) -> dict[str, Any]:
        """The explicit address mappings (RFC 7757)."""
        mappings = self._site.plan.mappings()
        return {"eamt": [{"ipv6 prefix": ipv6, "ipv4 prefix": ipv4} for ipv4, ipv6 in mappings]}


class Jool(JoolSiit):
    """The stateful NAT64; each reset makes a new instance, which begins with an empty table.

    It is its own ConnectionTable, which has no limit but the guest's memory.
    """

    table: ConnectionTable
    _site: GuestSite

    def __init__(self, site: GuestSite, recipe: Recipe, conntrack: Conntrack | None) -> None:
        super().__init__(site, recipe, conntrack)
        self.table = self
        self._timeout_s = site.config.udp_timeout_s

    def reset(self) -> None:
        self._run("jool instance remove")
        self._set_up()

    def renew(self) -> None:
        self._timeout_s = self._site.config.udp_timeout_s
        self._reload()

    def describe(self) -> dict[str, str]:
        return {**super().describe(), "udp_timeout_s": str(self._timeout_s)}

    def parameters(self) -> TableParameters:
        return TableParameters(timeout_s=float(self._timeout_s))

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        raise DutError(
            "Jool's table has no size that could be set: it grows until the guest's memory ends "
            "(expected another driver, or dut.memory_mb)."
        )

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeouts in whole seconds; Jool takes none below RFC 6146's least."""
        self._timeout_s = max(ceil(timeout_s), JOOL_LEAST_TIMEOUT_S)
        updates = (f"jool global update {name} {value}" for name, value in self._timeouts.items())
        self._run(" && ".join(updates))

    def count(self) -> int:
        """Returns Jool's own counter; `session display` takes seconds for a million sessions."""
        return stat_of(self._run("jool stats display --all --csv"), "JSTAT_SESSIONS")

    def delete_all(self) -> float:
        """Removes the module (`modprobe -r jool`), with all sessions, and times this."""
        return self._reload()

    @property
    def _timeouts(self) -> dict[str, str]:
        """The timeouts of idle sessions, of UDP and of TCP, by Jool's names."""
        least = LEAST_TIMEOUTS_S.items()
        return {name: _clock(max(self._timeout_s, least_s)) for name, least_s in least}

    @property
    def _settings(self) -> dict[str, Any]:
        """One address outside, as of the other labs' gateways, with its highest ports, or all.

        Without `max-iterations`, Jool gives up looking for a free port long before all are taken.
        """
        plan = self._site.plan
        pool6 = NAT64_PREFIX if plan.subscribers is None else plan.subscribers.gateway_prefix
        ports = f"{65536 - self._site.config.pool4_ports}-65535"
        pool = {"prefix": f"{plan.outside.gateway_ipv4}/32", "port range": ports}
        pool4 = [
            {"protocol": transport, **pool, "max-iterations": "infinity"}
            for transport in ("UDP", "TCP")
        ]
        return {"global": {"pool6": pool6, **self._timeouts}, "pool4": pool4}


def _clock(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def stat_of(printed: str, name: str) -> int:
    """Returns a value of `jool stats display --all --csv`; DutError if it is not there."""
    for line in printed.splitlines():
        key, _, value = line.partition(",")
        if key == name and value.strip().isdigit():
            return int(value)
    raise DutError(f"`jool stats display` does not show {name} (expected Jool 4.1).")
