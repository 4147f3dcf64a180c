"""Remembers the best placement of two CPUs that this machine has shown (docs/decisions/0026)."""

import json
import time
from contextlib import suppress
from pathlib import Path

from natxy.errors import StorageError
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.runtime_folder import runtime_folder
from natxy.whole_file import write_whole

FILE_NAME = "placements"  # the folder's files with the ending .json are those of labs
# What was not seen for so long is forgotten: the machine may have moved to another host.
KEPT_S = 600.0
# Times the best: the placement is still as good.
NEAR = 1.25
ALONE = 1.15


class Placements:
    """The best of the tester's first CPU and others: the shortest round trip, and the work that
    fills a core in times of the chain that does not, whatever the clock.

    Processes share what they know by a file in the runtime folder.
    """

    def __init__(self, tester_cpu: int, folder: Path | None = None) -> None:
        where = folder or runtime_folder()
        self._file = where / FILE_NAME if where else None
        self._tester_cpu = tester_cpu
        self._known: dict[str, tuple[float, float]] = {}  # the best, and when it was last seen

    def noted(self, result: TrialResult) -> TrialResult:
        """Returns the result with the best that is known, its own included."""
        if not any(watch.round_trip_ns or watch.work_ns for watch in result.watched):
            return result
        self._read()
        watched = tuple(watch.model_copy(update=self._note(watch)) for watch in result.watched)
        self._write()
        return result.model_copy(update={"watched": watched})

    def _note(self, watch: WatchResult) -> dict[str, float]:
        """Takes over what was measured; returns the fields with the best that is known."""
        pair = f"{self._tester_cpu}-{watch.cpu}"
        chains = watch.work_ns / watch.chain_ns if watch.chain_ns else 0.0
        return {
            "nearest_ns": self._learn(f"round_trip_ns {pair}", watch.round_trip_ns, NEAR),
            "fastest_ns": self._learn(f"work_in_chains {pair}", chains, ALONE) * watch.chain_ns,
        }

    def _learn(self, key: str, found: float, good: float) -> float:
        """Returns the best that is known, with what was found; 0: unknown."""
        now = time.time()
        best, seen = self._known.get(key, (found, 0.0))
        if found and (found < best or not 0 <= now - seen < KEPT_S):
            self._known[key] = (found, now)
        elif found and found < good * best:
            self._known[key] = (best, now)
        return self._known.get(key, (0.0, 0.0))[0]

    def _read(self) -> None:
        if self._file is None:
            return
        with suppress(OSError, ValueError, TypeError, AttributeError):
            read = json.loads(self._file.read_text())
            self._known = {str(key): (float(ns), float(seen)) for key, (ns, seen) in read.items()}

    def _write(self) -> None:
        if self._file is None:
            return
        with suppress(StorageError):  # no measurement fails for it
            write_whole(self._file, json.dumps(self._known))
