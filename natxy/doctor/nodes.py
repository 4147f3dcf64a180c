"""Examines the memory nodes of a machine that has several: ports, cores and huge pages."""

from natxy.doctor.finding import Finding, Machine, costs, cpu_list, good
from natxy.doctor.kernel import ENOUGH_KIB, enough, free_pages, listed
from natxy.doctor.ports import dpdk_nics

NODES = "sys/devices/system/node"


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
