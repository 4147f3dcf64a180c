"""Base of the drivers of gateways that keep no connections."""

from natxy.dut.base import ConnectionTable
from natxy.errors import DutError


class Stateless:
    @property
    def table(self) -> ConnectionTable | None:
        return None

    def recover(self) -> None:
        """Does nothing: no table can have made the gateway collapse."""

    def set_cores(self, cores: int) -> None:
        raise DutError(
            f"Natxy cannot make this gateway use {cores} cores (expected a dut.kind that can)."
        )
