"""The programs at the other ends of a program's sockets."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from natxy.dut.peers import AtPorts, other_ends, owners
from natxy.dut.process import within

# Listens, or connects, as it is told; a line says that it is connected, and its input ends it.
PEER = """
import socket, sys
role, path = sys.argv[1:]
own = socket.socket(socket.AF_UNIX)
if role == "server":
    own.bind(path)
    own.listen()
    print("listens", flush=True)
    other, _ = own.accept()
else:
    own.connect(path)
print("is connected", flush=True)
sys.stdin.read()
"""


def peers(process: int) -> set[int]:
    return owners(other_ends(process))


@contextmanager
def peer(role: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PEER, role, os.fspath(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.communicate(timeout=10)


def test_a_server_is_found(tmp_path: Path) -> None:
    with peer("server", tmp_path / "s") as server, socket.socket(socket.AF_UNIX) as own:
        assert server.pid not in peers(os.getpid())
        own.connect(os.fspath(tmp_path / "s"))
        # It has no socket of its own until it has accepted.
        assert within(10, lambda: server.pid in peers(os.getpid()))
        assert os.getpid() in peers(server.pid)
        found = AtPorts(tester=os.getpid(), cpus=frozenset())
        assert found.are_there()
        assert server.pid in found.processes


def test_a_client_is_found_and_forgotten_when_it_has_ended(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(os.fspath(tmp_path / "s"))
        own.listen()
        found = AtPorts(tester=os.getpid(), cpus=frozenset())
        with peer("client", tmp_path / "s") as client:
            accepted, _ = own.accept()
            assert found.are_there()
            assert client.pid in found.processes
        found.are_there()
        assert client.pid not in found.processes
        accepted.close()


def test_a_process_that_has_ended_has_no_peers() -> None:
    assert peers(4_194_304) == set()


def test_where_the_kernel_does_not_tell_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> socket.socket:
        raise PermissionError

    monkeypatch.setattr("natxy.dut.peers.socket.socket", refuse)
    assert peers(os.getpid()) == set()


def test_the_systems_logger_is_no_gateway() -> None:
    """DPDK opens a socket of datagrams to it."""
    before = other_ends(os.getpid())
    for kind, found in ((socket.SOCK_DGRAM, 0), (socket.SOCK_SEQPACKET, 2)):
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        with one, other:
            assert len(other_ends(os.getpid()) - before) == found


@pytest.mark.parametrize(
    ("allowed", "found"),
    [
        ({11: {0, 1}, 12: {1}, 13: {2}}, {11: 1, 12: 1, 13: 2}),
        ({11: {1}, 12: {1, 2}}, {}),  # nobody knows where the second one runs
        ({11: {1}, 12: {0}, 13: set[int]()}, {11: 1}),
        ({11: {1}, 99: {3}}, {11: 1}),  # the second one has hardly run
    ],
)
def test_threads_are_watched_that_can_use_one_cpu_only(
    allowed: dict[int, set[int]], found: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("natxy.dut.peers.other_ends", lambda _: {7})
    monkeypatch.setattr("natxy.dut.peers.owners", lambda _: {os.getpid()})
    monkeypatch.setattr("natxy.dut.peers.threads_of", lambda _: list(allowed))
    monkeypatch.setattr("natxy.dut.peers.allowed_cpus", allowed.__getitem__)
    monkeypatch.setattr("natxy.dut.peers.cpu_time_ns", lambda each: 10 if each == 99 else 1000)
    assert AtPorts(tester=1, cpus=frozenset({0})).threads() == found
