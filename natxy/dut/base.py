"""What a procedure knows of a device under test, and what a lab tells of the ports that it made."""

from dataclasses import dataclass
from typing import Protocol


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
        """A sentence if the device was not in order in the last trial, which is then invalid."""

    @property
    def tester_namespace(self) -> str | None:
        """The network namespace that the engine must run in."""

    def tester_ports(self) -> TesterPorts | None:
        """The ports that a lab made for the tester; they override the testbed's."""
