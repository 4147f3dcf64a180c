"""Identifies the port that a device string names, which two processes cannot share."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

NAMESPACES = Path("/run/netns")
OWN_NAMESPACE = Path("/proc/self/ns/net")
PCI = re.compile(r"(?:pci:)?(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])")
KERNEL_INTERFACES = ("net_af_xdp", "net_af_packet", "net_tap", "net_pcap")
SOCKETS = {"net_vhost": "iface", "net_virtio_user": "path"}  # driver: what names the socket
MEMIF_SOCKET = "/run/memif.sock"  # DPDK's defaults
ALIAS = re.compile("^eth_")  # an older name of each driver: eth_pcap is net_pcap
NO = ("no", "0", "false")


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
    if driver.startswith(("net_memif", "net_vhost", "net_virtio_user", "net_tap")):
        return True
    if not driver.startswith(KERNEL_INTERFACES) or "iface" not in values:
        return False
    interface = root / "sys/class/net" / values["iface"]
    is_virtual = "virtual" in interface.resolve().parts
    return is_virtual and not any(interface.glob("lower_*"))  # a VLAN of a NIC has a lower one


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
