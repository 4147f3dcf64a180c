"""The interface of a device under test, and the ports that a lab makes for the tester."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from natxy.errors import DutError
from natxy.model.disturbance import Absence
from natxy.model.reason import Reason
from natxy.model.telemetry import Snapshot
from natxy.model.testbed import Port
from natxy.model.trial_spec import WatchedCpu


@dataclass(frozen=True, kw_only=True)
class TesterPorts:
    """Both ports that a lab made, and the MTU of its links in octets.

    The testbed gives the values of a port that are None.
    """

    left: Port
    right: Port
    mtu_bytes: int


@dataclass(frozen=True, kw_only=True)
class TableParameters:
    """Known parameters of a connection tracking table; None: unknown, or it has none."""

    entries: int | None = None  # the largest number of connections
    hash_size: int | None = None  # buckets of the hash table
    timeout_s: float | None = None  # of an idle connection


class ConnectionTable(Protocol):
    """The connection tracking table of a stateful gateway, for use between trials.

    Every method raises DutError if the gateway cannot do it.
    """

    def parameters(self) -> TableParameters:
        """Returns the present parameters."""

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        """Sets sizes, except those that are None; `stop` restores the sizes from before."""

    def set_timeout(self, timeout_s: float) -> None:
        """Sets the timeout of an idle connection to at least this time."""

    def count(self) -> int:
        """Returns the number of connections in the table."""

    def delete_all(self) -> float:
        """Deletes all connections by the gateway's own means, for the tear-down rate (RFC 9693);
        returns the seconds that this took, by the gateway's own clock."""


class Dut(Protocol):
    """A device under test: started once, reset before each trial, stopped at the end.

    A driver inherits what is written here of a gateway that is not on this machine, has no state
    and cannot be told anything.
    """

    def start(self) -> None:
        """Starts the gateway, or raises DutError and leaves nothing behind."""
        return

    def stop(self) -> None:
        """Stops the gateway and cleans up; may be called twice, and after a failed start."""
        return

    def reset(self) -> None:
        """Brings the gateway into the state in which every trial begins: empty tables."""
        return

    def restart(self) -> str:
        """Resets the gateway while traffic flows (RFC 6201), and describes what was done.

        Another thread than the trial's calls it. It returns when the gateway is back, and raises
        DutError if it does not come back, or at once if it cannot be reset.
        """

    def describe(self) -> dict[str, str]:
        """Returns versions, configuration and kernel, which are needed to repeat the result."""

    def before_trial(self) -> None:
        """Prepares for a trial that is about to start; raises DutError if the gateway is gone."""
        return

    def trial_fault(self) -> Reason | None:
        """Returns a reason if the last trial is invalid because of a disturbance of the gateway.

        It is called after the trial, and raises DutError if the gateway has died in it, unless a
        `restart` is still in progress.
        """
        return None

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        """The CPUs of this machine on which the gateway runs; the engine watches them in trials."""
        return ()

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs of this machine that the gateway was given for itself."""
        return ()

    def absence(self) -> Absence | None:
        """Returns the gateway's absence in the last trial; None if it keeps no record of it."""
        return None

    def telemetry(self) -> Snapshot:
        """Returns what is known now of its CPU time, memory, connections and drops.

        It is called just before and just after a trial, never in one, and takes less than a
        millisecond for a gateway on this machine. A gateway that cannot be asked returns nothing.
        """
        return Snapshot()

    def recover(self) -> None:
        """Restores the state after `start` when the gateway collapsed in a trial; links stay up."""
        return

    def set_cores(self, cores: int) -> None:
        """Sets how many cores the gateway uses (RFC 9693, scale up); DutError if it cannot."""
        raise DutError(
            f"Natxy cannot make this gateway use {cores} cores (expected a dut.kind that can)."
        )

    @property
    def table(self) -> ConnectionTable | None:
        """The connection tracking table; None for a stateless gateway."""
        return None

    @property
    def tester_namespace(self) -> str | None:
        """The network namespace in which the engine must run; None for this process's."""
        return None

    def tester_ports(self) -> TesterPorts | None:
        """Returns the ports that a lab made for the tester, which override the testbed's."""
        return None

    def serves_as(self, other: "Dut") -> bool:
        """Returns whether another device, once started, would be as this one after `renew`.

        One that is slow to start serves as itself, so that one measurement after another uses it.
        """
        del other
        return False

    def renew(self) -> None:
        """Restores the state after `start`, all settings included; DutError if it is gone."""
        return


def name_in(described: Mapping[str, str]) -> str:
    """Returns the name that tables and sentences have for a gateway."""
    name = described.get("name") or described.get("driver") or described.get("kind", "none")
    return "the gateway" if name == "none" else name  # Natxy does not know what it measures
