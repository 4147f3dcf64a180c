"""Examines what the kernel's stack would do with frames at interfaces that may be the tester's."""

from collections.abc import Mapping, Sequence
from glob import escape

from natxy.doctor.finding import Finding, Machine, costs, good, impossible, only_if
from natxy.errors import DeviceError
from natxy.model.testbed import TesterSection
from natxy.tester.kernel_stack import check_kernel, kernel_addresses, stack_use

SHOWN = 3
NO_INTERFACES = ("all", "default", "lo")
NET = "proc/thread-self/net"
DEFAULT_IPV4, DEFAULT_IPV6 = ("00000000", "00000000"), ("0" * 32, "00")


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
