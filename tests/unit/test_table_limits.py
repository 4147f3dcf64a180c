"""What Linux refuses of a connection tracking table is refused when it is read."""

from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.dut.choice import dut_of
from natxy.dut.config import MAX_BUCKETS, MAX_ENTRIES, MAX_TIMEOUT_S, table_limits
from natxy.dut.recipe import read_recipe
from natxy.errors import ConfigurationError
from natxy.model.source import Source
from natxy.model.testbed import Testbed

LAB = """
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = 1000
rate_fps = 1000
[dut]
kind = "namespace"
driver = "nat44"
"""
HIGHEST = {
    "conntrack_entries": MAX_ENTRIES,
    "hash_size": MAX_BUCKETS,
    "udp_timeout_s": MAX_TIMEOUT_S,
}
# As `echo` into /proc/sys/net/netfilter is refused by Linux 6.18.
REFUSED = {"conntrack_entries": 2**31, "hash_size": 2**28, "udp_timeout_s": 8_589_935}


def testbed(**dut: Any) -> tuple[Testbed, Source]:
    source = Source(name="testbed.toml")
    section = {"kind": "namespace", "driver": "nat44", **dut}
    traffic = {"left_ip_version": 4, "right_ip_version": 4}
    written = {"traffic": traffic, "connections": {"count": 1000}, "dut": section}
    return source.validated(Testbed, written), source


@pytest.mark.parametrize("key", HIGHEST)
def test_the_highest_value_of_a_lab_is_taken_and_none_above(key: str) -> None:
    dut_of(*testbed(**{key: HIGHEST[key]}))
    for value in (HIGHEST[key] + 1, REFUSED[key]):
        with pytest.raises(ConfigurationError, match=rf"{key}: {value} is out of range"):
            dut_of(*testbed(**{key: value}))


@pytest.mark.parametrize("recipe", ["nftables-nat44", "iptables-nat44", "tayga-iptables"])
def test_a_recipe_for_linux_has_the_same_limits(recipe: str) -> None:
    section = {"kind": "ssh", "host": "gateway", "recipe": recipe}
    assert table_limits(section, Source(name="testbed.toml")) == {
        "entries": MAX_ENTRIES,
        "hash_size": MAX_BUCKETS,
        "udp_timeout_s": MAX_TIMEOUT_S,
    }
    variables = read_recipe(recipe).variables
    wrong = "is out of range (expected at most 2147483647)"
    assert variables["entries"].wrong(2**31) == wrong
    assert variables["entries"].wrong(2**31 - 1) is None


def test_limits_of_other_gateways_are_not_known() -> None:
    assert table_limits({"kind": "none"}, Source(name="testbed.toml")) == {}


@pytest.mark.parametrize(
    ("option", "value"),
    [("--entries", "2147483648"), ("--hash-sizes", "268435456"), ("--timeouts", "8589935")],
)
def test_a_column_is_refused_before_a_lab_is_made(
    option: str,
    value: str,
    tmp_path: Path,
    engine: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab = tmp_path / "lab.toml"
    lab.write_text(LAB)
    command = ["degradation", str(lab), "--counts", "1000", option, value]
    assert run_command([*command, "--output", str(tmp_path / "out")]) != 0
    said = f"{option}: {value} is out of range (expected at most"
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_a_plan_refuses_such_a_column_too(
    tmp_path: Path, engine: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lab.toml").write_text(LAB)
    experiment = tmp_path / "experiment.toml"
    experiment.write_text(
        'title = "Degradation"\ntestbed = "lab.toml"\n[[measure]]\ncommand = "degradation"\n'
        'options = {counts = "1000", entries = "2147483648"}\n'
    )
    assert run_command(["plan", str(experiment)]) != 0
    assert "--entries: 2147483648 is out of range" in " ".join(capsys.readouterr().err.split())
    testbed_of = experiment.read_text().replace(', entries = "2147483648"', "")
    changed = testbed_of.replace(
        "[[measure]]",
        '[testbed_changes]\n[[column]]\nlabel = "x"\ntestbed = {dut = '
        "{conntrack_entries = 2_147_483_648}}\n[[measure]]",
    ).replace("[testbed_changes]\n", "")
    experiment.write_text(changed)
    assert run_command(["plan", str(experiment)]) != 0
    assert "conntrack_entries: 2147483648 is out of range" in " ".join(
        capsys.readouterr().err.split()
    )
