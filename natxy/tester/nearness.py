"""Remembers how near two CPUs of this machine can be (docs/decisions/0026)."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from natxy.model.trial_result import TrialResult, WatchResult
from natxy.runtime_folder import runtime_folder

FILE_NAME = "round-trips.json"
# A distance that was not seen for so long is forgotten: the machine may have moved to another host.
KEPT_S = 600.0
NEAR = 1.25  # times the shortest round trip: the CPUs are still as near


class Nearness:
    """The shortest round trip of a cache line between the tester's first CPU and others.

    Processes share what they know by a file in the runtime folder.
    """

    def __init__(self, tester_cpu: int, folder: Path | None = None) -> None:
        where = folder or runtime_folder()
        self._file = where / FILE_NAME if where else None
        self._tester_cpu = tester_cpu
        self._known: dict[str, tuple[float, float]] = {}  # pair: round trip in ns, last seen

    def noted(self, result: TrialResult) -> TrialResult:
        """Returns the result with the shortest round trips that are known, its own included."""
        if not any(watch.round_trip_ns for watch in result.watched):
            return result
        self._read()
        for watch in result.watched:
            self._note(watch)
        self._write()
        watched = tuple(
            watch.model_copy(update={"nearest_ns": self._known.get(self._pair(watch), (0.0,))[0]})
            for watch in result.watched
        )
        return result.model_copy(update={"watched": watched})

    def _pair(self, watch: WatchResult) -> str:
        return f"{self._tester_cpu}-{watch.cpu}"

    def _note(self, watch: WatchResult) -> None:
        took_ns, pair, now = watch.round_trip_ns, self._pair(watch), time.time()
        if not took_ns:
            return
        known_ns, seen = self._known.get(pair, (took_ns, 0.0))
        if took_ns < known_ns or not 0 <= now - seen < KEPT_S:
            self._known[pair] = (took_ns, now)
        elif took_ns < NEAR * known_ns:
            self._known[pair] = (known_ns, now)

    def _read(self) -> None:
        if self._file is None:
            return
        with suppress(OSError, ValueError, TypeError, AttributeError):
            read = json.loads(self._file.read_text())
            self._known = {str(pair): (float(ns), float(seen)) for pair, (ns, seen) in read.items()}

    def _write(self) -> None:
        if self._file is None:
            return
        temporary = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # no measurement fails for it
            temporary.write_text(json.dumps(self._known))
            temporary.replace(self._file)
