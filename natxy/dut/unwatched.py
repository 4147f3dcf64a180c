"""What drivers have in common whose devices run where nobody can see what keeps them from work."""

from natxy.dut.base import Absence
from natxy.model.trial_spec import WatchedCpu


class Unwatched:
    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return ()

    def absence(self) -> Absence | None:
        return None
