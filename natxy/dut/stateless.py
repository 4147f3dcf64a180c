"""What drivers have in common whose devices keep no connections."""

from natxy.dut.base import ConnectionTable
from natxy.errors import DutError


class Stateless:
    @property
    def table(self) -> ConnectionTable | None:
        return None

    def recover(self) -> None:
        """Nothing to do: there is no table that could have brought it down."""

    def set_cores(self, cores: int) -> None:
        raise DutError(
            f"Natxy cannot make this device use {cores} cores (expected a dut.kind that can)."
        )
