"""What tests of stateful duts share with others."""

import subprocess
import sys

from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.namespace import NamespaceDut
from natxy.dut.process import within

PACKETS = 20


# From the tester's namespace, each packet a connection: its own source port.
SENDER = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
for port in range(20000, 20000 + int(sys.argv[2])):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.bind(("", port))
        one.sendto(b"natxy", (sys.argv[1], 53))
"""


def config_of(driver: str, **keys: object) -> NamespaceConfig:
    return NamespaceConfig.model_validate({"kind": "namespace", "driver": driver, **keys})


def lab_of(driver: str, **keys: object) -> NamespaceDut:
    left = 6 if driver == "nat64" else 4
    plan = AddressPlan(left_ip_version=left, right_ip_version=4, stateful=True)
    return NamespaceDut(config_of(driver, **keys), plan, tester_cpus=(0,))


def give_addresses(lab: NamespaceDut, *, ipv6: bool, initiator: str = "left") -> None:
    """The tester's kernel speaks in place of the engine, for the initiator; the responder is
    silent, and known to the gateway all the same."""
    tester, gateway = lab.tester_namespace, lab.gateway_namespace
    ports = lab.tester_ports()
    assert ports is not None
    own, end = (ports.left, "t0") if initiator == "left" else (ports.right, "t1")
    other, to = (ports.right, "d1") if initiator == "left" else (ports.left, "d0")
    far_end = f"{to}-{label_of(lab)}"
    address = f"{own.ipv6_real}/128 nodad" if ipv6 else f"{own.ipv4_real}/32"
    next_hop = own.next_hop_ipv6 if ipv6 else own.next_hop_ipv4
    responders = [each for each in (other.ipv4_real, other.ipv6_real) if each]
    for line in [
        f"ip netns exec {tester} sysctl -qw net.ipv6.conf.{end}.disable_ipv6=0",
        f"ip -n {tester} addr add {address} dev {end}",
        f"ip -n {tester} route add default via {next_hop} dev {end} onlink",
        *(
            f"ip -n {gateway} neigh replace {each} lladdr 02:00:00:00:00:99 dev {far_end}"
            for each in responders
        ),
    ]:
        subprocess.run(line.split(), check=True)


def send(lab: NamespaceDut, *, initiator: str = "left") -> None:
    ports = lab.tester_ports()
    assert ports is not None
    responder = ports.right if initiator == "left" else ports.left
    send_to(lab, str(responder.ipv6_virtual or responder.ipv4_real))


def send_to(lab: NamespaceDut, address: str, packets: int = PACKETS) -> None:
    command = ["ip", "netns", "exec", str(lab.tester_namespace), sys.executable, "-c", SENDER]
    subprocess.run([*command, address, str(packets)], check=True, timeout=30)


def counted(lab: NamespaceDut, wanted: int) -> int:
    """Packets need a moment."""
    table = lab.table
    assert table is not None
    within(5, lambda: table.count() >= wanted)
    return table.count()


def label_of(lab: NamespaceDut) -> str:
    return str(lab.gateway_namespace).removeprefix("natxy-g-")
