"""Measures the cost of dpdk-testpmd per frame on net_null, the reference of the benchmarks.

testpmd's cycle counter measures wall time. Here, the CPU time of the forwarding thread is read from
the kernel, so that other programs do not disturb it, and divided by the frames of testpmd.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterator

FRAME_OCTETS = 80  # an 84-byte frame without FCS
WORKER_NAMES = {"rte-worker-1", "dpdk-worker1"}  # in DPDK 22.11; from 23.11 on
STATISTICS = re.compile(r"RX-packets: (\d+).*?TX-packets: (\d+)", re.DOTALL)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured:
    frames: int
    cpu_ns: int

    def cycles_per_frame(self, tsc_hz: float) -> float:
        return self.cpu_ns * tsc_hz / 1e9 / self.frames


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mode:
    forward: str  # txonly, rxonly
    burst: int = 32
    multi_flow: bool = False
    clock: bool = False  # read the TSC before and after each burst


def measure(mode: Mode, *, main_cpu: int, cpu: int, seconds: float) -> Measured:
    with testpmd(mode, main_cpu=main_cpu, cpu=cpu) as process:
        thread = forwarding_thread(process)
        say(process, f"set record-core-cycles {'on' if mode.clock else 'off'}")
        say(process, "start")
        time.sleep(0.2)  # fills the caches of the pools
        before, began_ns = frames(process), cpu_time_ns(thread)
        time.sleep(seconds)
        after, ended_ns = frames(process), cpu_time_ns(thread)
    return Measured(frames=after - before, cpu_ns=ended_ns - began_ns)


@contextlib.contextmanager
def testpmd(mode: Mode, *, main_cpu: int, cpu: int) -> Iterator[subprocess.Popen[str]]:
    prefix = f"natxy-bench-{os.getpid()}"
    eal = f"--lcores 0@{main_cpu},1@{cpu} --no-pci --no-huge -m 256 --no-telemetry".split()
    eal += [f"--file-prefix={prefix}", f"--vdev=net_null0,size={FRAME_OCTETS}"]
    own = f"-i --forward-mode={mode.forward} --burst={mode.burst} --txpkts={FRAME_OCTETS}".split()
    own += ["--total-num-mbufs=8192"] + (["--txonly-multi-flow"] if mode.multi_flow else [])
    process = subprocess.Popen(
        ["stdbuf", "-oL", "dpdk-testpmd", *eal, "--", *own],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        say(process, "show port stats 0")
        read_statistics(process)
        yield process
        say(process, "stop\nquit")
        process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(f"/var/run/dpdk/{prefix}", ignore_errors=True)


def say(process: subprocess.Popen[str], command: str) -> None:
    assert process.stdin is not None
    process.stdin.write(command + "\n")
    process.stdin.flush()


def frames(process: subprocess.Popen[str]) -> int:
    say(process, "show port stats 0")
    return max(read_statistics(process))


def read_statistics(process: subprocess.Popen[str]) -> tuple[int, int]:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if found := STATISTICS.search(seen):
            return int(found[1]), int(found[2])
    raise RuntimeError(f"dpdk-testpmd ended before it showed statistics:\n{seen}")


def forwarding_thread(process: subprocess.Popen[str]) -> pathlib.Path:
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() in WORKER_NAMES:
            return task
    raise RuntimeError("dpdk-testpmd has no thread for its worker")


def cpu_time_ns(thread: pathlib.Path) -> int:
    return int((thread / "schedstat").read_text().split()[0])
