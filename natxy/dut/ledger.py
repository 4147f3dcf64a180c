"""Records what a lab makes before it is made, so that it can be undone if a process dies.

Each lab has a JSON file in the runtime folder, which its process keeps locked. A file that can be
locked belongs to a process that no longer runs.
"""

import fcntl
import itertools
import json
import os
import re
import shutil
import socket
import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from natxy.dut.namespaces import FOLDER as NAMESPACES
from natxy.dut.namespaces import read_inside, remove_namespace
from natxy.dut.process import Process
from natxy.errors import DutError
from natxy.runtime_folder import (
    UNUSABLE,
    lock_now,
    opened,
    remove_dpdk_folder,
    runtime_folder,
    sweep_dpdk_folders,
)

LABEL = re.compile(r"\d+(-\d+)?")
OF_A_LAB = "natxy-lab-"  # what the names of its folders begin with
GET_FLAGS, SET_FLAGS = 0x8913, 0x8914  # linux/sockios.h
PROMISCUOUS = 0x100  # linux/if.h: IFF_PROMISC
REQUEST = "16sH22x"  # struct ifreq


class Interface(NamedTuple):
    """An interface of the tester, by its name and the number of its network namespace.

    DPDK switches its promiscuous mode on, and does not end it.
    """

    name: str
    namespace: int

    @staticmethod
    def here(name: str) -> "Interface":
        """Returns the interface with this name in the namespace of this process."""
        return Interface(name, Path("/proc/self/ns/net").stat().st_ino)

    def end_promiscuous(self) -> None:
        """Switches the mode off; does nothing if the interface, or its namespace, has gone."""
        if self == Interface.here(self.name):
            end_promiscuous(self.name)
            return
        for path in NAMESPACES.glob("*"):
            if path.stat().st_ino == self.namespace:
                read_inside({path.name: partial(end_promiscuous, self.name)})


@dataclass(kw_only=True)
class Entries:
    """The things to undo, in the order of the fields."""

    processes: list[Process] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)  # path of /proc/sys: value before
    folders: list[str] = field(default_factory=list)
    interfaces: list[Interface] = field(default_factory=list)  # that were not promiscuous

    def to_json(self) -> str:
        return json.dumps(vars(self))  # of a process and of an interface, a list of its members

    @staticmethod
    def from_json(text: str) -> "Entries":
        """Reads a file's text; an empty one belongs to a lab that had made nothing yet."""
        read: dict[str, Any] = json.loads(text) if text.strip() else {}
        processes = [Process(*each) for each in read.pop("processes", [])]
        interfaces = [Interface(*each) for each in read.pop("interfaces", [])]
        return Entries(processes=processes, interfaces=interfaces, **read)

    def undo(self, kept: Collection[str] = ()) -> list[str]:
        """Undoes all that can be undone; returns a sentence for each thing that is left.

        Settings in `kept` stay: another lab has changed them as well, and restores them.
        """
        steps: list[Callable[[], object]] = [process.end for process in self.processes]
        steps += [partial(remove_dpdk_folder, process.pid) for process in self.processes]
        steps += [partial(remove_namespace, name) for name in self.namespaces]
        settings = {path: value for path, value in self.settings.items() if path not in kept}
        steps += [partial(Path(path).write_text, value) for path, value in settings.items()]
        steps += [partial(_remove_folder, folder) for folder in self.folders]
        steps += [interface.end_promiscuous for interface in self.interfaces]
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
        folder = runtime_folder()
        if folder is None:
            raise DutError(f"{UNUSABLE} (expected a folder of this user for a lab's record)")
        self._folder = folder
        self.label, self._file = _claim_label(folder)
        self._entries = Entries()

    def note_process(self, pid: int) -> None:
        self._entries.processes.append(Process.of(pid))
        self._write()

    def note_namespace(self, name: str) -> None:
        self._entries.namespaces.append(name)
        self._write()

    def note_interface(self, interface: Interface) -> None:
        """Notes an interface of the tester that is not promiscuous, and will be until the end."""
        self._entries.interfaces.append(interface)
        self._write()

    def change_setting(self, path: str, value: str) -> None:
        """Changes a kernel parameter of the first namespace.

        The last lab that changed it restores its first value.
        """
        if path not in self._entries.settings:
            before = self._of_other_labs().get(path) or Path(path).read_text().strip()
            self._entries.settings[path] = before
            self._write()
        Path(path).write_text(value)

    def make_folder(self) -> Path:
        """Makes a folder for files of the lab, which is removed with it."""
        path = self._folder / f"{OF_A_LAB}{self.label}-{len(self._entries.folders)}"
        self._entries.folders.append(str(path))
        self._write()
        _remove_folder(str(path))  # a process that had this number before may have left it
        path.mkdir(mode=0o700)
        return path

    def undo(self) -> None:
        """Removes the lab; DutError names what is left, which the next start tries to remove."""
        left = self._entries.undo(kept=self._of_other_labs())
        if not left:
            Path(self._file.name).unlink(missing_ok=True)
        self._file.close()
        if left:
            raise DutError("The lab could not be removed completely. " + " ".join(left))

    def _of_other_labs(self) -> dict[str, str]:
        return _living_settings(besides=Path(self._file.name))

    def _write(self) -> None:
        """Writes the entries; the text only grows, so a kill before `truncate` does no harm."""
        self._file.seek(0)
        self._file.write(self._entries.to_json())
        self._file.flush()
        self._file.truncate()


def sweep() -> list[str]:
    """Removes the labs of dead processes; returns a sentence for each thing done or left."""
    sentences: list[str] = []
    sweep_dpdk_folders()
    for path in _records():
        if LABEL.fullmatch(path.stem):
            sentences += _sweep_one(path)
    return sentences


def _sweep_one(path: Path) -> list[str]:
    try:
        file = opened(path, "r+")
    except OSError:  # gone meanwhile, or another user's
        return []
    with file:
        if not _is_own(file) or not lock_now(file):
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
    """Returns the settings that other living labs have changed, with their first values."""
    found: dict[str, str] = {}
    for path in _records():
        if path != besides:
            found = _settings_if_it_lives(path) | found
    return found


def _settings_if_it_lives(path: Path) -> dict[str, str]:
    try:
        with opened(path, "r+") as file:
            is_dead = not _is_own(file) or lock_now(file)
            return {} if is_dead else Entries.from_json(file.read()).settings
    except (OSError, ValueError, TypeError):  # the lab ended meanwhile
        return {}


def _records() -> list[Path]:
    folder = runtime_folder()
    return [] if folder is None else sorted(folder.glob("*.json"))


def _claim_label(folder: Path) -> tuple[str, IO[str]]:
    """Returns the lab's label, the process number (with a counter for further labs), and file."""
    for count in itertools.count(1):
        label = str(os.getpid()) if count == 1 else f"{os.getpid()}-{count}"
        try:
            file = opened(folder / f"{label}.json", "x+")
        except FileExistsError:
            continue
        if lock_now(file):
            return label, file
        file.close()
    raise AssertionError("unreachable")


def _is_own(file: IO[str]) -> bool:
    """Returns whether this user has written the file: what it names is ended and removed."""
    return os.fstat(file.fileno()).st_uid == os.geteuid()


def _remove_folder(path: str) -> None:
    """Removes a folder of `make_folder`, and refuses any other that the file may name."""
    folder = Path(path)
    if folder.parent != runtime_folder() or not folder.name.startswith(OF_A_LAB):
        raise DutError(f"{path} is not a folder of a lab and was not removed.")
    try:
        if folder.is_symlink():
            folder.unlink()  # what it names is nobody's lab
        elif folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise DutError(f"{path} cannot be removed: {error.strerror or error}.") from None


def is_promiscuous(name: str) -> bool:
    """Returns False also if there is no such interface: the engine says so."""
    return bool(_flags(name) & PROMISCUOUS)


def end_promiscuous(name: str) -> None:
    flags = _flags(name)
    if flags & PROMISCUOUS:
        _ask(SET_FLAGS, name, flags & ~PROMISCUOUS)


def _flags(name: str) -> int:
    try:
        return _ask(GET_FLAGS, name, 0)
    except OSError:
        return 0


def _ask(request: int, name: str, flags: int) -> int:
    given = struct.pack(REQUEST, os.fsencode(name)[:15], flags)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        return int(struct.unpack(REQUEST, fcntl.ioctl(asked, request, given))[1])
