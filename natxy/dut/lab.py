"""Base of the gateways that this process makes: a lab, or the calibration gateway."""

from typing import ClassVar

from natxy.dut.base import Dut
from natxy.dut.interrupts import without_interrupts
from natxy.dut.ledger import Ledger, sweep
from natxy.dut.namespaces import need_root


class Lab(Dut):
    """A gateway that `start` makes and `stop` removes, with all that its ledger names."""

    needs_root: ClassVar[bool] = True

    def __init__(self) -> None:
        self._made: Ledger | None = None  # None: not started, or stopped

    def start(self) -> None:
        if self.needs_root:
            need_root()
        sweep()
        try:
            self._made = Ledger()
            self._make()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Removes the lab; a second Ctrl-C waits until it is removed."""
        with without_interrupts():
            self._end()
            if self._made is not None:
                ledger, self._made = self._made, None
                ledger.undo()

    def _make(self) -> None:
        """Makes the gateway; what it has made when it raises is removed."""
        raise NotImplementedError

    def _end(self) -> None:
        """Ends the gateway's programs; may be called twice, and after a failed `_make`."""

    @property
    def _ledger(self) -> Ledger:
        """The record of what is made, from `start` to `stop`."""
        assert self._made is not None, "a lab that was started has a ledger"
        return self._made
