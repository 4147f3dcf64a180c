"""The keys of a recipe: its variables, what it is in a lab, its daemons and its commands."""

import re
from ipaddress import ip_interface, ip_network
from typing import Annotated, Literal

from pydantic import Field

from natxy.model.addresses import not_of_version, version_of
from natxy.model.base import Model
from natxy.model.subscribers import Mechanism

KINDS = {  # of variables: the values that a kind has beside addresses, and what it is called
    "interface": (r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,47}", "the name of an interface, such as eth1"),
    "number": (r"\d{1,12}", "a whole number"),
    "name": (r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", "a name of letters, digits, _ and -"),
}
LabKind = Literal["namespace", "guest"]


class Variable(Model):
    kind: Literal["interface", "number", "name", "ipv4", "ipv6", "ipv4_prefix", "ipv6_prefix",
                  "ipv4_interface", "ipv6_interface"]  # fmt: skip
    meaning: Annotated[str, Field(min_length=1)]
    default: str | int | None = None
    optional: bool = False  # may be without a value
    most: int | None = None  # the highest number that the gateway takes; None: unknown

    def wrong(self, value: str | int) -> str | None:
        """Returns what is wrong with a value; None if nothing is."""
        if self.kind in KINDS:
            pattern, what = KINDS[self.kind]
            if not re.fullmatch(pattern, str(value), re.ASCII):
                return f"is not right (expected {what})"
            if self.most is not None and int(value) > self.most:
                return f"is out of range (expected at most {self.most})"
            return None
        version: Literal[4, 6] = 4 if self.kind.startswith("ipv4") else 6
        text, _, length = str(value).partition("/")
        if version_of(text) != version or (length == "") != (self.kind in ("ipv4", "ipv6")):
            example = "" if self.kind in ("ipv4", "ipv6") else ", with the length of its prefix"
            return f"{not_of_version(version)}{example}"
        read = ip_network if self.kind.endswith("_prefix") else ip_interface
        try:
            read(str(value))
        except ValueError as error:
            return f"is not a prefix: {error}"
        return None


class Daemon(Model):
    """A program that translates frames on a tun device."""

    command: str  # stays in the foreground
    device: str  # the tun device to which it attaches itself
    ready: str  # what it prints last before it reads frames
    version: str  # a regular expression, whose group is the version in what it prints
    front: bool = False  # it belongs to the first one of two gateways in a row
    role: str = ""  # which one it is, if there are several: "CLAT: "

    @property
    def program(self) -> str:
        return self.command.split()[0]


class Lab(Model):
    """The gateway in a lab, which Natxy makes on this machine."""

    driver: str  # its name there
    sites: Annotated[tuple[LabKind, ...], Field(min_length=1)]
    software: str = ""  # what a result calls it, beside its daemons
    version: str = ""  # a command that prints the version
    configuration: str = ""  # what is set by commands, beside the files
    facts: dict[str, str] = Field(default_factory=dict)  # others that a result has
    packages: dict[str, str] = Field(default_factory=dict)  # Debian's, of each program that it runs
    modules: tuple[str, ...] = ()  # of a guest's kernel, to be loaded first
    conntrack: bool = True  # of a stateful one: its table is the kernel's
    in_a_row: bool = False  # two gateways, the front one on the initiator's side
    bridges: bool = False  # each port's next hop is the tester's other port
    subscribers: tuple[Mechanism, ...] = ()  # whose gateway it can be


class Keys(Model):
    """The commands. Each list is run in order, and ends at the first command that fails."""

    set_up: tuple[str, ...] = ()  # at every site: makes the gateway, whose place is ready
    set_up_front: tuple[str, ...] = ()  # in a lab with two gateways: the same for the front one
    take_down_front: tuple[str, ...] = ()
    take_down: tuple[str, ...] = ()  # at every site: undoes `set_up`; all are run
    prepare: tuple[str, ...] = ()  # once, before `start`
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()  # all are run, whichever fails
    clean_up: tuple[str, ...] = ()  # once, after `stop`; all are run; undoes `prepare`
    reset: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    check: tuple[str, ...] = ()  # fails if the gateway is gone
    describe: tuple[str, ...] = ()
    telemetry: tuple[str, ...] = ()
    count: tuple[str, ...] = ()
    delete_all: tuple[str, ...] = ()
    set_timeout: tuple[str, ...] = ()
    set_entries: tuple[str, ...] = ()
    set_hash_size: tuple[str, ...] = ()
    set_cores: tuple[str, ...] = ()

    def of(self, key: str) -> tuple[str, ...]:
        commands: tuple[str, ...] = getattr(self, key)
        return commands
