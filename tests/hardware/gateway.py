"""The gateway of the tester's guest: a namespace whose taps are the NICs' cables."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT, AddressPlan
from natxy.dut.execution import execute, in_namespace, ip_batch, set_sysctls
from natxy.dut.links import FORWARDING, QUIET_IPV6, addresses_and_routes
from natxy.dut.namespaces import make_namespace, remove_namespace
from natxy.dut.process import within
from natxy.dut.recipe import Filled, drivers

NAMESPACE = "natxy-hardware"
TAPS = ("t0", "t1")  # left and right
PLAN = AddressPlan(left_ip_version=4, right_ip_version=4)
CONNECTIONS = 300  # that the NAT44 can have to one address and port
FIRST_PORT = 10_000
LATE, DELAY_S = "late", 0.1
DELAY_LINE = Path(__file__).with_name("delay_line.py")


class Gateway:
    """The kernel as a router or as a NAT44; takes commands from the guest, line by line."""

    def __init__(self, *, queues: int, mtu_bytes: int) -> None:
        remove_namespace(NAMESPACE)
        make_namespace(NAMESPACE)
        set_sysctls(NAMESPACE, {f"net/ipv6/conf/default/{k}": v for k, v in QUIET_IPV6.items()})
        several = " multi_queue" if queues > 1 else ""
        lines = ["link set lo up"]
        for tap in TAPS:
            lines += [f"tuntap add dev {tap} mode tap{several}"]
            lines += [f"link set {tap} mtu {mtu_bytes} txqueuelen 1000 up"]
        ip_batch(NAMESPACE, lines)
        set_sysctls(NAMESPACE, FORWARDING)
        for side, tap in zip((LEFT, RIGHT), TAPS, strict=True):
            ip_batch(NAMESPACE, addresses_and_routes(PLAN, side, tap))

    def route(self) -> None:
        self._nft("table ip natxy\ndelete table ip natxy\n")

    def masquerade(self) -> None:
        """Masquerades with so few ports that the table's capacity is known."""
        self.route()
        ports = f"masquerade to :{FIRST_PORT}-{FIRST_PORT + CONNECTIONS - 1}"
        values = {"inside_network": LEFT.ipv4_prefix, "outside": TAPS[1]}
        rules = Filled(recipe=drivers("namespace")["nat44"], values=values).files()["natxy.nft"]
        self._nft(rules.replace("masquerade", f"ip protocol udp {ports}"))

    @contextmanager
    def delaying(self) -> Iterator[None]:
        """Lets each packet wait for DELAY_S on its way from one tap to the other."""
        line = [sys.executable, str(DELAY_LINE), LATE, str(DELAY_S)]
        with subprocess.Popen(in_namespace(NAMESPACE, line), start_new_session=True) as process:
            try:
                assert within(10.0, lambda: LATE in execute(["ip", "-n", NAMESPACE, "link"]))
                ip_batch(
                    NAMESPACE,
                    [
                        f"link set {LATE} mtu 9000 txqueuelen 10000 up",
                        f"route add default dev {LATE} table 100",
                        *(f"rule add iif {tap} lookup 100" for tap in TAPS),
                    ],
                )
                yield
            finally:
                ip_batch(NAMESPACE, [f"rule del iif {tap} lookup 100" for tap in TAPS])
                process.kill()

    def obey(self, guest: socket.socket) -> None:
        """Answers what the guest writes to its port `gateway`, line by line, until the guest ends.

        `count` asks for the number of connections, `empty` for the seconds that ending them takes.
        """
        threading.Thread(target=self._obey, args=(guest,), daemon=True).start()

    def _obey(self, guest: socket.socket) -> None:
        with guest, guest.makefile("rw") as lines:
            for line in lines:
                begin_s = time.monotonic()
                option = {"count": "-C", "empty": "-F"}[line.strip()]
                said = execute(in_namespace(NAMESPACE, ["conntrack", option])).strip()
                lines.write(f"{said or time.monotonic() - begin_s}\n")
                lines.flush()

    def _nft(self, rules: str) -> None:
        execute(in_namespace(NAMESPACE, ["nft", "-f", "-"]), feed=rules)

    stop: Callable[[], None] = staticmethod(lambda: remove_namespace(NAMESPACE))
