"""A device under test that Natxy does not control."""

from natxy.dut.base import Dut
from natxy.errors import DutError


class NoDut(Dut):
    """Does nothing, so that procedures need not check for a driver."""

    tester_namespace: str | None = None

    def restart(self) -> str:
        raise DutError(
            'dut.kind: natxy cannot reset a gateway of kind "none" (expected kind = "command" with '
            "a command `restart`)."
        )

    def describe(self) -> dict[str, str]:
        return {"kind": "none"}
