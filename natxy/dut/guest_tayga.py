"""tayga in a guest, as a job of its shell."""

from pathlib import Path

from natxy.dut.tayga import Tayga

CARRIER = "/sys/class/net/nat64/carrier"  # 1: a program has attached to the tun device


class GuestTayga(Tayga):
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
        self._site.run(f"{carrier_becomes(1)} || {{ cat {self._log}; false; }}")

    def _kill(self) -> None:
        self._site.run(f"kill -9 $(<{self._pid}) && {carrier_becomes(0)}")

    @property
    def _pid(self) -> Path:
        return self._config.with_suffix(".pid")


def carrier_becomes(wanted: int) -> str:
    """Returns a command that waits for 5 s, and fails if the tun device has another state then."""
    state = f'read -r state <{CARRIER} && [ "$state" = {wanted} ]'
    return f"for n in {{1..50}}; do {state} && break; sleep 0.1; done && {state}"
