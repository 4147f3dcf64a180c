"""The kernel's own part in an interface that the tester uses: its stack may answer test frames, or
forward them.

Packet sockets and net_pcap get copies, so that the stack gets every frame as well. net_af_xdp takes
the frames of its queues before the stack; of an interface with more queues, the stack gets the
others. net_tap makes an interface whose other end is the kernel: there, it is the gateway.
"""

import ctypes
import fcntl
import shlex
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from natxy.errors import DeviceError
from natxy.model.address_checks import SIDES
from natxy.model.testbed import Port, TesterSection
from natxy.model.trial_spec import Side
from natxy.tester.claims import arguments_of

ROOT = Path("/")
COPIED = ("net_af_packet", "net_pcap")
BEFORE_THE_STACK = "net_af_xdp"
INTERFACE_KEYS = ("iface", "rx_iface", "tx_iface", "rx_iface_in")
GET_ADDRESSES = 0x8912  # linux/sockios.h: SIOCGIFCONF
ENTRY_BYTES, NAME_BYTES, ADDRESS_AT = 40, 16, 20  # of struct ifreq
MOST_ENTRIES = 4096
LINK_LOCAL = 0x20  # scope in /proc/net/if_inet6


@dataclass(frozen=True, kw_only=True)
class StackUse:
    """What the kernel's stack would do with frames that arrive at an interface."""

    interface: str
    addresses: tuple[str, ...] = ()  # that the interface has
    forwards: tuple[int, ...] = ()  # IP versions

    @property
    def is_harmless(self) -> bool:
        return not self.addresses and not self.forwards

    @property
    def words(self) -> str:
        has = f"has {', '.join(self.addresses)}" if self.addresses else ""
        versions = " and ".join(f"IPv{version}" for version in self.forwards)
        return " and ".join(filter(None, (has, versions and f"forwards {versions}")))

    @property
    def remedy(self) -> str:
        """Returns the commands after which the stack drops what arrives there."""
        name, commands = self.interface, []
        if any("." in each for each in self.addresses):
            commands.append(f"ip -4 addr flush dev {shlex.quote(name)}")
        if 4 in self.forwards:
            commands.append("sysctl -w " + shlex.quote(f"net/ipv4/conf/{name}/forwarding=0"))
        if 6 in self.forwards or any(":" in each for each in self.addresses):
            commands.append("sysctl -w " + shlex.quote(f"net/ipv6/conf/{name}/disable_ipv6=1"))
        return "; ".join(commands)


def stack_use(interface: str, root: Path, addresses: Mapping[str, Sequence[str]]) -> StackUse:
    """Reads what the stack does at an interface of the network namespace of this thread.

    `addresses` are those of each interface, as `kernel_addresses` returns them.
    """
    return StackUse(
        interface=interface,
        addresses=tuple(addresses.get(interface, ())),
        forwards=_forwards(interface, root),
    )


def check_kernel(tester: TesterSection, root: Path = ROOT) -> None:
    """Raises DeviceError if the kernel would answer or forward frames that are the tester's."""
    for side in SIDES:
        for interface in interfaces_of(tester, side):
            if _stack_gets_frames(tester.port(side).device or "", interface, root):
                _check(tester.port(side), side, interface, root)


def _check(port: Port, side: Side, interface: str, root: Path) -> None:
    where = f"tester.{side}.device: {interface}"
    addresses = kernel_addresses(root)
    use = stack_use(interface, root, addresses)
    if not use.is_harmless:
        raise DeviceError(
            f"{where} {use.words}, so that the kernel would answer or forward test frames "
            f"(expected an interface that the kernel does not use: `{use.remedy}`)"
        )
    own = _own_addresses(port)
    for other, its in addresses.items():
        for address in own.intersection(its):
            raise DeviceError(
                f"{where}: the kernel has the tester's address {address} on {other}, and would "
                f"answer its frames (expected another address, or `ip addr del {address} dev "
                f"{shlex.quote(other)}`)"
            )


def interfaces_of(tester: TesterSection, side: Side) -> tuple[str, ...]:
    """Returns the kernel's interfaces behind a port that leave it to the kernel."""
    driver, values = arguments_of(tester.port(side).device or "")
    if not driver.startswith((*COPIED, BEFORE_THE_STACK)):
        return ()
    return tuple(dict.fromkeys(values[key] for key in INTERFACE_KEYS if key in values))


def _stack_gets_frames(device: str, interface: str, root: Path) -> bool:
    if not device.startswith(BEFORE_THE_STACK):
        return True
    queues = list((root / "sys/class/net" / interface / "queues").glob("rx-*"))
    return len(queues) > 1  # the engine opens one


def _own_addresses(port: Port) -> set[str]:
    """Returns the addresses to which the gateway's frames for this port go."""
    tunnel = None if port.tunnel is None else port.tunnel.address
    given = (port.ipv4_real, port.ipv6_real, tunnel, *port.own_addresses)
    return {str(ip_address(each)) for each in given if each is not None}


def _forwards(interface: str, root: Path) -> tuple[int, ...]:
    """Returns the IP versions that the kernel forwards: IPv6 is switched for all interfaces."""
    settings = root / "proc/sys/net"
    ipv4 = _is_on(settings / "ipv4/conf" / interface / "forwarding")
    ipv6 = settings / "ipv6/conf"
    on = _is_on(ipv6 / "all/forwarding") or _is_on(ipv6 / interface / "force_forwarding")
    is_used = (ipv6 / interface).exists() and not _is_on(ipv6 / interface / "disable_ipv6")
    return (4,) * ipv4 + (6,) * (on and is_used)


def _is_on(path: Path) -> bool:
    try:
        return path.read_text().strip() not in ("", "0")
    except OSError:  # no such interface, or a kernel without IPv6
        return False


def kernel_addresses(root: Path = ROOT) -> dict[str, list[str]]:
    """Returns the addresses of each interface, without those of IPv6 that only the link knows."""
    found: dict[str, list[str]] = {}
    for interface, address in (*_ipv4_addresses(), *_ipv6_addresses(root)):
        found.setdefault(interface, []).append(address)
    return found


def _ipv4_addresses() -> list[tuple[str, str]]:
    """Asks the kernel, whose /proc has no list of them; `ip` is not installed everywhere."""
    room = bytearray(ENTRY_BYTES * MOST_ENTRIES)
    place = ctypes.addressof(ctypes.c_char.from_buffer(room))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        answer = fcntl.ioctl(asked, GET_ADDRESSES, struct.pack("iP", len(room), place))
    filled, _ = struct.unpack("iP", answer)
    entries = (bytes(room[at : at + ENTRY_BYTES]) for at in range(0, filled, ENTRY_BYTES))
    return [
        (_interface_in(each), socket.inet_ntoa(each[ADDRESS_AT : ADDRESS_AT + 4]))
        for each in entries
    ]


def _interface_in(entry: bytes) -> str:
    """Returns the name without the label that an address may have, as in eth0:1."""
    return entry[:NAME_BYTES].partition(b"\0")[0].decode(errors="replace").partition(":")[0]


def _ipv6_addresses(root: Path) -> list[tuple[str, str]]:
    try:
        lines = (root / "proc/thread-self/net/if_inet6").read_text(errors="replace").splitlines()
    except OSError:  # a kernel without IPv6
        return []
    each = (line.split() for line in lines)
    return [
        (name, str(IPv6Address(bytes.fromhex(address))))
        for address, _, _, scope, _, name in each
        if int(scope, 16) != LINK_LOCAL
    ]
