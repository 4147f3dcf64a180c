"""The calibration gateway over shared memory: its faults are configured and recorded."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from natxy.dut.addresses import LEFT, NAT64_PREFIX, RIGHT, AddressPlan, SideAddresses
from natxy.dut.base import ConnectionTable, TableParameters, TesterPorts
from natxy.dut.config import CalibrationConfig
from natxy.dut.cpus import gateway_cpu, without_throttling
from natxy.dut.gateway_process import GatewayProcess
from natxy.dut.lab import Lab
from natxy.dut.proc_files import local_snapshot
from natxy.errors import DutError
from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.subscribers import SubscribersSection
from natxy.model.telemetry import Snapshot

NS_PER_US = 1000
LONGEST_SOCKET_BYTES = 107  # of sun_path, without the octet that ends it
NS_PER_S = 10**9
DEFAULT_ENTRIES = 65536
DEFAULT_TIMEOUT_S = 300.0
REALTIME_S = 1.5  # a trial under a real-time policy is half a second long at most


class CalibrationDut(Lab):
    """natxy-gateway on two memif links; the gateway is their server, the tester their client.

    It is its own ConnectionTable, which has exactly the number of entries asked for.
    """

    needs_root = False

    def __init__(
        self, config: CalibrationConfig, plan: AddressPlan, *, tester_cpus: tuple[int, ...]
    ) -> None:
        super().__init__()
        self._config = config
        self._plan = plan
        cpu = gateway_cpu(config.gateway_cpu, tester_cpus)
        self._has_own_cpu = cpu is not None
        self._cpu = min(os.sched_getaffinity(0)) if cpu is None else cpu
        self._process: GatewayProcess | None = None
        # The translation of connections, as in docs/reference/gateway.md; None: none.
        self.nat = None if config.nat is None else dict(config.nat)
        self._version = ""
        self._socket = ""

    def reset(self) -> None:
        self._running.ask("clear", "cleared")

    def describe(self) -> dict[str, str]:
        return {
            "kind": "calibration",
            "software": f"natxy-gateway {self._version}",
            "configuration": json.dumps(self.gateway_config()),
            "gateway_cpu": str(self._cpu),
            "mtu_bytes": str(self._config.mtu_bytes),
        }

    def before_trial(self) -> None:
        self._running.ask("clear", "cleared")
        self._realtime_for(REALTIME_S)

    @property
    def cpus(self) -> tuple[int, ...]:
        return (self._cpu,)

    def absence(self) -> Absence | None:
        """Returns how long the gateway did not poll its ports.

        The total is of gaps beyond its own work in which frames waited, the longest of all gaps,
        and the intervals are those of all gaps beyond its own work.
        """
        record = self.record()
        return Absence(
            where="the calibration gateway",
            total_s=record["away_ns"] / NS_PER_S,
            longest_s=record["worst_poll_gap_ns"] / NS_PER_S,
            intervals=tuple((from_ns, until_ns) for from_ns, until_ns in record["absences"]),
        )

    def telemetry(self) -> Snapshot:
        """Returns no drops, because it keeps a record of its own."""
        local = local_snapshot((self._cpu,), processes=(self._running.pid,))
        if self.nat is None:
            return local
        return local.model_copy(update={"connections": self.count()})

    def trial_fault(self) -> Reason | None:
        gap_us = self.record()["worst_poll_gap_ns"] / NS_PER_US
        self._realtime_for(0.0)
        limit_us = self._config.poll_gap_limit_us
        if limit_us is None or gap_us <= limit_us:
            return None
        facts = {"gap_ns": gap_us * NS_PER_US, "limit_ns": limit_us * NS_PER_US}
        return Reason.of(Code.GATEWAY_POLLED_LATE, **facts)

    def configure(
        self, *, faults: Iterable[Mapping[str, Any]] = (), nat: Mapping[str, Any] | None = None
    ) -> None:
        """Sets faults and the table of connections, or none of them; for use between trials.

        It starts a new record and makes the gateway forget its neighbours.
        """
        before = self._config, self.nat
        ordered = tuple(dict(fault) for fault in faults)
        self._config = self._config.model_copy(update={"faults": ordered})
        self.nat = None if nat is None else dict(nat)
        try:
            self._running.ask("configure", "configured", config=self.gateway_config())
        except DutError:
            self._config, self.nat = before
            raise

    @property
    def faults(self) -> tuple[dict[str, Any], ...]:
        return self._config.faults

    def parameters(self) -> TableParameters:
        nat = self.nat or {}
        return TableParameters(
            entries=int(nat.get("entries", DEFAULT_ENTRIES)),
            timeout_s=nat.get("timeout_ns", DEFAULT_TIMEOUT_S * NS_PER_S) / NS_PER_S,
        )

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        if hash_size is not None:
            raise DutError("The calibration gateway's hash table has a fixed size.")
        if entries is not None:
            self.configure(faults=self.faults, nat={**(self.nat or {}), "entries": entries})

    def count(self) -> int:
        """Returns the number of connections; DutError if the gateway has no table."""
        return int(self._running.ask("count", "count")["entries"])

    def delete_all(self) -> float:
        nanoseconds: int = self._running.ask("flush", "flushed")["ns"]
        return nanoseconds / NS_PER_S

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeout of idle connections, until `configure` sets another."""
        timeout_ns = round(timeout_s * NS_PER_S)
        self._running.ask("set-timeout", "timeout-set", ns=timeout_ns)
        if self.nat is not None:
            self.nat["timeout_ns"] = timeout_ns

    def recover(self) -> None:
        self._running.ask("clear", "cleared")

    def set_cores(self, cores: int) -> None:
        if cores != 1:
            raise DutError(f"The calibration gateway has one core, not {cores}.")

    @property
    def table(self) -> ConnectionTable | None:
        return None if self.nat is None else self

    def mute(self, for_s: float) -> None:
        """Makes the gateway forward nothing for this time; may be called during a trial."""
        self._running.ask("mute", "muted", for_ns=round(for_s * 10**9))

    def restart(self) -> str:
        """Simulates a restart: the gateway forwards nothing for `restart_s`."""
        self.mute(self._config.restart_s)
        return f"mute: nothing is forwarded for {self._config.restart_s:g} s"

    def record(self) -> dict[str, Any]:
        """Returns the gateway's record since the last reset (docs/reference/gateway.md)."""
        record: dict[str, Any] = self._running.ask("record", "record")["record"]
        return record

    def tester_ports(self) -> TesterPorts | None:
        if self._process is None:
            return None
        return TesterPorts(
            left=self._plan.tester_port(LEFT, self._device("client", LEFT)),
            right=self._plan.tester_port(RIGHT, self._device("client", RIGHT)),
            mtu_bytes=self._config.mtu_bytes,
        )

    def gateway_config(self) -> dict[str, Any]:
        asked = self._plan.subscribers
        return {
            "left": self._side(LEFT),
            "right": self._side(RIGHT),
            "routes": self._routes(LEFT) + self._routes(RIGHT),
            "translation": self._translation() if self.nat is None else None,
            "softwires": softwires_for(asked) if asked else None,
            **({} if self.nat is None else {"nat": self._nat_with_addresses(self.nat)}),
            "faults": list(self._config.faults),
            "sleep_ns": (self._config.sleep_us or 0) * NS_PER_US,
        }

    def _side(self, side: SideAddresses) -> dict[str, Any]:
        tags = self._plan.left_vlans if side is LEFT else self._plan.right_vlans
        vlans = [{"tpid": tag.tpid, "id": tag.id} for tag in tags]
        return {"addresses": self._own_addresses(side)} | ({"vlans": vlans} if vlans else {})

    def _nat_with_addresses(self, nat: dict[str, Any]) -> dict[str, Any]:
        """Returns `nat` with values of the lab for missing keys, such as the address outside."""
        made: dict[str, Any] = {
            "kind": "nat64" if self._plan.translates else "nat44",
            "inside": self._plan.inside.name,
            "pool": [self._plan.outside.gateway_ipv4],
        }
        if self._plan.translates:
            asked = self._plan.subscribers
            made["prefix"] = asked.gateway_prefix if asked else NAT64_PREFIX
        return made | nat

    def _realtime_for(self, for_s: float) -> None:
        """Sets the real-time policy for a time, which the gateway itself ends."""
        if self._config.realtime:
            self._running.ask("realtime", "realtime", for_ns=round(for_s * 10**9))

    @property
    def _running(self) -> GatewayProcess:
        if self._process is None:
            raise DutError("The calibration gateway is not running; start it first.")
        return self._process

    def _make(self) -> None:
        if self._has_own_cpu:
            without_throttling(self._ledger)
        folder = self._ledger.make_folder()
        if "," in str(folder):  # it separates the arguments of DPDK's devices
            raise DutError(f"{folder.parent}: has a comma in its name (expected one without).")
        self._socket = str(folder / "memif.sock")
        if (excess := len(os.fsencode(self._socket)) - LONGEST_SOCKET_BYTES) > 0:
            longest = len(os.fsencode(folder.parent)) - excess
            raise DutError(
                f"{folder.parent}: its name is too long for a socket in it (expected at most "
                f"{longest} octets)."
            )
        arguments = [
            *("--left", self._device("server", LEFT), "--right", self._device("server", RIGHT)),
            *("--core", str(self._cpu), "--mtu", str(self._config.mtu_bytes)),
        ]
        self._process = GatewayProcess(arguments)
        self._ledger.note_process(self._process.pid)
        self._version = str(self._process.hello()["gateway_version"])
        self._process.ask("configure", "configured", config=self.gateway_config())

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.close()

    def _device(self, role: str, side: SideAddresses) -> str:
        number = 0 if side is LEFT else 1
        buffer_bytes = 2048 if self._config.mtu_bytes <= 2000 else 16384
        return (
            f"net_memif{number},role={role},id={number},socket={self._socket},"
            f"socket-abstract=no,bsize={buffer_bytes}"
        )

    def _own_addresses(self, side: SideAddresses) -> list[str]:
        ipv4 = [side.gateway_ipv4] if self._plan.has_ipv4(side) else []
        return [*ipv4, side.gateway_ipv6]

    def _routes(self, side: SideAddresses) -> list[dict[str, str]]:
        ipv4 = [side.ipv4_prefix] if self._plan.has_ipv4(side) else []
        own = [{"prefix": prefix, "side": side.name} for prefix in (*ipv4, side.ipv6_prefix)]
        asked = self._plan.subscribers
        if asked is None or asked.side != side.name:
            return own
        # To the subscribers by way of the tester's own address on their side.
        prefixes = [asked.ipv6_prefix]
        if asked.tunnels and asked.ipv4_prefix is not None:
            prefixes.append(asked.ipv4_prefix)
        via = {"side": side.name, "via": side.tester_ipv6}
        return own + [{"prefix": prefix, **via} for prefix in prefixes]

    def _translation(self) -> dict[str, Any] | None:
        if (asked := self._plan.subscribers) is not None:
            if asked.tunnels or asked.stateful:
                return None
            return {"rules": [_rule(asked)], "prefix": asked.gateway_prefix}
        if self._config.translation is not None or not self._plan.translates:
            return self._config.translation
        pairs = self._plan.mappings()
        return {"explicit": [{"ipv4": ipv4, "ipv6": ipv6} for ipv4, ipv6 in pairs]}


def softwires_for(asked: SubscribersSection) -> dict[str, Any] | None:
    """Returns the gateway's ends of the softwires; None if its subscribers have none."""
    if not asked.tunnels:
        return None
    ends = {"inside": asked.side, "address": asked.gateway}
    if asked.shares_ipv4:
        return {**ends, "rules": [_rule(asked)]}
    return {**ends, "subscribers": asked.ipv6_prefix}


def _rule(asked: SubscribersSection) -> dict[str, Any]:
    return {
        "ipv6": asked.rule_ipv6_prefix,
        "ipv4": asked.rule_ipv4_prefix,
        "ea_bits": asked.number_bits,
        "psid_offset": asked.offset_bits,
    }
