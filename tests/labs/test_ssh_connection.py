"""The SSH connection of recipes, and how it fails, against an sshd in a network namespace."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from natxy.dut import ssh_session
from natxy.dut.process import within
from natxy.dut.ssh_session import KEEPALIVES, Lost, SshSession
from natxy.errors import DutError
from tests.labs.ssh_machine import HOST, PORT, Machine, answers, end, left, processes_in, run

pytest.importorskip("asyncssh")


def session(machine: Machine, **changes: object) -> SshSession:
    return SshSession(machine.config(**changes))


def test_a_command_has_its_output_and_its_status(machine: Machine) -> None:
    one = session(machine)
    one.open()
    done = one.run("here", "echo out; echo err >&2; exit 3")
    one.close()
    assert (done.status, done.output, done.errors) == (3, "out\n", "err\n")


def test_each_command_is_logged(machine: Machine, tmp_path: Path) -> None:
    one = session(machine, log=str(tmp_path / "ssh.log"))
    one.open()
    one.run("here", "true")
    one.run("here", "exit 4")
    one.close()
    first, second = (tmp_path / "ssh.log").read_text().splitlines()
    assert first.endswith("status 0  true")
    assert second.endswith("status 4  exit 4")
    assert f"{HOST} port {PORT}" in first


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"port": 2223}, rf"^dut.host: {HOST} port 2223 cannot be reached: "),
        (
            {"known_hosts": "no_hosts"},
            r"^dut.known_hosts: .*no_hosts does not have the host key of",
        ),
        ({"known_hosts": "other_hosts"}, r"^dut.known_hosts: .*other_hosts does not have the host"),
        ({"known_hosts": "nothing"}, r"^dut.known_hosts: .*nothing: there is no such file"),
        ({"key": "stranger"}, rf"^dut.key: {HOST} port {PORT} refused .*stranger of user root"),
        ({"key": "nothing"}, r"^dut.key: .*nothing: there is no such file"),
        ({"key": "known_hosts"}, r"^dut.key: .*known_hosts: .*expected a private key"),
        ({"user": "nobody-of-this-name"}, r"^dut.key: .* of user nobody-of-this-name"),
    ],
)
def test_a_connection_that_fails_is_one_sentence(
    machine: Machine, changes: dict[str, object], sentence: str
) -> None:
    files = {
        key: str(machine.folder / str(value)) if key in ("key", "known_hosts") else value
        for key, value in changes.items()
    }
    one = session(machine, **files)
    with pytest.raises(DutError, match=sentence) as error:
        one.open()
    assert "\n" not in str(error.value)
    one.close()


def test_a_host_that_does_not_answer_is_given_up_in_time(machine: Machine) -> None:
    begin = time.monotonic()
    with pytest.raises(Lost, match=r"192\.0\.2\.9 port 2222 cannot be reached"):
        session(machine, host="192.0.2.9", connect_timeout_s=1.0).open()
    assert time.monotonic() - begin < 2


def test_a_command_that_hangs_is_ended_with_all_that_it_started(machine: Machine) -> None:
    one = session(machine, timeout_s=1.5)
    one.open()
    with pytest.raises(DutError, match=r"here: `sleep 71 & sleep 72` .*did not end within dut.tim"):
        one.run("here", "sleep 71 & sleep 72")
    assert within(5, lambda: "sleep" not in left(machine)), left(machine)
    assert one.run("here", "echo still").output == "still\n"  # the connection serves on
    one.close()
    assert within(5, lambda: left(machine) == set())


def test_an_sshd_that_ends_in_mid_trial_is_one_sentence(machine: Machine) -> None:
    one = session(machine)
    one.open()
    mine = run("ip", "netns", "exec", machine.gateway, "ss", "-tnpH", "state", "established")
    children = {pid for pid in processes_in(machine.gateway) if f"pid={pid}," in mine}
    assert children
    for pid in children - {machine.sshd}:
        end(pid)
    with pytest.raises(Lost, match=r"^here: the connection to 192\.0\.2\.1 port 2222 was lost"):
        one.run("here", "true")
    one.open()  # it is there again
    assert one.run("here", "true").status == 0
    one.close()


def test_a_host_whose_link_is_cut_is_noticed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_session, "KEEPALIVE_S", 0.4)
    one = session(machine, timeout_s=60.0)
    one.open()
    begin = time.monotonic()
    run("ip", "-n", machine.gateway, "link", "set", "m0", "down")
    try:
        with pytest.raises(Lost, match="was lost"):
            one.run("here", "true")
        assert time.monotonic() - begin < KEEPALIVES + 2 + 10
    finally:
        run("ip", "-n", machine.gateway, "link", "set", "m0", "up")
        one.close()
    assert within(10, answers)


RECIPE = """
title = "A gateway that does nothing"
source = "none"
state = "measured here"
ip_versions = [[6, 6]]
packages = "coreutils"
programs = ["true"]

[commands]
start = ["true started"]
reset = ["true reset"]
stop = ["true stopped"]
check = ["true checked"]
describe = ["echo nothing"]
"""
NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
OPTIONS = ("--rate", "1000", "--duration", "4", "--repetitions", "1", "--profile", "quick")


def testbed(machine: Machine) -> str:
    """The tester's ports are connected to each other, and the gateway is beside them."""
    loop = (Path(__file__).parents[2] / "experiments/testbeds/loop.toml").read_text()
    ssh = "\n".join(
        f"{key} = {value}"
        for key, value in {
            "host": f'"{HOST}"',
            "port": PORT,
            "key": f'"{machine.folder / "user"}"',
            "known_hosts": f'"{machine.folder / "known_hosts"}"',
            "recipe": '"nothing.toml"',
            "connect_timeout_s": 2,
        }.items()
    )
    return loop.replace('kind = "none"', f'kind = "ssh"\n{ssh}')


@pytest.mark.long
def test_a_host_that_goes_away_in_a_trial_ends_the_measurement(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "nothing.toml").write_text(RECIPE)
    (tmp_path / "testbed.toml").write_text(testbed(machine))
    said = tmp_path / "stderr"
    with said.open("w") as errors:
        process = subprocess.Popen(
            [*NATXY, "latency", "testbed.toml", *OPTIONS, "--output", "out"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
    try:
        assert within(60, lambda: "true reset" in said.read_text()), said.read_text()
        time.sleep(1.5)  # the trial lasts 4 s
        run("ip", "-n", machine.gateway, "link", "set", "m0", "down")
        begin = time.monotonic()
        assert process.wait(60) == 1
        assert time.monotonic() - begin < 4 + 15 + 10
    finally:
        process.kill()
        process.wait()
        run("ip", "-n", machine.gateway, "link", "set", "m0", "up")
    last = said.read_text().splitlines()
    assert "Traceback" not in said.read_text()
    assert re.search(r"dut\.recipe nothing, check: .* was lost", "\n".join(last[-3:])), last[-6:]
    assert any("may still be there" in line for line in last)
    assert within(10, answers)
