"""A lab that is slow to start, kept for the cells of a campaign that need the same one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

from natxy.dut.base import Dut
from natxy.errors import DutError


class KeptLab:
    """The lab of the cell before, until a cell needs another one or `drop` ends it."""

    def __init__(self) -> None:
        self._lab: Dut | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def fitting(self, dut: Dut) -> Dut:
        """Returns the lab that runs if it serves as this device would; else the device."""
        if self._lab is not None and self._lab.serves_as(dut):
            return self._lab
        return dut

    @contextmanager
    def running(self, dut: Dut) -> Iterator[None]:
        """Renews the device if it is the lab that runs, else starts it; stops it after an error."""
        renewed = self._renewed(dut)
        if not renewed:
            self.drop()
        self._lab = None
        with ExitStack() as ending:
            ending.callback(dut.stop)
            if not renewed:
                dut.start()
            yield
            if dut.serves_as(dut):
                ending.pop_all()
                self._lab = dut

    def drop(self) -> None:
        """Ends the lab, if one is kept."""
        if self._lab is not None:
            lab, self._lab = self._lab, None
            lab.stop()

    def _renewed(self, dut: Dut) -> bool:
        """Returns whether the lab that runs is this device, as after its start."""
        if self._lab is None or self._lab is not dut:
            return False
        try:
            self._lab.renew()
        except DutError:  # it died after its last trial, and is started again
            return False
        return True
