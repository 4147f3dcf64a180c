"""The programs at the other ends of another program's Unix sockets.

A port of memif or vhost-user is such a socket, so the tester's peers are the gateway.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from natxy.dut.process import Process, allowed_cpus, cpu_time_ns, threads_of

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
BUSY = 0.1  # of the time that the busiest thread of a program has run


@dataclass(kw_only=True)
class AtPorts:
    """The programs at the other ends of the tester's ports."""

    tester: int  # its process
    cpus: frozenset[int]  # the tester's own
    _ends: set[int] = field(default_factory=set, init=False)  # inodes of their sockets
    _known: set[Process] = field(default_factory=set, init=False)

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(sorted(each.pid for each in self._known))

    def are_there(self) -> bool:
        """Looks for them, unless they are known: the same sockets, of processes that run."""
        ends = other_ends(self.tester)
        if ends != self._ends or not all(each.lives() for each in self._known):
            self._known = set(map(Process.of, owners(ends) - {self.tester}))
            self._ends = ends
        return bool(self._known)

    def threads(self) -> dict[int, int]:
        """Returns the threads that move frames, each with its CPU; none if one of them can run on
        several CPUs beside the tester's, since nobody knows where it does.

        Threads that have hardly run do not move frames.
        """
        self.are_there()
        found: dict[int, int] = {}
        for process in self.processes:
            ran_ns = {thread: cpu_time_ns(thread) for thread in threads_of(process)}
            least_ns = BUSY * max(ran_ns.values(), default=0)
            for thread in (each for each, ns in ran_ns.items() if ns >= least_ns):
                match tuple(allowed_cpus(thread) - self.cpus):
                    case ():  # it has ended, or is where only the tester runs
                        pass
                    case (cpu,):
                        found[thread] = cpu
                    case _:
                        return {}
        return found


def other_ends(process: int, proc: Path = Path("/proc")) -> set[int]:
    """Returns the inodes of the sockets to which a process's Unix sockets are connected.

    Empty if the kernel does not tell: it is not allowed, or has no unix_diag.
    """
    with suppress(OSError):
        own = _sockets(proc / str(process), above=STANDARD)
        return {peer for inode, peer in _connected() if inode in own}
    return set()


def owners(sockets: set[int], proc: Path = Path("/proc")) -> set[int]:
    """Returns the numbers of the processes that have one of these sockets."""
    numbers = proc.glob("[0-9]*") if sockets else ()
    return {int(each.name) for each in numbers if _has(each, sockets)}


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
    """Yields the inodes of each Unix socket with a connection, and of its peer.

    Those of this network namespace; the peer may be in another one. A socket of datagrams is no
    port: it leads to the system's logger.
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
                _, type_, *_, inode, _ = ANSWER.unpack_from(body)
                if type_ == socket.SOCK_DGRAM:
                    continue
                for name, value in _attributes(body[ANSWER.size :]):
                    if name == UNIX_DIAG_PEER:
                        yield inode, int.from_bytes(value, sys.byteorder)


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
