"""Remembers the best placement of two CPUs that this machine has shown (docs/decisions/0026)."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from natxy.model.trial_result import TrialResult, WatchResult
from natxy.runtime_folder import runtime_folder

FILE_NAME = "placements"  # the folder's files with the ending .json are those of labs
# What was not seen for so long is forgotten: the machine may have moved to another host.
KEPT_S = 600.0
GOOD = 1.25  # times the best: the placement is still as good
# Fields of a watched CPU: what was measured, and the best that is known.
FIELDS: Mapping[str, str] = {"round_trip_ns": "nearest_ns", "work_ns": "fastest_ns"}


class Placements:
    """The shortest round trip and the fastest work of the tester's first CPU and others.

    Processes share what they know by a file in the runtime folder.
    """

    def __init__(self, tester_cpu: int, folder: Path | None = None) -> None:
        where = folder or runtime_folder()
        self._file = where / FILE_NAME if where else None
        self._tester_cpu = tester_cpu
        self._known: dict[str, tuple[float, float]] = {}  # best in ns, and when it was last seen

    def noted(self, result: TrialResult) -> TrialResult:
        """Returns the result with the best that is known, its own included."""
        if not any(watch.round_trip_ns or watch.work_ns for watch in result.watched):
            return result
        self._read()
        watched = tuple(watch.model_copy(update=self._note(watch)) for watch in result.watched)
        self._write()
        return result.model_copy(update={"watched": watched})

    def _note(self, watch: WatchResult) -> dict[str, float]:
        """Takes over what was measured; returns the best that is known, by its fields."""
        best = {}
        for measured, field in FIELDS.items():
            key = f"{measured} {self._tester_cpu}-{watch.cpu}"
            self._learn(key, getattr(watch, measured))
            best[field] = self._known.get(key, (0.0, 0.0))[0]
        return best

    def _learn(self, key: str, took_ns: float) -> None:
        if not took_ns:
            return
        now = time.time()
        known_ns, seen = self._known.get(key, (took_ns, 0.0))
        if took_ns < known_ns or not 0 <= now - seen < KEPT_S:
            self._known[key] = (took_ns, now)
        elif took_ns < GOOD * known_ns:
            self._known[key] = (known_ns, now)

    def _read(self) -> None:
        if self._file is None:
            return
        with suppress(OSError, ValueError, TypeError, AttributeError):
            read = json.loads(self._file.read_text())
            self._known = {str(key): (float(ns), float(seen)) for key, (ns, seen) in read.items()}

    def _write(self) -> None:
        if self._file is None:
            return
        temporary = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # no measurement fails for it
            temporary.write_text(json.dumps(self._known))
            temporary.replace(self._file)
