"""A device under test that Natxy does not control, and a cable in place of one."""

from natxy.dut.base import Dut
from natxy.errors import DutError


class NoDut(Dut):
    """Does nothing, so that procedures need not check for a driver."""

    tester_namespace: str | None = None
    _name: str | None = None

    def __init__(self, name: str | None = None) -> None:
        """`name` is the user's for the gateway."""
        self._name = name

    def restart(self) -> str:
        raise DutError(
            'dut.kind: natxy cannot reset a gateway of kind "none" (expected kind = "command" with '
            "a command `restart`)."
        )

    def describe(self) -> dict[str, str]:
        return {"kind": "none"} | ({"name": self._name} if self._name else {})


class Cable(NoDut):
    """A cable between the tester's two ports, for the self-test, which keeps no connections."""

    def describe(self) -> dict[str, str]:
        return {"kind": "loop"}
