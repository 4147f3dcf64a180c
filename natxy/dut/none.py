"""A device under test that Natxy does not control, and a cable in place of one."""

from natxy.dut.base import Dut
from natxy.dut.config import NoDutConfig
from natxy.dut.here import Here
from natxy.errors import DutError


class NoDut(Here, Dut):
    """Does nothing, so that procedures need not check for a driver."""

    tester_namespace: str | None = None
    _name: str | None = None

    def __init__(self, config: NoDutConfig | None = None) -> None:
        self._place = config
        self._name = config.name if config else None

    def restart(self) -> str:
        raise DutError(
            'dut.kind: natxy cannot reset a gateway of kind "none" (expected kind = "command" with '
            "a command `restart`)."
        )

    def describe(self) -> dict[str, str]:
        named = {"name": self._name} if self._name else {}
        return {"kind": "none"} | named | self._where()


class Cable(NoDut):
    """A cable between the tester's two ports, for the self-test, which keeps no connections."""

    def describe(self) -> dict[str, str]:
        return {"kind": "loop"}
