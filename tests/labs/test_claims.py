"""Two testers at one pair of real ports: the second is refused, until the first ends."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.process import within
from tests.labs.trials import NATXY, ROOT

TESTBED = """
[tester]
cores = [{cpu}]
[tester.left]
device = "net_af_packet0,iface=t0"
ipv4_real = "198.18.0.2"
next_hop_ipv4 = "198.19.0.2"
[tester.right]
device = "net_af_packet1,iface=t1"
ipv4_real = "198.19.0.2"
next_hop_ipv4 = "198.18.0.2"
[traffic]
left_ip_version = 4
right_ip_version = 4
"""


@pytest.fixture
def cabled() -> Iterator[str]:
    """A namespace with two ports and a cable between them."""
    name = f"natxy-cable-{os.getpid()}"
    script = "link add t0 type veth peer name t1\nlink set t0 up\nlink set t1 up\n"
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "-batch", "-"], input=script.encode(), check=True)
    yield name
    subprocess.run(["ip", "netns", "del", name], check=True)


def start(namespace: str, path: Path, *, cpu: int, seconds: float) -> subprocess.Popen[str]:
    ip = shutil.which("ip")
    assert ip is not None
    path.write_text(TESTBED.format(cpu=cpu))
    words = ["trial", str(path), "--rate", "100", "--duration", str(seconds)]
    return subprocess.Popen(
        [ip, "netns", "exec", namespace, *NATXY, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_the_second_tester_at_a_pair_of_ports_is_refused(
    cabled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = tmp_path / "locks"
    monkeypatch.setenv("NATXY_LOCKS", str(locks))
    first = start(cabled, tmp_path / "first.toml", cpu=0, seconds=600)
    try:
        assert within(60, lambda: len(list(locks.glob("port-*"))) == 2)
        second = start(cabled, tmp_path / "second.toml", cpu=1, seconds=0.1)
        output, errors = second.communicate(timeout=300)
        assert first.poll() is None, "the first one should still have been there"
        assert second.returncode == 1
        assert output == ""
        (sentence,) = errors.strip().splitlines()
        assert f"tester.left.device: t0 is in use by process {first.pid} (" in sentence
    finally:
        first.terminate()
        first.communicate(timeout=60)
    third = start(cabled, tmp_path / "third.toml", cpu=1, seconds=0.1)
    output, errors = third.communicate(timeout=300)
    assert output.startswith(("PASS", "FAIL", "INVALID")), errors  # a trial: the ports were free
