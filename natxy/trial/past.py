"""The trials of a cell that its journal has: a measurement that goes on reads them, and runs the
others (docs/decisions/0041).

A measurement asks for the same trials as before the interruption, because what it asks for follows
from its plan, its seed and the trials before. So the next trial that it asks for is the next one of
the journal, until the journal ends.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable

from natxy.errors import DutError, OtherTrials
from natxy.model.trial_record import Collapse, TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec

# They differ from start to start: numbers of threads, and what tells the frames of trials apart.
OF_THE_START = {"watched", "nonce"}


class Collapsed(DutError):
    """The gateway collapsed in a trial, as the journal says."""


class Past:
    """The trials that are left to read, in their order; none, if the measurement begins."""

    def __init__(
        self,
        entries: Iterable[TrialRecord | Collapse] = (),
        kept: Callable[[TrialResult], TrialResult] = lambda result: result,
    ) -> None:
        """`kept` returns a result as the journal keeps it, so that whoever reads it decides as
        whoever has measured it."""
        self._left = deque(entries)
        self.kept = kept
        self.read = 0  # trials that were read, those in which the gateway collapsed included

    def __bool__(self) -> bool:
        return bool(self._left)

    def next(self, spec: str, repetition: int) -> TrialRecord | None:
        """Returns the trial with this fingerprint of its spec; None where the journal ends.

        Raises Collapsed if the gateway collapsed in it, and OtherTrials if it is another trial.
        """
        if not self._left:
            return None
        entry = self._left.popleft()
        repeated = entry.repetition if isinstance(entry, TrialRecord) else repetition
        if entry.spec != spec or repeated != repetition:
            raise _other("another trial than the next one that this measurement asks for")
        self.read += 1
        if isinstance(entry, Collapse):
            raise Collapsed(entry.error)
        return entry

    def check_read(self) -> None:
        """Raises OtherTrials if the measurement has ended and trials are left."""
        if self._left:
            raise _other("more trials than this measurement asks for")


def fingerprint(spec: TrialSpec) -> str:
    text = spec.model_dump_json(exclude=OF_THE_START)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _other(what: str) -> OtherTrials:
    return OtherTrials(
        f"The journal holds {what}, so the cell cannot be resumed (expected the version of Natxy, "
        "the testbed and the options with which the campaign was started)."
    )
