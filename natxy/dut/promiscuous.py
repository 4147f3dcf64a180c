"""Promiscuous mode of the tester's own interfaces: DPDK switches it on, and does not end it."""

import fcntl
import os
import socket
import struct
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

from natxy.dut.namespaces import FOLDER, read_inside

GET_FLAGS, SET_FLAGS = 0x8913, 0x8914  # linux/sockios.h
PROMISCUOUS = 0x100  # linux/if.h: IFF_PROMISC
REQUEST = "16sH22x"  # struct ifreq


@dataclass(frozen=True)
class Interface:
    """An interface, by its name and the number of its network namespace."""

    name: str
    namespace: int

    @staticmethod
    def here(name: str) -> "Interface":
        """Returns the interface with this name in the namespace of this process."""
        return Interface(name, Path("/proc/self/ns/net").stat().st_ino)

    def to_json(self) -> list[str | int]:
        return list(astuple(self))

    def end_promiscuous(self) -> None:
        """Switches the mode off; does nothing if the interface, or its namespace, has gone."""
        if self == Interface.here(self.name):
            end_promiscuous(self.name)
            return
        for path in FOLDER.glob("*"):
            if path.stat().st_ino == self.namespace:
                read_inside({path.name: partial(end_promiscuous, self.name)})


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
