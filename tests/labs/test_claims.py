"""Two testers at one pair of real ports: the second is refused, the first is undisturbed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.process import within
from tests.labs.test_trials import NATXY, ROOT

TESTBED = """
[tester]
cores = [{cpu}]
lateness_tolerance_us = 1000000
[tester.left]
device = "net_af_packet0,iface=t0"
[tester.right]
device = "net_af_packet1,iface=t1"
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


def start(namespace: str, path: Path, cpu: int) -> subprocess.Popen[str]:
    ip = shutil.which("ip")
    assert ip is not None
    path.write_text(TESTBED.format(cpu=cpu))
    words = ["self-test", str(path), "--frame-size", "84", "--output", f"{path}.json"]
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
    first = start(cabled, tmp_path / "first.toml", cpu=0)
    try:
        assert within(30, lambda: len(list(locks.glob("port-*"))) == 2)
        second = start(cabled, tmp_path / "second.toml", cpu=1)
        output, errors = second.communicate(timeout=60)
        assert first.poll() is None, "the first one should still have been there"
        assert second.returncode == 1
        assert output == ""
        (sentence,) = errors.strip().splitlines()
        assert f"tester.left.device: t0 is in use by process {first.pid} (" in sentence
        _, errors = first.communicate(timeout=120)
        assert first.returncode == 0, errors
    finally:
        first.kill()
        first.communicate()
