"""A cable between the tester's two ports in place of a gateway, for the self-test."""

from natxy.dut.none import NoDut


class Cable(NoDut):
    """A gateway that does nothing and keeps no connections."""

    def describe(self) -> dict[str, str]:
        return {"kind": "loop"}
