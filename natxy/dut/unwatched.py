"""Base of the drivers of devices whose absences cannot be watched."""

from natxy.dut.base import Absence
from natxy.model.trial_spec import WatchedCpu


class Unwatched:
    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return ()

    def absence(self) -> Absence | None:
        return None
