"""A gateway that a recipe controls: commands, values, failures; the connection is fake."""

import pytest

from natxy.dut.base import TableParameters
from natxy.dut.config import SshConfig
from natxy.dut.ssh import SshDut
from natxy.dut.ssh_session import Ended, Lost, SshSession
from natxy.errors import DutError
from tests.unit.ssh_dut import RECIPE, SOURCE, recipe


class FakeSession(SshSession):
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
    session = FakeSession()
    dut = dut_with(session)
    assert dut.table is not None
    with pytest.raises(DutError, match=r"dut.recipe gw, set_hash_size: .*no such commands"):
        dut.table.resize(entries=9, hash_size=5)
    assert dut.table.parameters().entries is None
    assert session.ran == []  # nothing of it was done


def test_a_device_recovers_by_stop_and_start() -> None:
    session = FakeSession()
    dut = dut_with(session)
    dut.start()
    del session.ran[:]
    dut.recover()
    assert session.ran == ["down eth1", "forget", "up eth1", "timeout 300"]


def test_a_device_is_started_again_although_a_part_of_stop_fails() -> None:
    session, shown = FakeSession(down=ended("", status=1, errors="busy")), list[str]()
    config = SshConfig(kind="ssh", host="gw", recipe="gw")
    filled = recipe().filled({"inside": "eth1"}, SOURCE)
    dut = SshDut(config, filled, session=session, show=lambda _, said: shown.append(said))
    dut.start()
    del session.ran[:]
    dut.recover()
    assert session.ran == ["down eth1", "forget", "up eth1", "timeout 300"]
    assert "dut.recipe gw, stop: `down eth1` ended with status 1: busy" in shown


def test_a_host_that_is_lost_is_not_started_again() -> None:
    session = FakeSession(down=Lost("the connection to gw was lost"))
    dut = dut_with(session)
    dut.start()
    del session.ran[:]
    with pytest.raises(Lost, match="the connection to gw was lost"):
        dut.recover()
    assert session.ran == ["down eth1"]


def test_the_deletion_is_timed_by_the_device() -> None:
    dut = dut_with(FakeSession(count=ended("500"), delete=ended("words\n1234567e-9\n")))
    dut.start()
    assert dut.table is not None
    assert dut.table.delete_all() == 0.001234567


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
