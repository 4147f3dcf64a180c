"""A gateway's machine for tests of recipes: a namespace with an sshd, with keys of its own.

No engine runs, and no CPU is locked.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from natxy.dut.config import SshConfig
from natxy.dut.process import within
from natxy.dut.recipe import read_recipe
from natxy.dut.ssh import SshDut
from natxy.model.source import Source

SSHD = Path("/usr/sbin/sshd")
HOST, TESTER, PORT = "192.0.2.1", "192.0.2.2", 2222  # of the management link
SOURCE = Source(name="lab.toml")
NUMBERS = count()


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A gateway's machine: a namespace with an sshd, its files, and the links to two testers."""

    gateway: str
    hosts: str
    folder: Path
    sshd: int

    def config(self, **changes: object) -> SshConfig:
        keys = {
            "kind": "ssh",
            "host": HOST,
            "port": PORT,
            "key": str(self.folder / "user"),
            "known_hosts": str(self.folder / "known_hosts"),
            "recipe": "nftables-nat44",
            "connect_timeout_s": 5.0,
            "timeout_s": 10.0,
        }
        return SshConfig.model_validate(keys | changes)

    def dut(self, recipe: str, **variables: str | int) -> SshDut:
        read = read_recipe(recipe)
        filled = read.filled(variables, SOURCE)
        return SshDut(self.config(recipe=recipe), filled, show=lambda *_: None)

    def inside(self, *command: str) -> str:
        return run("ip", "netns", "exec", self.gateway, *command)


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert not check or done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@contextmanager
def ssh_machine(folder: Path) -> Iterator[Machine]:
    """Yields a machine whose keys and configuration are in the folder; removes all of it."""
    if not SSHD.exists():
        pytest.fail("sshd is not installed (tools/install test installs it)")
    label = f"{os.getpid()}{next(NUMBERS)}"
    gateway, hosts = (f"natxy-ssh-{end}-{label}" for end in ("g", "h"))
    management = f"nxs{label}"
    for name in ("host", "user", "stranger"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    (folder / "known_hosts").write_text(f"[{HOST}]:{PORT} {(folder / 'host.pub').read_text()}")
    other = (folder / "stranger.pub").read_text()
    (folder / "other_hosts").write_text(f"[{HOST}]:{PORT} {other}")
    (folder / "no_hosts").write_text("")
    configuration = folder / "sshd_config"
    configuration.write_text(
        f"Port {PORT}\nListenAddress {HOST}\nHostKey {folder}/host\nPidFile {folder}/sshd.pid\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    made = not Path("/run/sshd").exists()
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it, and systemd makes it
    pid = 0
    try:
        make_links(gateway, hosts, management)
        with (folder / "sshd.log").open("wb") as log:
            sshd = subprocess.Popen(
                ["ip", "netns", "exec", gateway, str(SSHD), "-D", "-e", "-f", str(configuration)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        pid = sshd.pid
        assert within(30, answers), (folder / "sshd.log").read_text()
        yield Machine(gateway=gateway, hosts=hosts, folder=folder, sshd=pid)
        sshd.terminate()
        sshd.wait(10)
    finally:
        run("ip", "link", "del", management, check=False)
        for name in (gateway, hosts):
            end_all(name)
            run("ip", "netns", "del", name, check=False)
        if made:
            Path("/run/sshd").rmdir()


def make_links(gateway: str, hosts: str, management: str) -> None:
    """Makes a management link to this namespace, and two to a namespace with the hosts."""
    run("ip", "netns", "add", gateway)
    run("ip", "netns", "add", hosts)
    run("ip", "link", "add", management, "type", "veth", "peer", "m0", "netns", gateway)
    run("ip", "address", "add", f"{TESTER}/30", "dev", management)
    run("ip", "link", "set", management, "up")
    run("ip", "-n", gateway, "address", "add", f"{HOST}/30", "dev", "m0")
    for name in ("m0", "lo"):
        run("ip", "-n", gateway, "link", "set", name, "up")
    for number in (0, 1):
        run("ip", "-n", hosts, "link", "add", f"t{number}", "type", "veth", "peer", f"d{number}",
            "netns", gateway)  # fmt: skip
        run("ip", "-n", hosts, "link", "set", f"t{number}", "mtu", "2000", "up")
        run("ip", "-n", gateway, "link", "set", f"d{number}", "mtu", "2000", "up")


def answers() -> bool:
    try:
        socket.create_connection((HOST, PORT), 1).close()
    except OSError:
        return False
    return True


def processes_in(namespace: str) -> list[int]:
    return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).split()]


def end_all(namespace: str) -> None:
    for pid in processes_in(namespace):
        end(pid)
    within(10, lambda: not processes_in(namespace))


def end(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, 9)


def left(machine: Machine) -> set[str]:
    """Returns the commands that run in the namespace beside sshd's own processes."""
    names = {Path(f"/proc/{pid}/comm") for pid in processes_in(machine.gateway)}
    return {name.read_text().strip() for name in names if name.exists()} - {"sshd"}
