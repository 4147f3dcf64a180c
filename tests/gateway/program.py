"""What tests of program share with others."""

import json
import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from tests.programs import installed

HERE = Path(__file__).parent
PORT = 7007
RING = "blocksz=65536,framesz=2048,framecnt=512,qdisc_bypass=1"
LEFT_LINK = f"net_af_packet0,iface=left,{RING}"
RIGHT_LINK = f"net_af_packet1,iface=right,{RING}"
DPDK_RUN = Path("/var/run/dpdk")


class Gateway:
    """The program, spoken to in lines of JSON."""

    def __init__(
        self,
        left: str,
        right: str,
        *,
        prefix: tuple[str, ...] = (),
        turn: int = 0,
        huge_pages: str = "auto",
    ) -> None:
        cpus = sorted(os.sched_getaffinity(0), reverse=True)
        cpu = cpus[turn % len(cpus)]
        devices = ["--left", left, "--right", right, "--core", str(cpu), "--memory-mb", "128"]
        devices += ["--huge-pages", huge_pages]
        self.process = subprocess.Popen(
            [*prefix, str(installed("natxy-gateway")), *devices],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hello = self.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.process.communicate(timeout=20)  # closes its input, which ends it
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        if exception[0] is None:
            assert self.process.returncode in (0, -signal.SIGKILL), "it did not crash"

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        event: dict[str, Any] = json.loads(self.process.stdout.readline())
        return event

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, request: str, **members: Any) -> dict[str, Any]:
        self.write(json.dumps({"request": request, **members}))
        return self.read()

    def end(self) -> int:
        """Its exit status; it has said nothing more, and left nothing behind."""
        rest, _ = self.process.communicate(timeout=20)
        assert rest == ""
        assert not list(DPDK_RUN.glob(f"natxy-gateway-{self.process.pid}*"))
        return self.process.returncode


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Town:
    """Namespaces left, gateway and right, and a cable from the gateway to either other."""

    def __init__(self) -> None:
        tag = secrets.token_hex(3)
        self.names = {name: f"natxy-gwt-{name[0]}-{tag}" for name in ("left", "gateway", "right")}

    def inside(self, name: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.names[name])

    def build(self) -> None:
        for name in self.names.values():
            ip("netns", "add", name)
        for side in ("left", "right"):
            own, far = ("netns", self.names[side]), ("netns", self.names["gateway"])
            ip("link", "add", "host", *own, "type", "veth", "peer", "name", side, *far)
            for name, device in ((side, "host"), ("gateway", side)):
                self.run(name, "ip", "link", "set", "lo", "up")
                self.run(name, "sysctl", "-q", f"net.ipv6.conf.{device}.accept_dad=0")
                self.run(name, "ethtool", "-K", device, "tx", "off")
                self.run(name, "ip", "link", "set", device, "up")

    def tear_down(self) -> None:
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def run(self, name: str, *words: str) -> str:
        command = [*self.inside(name), *words]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert run.returncode == 0, f"{command}: {run.stderr}"
        return run.stdout

    def settle(self, side: str, address: str, gateway: str) -> None:
        """The host gets the address and a route to everywhere through the gateway."""
        family, length = ("-6", 64) if ":" in address else ("-4", 24)
        nodad = ["nodad"] if family == "-6" else []
        ip("-n", self.names[side], "addr", "add", f"{address}/{length}", "dev", "host", *nodad)
        ip("-n", self.names[side], family, "route", "add", "default", "via", gateway)

    def gateway(self, left: str = LEFT_LINK, right: str = RIGHT_LINK, **options: Any) -> Gateway:
        return Gateway(left, right, prefix=self.inside("gateway"), **options)

    def answers(self, server: str, asked: str, count: int) -> list[int]:
        """The left host asks the right one; the numbers that came back."""
        script = str(HERE / "echo.py")
        serve = [*self.inside("right"), sys.executable, script, "serve", server, str(PORT)]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                heard = self.run(
                    "left", sys.executable, script, "ask", asked, str(PORT), str(count)
                )
            finally:
                process.terminate()
        answers: list[int] = json.loads(heard)
        return answers
