"""tayga in a guest: a stateless NAT64, and with iptables' masquerading behind it a stateful one."""

from pathlib import Path
from typing import ClassVar

from natxy.dut.guest_gateway import MTU_BYTES, GuestGateway, GuestSite, fed
from natxy.dut.guest_kernel import GuestIptablesNat44
from natxy.dut.nat64 import described_together
from natxy.dut.tayga import QUEUE_FRAMES, device_lines, single_translation, tayga_configuration

FOLDER = Path("/tmp")
FILE = FOLDER / "tayga.conf"
LOG = FOLDER / "tayga.log"
PROCESS = FOLDER / "tayga.pid"
CARRIER = "/sys/class/net/nat64/carrier"  # 1: a program has attached to the tun device


class GuestTayga(GuestGateway):
    """It has static mappings only, and so no state."""

    title: ClassVar[str] = "tayga, stateless NAT64"
    packages: ClassVar[tuple[str, ...]] = ("tayga",)
    outward: ClassVar[tuple[tuple[int, int], ...]] = ((6, 4), (4, 6))

    def __init__(self, site: GuestSite) -> None:
        super().__init__(site)
        self._translation = single_translation(site.plan)
        self._configuration = tayga_configuration(self._translation, FOLDER)

    def start(self) -> None:
        """Makes the tun device and starts tayga on it."""
        self._site.run("modprobe tun")
        lines = device_lines(self._translation, MTU_BYTES)
        self._site.run(fed("ip -batch -", "\n".join(lines)))
        self._site.run(fed(f"cat >{FILE}", self._configuration))
        self._run()

    def restart(self) -> str:
        """Kills and restarts tayga; its tun device and the routes to it stay."""
        self._site.run(f"kill -9 $(<{PROCESS}) && {carrier_becomes(0)}")
        self._run()
        return "software reset: tayga killed and started again"

    def check(self) -> None:
        """Raises DutError, with tayga's last line, if it has ended."""
        self._site.run(f"kill -0 $(<{PROCESS}) || {{ cat {LOG}; false; }}")

    def describe(self) -> dict[str, str]:
        return {
            "software": "tayga",
            "configuration": self._configuration,
            "tun_queue_frames": str(QUEUE_FRAMES),
        }

    def _run(self) -> None:
        """Starts tayga in the background, and waits until it reads frames."""
        self._site.run(f"tayga -d --config {FILE} >{LOG} 2>&1 & echo $! >{PROCESS}")
        self._site.run(f"{carrier_becomes(1)} || {{ cat {LOG}; false; }}")


def carrier_becomes(wanted: int) -> str:
    """Returns a command that waits for 5 s, and fails if the tun device has another state then."""
    state = f'read -r state <{CARRIER} && [ "$state" = {wanted} ]'
    return f"for n in {{1..50}}; do {state} && break; sleep 0.1; done && {state}"


class GuestNat64(GuestIptablesNat44):
    """The setup of Lencse and Shima, stateful NAT64 methodology, appendix A.3."""

    title: ClassVar[str] = "tayga and iptables, stateful NAT64"
    packages: ClassVar[tuple[str, ...]] = ("tayga", "iptables")
    outward: ClassVar[tuple[tuple[int, int], ...]] = ((6, 4),)

    def __init__(self, site: GuestSite) -> None:
        super().__init__(site)
        self._tayga = GuestTayga(site)

    def start(self) -> None:
        self._tayga.start()
        super().start()

    def restart(self) -> str:
        done = self._tayga.restart()
        self.reset()
        return f"{done}, connection tracking table emptied"

    def check(self) -> None:
        self._tayga.check()

    def describe(self) -> dict[str, str]:
        return described_together(self._tayga.describe(), super().describe())
