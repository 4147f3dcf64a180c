"""Drivers without namespaces: choice by testbed, addresses, commands, the ledger's arithmetic."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from natxy import runtime_folder
from natxy.dut.addresses import LEFT, RIGHT, AddressPlan
from natxy.dut.base import Dut, name_in
from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.dut.command import CommandDut
from natxy.dut.config import CalibrationConfig, CommandConfig
from natxy.dut.cpus import gateway_cpu
from natxy.dut.lab import DeviceKind, device_string
from natxy.dut.ledger import Entries, Ledger, sweep
from natxy.dut.namespace import NamespaceDut
from natxy.dut.none import NoDut
from natxy.dut.process import Process, within
from natxy.errors import ConfigurationError, DutError
from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.source import Source
from natxy.model.testbed import Testbed

ROUTER = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
TUNNEL = '[tester.left.tunnel]\naddress = "192.0.2.2"\ngateway = "192.0.2.1"\n'

NOBODY = 65534
GUEST = {"guest": 'driver = "kernel-router"'}


def chosen(text: str) -> Dut:
    source = Source(name="lab.toml", text=text)
    return dut_of(source.validated(Testbed, source.toml()), source)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", NoDut),
        ('[dut]\nkind = "none"', NoDut),
        ('[dut]\nkind = "command"\nstart = "true"', CommandDut),
        ('[dut]\nkind = "calibration"\nfaults = [{kind = "loss", every = 100}]', CalibrationDut),
        (ROUTER + '[dut]\nkind = "namespace"', NamespaceDut),
        ('[dut]\nkind = "namespace"\ndriver = "tayga"', NamespaceDut),
    ],
)
def test_a_testbed_chooses_its_driver(text: str, kind: type) -> None:
    assert isinstance(chosen(text), kind)


@pytest.mark.parametrize("kind", ["namespace", "guest", "calibration"])
def test_a_lab_tells_the_cpu_of_its_gateway(kind: str) -> None:
    cpu = min(os.sched_getaffinity(0))
    dut = chosen(f'{ROUTER}[dut]\nkind = "{kind}"\ngateway_cpu = {cpu}\n{GUEST.get(kind, "")}')
    assert dut.cpus == (cpu,)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[dut]\nkind = "reference"', r'dut.kind: "reference" is called "calibration" now'),
        ('[dut]\ndriver = "tayga"', r'lab.toml.*: dut.kind: is missing \(expected "none", "names'),
        (
            ROUTER + '[dut]\nkind = "namespace"\ndriver = "nat44"',
            r'connections: is missing, and dut.driver "nat44" is stateful',
        ),
        ('[dut]\nkind = "vm"', r'lab.toml.*: dut: unknown kind "vm"'),
        (
            '[dut]\nkind = "namespace"\ndriver = "jool"',
            r'dut\..*driver: "jool" is not a known driver',
        ),
        ('[dut]\nkind = "namespace"\ndrivr = "tayga"', r"drivr: .*did you mean driver"),
        (
            ROUTER + '[dut]\nkind = "namespace"\nudp_timeout_s = 5',
            r'is not used by driver "kernel-router" \(expected driver "464xlat" or "nat44" or',
        ),
        ('[dut]\nkind = "namespace"', r"\(expected 4 and 4, or 6 and 6\)"),
        (
            ROUTER + '[dut]\nkind = "namespace"\ndriver = "tayga"',
            r"expected 6 and 4, or 4 and 6",
        ),
        (ROUTER + '[dut]\nkind = "namespace"\ngateway_cpu = 4000', r"may not use CPU 4000"),
        (
            ROUTER + '[tester.right]\nvlans = [{id = 7}]\n[dut]\nkind = "namespace"',
            r'tester.right.vlans: is not possible with dut.kind "namespace"',
        ),
        *(
            (
                ROUTER + TUNNEL + f'[dut]\nkind = "{kind}"',
                rf'tester.left.tunnel: is not possible with dut.kind "{kind}"',
            )
            for kind in ("namespace", "guest", "calibration")
        ),
        (
            ROUTER
            + '[subscribers]\nmechanism = "map-e"\nipv6_prefix = "2001:db8::/40"\n'
            + 'ipv4_prefix = "192.0.2.0/24"\ngateway = "2001:2::9"\n[dut]\nkind = "namespace"',
            r'subscribers: is not possible with dut.kind "namespace"',
        ),
        (
            '[connections]\ncount = 9\n[subscribers]\nmechanism = "464xlat"\nipv6_prefix = '
            '"2001:db8::/40"\ngateway_prefix = "64:ff9b::/96"\n[dut]\nkind = "calibration"',
            r'dut.nat: is missing: subscribers.mechanism = "464xlat" needs it',
        ),
        (
            ROUTER + '[dut]\nkind = "calibration"\nnat = {}',
            r"connections: is missing, and dut.nat is stateful",
        ),
        (
            '[dut]\nkind = "calibration"\nsleep_us = 10001',
            r"dut.*sleep_us: 10001 is out of range \(expected 1 to 10000\)",
        ),
    ],
)
def test_a_wrong_section_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        chosen(text)


def plan(left: int, right: int, networks: int = 1) -> AddressPlan:
    return AddressPlan(left_ip_version=left, right_ip_version=right, networks=networks)


def test_nat64_has_the_addresses_of_the_documents() -> None:
    left = plan(6, 4).tester_port(LEFT, "x")
    right = plan(6, 4).tester_port(RIGHT, "y")
    assert (left.ipv6_real, left.ipv4_virtual, left.ipv4_real) == (
        "2001:2::2",
        "198.18.0.2",
        None,
    )
    assert (right.ipv4_real, right.ipv6_virtual) == ("198.19.0.2", "2001:2:0:1000::2")
    assert (left.next_hop_ipv6, left.next_hop_ipv4) == ("2001:2::1", None)
    assert right.next_hop_ipv4 == "198.19.0.1"
    assert plan(6, 4).mappings() == [
        ("198.18.0.0/16", "2001:2::/112"),
        ("198.19.0.0/16", "2001:2:0:1000::/112"),
    ]


def test_the_mirrored_translator_maps_the_mirrored_addresses() -> None:
    left = plan(4, 6).tester_port(LEFT, "x")
    right = plan(4, 6).tester_port(RIGHT, "y")
    assert (left.ipv4_real, left.ipv6_virtual) == ("198.18.0.2", "2001:2:0:1000::2")
    assert (right.ipv6_real, right.ipv4_virtual) == ("2001:2:0:8000::2", "198.19.0.2")
    assert plan(4, 6).mappings() == [
        ("198.19.0.0/16", "2001:2:0:8000::/112"),
        ("198.18.0.0/16", "2001:2:0:1000::/112"),
    ]


def test_each_network_is_mapped_by_its_number() -> None:
    mappings = plan(6, 4, networks=256).mappings()
    assert len(mappings) == 512
    assert mappings[255] == ("198.18.255.0/24", "2001:2:0:ff::/120")
    assert mappings[256 + 18] == ("198.19.18.0/24", "2001:2:0:1012::/120")


def test_the_gateway_gets_the_last_cpu_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert gateway_cpu(None, (0, 3)) == 2
    assert gateway_cpu(1, (0,)) == 1
    assert gateway_cpu(None, (0, 1, 2, 3)) is None


def test_packet_sockets_take_frames_of_the_mtu() -> None:
    assert "framesz=2048" in device_string(DeviceKind(name="af_packet"), 0, "t0", mtu_bytes=1500)
    assert "framesz=4096" in device_string(DeviceKind(name="af_packet"), 0, "t0", mtu_bytes=2000)
    assert (
        device_string(DeviceKind(name="af_xdp"), 1, "t1", mtu_bytes=2000)
        == "net_af_xdp1,iface=t1,busy_budget=0"
    )


def test_commands_are_shown_run_and_described(tmp_path: Path) -> None:
    shown: list[tuple[str, str]] = []
    config = CommandConfig(
        kind="command",
        start=f"echo up > {tmp_path}/state",
        stop=f"rm {tmp_path}/state",
        describe="echo gateway 1.0",
    )
    dut = CommandDut(config, lambda key, command: shown.append((key, command)))
    dut.start()
    assert (tmp_path / "state").read_text() == "up\n"
    assert dut.describe()["description"] == "gateway 1.0"
    dut.reset()
    dut.stop()
    dut.stop()
    assert not (tmp_path / "state").exists()
    assert [key for key, _ in shown] == ["start", "describe", "stop"]
    assert shown[0][1] == config.start


def test_a_command_that_fails_is_one_sentence() -> None:
    dut = CommandDut(CommandConfig(kind="command", reset="echo no route >&2; exit 7"), _silent)
    with pytest.raises(DutError, match=r"dut.reset: .* ended with status 7: no route"):
        dut.reset()


def test_a_command_that_hangs_is_ended_with_all_that_it_started() -> None:
    config = CommandConfig(kind="command", start="sleep 61 & sleep 62", timeout_s=0.2)
    begin = time.monotonic()
    with pytest.raises(DutError, match=r"did not end within dut.timeout_s = 0.2 s"):
        CommandDut(config, _silent).start()
    assert time.monotonic() - begin < 5
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert not {"sleep 61", "sleep 62"} & set(listed.stdout.splitlines())


def _silent(key: str, command: str) -> None:
    del key, command


def test_ctrl_c_waits_for_the_stop_command(tmp_path: Path) -> None:
    config = CommandConfig(kind="command", stop=f"sleep 0.3; touch {tmp_path}/stopped")
    dut = CommandDut(config, _silent)
    dut.start()
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        dut.stop()
    assert (tmp_path / "stopped").exists()


def test_a_process_is_not_mistaken_for_its_successor() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = Process.of(child.pid)
    other = Process(pid=child.pid, start_ticks=known.start_ticks - 1)
    other.end()
    assert child.poll() is None
    assert known.lives()
    known.end()
    assert child.wait(5) == -signal.SIGTERM
    assert not known.lives()
    assert child.stdin is not None
    child.stdin.close()


def test_entries_survive_the_file() -> None:
    entries = Entries(namespaces=["natxy-t-1"], settings={"/proc/sys/x": "1"}, folders=["/tmp/a"])
    entries.processes.append(Process(pid=12, start_ticks=34))
    assert Entries.from_json(entries.to_json()) == entries
    assert Entries.from_json("") == Entries()


@pytest.mark.parametrize("kind", ["none", "command"])
def test_results_call_a_gateway_by_its_name(kind: str) -> None:
    named = chosen(f'{ROUTER}[dut]\nkind = "{kind}"\nname = "my router"\n')
    assert name_in(named.describe()) == "my router"
    unnamed = chosen(f'{ROUTER}[dut]\nkind = "{kind}"\n')
    assert name_in(unnamed.describe()) == ("the gateway" if kind == "none" else "command")


def test_only_folders_of_labs_are_removed(tmp_path: Path) -> None:
    (left,) = Entries(folders=[str(tmp_path)]).undo()
    assert "is not a folder of a lab" in left
    assert tmp_path.exists()


def test_a_lab_whose_folder_is_a_link_is_removed_and_its_target_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "run")
    lab = Ledger()
    folder = lab.make_folder()
    assert folder.parent == tmp_path / "run"
    folder.rmdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    folder.symlink_to(tmp_path / "other")
    lab.undo()
    assert list((tmp_path / "run").iterdir()) == []
    assert (tmp_path / "other" / "file").exists()


def test_what_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "run")
    lab = Ledger()
    folder = lab.make_folder()

    def refuse(path: Path) -> None:
        raise OSError("Cannot call rmtree on a symbolic link")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(DutError, match=rf"{folder} cannot be removed: Cannot call"):
        lab.undo()


def test_the_folder_of_a_killed_lab_with_this_number_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "run")
    lab = Ledger()
    (tmp_path / "run" / f"natxy-lab-{lab.label}-0").mkdir()
    assert list(lab.make_folder().iterdir()) == []
    lab.undo()


def test_a_record_of_another_user_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "run")
    (tmp_path / "run").mkdir(mode=0o1777)
    setting = tmp_path / "setting"
    setting.write_text("1")
    record = tmp_path / "run" / "999999.json"
    record.write_text(Entries(settings={str(setting): "2"}).to_json())
    os.chown(record, NOBODY, NOBODY)
    assert sweep() == []
    assert setting.read_text() == "1"


FAKE_GATEWAY = """#!{python}
import json, sys
hello = {{"event": "hello", "protocol": 1, "gateway_version": "9.9", "ports": []}}
print(json.dumps(hello), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    kind = request["request"]
    if kind == "record":
        record = {{
            "worst_poll_gap_ns": {gap_ns},
            "away_ns": 3 * {gap_ns},
            "absences": [[5, 5 + {gap_ns}]],
        }}
        print(json.dumps({{"event": "record", "record": record}}), flush=True)
    elif kind == "configure" and request["config"]["faults"]:
        print(json.dumps({{"event": "error", "message": "no such fault"}}), flush=True)
    elif kind == "configure":
        print(json.dumps({{"event": "configured"}}), flush=True)
    elif kind == "clear":
        print(json.dumps({{"event": "cleared"}}), flush=True)
"""


def fake_gateway(folder: Path, monkeypatch: pytest.MonkeyPatch, gap_ns: int) -> None:
    program = folder / "natxy-gateway"
    program.write_text(FAKE_GATEWAY.format(python=sys.executable, gap_ns=gap_ns))
    program.chmod(0o755)
    monkeypatch.setenv("NATXY_GATEWAY", str(program))


def calibration(**keys: object) -> CalibrationDut:
    config = CalibrationConfig.model_validate({"kind": "calibration", **keys})
    return CalibrationDut(config, plan(6, 4), tester_cpus=(0,))


def test_the_calibration_gateway_is_the_server_of_two_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_gateway(tmp_path, monkeypatch, gap_ns=2_000_000)
    dut = calibration(poll_gap_limit_us=1000.0)
    dut.start()
    ports = dut.tester_ports()
    assert ports is not None
    left, right = str(ports.left.device), str(ports.right.device)
    assert "role=client,id=0," in left
    assert "role=client,id=1," in right
    assert dut.describe()["software"] == "natxy-gateway 9.9"
    dut.before_trial()
    assert dut.trial_fault() == Reason.of(Code.GATEWAY_POLLED_LATE, gap_ns=2e6, limit_ns=1e6)
    socket = Path(left.partition("socket=")[2].partition(",")[0])
    assert socket.parent.exists()
    dut.stop()
    assert not socket.parent.exists()
    assert dut.tester_ports() is None


def test_how_long_the_calibration_gateway_was_away_is_by_its_own_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_gateway(tmp_path, monkeypatch, gap_ns=2_000_000)
    dut = calibration()
    dut.start()
    assert dut.trial_fault() is None, "only a limit makes a gap a fault"
    away = dut.absence()
    dut.stop()
    assert away == Absence(
        where="the calibration gateway",
        total_s=0.006,
        longest_s=0.002,
        intervals=((5, 2_000_005),),
    )


def test_the_calibration_gateway_sleeps_for_the_time_that_the_testbed_gives() -> None:
    assert calibration(sleep_us=50).gateway_config()["sleep_ns"] == 50_000
    assert calibration().gateway_config()["sleep_ns"] == 0


def test_a_short_poll_gap_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gateway(tmp_path, monkeypatch, gap_ns=1_000_000)
    dut = calibration()
    dut.start()
    assert dut.trial_fault() is None
    dut.stop()


def test_a_refused_configuration_is_the_gateways_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_gateway(tmp_path, monkeypatch, gap_ns=0)
    with pytest.raises(DutError, match="natxy-gateway: no such fault"):
        calibration(faults=({"kind": "what"},)).start()


def test_a_gateway_that_dies_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "natxy-gateway"
    program.write_text("#!/bin/sh\necho no memory >&2\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setenv("NATXY_GATEWAY", str(program))
    with pytest.raises(DutError, match=r"ended with status 2; .*no memory"):
        calibration().start()


def test_the_calibration_gateway_routes_and_translates_by_the_plan() -> None:
    config = calibration().gateway_config()
    assert config["left"] == {"addresses": ["2001:2::1"]}
    assert {"prefix": "198.18.0.0/16", "side": "left"} not in config["routes"]
    assert config["translation"]["explicit"][0] == {
        "ipv4": "198.18.0.0/16",
        "ipv6": "2001:2::/112",
    }
    json.dumps(config)


def test_a_device_that_its_check_does_not_find_has_died(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.touch()
    check = f"test -e {alive} || {{ echo it is gone >&2; exit 1; }}"
    dut = CommandDut(CommandConfig(kind="command", check=check), _silent)
    assert dut.trial_fault() is None
    alive.unlink()
    with pytest.raises(DutError, match=r"dut.check: .* ended with status 1: it is gone"):
        dut.trial_fault()


def test_a_device_that_is_being_restarted_is_not_taken_for_dead(tmp_path: Path) -> None:
    """A trial may end while it is away; what became of it is what the restart says."""
    begun = tmp_path / "begun"
    config = CommandConfig(
        kind="command", check="exit 1", restart=f"touch {begun}; while [ -e {begun} ]; do :; done"
    )
    dut = CommandDut(config, _silent)
    thread = threading.Thread(target=dut.restart)
    thread.start()
    assert within(5, begun.exists)
    assert dut.trial_fault() is None
    begun.unlink()
    thread.join()
    with pytest.raises(DutError, match=r"dut\.check"):
        dut.trial_fault()


def test_a_gateway_that_natxy_does_not_control_has_a_name_in_titles_and_sentences() -> None:
    assert name_in(NoDut().describe()) == "the gateway"
    assert name_in({"kind": "command"}) == "command"
    assert name_in({"kind": "namespace", "driver": "tayga"}) == "tayga"
