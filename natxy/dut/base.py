"""What a procedure knows of a device under test, and what a lab tells of the ports that it made."""

from dataclasses import dataclass
from typing import Protocol

from natxy.model.trial_spec import WatchedCpu


@dataclass(frozen=True, kw_only=True)
class TesterPort:
    """One of the tester's ports as a lab made it; what is None is left to the testbed.

    The names are those of a testbed's `[tester.left]` and `[tester.right]`. `own_addresses` are
    what the tester must answer for beside the addresses of its traffic: next hops of the gateway.
    """

    device: str
    ipv4_real: str | None = None
    ipv4_virtual: str | None = None
    ipv6_real: str | None = None
    ipv6_virtual: str | None = None
    next_hop_ipv4: str | None = None
    next_hop_ipv6: str | None = None
    next_hop_mac: str | None = None
    own_addresses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TesterPorts:
    """Both ports that a lab made, and the largest IP packet of its links in octets."""

    left: TesterPort
    right: TesterPort
    mtu_bytes: int


@dataclass(frozen=True, kw_only=True)
class Absence:
    """How long a gateway was kept from its work in a trial, by its own record."""

    where: str  # as the subject of a sentence
    total_s: float  # in which frames had to wait for it
    longest_s: float  # at once, whether or not frames came


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What `delete_all` did."""

    connections: int | None  # that the table held; None: the device does not tell
    seconds: float  # that the deletion took, by the device's own clock


@dataclass(frozen=True, kw_only=True)
class TableParameters:
    """What is known of a connection tracking table; None: nobody knows, or there is none."""

    entries: int | None = None  # the most that it takes
    hash_size: int | None = None  # buckets of its hash table
    timeout_s: float | None = None  # of a UDP connection that nobody uses


class ConnectionTable(Protocol):
    """The connection tracking table of a stateful device; to be used between trials.

    Every method raises DutError with one sentence where the device cannot do it.
    """

    def parameters(self) -> TableParameters:
        """As they are now."""

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        """None leaves a size as it is. What was there before is put back at `stop`."""

    def set_timeout(self, timeout_s: float) -> None:
        """How long a UDP connection lives that nobody uses; at least so long."""

    def count(self) -> int:
        """Connections in the table now."""

    def delete_all(self) -> Deletion:
        """Deletes them by the device's own means: what the tear-down rate measures (RFC 9693)."""


class Dut(Protocol):
    """A device under test: started once, reset before each trial, stopped at the end."""

    def start(self) -> None:
        """Brings the device up, or raises DutError with one sentence; then nothing is left."""

    def stop(self) -> None:
        """Takes it down and cleans up; may be called twice, and after a start that failed."""

    def reset(self) -> None:
        """Brings it into the state that every trial begins with: empty tables."""

    def restart(self) -> str:
        """Resets the device while traffic flows (RFC 6201); what was done, in words.

        Called from another thread than the trial's. Returns when the device has come back, or
        raises DutError; a device that cannot be reset raises it at once.
        """

    def describe(self) -> dict[str, str]:
        """Versions, configuration, kernel: what another person needs to repeat the result."""

    def before_trial(self) -> None:
        """Is called when a trial is about to start; raises DutError if the device is gone."""

    def trial_fault(self) -> str | None:
        """A sentence if the device was not in order in the last trial, which is then invalid.

        Is called when the trial has ended, and raises DutError if the device has died in it,
        unless a `restart` still goes on.
        """

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        """The CPUs of this machine that it runs on, which the engine watches in every trial."""

    def absence(self) -> Absence | None:
        """How long it was away in the last trial, by its own record; None: it keeps none."""

    def recover(self) -> None:
        """Brings it back after it has collapsed in a trial, as after `start`; links stay up."""

    def set_cores(self, cores: int) -> None:
        """How many cores it may use from now on (RFC 9693, scale up); DutError if it cannot."""

    @property
    def table(self) -> ConnectionTable | None:
        """None: a stateless device."""

    @property
    def tester_namespace(self) -> str | None:
        """The network namespace that the engine must run in."""

    def tester_ports(self) -> TesterPorts | None:
        """The ports that a lab made for the tester; they override the testbed's."""
