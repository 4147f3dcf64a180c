"""tayga, a stateless NAT64 in user space (RFC 7915, with explicit mappings of RFC 7757)."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from natxy.dut.addresses import LEFT, RIGHT, VIRTUAL_IPV6_PREFIX, AddressPlan
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_drivers import LabDriver
from natxy.dut.namespace_site import NamespaceSite
from natxy.dut.priority import put_first
from natxy.dut.process import within
from natxy.errors import DutError
from natxy.interrupts import without_interrupts
from natxy.program_output import beginning, start, why_it_ended

QUEUE_FRAMES = 10000  # tayga loses frames with the 500 that a tun has
OWN_IPV4 = "192.0.2.1"  # sources of the ICMP errors that it sends; documentation prefixes,
OWN_IPV6 = "2001:db8::1"  # which no traffic uses
CARRIER = "/sys/class/net/{device}/carrier"  # in a guest; 1: a program has attached to the device
STARTS_WITHIN_S = 5.0
STOPS_WITHIN_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Translation:
    """The mappings that one tayga translates."""

    device: str  # its tun device; its files have the same name
    mappings: Sequence[tuple[str, str]]  # of IPv4 and IPv6 prefixes
    prefixes: Sequence[str]  # destinations that are routed to the tun device
    role: str = ""  # which one it is, if a lab has several: "CLAT: "


def single_translation(plan: AddressPlan) -> Translation:
    """Returns the translation of a gateway that has IPv6 on one side and IPv4 on the other."""
    six = LEFT if plan.left_ip_version == 6 else RIGHT
    return Translation(
        device="nat64",
        mappings=plan.mappings(),
        prefixes=(six.ipv4_prefix, VIRTUAL_IPV6_PREFIX),
    )


class Tayga(Gateway):
    """tayga on a tun device. It has static mappings only, and no table that fills."""

    def __init__(self, site: Site, translation: Translation | None = None) -> None:
        """Without a translation, it is that of the site's IP versions."""
        super().__init__(site)
        self._translation = translation or single_translation(site.plan)

    def start(self) -> None:
        """Makes the tun device, whose MTU tayga reads once, and starts tayga on it."""
        device = self._translation.device
        prefixes = (*self._translation.prefixes, OWN_IPV4, OWN_IPV6)
        mtu = f"mtu {self._site.inner_mtu_bytes}"
        self._site.ip(
            [
                f"tuntap add dev {device} mode tun",
                f"link set {device} {mtu} txqueuelen {QUEUE_FRAMES} up",
                *(f"route add {prefix} dev {device}" for prefix in prefixes),
            ]
        )
        self._site.write(self._config, self._configuration())
        self._run()

    def restart(self) -> str:
        """Kills and restarts tayga; its tun device and the routes to it stay."""
        self._kill()
        self._run()
        return f"{self._translation.role}software reset: tayga killed and started again"

    def describe(self) -> dict[str, str]:
        return {
            "software": f"{self._translation.role}tayga",
            "configuration": self._configuration(),
            "tun_queue_frames": str(QUEUE_FRAMES),
        }

    def _run(self) -> None:
        """Starts tayga, and waits until it reads frames."""
        raise NotImplementedError

    def _kill(self) -> None:
        """Ends a tayga that runs."""
        raise NotImplementedError

    @property
    def _config(self) -> Path:
        return self._site.folder / f"{self._translation.device}.conf"

    @property
    def _log(self) -> Path:
        return self._site.folder / f"{self._translation.device}.log"

    def _configuration(self) -> str:
        """Returns tayga's configuration file; the folder is for its own data."""
        return "\n".join(
            [
                f"tun-device {self._translation.device}",
                f"ipv4-addr {OWN_IPV4}",
                f"ipv6-addr {OWN_IPV6}",
                f"data-dir {self._site.folder}",
                *(f"map {ipv4} {ipv6}" for ipv4, ipv6 in self._translation.mappings),
                "",
            ]
        )


class TaygaProcess(Tayga):
    """A child process in a namespace, run with `-d`, without which it logs nothing."""

    _site: NamespaceSite

    def __init__(self, site: NamespaceSite, translation: Translation | None = None) -> None:
        super().__init__(site, translation)
        self._process: subprocess.Popen[bytes] | None = None

    def _run(self) -> None:
        with without_interrupts():
            self._process = start(
                self._site.pinned(["stdbuf", "-oL", "tayga", "-d", "--config", str(self._config)]),
                self._log,
            )
        within(STARTS_WITHIN_S, lambda: self._attached() or self._ended())
        self.check()
        if self._site.cpu is not None:
            put_first(self._process.pid)

    def stop(self) -> None:
        self._end(at_once=False)

    def _end(self, *, at_once: bool) -> None:
        if self._process is None:
            return
        if at_once:
            self._process.kill()
        else:
            self._process.terminate()
        try:
            self._process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _kill(self) -> None:
        self.check()
        self._end(at_once=True)

    def recover(self) -> None:
        self._end(at_once=True)
        self._run()

    def check(self) -> None:
        if self._process is None or self._ended():
            why = why_it_ended(self._process, self._log)
            raise DutError(f"{self._translation.role}tayga {why}")

    @property
    def processes(self) -> tuple[int, ...]:
        return () if self._process is None else (self._process.pid,)

    def describe(self) -> dict[str, str]:
        said = re.search(r"TAYGA (\S+)", beginning(self._log))
        version = said.group(1) if said else "(version unknown)"
        described = super().describe()
        return {**described, "software": f"{described['software']} {version}"}

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def _attached(self) -> bool:
        """Returns whether tayga has printed its last line before it reads frames."""
        return "Using tun device" in beginning(self._log)


class GuestTayga(Tayga):
    """A job of a guest's shell."""

    def start(self) -> None:
        self._site.run("modprobe tun")
        super().start()

    def check(self) -> None:
        """Raises DutError, with tayga's last line, if it has ended."""
        self._site.run(f"kill -0 $(<{self._pid}) || {{ cat {self._log}; false; }}")

    def _run(self) -> None:
        """Starts tayga in the background, and waits until it reads frames."""
        command = f"tayga -d --config {self._config} >{self._log} 2>&1"
        self._site.run(f"{command} & echo $! >{self._pid}")
        self._site.run(f"{self._carrier_becomes(1)} || {{ cat {self._log}; false; }}")

    def _kill(self) -> None:
        self._site.run(f"kill -9 $(<{self._pid}) && {self._carrier_becomes(0)}")

    def _carrier_becomes(self, wanted: int) -> str:
        return carrier_becomes(wanted, self._translation.device)

    @property
    def _pid(self) -> Path:
        return self._config.with_suffix(".pid")


def carrier_becomes(wanted: int, device: str) -> str:
    """Returns a command that waits for 5 s, and fails if the tun device has another state then."""
    state = f'read -r state <{CARRIER.format(device=device)} && [ "$state" = {wanted} ]'
    return f"for n in {{1..50}}; do {state} && break; sleep 0.1; done && {state}"


DRIVERS = (
    LabDriver(
        name="tayga",
        gateway="stateless NAT64 by tayga",
        ip_versions=((6, 4), (4, 6)),
        make=TaygaProcess,
        packages={"tayga": "tayga", "stdbuf": "coreutils"},
    ),
)
