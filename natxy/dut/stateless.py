"""Base of the drivers of devices that keep no connections."""

from natxy.dut.base import ConnectionTable
from natxy.errors import DutError


class Stateless:
    @property
    def table(self) -> ConnectionTable | None:
        return None

    def recover(self) -> None:
        """Does nothing: no table can have made the device collapse."""

    def set_cores(self, cores: int) -> None:
        raise DutError(
            f"Natxy cannot make this device use {cores} cores (expected a dut.kind that can)."
        )
