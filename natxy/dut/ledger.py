"""What a lab made, written down before it is made, so that it can be undone whoever died.

One JSON file a lab in /run/natxy, locked as long as the process lives that owns it: a file that
can be locked belongs to nobody any more.
"""

import fcntl
import itertools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from natxy.dut.namespaces import remove_namespace
from natxy.dut.process import Process
from natxy.errors import DutError

FOLDER = Path("/run/natxy")
LABEL = re.compile(r"\d+(-\d+)?")


@dataclass(kw_only=True)
class Entries:
    """What is to be undone, in the order of the fields."""

    processes: list[Process] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)  # path of /proc/sys: value before
    folders: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        processes = [[p.pid, p.start_ticks] for p in self.processes]
        return json.dumps({**vars(self), "processes": processes})

    @staticmethod
    def from_json(text: str) -> "Entries":
        """An empty file is that of a lab that had made nothing yet."""
        read: dict[str, Any] = json.loads(text) if text.strip() else {}
        processes = [Process(pid=p, start_ticks=t) for p, t in read.pop("processes", [])]
        return Entries(processes=processes, **read)

    def undo(self, kept: Collection[str] = ()) -> list[str]:
        """Undoes all that can be undone; a sentence for each thing that is left.

        Settings that are `kept` stay: another lab has changed them as well, and puts them back.
        """
        steps: list[Callable[[], None]] = [process.end for process in self.processes]
        steps += [partial(remove_namespace, name) for name in self.namespaces]
        settings = {path: value for path, value in self.settings.items() if path not in kept}
        steps += [partial(_restore, path, value) for path, value in settings.items()]
        steps += [partial(_remove_folder, folder) for folder in self.folders]
        left = []
        for step in steps:
            try:
                step()
            except (DutError, OSError) as error:
                left.append(str(error))
        return left


class Ledger:
    """The record of one lab of this process."""

    def __init__(self) -> None:
        FOLDER.mkdir(mode=0o755, parents=True, exist_ok=True)
        self.label, self._file = _claim_label()
        self._entries = Entries()

    def note_process(self, pid: int) -> None:
        self._entries.processes.append(Process.of(pid))
        self._write()

    def note_namespace(self, name: str) -> None:
        self._entries.namespaces.append(name)
        self._write()

    def change_setting(self, path: str, value: str) -> None:
        """Changes a kernel parameter of the first namespace; its first value is put back, by the
        last of the labs that have changed it."""
        if path not in self._entries.settings:
            before = self._of_other_labs().get(path) or Path(path).read_text().strip()
            self._entries.settings[path] = before
            self._write()
        Path(path).write_text(value)

    def make_folder(self) -> Path:
        """A temporary folder that goes with the lab."""
        path = Path(tempfile.gettempdir()) / f"natxy-lab-{self.label}-{len(self._entries.folders)}"
        self._entries.folders.append(str(path))
        self._write()
        path.mkdir(mode=0o700)
        return path

    def undo(self) -> None:
        """Undoes the lab; DutError names what is left, which the next start tries again."""
        left = self._entries.undo(kept=self._of_other_labs())
        if not left:
            Path(self._file.name).unlink(missing_ok=True)
        self._file.close()
        if left:
            raise DutError("The lab could not be removed completely. " + " ".join(left))

    def _of_other_labs(self) -> dict[str, str]:
        return _living_settings(besides=Path(self._file.name))

    def _write(self) -> None:
        """The text only grows: killed before the last line, the file is still whole."""
        self._file.seek(0)
        self._file.write(self._entries.to_json())
        self._file.flush()
        self._file.truncate()


def sweep() -> list[str]:
    """Undoes the labs of processes that no longer live; a sentence for each thing done or left."""
    sentences: list[str] = []
    for path in sorted(FOLDER.glob("*.json")):
        if LABEL.fullmatch(path.stem):
            sentences += _sweep_one(path)
    return sentences


def _sweep_one(path: Path) -> list[str]:
    try:
        file = path.open("r+")
    except FileNotFoundError:
        return []
    with file:
        if not _lock(file):
            return []
        try:
            left = Entries.from_json(file.read()).undo(kept=_living_settings(besides=path))
        except (ValueError, TypeError) as error:
            left = [f"{path} cannot be read ({error}): remove it."]
        if not left:
            path.unlink(missing_ok=True)
            return [f"Removed the lab {path.stem} of a process that no longer runs."]
        return left


def _living_settings(*, besides: Path) -> dict[str, str]:
    """What the other labs have changed whose processes live, and what stood there before."""
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.json")):
        if path != besides:
            found = _settings_if_it_lives(path) | found
    return found


def _settings_if_it_lives(path: Path) -> dict[str, str]:
    try:
        with path.open("r+") as file:
            return {} if _lock(file) else Entries.from_json(file.read()).settings
    except (OSError, ValueError, TypeError):  # it ended while we looked
        return {}


def _claim_label() -> tuple[str, IO[str]]:
    """The process's number, and for its further labs a number behind it."""
    for count in itertools.count(1):
        label = str(os.getpid()) if count == 1 else f"{os.getpid()}-{count}"
        try:
            file = (FOLDER / f"{label}.json").open("x+")
        except FileExistsError:
            continue
        if _lock(file):
            return label, file
        file.close()
    raise AssertionError("unreachable")


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return Path(file.name).exists()  # else a sweep was faster than us


def _restore(path: str, value: str) -> None:
    Path(path).write_text(value)


def _remove_folder(path: str) -> None:
    """Removes only what `make_folder` made, whatever the file says."""
    folder = Path(path)
    if folder.parent != Path(tempfile.gettempdir()) or not folder.name.startswith("natxy-lab-"):
        raise DutError(f"{path} is not a folder of a lab and was not removed.")
    if folder.exists():
        shutil.rmtree(folder)
