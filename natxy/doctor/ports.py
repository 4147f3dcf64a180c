"""Examines the NICs and their drivers, and what the kernel's stack would do with their frames.

On a machine with several memory nodes, ports, cores and huge pages should be on the same one.
"""

import shlex
from collections.abc import Mapping, Sequence
from glob import escape
from pathlib import Path

from natxy.doctor.finding import (
    Finding,
    Machine,
    at_boot,
    costs,
    cpu_list,
    good,
    impossible,
    only_if,
)
from natxy.doctor.kernel import ENOUGH_KIB, enough, free_pages, listed
from natxy.errors import DeviceError
from natxy.model.testbed import TesterSection
from natxy.tester.kernel_stack import check_kernel, kernel_addresses, stack_use

SHOWN = 3
NO_INTERFACES = ("all", "default", "lo")
NET = "proc/thread-self/net"
DEFAULT_IPV4, DEFAULT_IPV6 = ("00000000", "00000000"), ("0" * 32, "00")
NETWORK_CLASS = "0x02"
USER_SPACE_DRIVERS = ("vfio-pci", "uio_pci_generic", "igb_uio")
SHARED_DRIVERS = ("mlx5_core", "mlx4_core")  # DPDK uses these NICs while the kernel keeps them
# A device of the same IOMMU group that has one of these can stay: a group goes as a whole.
LET_GO = ("vfio-pci", "pci-stub", "pcieport", "no driver")

OF_DPDK = (*USER_SPACE_DRIVERS, *SHARED_DRIVERS)
NODES = "sys/devices/system/node"


def examine_ports(machine: Machine) -> list[Finding]:
    nics = _nics(machine)
    if not nics:
        return [
            costs(
                "NICs",
                "no PCI network device",
                cost="only labs on this machine are possible; their figures are not a NIC's",
                remedy="# add a NIC; a lab needs none",
            )
        ]
    return [nic(machine, path) for path in nics]


def dpdk_nics(machine: Machine) -> list[Path]:
    """Returns the folders of the NICs that DPDK can use as they are."""
    return [path for path in _nics(machine) if _driver(machine, path) in OF_DPDK]


def nic(machine: Machine, path: Path) -> Finding:
    """Examines whether DPDK can use a PCI device."""
    driver = _driver(machine, path)
    name = f"NIC {path.name}"
    interfaces = _interfaces(path)
    state = ", ".join([_identity(machine, path), driver, *interfaces])
    if kept := _kept_of_group(machine, path):
        named = ", ".join(f"{other} ({its})" for other, its in kept.items())
        return costs(
            name,
            f"{state}; also in its IOMMU group: {named}",
            cost="DPDK cannot use it while the kernel has a device of its group",
            remedy=only_if(
                "this machine does not need them; or put the NIC in a slot whose group it has for "
                "itself",
                f"dpdk-devbind.py --bind=vfio-pci {shlex.join(kept)}",
            ),
        )
    if driver in OF_DPDK:
        return good(name, state)
    shared = f", except as net_af_xdp0,iface={interfaces[0]}" if interfaces else ""
    return costs(
        name,
        state,
        cost=f"DPDK cannot use it{shared}",
        remedy="# this machine is reached through it: add another NIC for the tester"
        if uplinks(machine) & set(interfaces)
        else _binding(machine, path.name),
    )


def _kept_of_group(machine: Machine, path: Path) -> dict[str, str]:
    """Returns the devices that keep a NIC of vfio-pci from being used, with their drivers."""
    if _driver(machine, path) != "vfio-pci":
        return {}
    others = sorted(path.glob("iommu_group/devices/*"))
    drivers = {other.name: _driver(machine, other) for other in others if other.name != path.name}
    return {name: driver for name, driver in drivers.items() if driver not in LET_GO}


def _interfaces(path: Path) -> list[str]:
    """Returns the device's interfaces; those of a virtio device are one folder deeper."""
    return [each.name for deep in ("", "virtio*/") for each in sorted(path.glob(f"{deep}net/*"))]


def _binding(machine: Machine, address: str) -> str:
    if not machine.paths("sys/kernel/iommu_groups/*"):
        why = "amd_iommu=on for AMD, and in a virtual machine the host's as well"
        return at_boot("iommu", "intel_iommu=on iommu=pt", why)
    return only_if(
        "you do not reach this machine through it; apt-get install dpdk has this program",
        f"modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci {shlex.quote(address)}",
    )


def _nics(machine: Machine) -> list[Path]:
    return [path for path in machine.paths("sys/bus/pci/devices/*") if _is_nic(machine, path)]


def _driver(machine: Machine, path: Path) -> str:
    return machine.target(path / "driver") or "no driver"


def _is_nic(machine: Machine, path: Path) -> bool:
    return machine.text(path / "class").startswith(NETWORK_CLASS)


def _identity(machine: Machine, path: Path) -> str:
    ids = [machine.text(path / key).removeprefix("0x") for key in ("vendor", "device")]
    return ":".join(ids)


def examine_nodes(machine: Machine, worker_cpus: tuple[int, ...]) -> list[Finding]:
    """Examines the node of each NIC that DPDK can use; nothing on a machine with one node."""
    cpus = {
        int(path.name.removeprefix("node")): cpu_list(machine.text(f"{NODES}/{path.name}/cpulist"))
        for path in machine.paths(f"{NODES}/node[0-9]*")
    }
    if len(cpus) < 2:
        return []
    nics: dict[int, list[str]] = {}
    for path in dpdk_nics(machine):
        node = int(machine.text(path / "numa_node") or -1)
        if node in cpus:
            nics.setdefault(node, []).append(path.name)
    return [
        finding
        for node, names in sorted(nics.items())
        for finding in (
            _cores_of(node, names, cpus[node], worker_cpus),
            _pages_of(machine, node, names),
        )
    ]


def _cores_of(node: int, nics: list[str], cpus: list[int], worker_cpus: tuple[int, ...]) -> Finding:
    name = f"cores of node {node}"
    away = sorted(set(worker_cpus) - set(cpus))
    state = f"with NIC {', '.join(nics)}; workers elsewhere: {', '.join(map(str, away)) or 'none'}"
    if not away:
        return good(name, state)
    return costs(
        name,
        state,
        cost="each frame crosses from one node to the other: lower rates, longer delays",
        remedy=f"# name CPUs of node {node} in tester.cores: {', '.join(map(str, cpus))}",
    )


def _pages_of(machine: Machine, node: int, nics: list[str]) -> Finding:
    name = f"huge pages of node {node}"
    folder = f"{NODES}/node{node}/hugepages"
    free = free_pages(machine, folder)
    state = f"with NIC {', '.join(nics)}; {listed(free)}"
    if enough(free):
        return good(name, state)
    return costs(
        name,
        state,
        cost="the frames of these NICs are kept on this node: the engine may not start",
        remedy=f"echo {ENOUGH_KIB // 2048} > /{folder}/hugepages-2048kB/nr_hugepages",
    )


def examine_stack(machine: Machine) -> list[Finding]:
    return [stack(machine, kernel_addresses(machine.root))]


def ports_of(tester: TesterSection) -> Finding:
    """Examines the ports of a testbed."""
    try:
        check_kernel(tester)
    except DeviceError as error:
        return impossible(
            "ports of the testbed",
            error.in_options,
            cost="the kernel would answer the gateway's frames, or forward them elsewhere",
            remedy="# the state above says what to do",
        )
    return good("ports of the testbed", "the kernel does not use them")


def stack(machine: Machine, addresses: Mapping[str, Sequence[str]]) -> Finding:
    """Reports interfaces that the kernel uses, but not those by which this machine is reached."""
    name, reached_by = "kernel's own use of interfaces", uplinks(machine)
    known = {path.name for path in machine.paths("proc/sys/net/ipv4/conf/*")}
    candidates = sorted((known | set(addresses)) - reached_by - set(NO_INTERFACES))
    uses = [stack_use(each, machine.root, addresses) for each in candidates]
    used = [use for use in uses if not use.is_harmless]
    if not used:
        return good(name, f"none, except {', '.join(sorted(reached_by)) or 'lo'}")
    more = f"; {len(used) - SHOWN} more" if len(used) > SHOWN else ""
    return costs(
        name,
        "; ".join(f"{use.interface} {use.words}" for use in used[:SHOWN]) + more,
        cost="such a port of net_af_packet or net_pcap is refused: the kernel would answer or "
        "forward test frames",
        remedy=only_if(f"{used[0].interface} is the tester's", used[0].remedy),
    )


def uplinks(machine: Machine) -> set[str]:
    """Returns the interfaces with a default route, and those below them: the members of a bond or
    a bridge, and the parent of a VLAN."""
    ipv4 = [line.split() for line in machine.text(f"{NET}/route").splitlines()[1:]]
    ipv6 = [line.split() for line in machine.text(f"{NET}/ipv6_route").splitlines()]
    by_ipv4 = {each[0] for each in ipv4 if (each[1], each[7]) == DEFAULT_IPV4}
    by_ipv6 = {each[9] for each in ipv6 if (each[0], each[1]) == DEFAULT_IPV6}
    found, new = set[str](), by_ipv4 | by_ipv6 - {"lo"}
    while new:
        found |= new
        new = {below for name in new for below in _below(machine, name)} - found
    return found


def _below(machine: Machine, interface: str) -> list[str]:
    paths = machine.paths(f"sys/class/net/{escape(interface)}/lower_*")
    return [path.name.removeprefix("lower_") for path in paths]
