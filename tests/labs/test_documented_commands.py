"""The commands of docs/how-to/stateful-gateway.md, run against a gateway of the kernel: in place
of ssh is a program that enters the gateway's namespace and gives the command to a shell there."""

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.dut.namespace import NamespaceDut
from tests.labs.stateful_duts import PACKETS, counted, give_addresses, lab_of, send

PAGE = Path(__file__).parents[2] / "docs/how-to/stateful-gateway.md"
BLOCK = re.compile(r"^## ([^\n]*)\n.*?```toml\n(.*?)```", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"^This is `(natxy-telemetry)`\..*?```sh\n(.*?)```", re.MULTILINE | re.DOTALL)
SSH = """#!/bin/sh
# sshd, too, gives a shell all words after the host, joined by blanks.
shift
exec ip netns exec {namespace} sh -c "$*"
"""
DOCUMENTED = {
    title.split()[0].rstrip(":"): CommandConfig.model_validate(tomllib.loads(toml)["dut"])
    for title, toml in BLOCK.findall(PAGE.read_text())
}


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NamespaceDut]:
    lab = lab_of("nat44")
    lab.start()
    try:
        give_addresses(lab, ipv6=False)
        ssh = tmp_path / "ssh"
        ssh.write_text(SSH.format(namespace=lab.gateway_namespace))
        ssh.chmod(0o755)
        for name, text in SCRIPT.findall(PAGE.read_text()):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        yield lab
    finally:
        lab.stop()


def test_those_for_linux_count_delete_and_set(gateway: NamespaceDut) -> None:
    dut = CommandDut(DOCUMENTED["Linux"], lambda *_: None)
    dut.start()
    assert dut.table is not None
    assert gateway.table is not None
    send(gateway)
    counted(gateway, PACKETS)
    assert dut.table.count() == PACKETS
    snapshot = dut.telemetry()
    assert snapshot.connections == PACKETS
    assert snapshot.memory_bytes
    assert all(each.busy_s > 0 for each in snapshot.cpus)
    assert 0 < dut.table.delete_all() < 1
    assert dut.table.count() == 0
    dut.table.set_timeout(77)
    assert gateway.table.parameters().timeout_s == 77
    send(gateway)
    counted(gateway, PACKETS)
    dut.reset()
    assert dut.table.count() == 0
    assert "masquerade" in dut.describe()["description"]
    dut.stop()


@pytest.mark.parametrize("system", ["Jool", "PF"])
def test_others_are_commands_that_both_shells_understand(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has such a gateway here: what its shell would be given is read, not run."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nshift\necho "$*" >&2\nexec sh -n -c "$*"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    config = DOCUMENTED[system].model_dump(exclude_none=True)
    commands = {key: command for key, command in config.items() if "ssh dut" in str(command)}
    assert {"start", "stop", "count", "delete_all"} <= set(commands)
    said = {}
    for key, command in commands.items():
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
        said[key] = done.stderr.strip()
    if system == "PF":
        assert said["count"] == "pfctl -s info | awk '/current entries/ {print $3}'"
        assert "'$s = time; system q(pfctl -q -F states); print time - $s'" in said["delete_all"]
    else:
        assert "s=$(date +%s%N); modprobe -r jool; e=$(date +%s%N)" in said["delete_all"]
