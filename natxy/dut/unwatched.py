"""Base of the drivers of gateways of which nothing is seen on this machine."""

from natxy.dut.base import Absence
from natxy.model.telemetry import Snapshot
from natxy.model.trial_spec import WatchedCpu


class Unwatched:
    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return ()

    @property
    def cpus(self) -> tuple[int, ...]:
        return ()

    def absence(self) -> Absence | None:
        return None

    def telemetry(self) -> Snapshot:
        return Snapshot()
