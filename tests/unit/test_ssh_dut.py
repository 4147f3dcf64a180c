"""A device that a recipe controls: commands, values and failures, over a connection that is fake."""

import re
import shlex
from pathlib import Path

import pytest

from natxy.dut.base import Deletion, TableParameters
from natxy.dut.choice import dut_of
from natxy.dut.config import SshConfig
from natxy.dut.recipe import KINDS, Keys, Recipe, Variable, read_recipe, recipe_names
from natxy.dut.ssh import SshDut, check_installed
from natxy.dut.ssh_session import Ended, Lost
from natxy.errors import ConfigurationError, DutError
from natxy.model.source import Source
from natxy.model.testbed import Testbed

SOURCE = Source(name="lab.toml")
RECIPE = """
title = "A gateway"
source = "this test"
state = "not measured here"
ip_versions = [[4, 4]]
stateful = true
programs = ["gw"]
packages = "gateway"

[variables]
inside = {kind = "interface", meaning = "the interface inside"}
udp_timeout_s = {kind = "number", default = 300, meaning = "timeout"}
entries = {kind = "number", optional = true, meaning = "entries"}

[commands]
prepare = ["save"]
start = ["up @{inside}", "size @{entries}", "timeout @{udp_timeout_s}"]
stop = ["down @{inside}", "forget"]
clean_up = ["restore"]
reset = ["flush", "timeout @{udp_timeout_s}"]
restart = ["bounce"]
check = ["alive"]
describe = ["version"]
telemetry = ["memory"]
count = ["count"]
delete_all = ["delete"]
set_timeout = ["timeout @{udp_timeout_s}"]
set_entries = ["size @{entries}"]
set_cores = ["cores @{udp_timeout_s}"]
"""


class FakeSession:
    """Answers commands from a table; a command that is not in it succeeds and prints nothing."""

    def __init__(self, **answers: Ended | Exception) -> None:
        self.answers: dict[str, Ended | Exception] = dict(answers)
        self.ran: list[str] = []
        self.is_open = False
        self.unreachable = False

    def open(self) -> None:
        if self.unreachable:
            raise Lost("dut.host: gw cannot be reached: no route.")
        self.is_open = True

    def run(self, where: str, command: str) -> Ended:
        assert self.is_open
        self.ran.append(command)
        answer = self.answers.get(command.partition(" ")[0], ended(""))
        if isinstance(answer, Exception):
            if isinstance(answer, Lost):
                self.is_open, self.unreachable = False, True
            raise answer
        return answer

    def close(self) -> None:
        self.is_open = False


def ended(output: str, *, status: int | None = 0, errors: str = "") -> Ended:
    return Ended(status=status, output=output, errors=errors)


def recipe(text: str = RECIPE) -> Recipe:
    source = Source(name="gw.toml", text=text)
    read: Recipe = source.validated(Recipe, {"name": "gw", **source.toml()})
    return read


def dut_with(session: FakeSession, text: str = RECIPE, **variables: str | int) -> SshDut:
    config = SshConfig(kind="ssh", host="gw", recipe="gw")
    filled = recipe(text).filled({"inside": "eth1", **variables}, SOURCE)
    return SshDut(config, filled, session=session, show=lambda *_: None)


def test_a_recipe_is_run_in_its_order() -> None:
    session = FakeSession()
    dut = dut_with(session)
    dut.start()
    dut.reset()
    dut.stop()
    dut.stop()
    assert session.ran == [
        *("command -v gw", "save", "up eth1", "timeout 300"),  # no entries: no command for them
        *("flush", "timeout 300"),
        *("down eth1", "forget", "restore"),
    ]
    assert not session.is_open


def test_each_command_is_shown_before_it_runs() -> None:
    session, shown = FakeSession(), list[tuple[str, str, int]]()
    config = SshConfig(kind="ssh", host="gw", recipe="gw")
    filled = recipe().filled({"inside": "eth1"}, SOURCE)
    dut = SshDut(config, filled, session=session,
                 show=lambda key, said: shown.append((key, said, len(session.ran))))  # fmt: skip
    dut.start()
    assert [key for key, _, _ in shown] == ["prepare", "start", "start"]
    assert shown[1] == ("start", "up eth1", 2)


def test_a_value_that_was_set_is_in_later_commands() -> None:
    session = FakeSession(count=ended("7\n"))
    dut = dut_with(session, entries=1000)
    dut.start()
    assert dut.table is not None
    assert dut.table.parameters() == TableParameters(entries=1000, timeout_s=300)
    dut.table.set_timeout(400.5)
    dut.table.resize(entries=2000)
    dut.reset()
    assert session.ran[-4:] == ["timeout 401", "size 2000", "flush", "timeout 401"]
    assert dut.table.parameters() == TableParameters(entries=2000, timeout_s=401)
    assert dut.table.count() == 7


def test_a_value_that_could_not_be_set_is_forgotten() -> None:
    session = FakeSession()
    dut = dut_with(session)
    dut.start()
    session.answers["timeout"] = ended("", status=1, errors="too long")
    assert dut.table is not None
    with pytest.raises(DutError, match="ended with status 1: too long"):
        dut.table.set_timeout(900)
    assert dut.table.parameters().timeout_s == 300
    del session.answers["timeout"]
    dut.reset()
    assert session.ran[-1] == "timeout 300"


def test_what_the_recipe_cannot_do_is_one_sentence() -> None:
    dut = dut_with(FakeSession())
    assert dut.table is not None
    with pytest.raises(DutError, match=r"dut.recipe gw, set_hash_size: .*no such commands"):
        dut.table.resize(hash_size=5)


def test_the_deletion_is_timed_by_the_device() -> None:
    dut = dut_with(FakeSession(count=ended("500"), delete=ended("words\n1234567e-9\n")))
    dut.start()
    assert dut.table is not None
    assert dut.table.delete_all() == Deletion(connections=500, seconds=0.001234567)


def test_a_failure_is_the_last_line_of_standard_error() -> None:
    session = FakeSession(up=ended("out", status=2, errors="first\nno such interface\n"))
    dut = dut_with(session)
    sentence = r"^dut.recipe gw, start: `up eth1` ended with status 2: no such interface$"
    with pytest.raises(DutError, match=sentence):
        dut.start()
    # What was set up is removed, whatever of it fails; nothing stays open.
    assert session.ran[-3:] == ["down eth1", "forget", "restore"]
    assert not session.is_open
    before = list(session.ran)
    dut.stop()
    assert session.ran == before


def test_everything_is_undone_although_a_part_fails() -> None:
    session = FakeSession(down=ended("", status=1, errors="busy"))
    dut = dut_with(session)
    dut.start()
    with pytest.raises(DutError, match="`down eth1` ended with status 1: busy"):
        dut.stop()
    assert session.ran[-3:] == ["down eth1", "forget", "restore"]


def test_a_missing_program_is_told_before_anything_changes() -> None:
    session = FakeSession(command=ended("", status=127))
    with pytest.raises(DutError, match=r"gw has no program `gw` \(expected .*: gateway\)"):
        dut_with(session).start()
    assert session.ran == ["command -v gw"]


def test_a_host_that_went_away_is_told_once() -> None:
    """`stop` tries it again, and does not put another sentence in place of the first."""
    session = FakeSession(alive=Lost("the connection to gw was lost"))
    shown: list[str] = []
    config = SshConfig(kind="ssh", host="gw", recipe="gw")
    filled = recipe().filled({"inside": "eth1"}, SOURCE)
    dut = SshDut(config, filled, session=session, show=lambda _, said: shown.append(said))
    dut.start()
    with pytest.raises(Lost, match="the connection to gw was lost"):
        dut.trial_fault()
    dut.stop()
    assert "may still be there" in shown[-1]
    assert not session.is_open


def test_a_host_that_cannot_be_reached_at_the_end_is_told() -> None:
    session = FakeSession()
    dut = dut_with(session)
    dut.start()
    session.unreachable = True
    with pytest.raises(Lost, match="cannot be reached"):
        dut.stop()


def test_an_unreachable_host_leaves_nothing_open() -> None:
    session = FakeSession()
    session.unreachable = True
    dut = dut_with(session)
    with pytest.raises(Lost):
        dut.start()
    dut.stop()
    assert session.ran == []


CLOSED_BOX = RECIPE.replace("stateful = true", "stateful = true\nerror_pattern = '^% Bad'\n"
                            "count_pattern = 'in total: (\\d+)'")  # fmt: skip


def test_a_closed_box_says_by_words_what_failed() -> None:
    session = FakeSession(up=ended("some\n% Bad interface\n", status=None))
    with pytest.raises(DutError, match=r"`up eth1` failed: % Bad interface$"):
        dut_with(session, CLOSED_BOX).start()


def test_a_closed_box_counts_in_words() -> None:
    dut = dut_with(FakeSession(count=ended("old in total: 3\nnew in total: 42 (all)\n",
                                           status=None)), CLOSED_BOX)  # fmt: skip
    dut.start()
    assert dut.table is not None
    assert dut.table.count() == 42
    wordless = dut_with(FakeSession(count=ended("nothing")), CLOSED_BOX)
    wordless.start()
    assert wordless.table is not None
    with pytest.raises(DutError, match=r'printed "nothing" \(expected the number'):
        wordless.table.count()


def test_telemetry_restart_and_description() -> None:
    dut = dut_with(FakeSession(memory=ended("memory_bytes 5\n"), version=ended("gw 1.0\n")))
    dut.start()
    assert dut.telemetry().memory_bytes == 5
    assert dut.restart() == "command: bounce"
    described = dut.describe()
    assert (described["name"], described["description"]) == ("gw", "gw 1.0")
    assert '"up @{inside}"' in described["recipe"]


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
def test_each_recipe_has_its_line_in_the_documentation(name: str) -> None:
    page = Path(__file__).parents[2] / "docs/reference/recipes.md"
    (row,) = (line for line in page.read_text().splitlines() if line.startswith(f"| `{name}` |"))
    read = read_recipe(name)
    assert re.search(rf"\| {read.state}", row), row
    assert ("commands run by tests" in row) == read.run_by_tests, row


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
