"""A device under test that Natxy does not control."""

from natxy.dut.base import TesterPorts
from natxy.dut.stateless import Stateless
from natxy.dut.unwatched import Unwatched
from natxy.errors import DutError


class NoDut(Stateless, Unwatched):
    """Does nothing, so that procedures need not check for a driver."""

    tester_namespace: str | None = None

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def reset(self) -> None:
        pass

    def restart(self) -> str:
        raise DutError(
            'dut.kind: natxy cannot reset a gateway of kind "none" (expected kind = "command" with '
            "a command `restart`)."
        )

    def describe(self) -> dict[str, str]:
        return {"kind": "none"}

    def before_trial(self) -> None:
        pass

    def trial_fault(self) -> str | None:
        return None

    def tester_ports(self) -> TesterPorts | None:
        return None
