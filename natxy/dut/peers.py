"""The programs at the other ends of another program's Unix sockets.

A port of memif or vhost-user is such a socket, so the tester's peers are the gateway.
"""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from natxy.dut.process import Process, allowed_cpus, threads_of

# linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY, NLMSG_ERROR, NLMSG_DONE = 20, 2, 3
NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
UDIAG_SHOW_PEER, UNIX_DIAG_PEER = 0x4, 2
ALL_STATES = 0xFFFF_FFFF
HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
REQUEST = struct.Struct("=BBHIII8s")  # family, protocol, -, states, inode, show, cookie
ANSWER = struct.Struct("=BBBBI8s")  # family, type, state, -, inode, cookie
ATTRIBUTE = struct.Struct("=HH")  # length with this, type
MOST_OCTETS = 65_536  # of an answer
PATIENCE_S = 1.0
STANDARD = 2  # the last standard stream, behind which may be a journal


@dataclass(kw_only=True)
class AtPorts:
    """The programs at the other ends of the tester's ports."""

    tester: int  # its process
    cpus: frozenset[int]  # the tester's own
    _known: set[Process] = field(default_factory=set, init=False)

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(sorted(each.pid for each in self._known))

    def are_there(self) -> bool:
        """Looks for them, unless those that are known still run."""
        if not self._known or not all(each.lives() for each in self._known):
            self._known = set(map(Process.of, peers(self.tester)))
        return bool(self._known)

    def threads(self) -> dict[int, int]:
        """Returns the programs' threads that can run on one CPU only, each with this CPU.

        The tester's CPUs are busy. Where another thread runs, nobody knows.
        """
        self.are_there()
        found: dict[int, int] = {}
        for thread in (each for process in self.processes for each in threads_of(process)):
            match tuple(allowed_cpus(thread) - self.cpus):
                case (cpu,):
                    found[thread] = cpu
        return found


def peers(process: int, proc: Path = Path("/proc")) -> set[int]:
    """Returns the numbers of the processes that have the other end of one of its Unix sockets.

    Empty if the kernel does not tell: it is not allowed, or has no unix_diag.
    """
    ends: set[int] = set()
    with suppress(OSError):
        own = _sockets(proc / str(process), above=STANDARD)
        ends = {peer for inode, peer in _connected() if inode in own}
    found = (int(each.name) for each in proc.glob("[0-9]*") if ends and _has(each, ends))
    return {number for number in found if number != process}


def _has(process: Path, inodes: set[int]) -> bool:
    try:
        return not inodes.isdisjoint(_sockets(process))
    except OSError:  # it has ended, or is another user's
        return False


def _sockets(process: Path, above: int = -1) -> set[int]:
    """Returns the inodes of a process's sockets: `socket:[INODE]` is where its links lead."""
    found: set[int] = set()
    for link in (process / "fd").iterdir():
        with suppress(OSError):  # it has been closed meanwhile
            kind, _, inode = os.readlink(link).partition(":[")
            if kind == "socket" and int(link.name) > above:
                found.add(int(inode.rstrip("]")))
    return found


def _connected() -> Iterator[tuple[int, int]]:
    """Yields the inodes of each connected Unix socket and of its peer.

    Those of this network namespace; the peer may be in another one.
    """
    asked = REQUEST.pack(socket.AF_UNIX, 0, 0, ALL_STATES, 0, UDIAG_SHOW_PEER, b"\xff" * 8)
    flags = NLM_F_REQUEST | NLM_F_DUMP
    header = HEADER.pack(HEADER.size + len(asked), SOCK_DIAG_BY_FAMILY, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(PATIENCE_S)
        kernel.send(header + asked)
        while True:
            for kind, body in _messages(kernel.recv(MOST_OCTETS)):
                if kind in (NLMSG_DONE, NLMSG_ERROR):
                    return
                *_, inode, _ = ANSWER.unpack_from(body)
                for name, value in _attributes(body[ANSWER.size :]):
                    if name == UNIX_DIAG_PEER:
                        yield inode, int.from_bytes(value, "little")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind, *_ = HEADER.unpack_from(data)
        yield kind, data[HEADER.size : length]
        data = data[_aligned(length) :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, name = ATTRIBUTE.unpack_from(data)
        yield name, data[ATTRIBUTE.size : length]
        data = data[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3
