"""`natxy dut`: what drivers and recipes say of themselves, and what a check finds."""

import json
import re
import shutil
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.doctor import duts
from natxy.dut.execution import LAB_PACKAGES
from natxy.dut.recipe import drivers, recipe_names
from natxy.dut.recipe_keys import LabKind

SITES: tuple[LabKind, ...] = ("namespace", "guest")
Captured = pytest.CaptureFixture[str]
GUESTS = [f"guest/{name}" for name in drivers("guest")]
ROOT = Path(__file__).parents[2]
TESTBED = """
[traffic]
left_ip_version = 4
right_ip_version = 4

[connections]
count = 10

[dut]
kind = "ssh"
host = "127.0.0.1"
port = 1
connect_timeout_s = 2
known_hosts = "{known_hosts}"
recipe = "nftables-nat44"
variables = {{inside = "eth1", outside = "eth2"}}
"""


def said(capsys: Captured, *words: str, status: int = 0) -> str:
    assert run_command(["dut", *words]) == status
    return capsys.readouterr().out


def test_the_list_has_each_driver_and_each_recipe(capsys: Captured) -> None:
    entries = json.loads(said(capsys, "list", "--json"))
    assert [each["name"] for each in entries] == [
        *drivers("namespace"),
        *GUESTS,
        *recipe_names(),
    ]
    assert len({each["name"] for each in entries}) == len(entries)
    (tayga,) = (each for each in entries if each["name"] == "tayga")
    assert tayga["ip_versions"] == "6 and 4, or 4 and 6"
    assert "tayga" in tayga["packages"].split(", ")
    (pf,) = (each for each in entries if each["name"] == "openbsd-pf-nat64")
    assert pf["ip_versions"] == "6 on the initiator's side and 4 on the other"
    assert (pf["state"], pf["stateful"]) == ("never run here", True)


def test_no_name_is_wrapped(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (80, 120):
        monkeypatch.setattr("natxy.cli.dut.result_console.width", width)
        text = said(capsys, "list")
        assert all(name in text for name in (*drivers("namespace"), *GUESTS, *recipe_names()))


def test_a_recipe_is_shown_with_its_source_and_its_commands(capsys: Captured) -> None:
    text = said(capsys, "show", "mikrotik-nat44")
    assert "/ip firewall connection remove [find protocol=udp]" in text  # no markup
    assert "source: https://help.mikrotik.com" in text
    assert "inside (interface): the interface on the initiator's side" in text
    shown = json.loads(said(capsys, "show", "jool-nat64", "--json"))
    assert "jool instance add --netfilter --pool6 @{pool6}" in shown["recipe"]["commands"]["start"]


def test_a_driver_is_shown(capsys: Captured) -> None:
    text = said(capsys, "show", "nat64")
    assert "IP versions: 6 on the initiator's side and 4 on the other" in text
    assert "a lab on this machine, measured here" in text


def test_a_guest_is_shown_and_checked(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, "show", "guest/jool")
    assert "Jool: stateful NAT64" in text
    assert "IP versions: 6 on the initiator's side and 4 on the other" in text
    assert "connection tracking table: yes" in text
    assert "jool-tools" in text
    monkeypatch.setattr(shutil, "which", lambda _: None)
    path = tmp_path / "guest.toml"
    path.write_text(
        "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
        '[dut]\nkind = "guest"\ndriver = "kernel-router"\n'
    )
    for name in ("guest/kernel-router", str(path)):
        found = json.loads(said(capsys, "check", name, "--json", status=1))
        states = {each["name"]: each["state"] for each in found}
        assert states["QEMU"].startswith("`qemu-system-x86_64` is not installed")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("lst",),
            'ACTION: unknown value "lst" (expected list, show or check; did you mean list?)',
        ),
        (("show",), "NAME: is missing (expected one that `natxy dut list` shows"),
        (("show", "joool-siit"), "did you mean jool-siit?)"),
        (("check", "absent.toml"), "absent.toml: there is no such file"),
    ],
)
def test_a_wrong_word_is_one_sentence(
    capsys: Captured, words: tuple[str, ...], sentence: str
) -> None:
    assert run_command(["dut", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = {"tayga", "ip"}
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name in absent else f"/usr/bin/{name}"
    )
    found = duts.packages(drivers("namespace")["tayga"])
    assert (found.grade, found.state) == ("impossible", "missing: ip, tayga")
    assert found.remedy == "apt-get install iproute2 tayga"
    assert duts.packages(drivers("namespace")["nat44"]).state == "missing: ip"


def test_a_recipe_s_check_says_what_this_machine_lacks(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duts, "find_spec", lambda _: None)
    findings = json.loads(said(capsys, "check", "tayga-iptables", "--json", status=1))
    (package,) = (each for each in findings if each["name"] == "asyncssh")
    assert package["remedy"] == 'pip install "natxy[ssh]"'


def test_a_testbed_s_check_connects(capsys: Captured, tmp_path: Path) -> None:
    pytest.importorskip("asyncssh")
    (tmp_path / "known_hosts").touch()
    file = tmp_path / "lab.toml"
    file.write_text(TESTBED.format(known_hosts=tmp_path / "known_hosts"))
    findings = json.loads(said(capsys, "check", str(file), "--json", status=1))
    assert findings[-1]["name"] == "gateway"
    assert findings[-1]["state"].startswith("dut.host: 127.0.0.1 port 1 cannot be reached: ")


def test_a_testbed_without_a_driver_has_nothing_to_check(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text('[dut]\nkind = "command"\n')
    assert run_command(["dut", "check", str(file)]) == 2
    assert 'dut.kind: "command" has nothing to check' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "name"),
    [(site, name) for site in SITES for name in drivers(site)],
)
def test_each_driver_has_its_line_in_the_documentation(kind: str, name: str) -> None:
    page = (ROOT / "docs/reference/dut.md").read_text()
    (section,) = re.findall(rf'^## `kind = "{kind}"`\n(.*?)^## ', page, re.MULTILINE | re.DOTALL)
    lines = [line.split(" | ")[0] for line in section.splitlines()]
    assert f'| `"{name}"`' in lines  # both kinds have a "nat44"


def test_each_package_of_a_driver_is_installed_with_the_labs() -> None:
    lines = (ROOT / "tools/packages.txt").read_text().splitlines()
    listed = {line.split()[1] for line in lines if line.startswith("run ")}
    packages = set(LAB_PACKAGES.values())
    packages |= {p for d in drivers("namespace").values() for p in d.in_lab.packages.values()}
    always = {"coreutils", "util-linux"}  # which Debian never lacks
    assert packages - always <= listed


def test_the_testbed_that_init_writes_names_each_driver_of_a_lab(tmp_path: Path) -> None:
    assert run_command(["init", str(tmp_path / "lab.toml"), "--kind", "namespace"]) == 0
    text = (tmp_path / "lab.toml").read_text()
    (comment,) = re.findall(r"^driver = .*\n((?:^# +\".*\n)*)", text, re.MULTILINE)
    assert re.findall(r'^# +"([a-z0-9-]+)"', comment, re.MULTILINE) == [*drivers("namespace")]
