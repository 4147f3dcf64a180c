"""Tables of connections as drivers show them: by commands, by the calibration gateway's protocol;
what a stateful lab's addresses and settings are."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from natxy import runtime_folder
from natxy.dut import ledger
from natxy.dut.addresses import LEFT, RIGHT, AddressPlan, embedded
from natxy.dut.base import ConnectionTable, TableParameters
from natxy.dut.calibration import CalibrationDut
from natxy.dut.command import CommandDut
from natxy.dut.config import CalibrationConfig, CommandConfig, NamespaceConfig
from natxy.dut.cpus import gateway_cpus
from natxy.dut.ledger import Ledger
from natxy.dut.none import NoDut
from natxy.errors import DutError
from natxy.model.trial_spec import Side


def command_dut(**keys: object) -> CommandDut:
    config = CommandConfig.model_validate({"kind": "command", **keys})
    return CommandDut(config, lambda *_: None)


def table_of(dut: CommandDut | CalibrationDut) -> ConnectionTable:
    assert dut.table is not None
    return dut.table


def test_a_command_counts_and_times_its_own_deletion(tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.write_text("1000\n")
    deletes = f"echo 0 > {left}; echo deleted; echo 0.25"
    table = table_of(command_dut(count=f"cat {left}", delete_all=deletes))
    assert table.count() == 1000
    assert table.delete_all() == 0.25
    assert table.count() == 0


def test_values_are_in_the_environment_and_never_in_the_command(tmp_path: Path) -> None:
    names = "NATXY_TIMEOUT_S", "NATXY_ENTRIES", "NATXY_HASH_SIZE", "NATXY_CORES"
    say = "; ".join(f"echo {name}=${name}" for name in names) + f"; }} >> {tmp_path}/said"
    dut = command_dut(
        count="echo 0", set_timeout=f"{{ {say}", resize=f"{{ {say}", set_cores=f"{{ {say}"
    )
    table_of(dut).set_timeout(61.2)
    table_of(dut).resize(entries=4096)
    dut.set_cores(3)
    given = [line for line in (tmp_path / "said").read_text().split() if not line.endswith("=")]
    assert given == ["NATXY_TIMEOUT_S=62", "NATXY_ENTRIES=4096", "NATXY_CORES=3"]
    assert table_of(dut).parameters() == TableParameters(entries=4096, timeout_s=62)


def test_what_a_command_was_not_given_is_one_sentence() -> None:
    dut = command_dut(count="echo 0")
    asked: dict[str, Callable[[], object]] = {
        "delete_all": table_of(dut).delete_all,
        "set_timeout": lambda: table_of(dut).set_timeout(60),
        "resize": lambda: table_of(dut).resize(entries=1),
        "set_cores": lambda: dut.set_cores(2),
    }
    for key, ask in asked.items():
        with pytest.raises(DutError, match=rf"dut\.{key}: is missing \(expected a shell command"):
            ask()
    assert table_of(dut).parameters() == TableParameters()


@pytest.mark.parametrize("printed", ["many", "", "-3", "nan", "1.5", "1 2"])
def test_what_is_no_count_is_told(printed: str) -> None:
    with pytest.raises(
        DutError,
        match=rf'dut\.count: .* printed "{printed}" \(expected the number',
    ):
        table_of(command_dut(count=f"echo '{printed}'")).count()


@pytest.mark.parametrize("printed", ["done", "1 s", "-1", "1 2 3", "1 0.5"])
def test_what_is_no_time_of_a_deletion_is_told(printed: str) -> None:
    with pytest.raises(DutError, match=r"dut\.delete_all: .*expected the seconds"):
        table_of(command_dut(delete_all=f"echo '{printed}'")).delete_all()


def test_a_deletion_may_tell_its_connections() -> None:
    for printed in ("0.5", "0.5 700"):
        assert table_of(command_dut(delete_all=f"echo {printed}")).delete_all() == 0.5


def test_a_table_is_emptied_before_each_trial(tmp_path: Path) -> None:
    command_dut(delete_all=f"touch {tmp_path}/deleted; echo 0").reset()
    assert (tmp_path / "deleted").exists()
    command_dut(reset="true", delete_all=f"touch {tmp_path}/again; echo 0").reset()
    assert not (tmp_path / "again").exists()


def test_a_device_recovers_by_stop_and_start(tmp_path: Path) -> None:
    dut = command_dut(start=f"echo up >> {tmp_path}/log", stop=f"echo down >> {tmp_path}/log")
    dut.start()
    dut.recover()
    dut.stop()
    assert (tmp_path / "log").read_text().split() == ["up", "down", "up", "down"]


def test_stateless_devices_have_no_table() -> None:
    assert NoDut().table is None
    assert command_dut(start="true").table is None
    assert calibration(nat=None).table is None
    with pytest.raises(DutError, match="2 cores"):
        NoDut().set_cores(2)


def test_a_table_is_known_by_what_the_testbed_says() -> None:
    dut = command_dut(entries=1000, hash_size=512, connection_timeout_s=30)
    known = TableParameters(entries=1000, hash_size=512, timeout_s=30)
    assert table_of(dut).parameters() == known


RECORDING_GATEWAY = """#!{python}
import json, sys
print(json.dumps({{"event": "hello", "protocol": 1, "gateway_version": "9.9", "ports": []}}))
answers = {{
    "configure": {{"event": "configured"}},
    "clear": {{"event": "cleared"}},
    "set-timeout": {{"event": "timeout-set"}},
    "count": {{"event": "count", "entries": 7}},
    "flush": {{"event": "flushed", "entries": 7, "ns": 250000000}},
}}
sys.stdout.flush()
for line in sys.stdin:
    open("{asked}", "a").write(line)
    print(json.dumps(answers[json.loads(line)["request"]]), flush=True)
"""


def calibration(
    nat: dict[str, object] | None, left: int = 4, right: int = 4, initiator: Side = "left"
) -> CalibrationDut:
    config = CalibrationConfig.model_validate({"kind": "calibration", "nat": nat})
    return CalibrationDut(config, stateful(left, right, initiator), tester_cpus=(0,))


def stateful(left: int, right: int, initiator: Side = "left") -> AddressPlan:
    return AddressPlan(
        left_ip_version=left, right_ip_version=right, stateful=True, initiator=initiator
    )


def test_the_calibration_gateway_is_asked_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked = tmp_path / "natxy-gateway", tmp_path / "asked"
    program.write_text(RECORDING_GATEWAY.format(python=sys.executable, asked=asked))
    program.chmod(0o755)
    monkeypatch.setenv("NATXY_GATEWAY", str(program))
    dut = calibration({"entries": 10})
    dut.start()
    table = table_of(dut)
    assert table.parameters() == TableParameters(entries=10, timeout_s=300)
    assert table.count() == 7
    assert table.delete_all() == 0.25
    table.set_timeout(2.5)
    table.resize(entries=100_007)
    assert table.parameters() == TableParameters(entries=100_007, timeout_s=2.5)
    dut.recover()
    with pytest.raises(DutError, match="hash table has a fixed size"):
        table.resize(hash_size=1024)
    dut.stop()
    requests = [json.loads(line) for line in asked.read_text().splitlines()]
    words = [request["request"] for request in requests]
    assert words == ["configure", "count", "flush", "set-timeout", "configure", "clear"]
    assert requests[3]["ns"] == 2_500_000_000
    nat = requests[4]["config"]["nat"]
    assert (nat["entries"], nat["timeout_ns"]) == (100_007, 2_500_000_000)


@pytest.mark.parametrize(
    ("left", "right", "initiator", "pool"),
    [
        (4, 4, "left", RIGHT.gateway_ipv4),
        (4, 4, "right", LEFT.gateway_ipv4),
        (6, 4, "left", RIGHT.gateway_ipv4),
        (4, 6, "right", LEFT.gateway_ipv4),
    ],
)
def test_a_pool_is_the_gateways_address_outside(
    left: int, right: int, initiator: Side, pool: str
) -> None:
    nat = calibration({}, left, right, initiator).gateway_config()["nat"]
    assert nat["pool"] == [pool]
    assert nat["inside"] == initiator
    assert nat["kind"] == ("nat44" if left == right else "nat64")
    assert ("prefix" in nat) == (left != right)


def test_a_stateful_nat64_shows_ipv4_hosts_embedded() -> None:
    """RFC 6052 section 2.2: the last 32 bits of a /96."""
    assert embedded("198.19.0.2") == "2001:2:0:1000::c613:2"
    left, right = (stateful(6, 4).tester_port(side, "x") for side in (LEFT, RIGHT))
    assert right.ipv6_virtual == "2001:2:0:1000::c613:2"
    assert left.ipv4_virtual == "198.18.0.2"
    assert stateful(6, 4).mappings() == [
        ("198.18.0.0/16", "2001:2::/112"),
        ("198.19.0.0/16", "2001:2:0:1000::c613:0/112"),
    ]
    mirrored = stateful(4, 6, "right").tester_port(LEFT, "x")
    assert mirrored.ipv6_virtual == embedded(LEFT.tester_ipv4)


@pytest.mark.parametrize("key", ["conntrack_entries", "hash_size", "udp_timeout_s", "logging"])
def test_a_stateless_driver_refuses_what_it_does_nothing_with(key: str) -> None:
    section = {"kind": "namespace", "driver": "tayga", key: True if key == "logging" else 2048}
    with pytest.raises(
        ValueError,
        match=r'not used by driver "tayga" \(expected driver "464xlat" or "nat44" or',
    ):
        NamespaceConfig.model_validate(section)
    assert NamespaceConfig.model_validate(section | {"driver": "nat64"})


def test_cores_are_those_that_the_tester_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert gateway_cpus(3, (0,), 2) == [3, 1]
    with pytest.raises(DutError, match="cannot use 4 cores: the tester leaves 3 of"):
        gateway_cpus(3, (0,), 4)


@pytest.mark.parametrize("first_stops_first", [True, False])
def test_the_last_lab_puts_a_setting_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_stops_first: bool
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "ledgers")
    setting = tmp_path / "setting"
    setting.write_text("1\n")
    labs = [Ledger(), Ledger()]
    for value, lab in zip("23", labs, strict=True):
        lab.change_setting(str(setting), value)
    one, other = labs if first_stops_first else labs[::-1]
    one.undo()
    assert setting.read_text() == "3"
    other.undo()
    assert setting.read_text() == "1"


def test_a_dead_lab_does_not_take_a_living_ones_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_folder, "SYSTEM", tmp_path / "ledgers")
    setting = tmp_path / "setting"
    setting.write_text("1\n")
    living = Ledger()
    (tmp_path / "ledgers" / "999999.json").write_text(
        json.dumps({"processes": [], "settings": {str(setting): "1"}})
    )
    living.change_setting(str(setting), "2")
    ledger.sweep()
    assert setting.read_text() == "2"
    living.undo()
    assert setting.read_text() == "1"
