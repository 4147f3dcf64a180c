"""Claims ports and CPUs, because two testers on the same one disturb each other's trials.

A claim is a locked file that holds its owner's process number and command. The kernel releases the
lock when the process ends, however it ends. The files are in /run/natxy, or, if that cannot be
written, in a folder of the user, where testers of other users are not seen.

A second tester at a port, or at a tester's CPU, is refused. The CPUs of a lab's gateway are only
announced, with a file for each process: on a machine of few CPUs, two labs share them on purpose.

The port that a device string names is identified, because two processes cannot share it.
"""

import hashlib
import os
import re
import shlex
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from natxy.errors import InUse
from natxy.model.address_checks import SIDES
from natxy.model.testbed import TesterSection
from natxy.runtime_folder import UNUSABLE, is_made, lock_now, opened, runtime_folder

NAMESPACES = Path("/run/netns")
OWN_NAMESPACE = Path("/proc/self/ns/net")
PCI = re.compile(r"(?:pci:)?(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])")
KERNEL_INTERFACES = ("net_af_xdp", "net_af_packet", "net_tap", "net_pcap")
SOCKETS = {"net_vhost": "iface", "net_virtio_user": "path"}  # driver: what names the socket
MEMIF_SOCKET = "/run/memif.sock"  # DPDK's defaults
ALIAS = re.compile("^eth_")  # an older name of each driver: eth_pcap is net_pcap
NO = ("no", "0", "false")
VARIABLE = "NATXY_LOCKS"
PATIENCE_S = 0.5  # a process that sweeps the folder holds each lock for a moment
SHOWN_CHARACTERS = 80


@dataclass(frozen=True, kw_only=True)
class PortIdentity:
    name: str  # for messages: t0, 0000:01:00.0, /tmp/memif.sock
    key: str  # equal for all device strings of the same port


def port_identity(device: str, namespace: str | None) -> PortIdentity | None:
    """Returns the port's identity, None for a port in the memory of one process.

    `namespace` is the network namespace of the engine; None stands for this process's.
    """
    driver, values = arguments_of(device)
    if address := PCI.fullmatch(driver):
        name = f"{int(address[1] or '0', 16):04x}:{address[2].lower()}"
        return PortIdentity(name=name, key=f"pci {name}")
    if driver.startswith("net_memif"):
        return _memif(values, namespace)
    if driver.startswith(KERNEL_INTERFACES) and "iface" in values:
        return _in_namespace(values["iface"], "interface", namespace)
    for prefix, key in SOCKETS.items():
        if driver.startswith(prefix) and key in values:
            path = os.path.realpath(values[key])
            return PortIdentity(name=path, key=f"socket {path}")
    return None


def ends_here(device: str, root: Path = Path("/")) -> bool:
    """Returns whether a device string names a port whose other end is on this machine."""
    driver, values = arguments_of(device)
    if is_socket(device) or driver.startswith("net_tap"):
        return True
    if not driver.startswith(KERNEL_INTERFACES) or "iface" not in values:
        return False
    interface = root / "sys/class/net" / values["iface"]
    is_virtual = "virtual" in interface.resolve().parts
    return is_virtual and not any(interface.glob("lower_*"))  # a VLAN of a NIC has a lower one


def is_socket(device: str) -> bool:
    """Returns whether the other end of a port is a program that has connected to a socket."""
    driver, _ = arguments_of(device)
    return driver.startswith(("net_memif", *SOCKETS))


def arguments_of(device: str) -> tuple[str, dict[str, str]]:
    """Returns what a device string begins with, by DPDK's newer name, and its arguments."""
    written, *arguments = device.split(",")
    driver = ALIAS.sub("net_", written)
    return driver, dict(argument.split("=", 1) for argument in arguments if "=" in argument)


def _memif(values: dict[str, str], namespace: str | None) -> PortIdentity | None:
    """Returns the identity of a memif link: its socket and its number."""
    number, socket = values.get("id", "0"), values.get("socket", MEMIF_SOCKET)
    if values.get("socket-abstract", "yes") not in NO:  # a name within the network namespace
        return _in_namespace(socket, f"memif {number}", namespace)
    path = os.path.realpath(socket)
    return PortIdentity(name=f"{path}, link {number}", key=f"memif {number} {path}")


def _in_namespace(name: str, what: str, namespace: str | None) -> PortIdentity | None:
    path = OWN_NAMESPACE if namespace is None else NAMESPACES / namespace
    try:
        inode = path.stat().st_ino
    except OSError:  # starting the engine there fails and reports it
        return None
    return PortIdentity(name=name, key=f"{what} {name} in {inode}")


class Claims:
    """The claims of one tester, a context manager that gives them back at its end.

    Testers of one process share its CPUs: its author decides how.
    """

    def __init__(self) -> None:
        self._folder = lock_folder()
        self._ports: dict[str, IO[str]] = {}
        self._cpus: list[int] = []
        self._gateway_cpus: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        _sweep(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._ports.values():
            _give_back(file)
        _OWN_CPUS.give_back(map(self._of_tester, self._cpus))
        _OWN_CPUS.give_back(map(self._of_gateway, self._gateway_cpus))

    def take_cpus(self, numbers: Iterable[int]) -> None:
        """Claims the tester's CPUs; raises InUse, which names the owner, if one is taken."""
        for number in numbers:
            _OWN_CPUS.take(self._of_tester(number), f"tester.cores: CPU {number}")
            self._cpus.append(number)

    def announce_cpus(self, numbers: tuple[int, ...]) -> None:
        """Tells other processes the CPUs of a lab's gateway, in place of those told before."""
        if numbers == self._gateway_cpus:
            return
        for number in numbers:
            _OWN_CPUS.take(self._of_gateway(number), f"dut.gateway_cpu: CPU {number}")
        before, self._gateway_cpus = self._gateway_cpus, numbers
        _OWN_CPUS.give_back(map(self._of_gateway, before))

    def shared_cpus(self) -> tuple[str, ...]:
        """Returns a clause for each of these CPUs that another process uses as well."""
        uses = [("tester", cpu) for cpu in self._cpus]
        uses += [("gateway", cpu) for cpu in self._gateway_cpus]
        return tuple(
            f"CPU {cpu} of the {who} was also used by {owner}"
            for who, cpu in uses
            for owner in self._other_owners(cpu)
        )

    def _other_owners(self, cpu: int) -> Iterable[str]:
        """Returns each other process that has the CPU, for its tester or its gateway."""
        paths = (self._of_tester(cpu), *sorted(self._folder.glob(f"gateway-cpu-{cpu}-*.lock")))
        owners = (_owner(path) for path in paths if not _OWN_CPUS.has(path))
        return dict.fromkeys(owner for owner in owners if owner)

    def _of_tester(self, cpu: int) -> Path:
        return self._folder / f"cpu-{cpu}.lock"

    def _of_gateway(self, cpu: int) -> Path:
        return self._folder / f"gateway-cpu-{cpu}-{os.getpid()}.lock"

    def take_ports(self, tester: TesterSection, namespace: str | None) -> None:
        """Claims the ports that other processes could use; InUse if one is taken.

        `namespace` is the network namespace of the engine.
        """
        for side in SIDES:
            device = tester.port(side).device
            port = port_identity(device, namespace) if device else None
            if port is not None and port.key not in self._ports:
                digest = hashlib.sha256(port.key.encode()).hexdigest()[:16]
                path = self._folder / f"port-{digest}.lock"
                self._ports[port.key] = _take(path, f"tester.{side}.device: {port.name}", "port")


class _OwnCpus:
    """The files of the CPUs of all testers and gateways of this process, with one lock each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[Path, IO[str]] = {}
        self._uses: Counter[Path] = Counter()

    def take(self, path: Path, what: str) -> None:
        with self._lock:
            if path not in self._files:
                self._files[path] = _take(path, what, "CPU")
            self._uses[path] += 1

    def has(self, path: Path) -> bool:
        with self._lock:
            return path in self._files

    def give_back(self, paths: Iterable[Path]) -> None:
        with self._lock:
            for path in paths:
                self._uses[path] -= 1
                if not self._uses[path]:
                    _give_back(self._files.pop(path))


_OWN_CPUS = _OwnCpus()


def lock_folder() -> Path:
    """Returns the folder of the lock files, which exists.

    NATXY_LOCKS names another folder, for testers that are separated by other means.
    """
    given = os.environ.get(VARIABLE)
    if given and is_made(Path(given)):
        return Path(given)
    folder = None if given else runtime_folder()
    if folder is None:
        where = f"{VARIABLE}: {given}: cannot be written" if given else UNUSABLE
        raise InUse(f"{where} (expected a folder of this user for the lock files)")
    return folder


def _take(path: Path, what: str, kind: str) -> IO[str]:
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            file = opened(path, "a+")
        except OSError as error:
            raise InUse(
                f"{path}: cannot be opened: {error.strerror} (expected a file of this user)"
            ) from None
        if lock_now(file):
            _sign(file)
            return file
        owner = _read_owner(file)
        file.close()
        if time.monotonic() > end:
            raise InUse(f"{what} is in use by {owner} (expected a free {kind})")
        time.sleep(PATIENCE_S / 20)


def _owner(path: Path) -> str:
    """Returns the process that has locked the file; empty if there is none."""
    try:
        file = opened(path, "r+")
    except OSError:
        return ""
    if lock_now(file):  # its process was killed
        _give_back(file)
        return ""
    owner = _read_owner(file)
    file.close()
    return owner


def _read_owner(file: IO[str]) -> str:
    file.seek(0)
    return file.read(2 * SHOWN_CHARACTERS).strip() or "another process"


def _sign(file: IO[str]) -> None:
    program, *arguments = sys.argv
    name = "python" if program in ("", "-c", "-m") else Path(program).name
    command = shlex.join([name, *arguments])
    if len(command) > SHOWN_CHARACTERS:
        command = command[: SHOWN_CHARACTERS - 3] + "..."
    file.truncate(0)
    file.write(f"process {os.getpid()} (`{command}`)\n")
    file.flush()


def _give_back(file: IO[str]) -> None:
    """Removes the file while it is locked, so that a process that opened it sees that it went."""
    Path(file.name).unlink(missing_ok=True)
    file.close()


def _sweep(folder: Path) -> None:
    """Removes the files of killed processes, whose locks the kernel has released."""
    for path in folder.glob("*.lock"):
        _owner(path)
