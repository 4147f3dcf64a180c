"""What is tried rather than read: privileges, programs, AF_XDP, what dead labs have left."""

import os
import shutil

from natxy.doctor.finding import Finding, costs, good, impossible
from natxy.dut.ledger import sweep
from natxy.dut.veth_loop import VethLoop
from natxy.errors import EngineNotFound, NatxyError
from natxy.tester.command import find_engine

LAB_PROGRAMS = ("ip", "ethtool", "sysctl", "taskset", "tayga", "nft", "conntrack")


def examine_tools() -> list[Finding]:
    found = [privileges(), engine(), programs()]
    if os.geteuid() == 0:
        found += [leftovers(), af_xdp()]
    return found


def privileges() -> Finding:
    if os.geteuid() == 0:
        return good("privileges", "root")
    return impossible(
        "privileges",
        f"user {os.geteuid()}",
        cost="no labs, no AF_XDP, no packet sockets",
        remedy="sudo natxy ...; docs/privileges.md says what for",
    )


def engine() -> Finding:
    try:
        return good("engine", find_engine())
    except EngineNotFound as error:
        return impossible("engine", str(error), cost="no trials", remedy="make install")


def programs() -> Finding:
    missing = [name for name in LAB_PROGRAMS if shutil.which(name) is None]
    if not missing:
        return good("programs of the labs", "all there")
    return costs(
        "programs of the labs",
        f"missing: {', '.join(missing)}",
        cost="no labs, or not all of them",
        remedy="tools/install run",
    )


def leftovers() -> Finding:
    """Removes them, too: nobody else will before the next lab starts."""
    sentences = sweep()
    still = [sentence for sentence in sentences if not sentence.startswith("Removed")]
    if not still:
        return good("labs of dead processes", " ".join(sentences) or "none")
    return costs(
        "labs of dead processes",
        " ".join(still),
        cost="namespaces and processes that run for nobody",
        remedy="remove what is named, with `ip netns del` or `kill`",
    )


def af_xdp() -> Finding:
    """A program and a socket on a veth pair that is made for it."""
    name, loop = "AF_XDP", VethLoop()
    try:
        loop.start()
        kind = loop.describe()["device_kind"]
    except NatxyError as error:
        return costs(name, str(error), cost="no labs", remedy="docs/privileges.md")
    finally:
        loop.stop()
    if kind == "af_xdp":
        return good(name, "works on a veth")
    return costs(
        name,
        f"{kind.partition('since ')[2]}; packet sockets are used instead",
        cost="a lab's tester has 0.5 to 0.7 of the rate, and longer tails",
        remedy="a kernel with CONFIG_XDP_SOCKETS; CAP_BPF and CAP_NET_ADMIN in a container",
    )
