"""Errors name the key or the option as the person wrote it, and the package of a program."""

import os
from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.cli.streams import shortened
from natxy.dut.addresses import AddressPlan
from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig, NamespaceConfig
from natxy.dut.execution import LAB_PACKAGES, execute
from natxy.dut.namespace import NamespaceDut
from natxy.dut.recipe import drivers
from natxy.errors import DutError
from natxy.model.testbed import read_testbed
from natxy.tester.command import in_keys

Captured = pytest.CaptureFixture[str]
EXPERIMENT = """\
title = "t"
testbed = "testbed.toml"
options = {{profile = "quick"}}
[[measure]]
command = "throughput"
options = {{{options}}}
"""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("max_rate = true", "max_rate: true is not possible (expected a value)"),
        ("early_end = 5", "early_end: 5 is not possible (expected true or false)"),
        ('frame_size = "64"', "frame_size: 64 is out of range"),
        ("foreground = 33.333", "foreground: 33.333 repeats only after 100,000 frames"),
        ("networks = 0", "networks: 0 is out of range (expected 1 or more)"),
        ("retry_time = -1", "retry_time: -1 is out of range"),
        ('max_rate = "x"', 'max_rate: "x" is not a whole number'),
        ("seed = 5", "seed is not possible here (the campaign sets it)"),
        ("ratee = 5", "No such option 'ratee'"),
    ],
)
def test_an_option_of_an_experiment_has_its_name_there(
    tmp_path: Path, testbed_file: Path, capsys: Captured, options: str, sentence: str
) -> None:
    del testbed_file
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT.format(options=options))
    assert run_command(["plan", str(file)]) == 2
    assert f'{file}: measure "throughput": {sentence}' in capsys.readouterr().err


def test_a_switch_may_be_off(tmp_path: Path, testbed_file: Path, capsys: Captured) -> None:
    del testbed_file
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT.format(options="early_end = false"))
    assert run_command(["plan", str(file)]) == 0
    assert "--early-end" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("engines", "persons"),
    [
        ("--cores: CPU 9 does not exist", "tester.cores: CPU 9 does not exist"),
        ("--left: DPDK cannot", "tester.left.device: DPDK cannot"),
        ("--mtu: 1 (--memory-mb)", "tester.mtu_bytes: 1 (tester.memory_mb)"),
        ("(expected sides.right.next_hop.mac)", "(expected tester.right.next_hop_mac)"),
        ("--left-over x--left sides.left.next_hop", "--left-over x--left sides.left.next_hop"),
    ],
)
def test_an_error_of_the_engine_names_the_testbeds_key(engines: str, persons: str) -> None:
    assert in_keys(engines) == persons


@pytest.mark.parametrize("driver", list(drivers("namespace")))
def test_each_missing_program_of_a_lab_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    recipe = drivers("namespace")[driver]
    needed = {**LAB_PACKAGES, **recipe.in_lab.packages}
    left, right = recipe.ip_versions[0]
    plan = AddressPlan(left_ip_version=left, right_ip_version=right, stateful=recipe.stateful)
    config = NamespaceConfig.model_validate({"kind": "namespace", "driver": driver})
    dut = NamespaceDut(config, plan, tester_cpus=())
    for absent in needed:
        folder = tmp_path / absent
        folder.mkdir()
        for program in needed.keys() - {absent}:
            (folder / program).touch(0o755)
        monkeypatch.setenv("PATH", str(folder))
        with pytest.raises(DutError) as caught:
            dut.check_programs()
        assert str(caught.value) == (
            f"dut.driver {driver}: {absent}: not installed (`apt install {needed[absent]}` "
            "installs it)."
        )


def test_a_program_that_is_missing_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DutError, match=r"`ip` is not installed \(expected the Debian package ip"):
        execute(["ip", "link"])


@pytest.mark.parametrize("end", ["\x1c", "\x85", "\u2028", "\v"])
def test_only_a_line_feed_ends_a_line_of_a_commands_output(end: str) -> None:
    """Otherwise a part of a line would be the number of connections."""
    gateway = CommandDut(
        CommandConfig(kind="command", count=f"printf '12{end}34'", telemetry="true"),
        show=lambda *_: None,
    )
    with pytest.raises(DutError, match="printed"):
        gateway.count()


def test_output_in_another_encoding_is_no_traceback() -> None:
    assert execute(["printf", r"a\351\n"]) == "a\ufffd\n"


@pytest.mark.parametrize(("cpus", "cores"), [({0}, (0,)), ({0, 1}, (1,)), ({4, 6, 7}, (6, 7)),
                                            ({0, 1, 2, 3}, (2, 3))])  # fmt: skip
@pytest.mark.parametrize("kind", ["pci", "namespace"])
def test_a_new_testbed_names_cpus_that_the_machine_has(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    cpus: set[int],
    cores: tuple[int, ...],
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)
    file = tmp_path / "new.toml"
    assert run_command(["init", str(file), "--kind", kind]) == 0
    written = read_testbed(file)[0].tester.cores
    assert set(written) <= cpus
    if kind == "pci":
        assert written == cores


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("--rate: " + "1" * 4000 + " is wrong", "--rate: " + "1" * 57 + "... is wrong"),
        ('"' + "a b" * 2000 + '" is', '"' + ("a b" * 2000)[:117] + '..." is'),
        ("x" * 4000, "x" * 297 + "..."),
        ("/a" * 2000, "/a" * 2000),
        ("`" + "a b" * 200 + "`", "`" + "a b" * 200 + "`"),
    ],
)
def test_a_value_is_shown_as_far_as_a_person_reads_it(sentence: str, shown: str) -> None:
    assert shortened(sentence) == shown


def test_a_wrong_value_of_siitperf_is_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("siitperf.conf").write_text(f"Num-L-Nets {'9' * 4000}\n")
    assert run_command(["siitperf", "tp", "84", "1000", "1", "200", "2", "2"]) == 2
    said: Any = capsys.readouterr()
    assert len(said.out) < 300
    assert said.out.startswith("Input Error: siitperf.conf, line 1: Num-L-Nets: ")
