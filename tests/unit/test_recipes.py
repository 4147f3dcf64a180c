"""Recipes: variables and their kinds, the recipes that come with Natxy, and their choice."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.dut.recipe import read_recipe, recipe_names
from natxy.dut.recipe_keys import KINDS, Keys, Variable
from natxy.dut.ssh import SshDut, check_installed
from natxy.errors import ConfigurationError
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from tests.unit.ssh_dut import RECIPE, SOURCE, recipe


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, r"dut.variables.inside: is missing \(expected the interface inside\)"),
        ({"inside": "eth1; reboot"}, r'inside: "eth1; reboot" is not right \(expected the name of'),
        ({"inside": "$(reboot)"}, "inside: .*is not right"),
        ({"inside": "-x"}, "inside: .*is not right"),
        ({"inside": "eth1\n"}, "inside: .*is not right"),
        ({"inside": "eth1", "entries": "many"}, r"entries: .*expected a whole number"),
        ({"inside": "eth1", "entries": "٣"}, r"entries: .*expected a whole number"),
        ({"inside": "eth1", "outside": "eth2"}, r"outside: is no variable of this recipe"),
    ],
)
def test_a_wrong_variable_is_one_sentence(variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        recipe().filled(variables, SOURCE)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("ipv4", "198.18.0.1", "198.18.0.1/30"),
        ("ipv4", "198.18.0.1", "2001:2::1"),
        ("ipv6", "2001:2::1", "fe80::1%eth0"),
        ("ipv4_prefix", "198.18.0.0/16", "198.18.0.1/16"),
        ("ipv4_prefix", "198.18.0.0/16", "198.18.0.0"),
        ("ipv4_interface", "198.18.0.1/30", "198.18.0.1/33"),
        ("ipv6_prefix", "2001:2::/56", "2001:2::/x"),
        ("ipv6_interface", "2001:2::1/64", "198.18.0.1/30"),
        ("name", "sdfn", "sd fn"),
    ],
)
def test_values_are_checked_by_their_kind(kind: str, right: str, wrong: str) -> None:
    variable = Variable.model_validate({"kind": kind, "meaning": "x"})
    assert variable.wrong(right) is None
    assert variable.wrong(wrong)


def test_no_value_needs_quotes_so_that_it_may_stand_in_quotes() -> None:
    """A recipe may have a placeholder between quotes of its own."""
    for pattern, _ in KINDS.values():
        for character in map(chr, range(256)):
            if re.fullmatch(pattern, f"a{character}1") or re.fullmatch(pattern, f"1{character}1"):
                assert shlex.quote(f"a{character}") == f"a{character}"


def test_a_placeholder_without_variable_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"commands.check: names the variable outside"):
        recipe(RECIPE.replace('check = ["alive"]', 'check = ["alive @{outside}"]'))


@pytest.mark.parametrize("name", recipe_names())
def test_each_recipe_is_whole(name: str) -> None:
    """It can be filled, says where it is from, and undoes what it does."""
    read = read_recipe(name)
    interfaces = {n: "eth1" for n, v in read.variables.items() if v.kind == "interface"}
    optional = {n: {"name": "sdfn"}.get(v.kind, 4) for n, v in read.variables.items() if v.optional}
    filled = read.filled({**interfaces, **optional}, SOURCE)
    for key in Keys.model_fields:
        commands = filled.commands(key)
        assert len(commands) == len(read.commands.of(key))
        assert not any("@{" in command for command in commands)
    assert (read.commands.start == ()) == (read.commands.stop == ())
    if read.stateful:
        assert read.commands.reset or read.commands.delete_all
        assert read.commands.count
    if not read.stateful:
        assert not read.commands.delete_all


@pytest.mark.parametrize("name", recipe_names())
def test_no_host_of_the_traffic_is_a_neighbour(name: str) -> None:
    """With the addresses by default; the gateway and the tester are the only hosts of a link."""
    bits = {"ipv4_interface": "/30", "ipv6_interface": "/126"}
    for variable in read_recipe(name).variables.values():
        if variable.kind in bits and variable.default is not None:
            assert str(variable.default).endswith(bits[variable.kind]), variable.meaning


# In the tests of labs: recipes that are refused, and those that are only read.
AMONG_OTHERS = re.compile(
    r'\n    \("name", "variables", "program"\),\n    \[.*?\n    \],\n', re.DOTALL
)
ALL = re.compile(r"^UNIX = \[.*?^\]$", re.DOTALL | re.MULTILINE)
SAVED = re.compile(r"> (/(?:run|tmp)/natxy-\S+)")


@pytest.mark.parametrize("name", recipe_names())
def test_what_an_interrupted_run_has_saved_is_kept_until_it_is_restored(
    name: str, tmp_path: Path
) -> None:
    """Else the next run takes for the original values those that the lost one has set."""
    commands = read_recipe(name).commands
    for command in commands.prepare:
        for saved in SAVED.findall(command):
            kept = tmp_path / Path(saved).name
            kept.write_text("the original values")
            subprocess.run(["sh", "-c", command.replace(saved, str(kept))], check=True)
            assert kept.read_text() == "the original values", command
            assert any(each.startswith("rm ") and saved in each for each in commands.clean_up)


@pytest.mark.parametrize("name", recipe_names())
def test_what_stays_is_in_the_notes(name: str) -> None:
    read = read_recipe(name)
    stays = {"rx-flow-hash": "what RSS hashes", " combined ": "queues", " up": "interfaces stay up",
             "set skip": "set skip", "kldload": "stay loaded"}  # fmt: skip
    for command in (*read.commands.prepare, *read.commands.start):
        for part, said in stays.items():
            stay = [line for line in read.notes.splitlines() if " stay" in line and said in line]
            assert part not in command or stay, f"{command}: the notes need a line: {said}"


def test_the_command_of_cores_is_the_same_wherever_it_is() -> None:
    """Recipes cannot share a command, so a repair of one could miss the others."""
    found = {
        command
        for read in map(read_recipe, recipe_names())
        for command in (*read.commands.start, *read.commands.set_cores)
        if "@{cores}" in command
    }
    having = [name for name in recipe_names() if read_recipe(name).commands.set_cores]
    assert len(having) >= 4
    for commands in (read_recipe(name).commands for name in having):
        assert set(commands.set_cores) & set(commands.start), "both have the command"
    assert len(found) == 1


def test_the_recipes_that_tests_run_say_so() -> None:
    """Those that a test of a lab or a guest starts; others only have their commands read."""
    tests = Path(__file__).parents[1]
    named: set[str] = set()
    for path in ("labs/test_ssh_recipes.py", "guest/test_jool_recipe.py"):
        text = (tests / path).read_text()
        for part in (AMONG_OTHERS, ALL):
            text = part.sub("", text)
        named |= {name for name in recipe_names() if f'"{name}"' in text}
    assert named == {name for name in recipe_names() if read_recipe(name).tried == "by tests"}


@pytest.mark.parametrize("name", recipe_names())
def test_each_recipe_has_its_line_in_the_documentation(name: str) -> None:
    page = Path(__file__).parents[2] / "docs/reference/recipes.md"
    rows = [line for line in page.read_text().splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1, f"{page} needs a line of {name}"
    (row,) = rows
    read = read_recipe(name)
    assert row.endswith(f"| {read.state} |"), row


TESTBED = """
[traffic]
left_ip_version = 4
right_ip_version = 4

[connections]
count = 10

[dut]
kind = "ssh"
host = "192.0.2.1"
recipe = "nftables-nat44"

[dut.variables]
inside = "eth1"
outside = "eth2"
"""


def chosen(text: str, name: str = "lab.toml") -> object:
    source = Source(name=name, text=text)
    return dut_of(source.validated(Testbed, source.toml()), source)


def test_a_testbed_chooses_a_recipe() -> None:
    dut = chosen(TESTBED)
    assert isinstance(dut, SshDut)
    assert dut.text("check") == "nft list table ip natxy > /dev/null"


def test_a_recipe_may_be_a_file_beside_the_testbed(tmp_path: Path) -> None:
    (tmp_path / "gw.toml").write_text(RECIPE)
    text = TESTBED.replace("nftables-nat44", "gw.toml").replace('outside = "eth2"', "")
    dut = chosen(text, str(tmp_path / "lab.toml"))
    assert isinstance(dut, SshDut)
    assert dut.where("start") == "dut.recipe gw, start"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("nftables-nat44", "jool", r'dut.recipe: "jool" is not a recipe \(expected one of cisco'),
        ("nftables-nat44", "x.toml", r"x.toml: there is no such file"),
        ("left_ip_version = 4", "left_ip_version = 6", r"which dut.recipe nftables-nat44 cannot"),
        ("[connections]\ncount = 10", "", r'connections: is missing, and dut.recipe "nftables-nat'),
        ('"192.0.2.1"', '"-oProxyCommand=x"', r'dut.*host: "-oProxyCommand=x" is not a host'),
        ('"eth1"', '"a b"', r'line \d+: dut.variables.inside: "a b" is not right'),
    ],
)
def test_a_wrong_testbed_is_one_sentence(old: str, new: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        chosen(TESTBED.replace(old, new))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("natxy.dut.ssh.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r'pip install "natxy\[ssh\]"'):
        check_installed()
    with pytest.raises(ConfigurationError, match="asyncssh, which is not installed"):
        chosen(TESTBED)
