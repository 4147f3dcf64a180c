"""The `[dut]` section of a testbed, with one model for each kind."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from natxy.dut.recipe import (
    ENTRIES,
    HASH_SIZE,
    TIMEOUT,
    drivers,
    read_recipe,
    stateful_drivers,
)
from natxy.dut.recipe_keys import LabKind
from natxy.model.base import Between, Checked, Model, refuse
from natxy.model.source import Source

# The highest values that Linux takes (net.netfilter of Linux 5.16 and later): nf_conntrack_max is
# an int; the buckets of 8 octets are rounded up to pages, and take less than 2 GiB; a timeout in
# jiffies is an int, also at 1000 Hz.
MAX_ENTRIES = 2**31 - 1
MAX_BUCKETS = 2**28 - 512
MAX_TIMEOUT_S = 10**6
Cpu = Annotated[int, Between(0, 4095)]
WatchableCpu = Annotated[int, Between(0, 1023)]
Process = Annotated[int, Between(1, 2**22)]
GatewayName = Annotated[str, Field(min_length=1, max_length=60)]


LABS = ("namespace", "guest", "calibration")  # kinds that make the tester's ports
MOST_B4S = 4096  # each needs a tunnel device, which an emulated guest makes in milliseconds
JOOL_LEAST_TIMEOUT_S = 120  # RFC 6146 section 3.5.1: UDP_MIN


def _known_driver(site: LabKind) -> Callable[[str], str]:
    def known_driver(name: str) -> str:
        if name not in drivers(site):
            known = ", ".join(f'"{driver}"' for driver in drivers(site))
            refuse(f"is not a known driver (expected one of {known})")
        return name

    return known_driver


def _host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9:][A-Za-z0-9.:_-]*", text):
        refuse("is not a host (expected a name or an address, such as 192.0.2.1)")
    return text


class OnThisMachine(Model):
    """What may be known of a gateway that Natxy did not start, if it is on this machine."""

    cpus: Annotated[tuple[WatchableCpu, ...], Field(max_length=1024)] = ()  # on which it runs
    processes: Annotated[tuple[Process, ...], Field(max_length=1024)] = ()  # its programs
    pid_files: Annotated[tuple[str, ...], Field(max_length=1024)] = ()  # of its programs

    @model_validator(mode="after")
    def _have_cpus(self) -> Self:
        if len(set(self.cpus)) < len(self.cpus):
            refuse("names a CPU twice (expected each once)", member="cpus")
        for key in ("processes", "pid_files"):
            if getattr(self, key) and not self.cpus:
                refuse("needs dut.cpus (expected the CPUs on which they run)", member=key)
        return self


class NoDutConfig(OnThisMachine):
    """A device under test that Natxy does not control."""

    kind: Literal["none"] = "none"
    name: GatewayName | None = None  # what tables and sentences call it


class LabConfig(Model):
    """What labs in namespaces and in guests share."""

    driver: str
    gateway_cpu: Cpu | None = None  # None: the last CPU that the tester's workers leave free
    device: Literal["auto", "af_xdp", "af_packet"] = "auto"  # for the tester's ends of the links
    # Of stateful drivers: size of the connection tracking table (None: the kernel's own), hash
    # buckets (None: as many), and timeout of an idle connection. Jool's table has no size.
    conntrack_entries: Annotated[int, Between(16, MAX_ENTRIES)] | None = None
    hash_size: Annotated[int, Between(1024, MAX_BUCKETS)] | None = None
    udp_timeout_s: Annotated[int, Between(1, MAX_TIMEOUT_S)] = 300

    def users(self) -> dict[str, tuple[str, ...]]:
        """Returns the keys that only some drivers use, each with these."""
        raise NotImplementedError

    def unused_keys(self) -> dict[str, tuple[str, ...]]:
        """Returns the keys that the driver ignores, each with the drivers that use it."""
        return {key: drivers for key, drivers in self.users().items() if self.driver not in drivers}

    @model_validator(mode="after")
    def _of_this_driver(self) -> Self:
        """Refuses keys that the driver ignores."""
        for key, users in self.unused_keys().items():
            if key in self.model_fields_set:
                expected = " or ".join(f'"{each}"' for each in users)
                refuse(
                    f'is not used by driver "{self.driver}" (expected driver {expected})',
                    member=key,
                )
        return self


class NamespaceConfig(LabConfig):
    """A gateway in a network namespace of this machine."""

    kind: Literal["namespace"]
    driver: Annotated[str, Checked(_known_driver("namespace"))] = "kernel-router"
    # MTU of both links of the tester. None: 1500, or 2000 if one side has IPv4 and the other IPv6.
    # AF_XDP allows 3498.
    mtu_bytes: Annotated[int, Between(1280, 3498)] | None = None
    logging: bool = False  # whether stateful drivers log new connections

    def users(self) -> dict[str, tuple[str, ...]]:
        stateful = stateful_drivers("namespace")
        keys = ("conntrack_entries", "hash_size", "udp_timeout_s", "logging")
        return dict.fromkeys(keys, stateful)


class GuestConfig(LabConfig):
    """A gateway in a virtual machine that is built from Debian's packages."""

    kind: Literal["guest"]
    driver: Annotated[str, Checked(_known_driver("guest"))] = "jool"
    accelerator: Literal["auto", "kvm", "tcg"] = "auto"  # auto: KVM if a guest runs with it
    memory_mb: Annotated[int, Between(256, 2**20)] = 1024  # a million sessions of Jool need 100
    # Of Jool: how many ports of the address outside its pool has, the highest ones.
    pool4_ports: Annotated[int, Between(1, 65535)] = 65535

    @model_validator(mode="after")
    def _of_jool(self) -> Self:
        if self.driver == "jool" and self.udp_timeout_s < JOOL_LEAST_TIMEOUT_S:
            refuse(
                f"{self.udp_timeout_s} is too short for Jool (expected {JOOL_LEAST_TIMEOUT_S} or "
                "more)",
                member="udp_timeout_s",
            )
        return self

    def users(self) -> dict[str, tuple[str, ...]]:
        conntrack = stateful_drivers("guest", conntrack=True)
        return {
            "pool4_ports": ("jool",),
            "conntrack_entries": conntrack,
            "hash_size": conntrack,
            "udp_timeout_s": stateful_drivers("guest"),
        }


class CommandConfig(OnThisMachine):
    """A gateway that shell commands control, for example over ssh."""

    kind: Literal["command"]
    name: GatewayName | None = None  # what tables and sentences call it
    start: str | None = None
    stop: str | None = None
    reset: str | None = None
    restart: str | None = None  # resets it in the middle of a trial; ends when it is back
    describe: str | None = None
    check: str | None = None  # after each trial: fails where the gateway has died in it
    telemetry: str | None = None  # before and after each trial: prints lines of name and value
    # Commands for a stateful gateway, run between trials. Values are passed in the environment.
    count: str | None = None  # prints how many connections there are
    delete_all: str | None = None  # prints the seconds that it took on the gateway
    set_timeout: str | None = None  # NATXY_TIMEOUT_S
    resize: str | None = None  # NATXY_ENTRIES, NATXY_HASH_SIZE; empty: as it is
    set_cores: str | None = None  # NATXY_CORES
    # Known parameters of its table, which no command reports.
    entries: Annotated[int, Between(1, 2**40)] | None = None
    hash_size: Annotated[int, Between(1, 2**40)] | None = None
    connection_timeout_s: Annotated[float, Between(0.001, 10**7)] | None = None
    timeout_s: Annotated[float, Between(0.1, 86400)] = 60.0  # the longest time of a command


class SshConfig(Model):
    """A gateway on a machine of its own, which a recipe's commands control over SSH."""

    kind: Literal["ssh"]
    host: Annotated[str, Checked(_host)]
    port: Annotated[int, Between(1, 65535)] = 22
    user: Annotated[str, Field(min_length=1)] = "root"
    key: str | None = None  # file of the private key; None: the keys and the agent of the user
    known_hosts: str = "~/.ssh/known_hosts"
    recipe: str  # the name of one, or the path of a file that ends in .toml
    variables: dict[str, str | int] = Field(default_factory=dict)  # of the recipe
    connect_timeout_s: Annotated[float, Between(0.1, 3600)] = 10.0
    timeout_s: Annotated[float, Between(0.1, 86400)] = 60.0  # the longest time of a command
    log: str | None = None  # a file to which each command, its time and its end are appended


class CalibrationConfig(Model):
    """The calibration gateway natxy-gateway, a gateway with known properties."""

    kind: Literal["calibration"]
    link: Literal["memif"] = "memif"
    gateway_cpu: Cpu | None = None
    mtu_bytes: Annotated[int, Between(1280, 9198)] = 2000
    # Faults that it makes, in the words of docs/reference/gateway.md.
    faults: tuple[dict[str, Any], ...] = ()
    # A stateful NAT44 or NAT64, in the words of docs/reference/gateway.md; {} has all defaults.
    nat: dict[str, Any] | None = None
    # None: the translation that the IP versions of the two sides need.
    translation: dict[str, Any] | None = None
    # Runs the gateway under SCHED_FIFO during a trial, so that other programs do not take its CPU.
    # For trials of at most half a second: the kernel throttles longer ones.
    realtime: bool = False
    # Lets it sleep for this long when no frame is there, as gateways do that do not poll.
    sleep_us: Annotated[int, Between(1, 10_000)] | None = None  # None: it never sleeps
    restart_s: Annotated[float, Between(0.000001, 3600)] = (
        0.1  # it forwards nothing so long after a reset
    )
    # A trial is invalid if the gateway did not poll its ports for longer than this.
    poll_gap_limit_us: Annotated[float, Between(1, 10**9)] | None = None  # None: no limit


DutSection = (
    NoDutConfig | NamespaceConfig | GuestConfig | CommandConfig | SshConfig | CalibrationConfig
)
DutConfig = Annotated[DutSection, Field(discriminator="kind")]

# What [dut] only states of a gateway; it would be false of another one.
STATED: dict[str, tuple[str, ...]] = {
    "none": ("name", *OnThisMachine.model_fields),
    "command": (
        "name",
        *OnThisMachine.model_fields,
        "entries",
        "hash_size",
        "connection_timeout_s",
    ),
}


def settable_keys(section: dict[str, Any], source: Source) -> set[str]:
    """Returns the keys that an experiment can set for this gateway, with effect."""
    config: DutSection = source.validated(DutConfig, section, at=("dut",))
    unused = config.unused_keys() if isinstance(config, LabConfig) else ()
    return set(type(config).model_fields) - set(unused) - set(STATED.get(config.kind, ()))


def table_limits(section: dict[str, Any], source: Source) -> dict[str, int]:
    """Returns the highest sizes and timeouts that the gateway's table is known to take, by the
    names that recipes have for them."""
    of_linux = {ENTRIES: MAX_ENTRIES, HASH_SIZE: MAX_BUCKETS, TIMEOUT: MAX_TIMEOUT_S}
    if section.get("kind") in ("namespace", "guest"):
        return of_linux
    if section.get("kind") != "ssh":
        return {}
    config: SshConfig = source.validated(SshConfig, section, at=("dut",))
    variables = read_recipe(config.recipe, source).variables
    known = {name: variables[name].most for name in of_linux if name in variables}
    return {name: most for name, most in known.items() if most is not None}
