"""`natxy run --dut`: the same experiment on another gateway."""

import tomllib
from pathlib import Path

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import DUT, Asked, CampaignFolder, read_asked
from natxy.campaign.plan import Cell, plan_again, plan_of
from natxy.campaign.records import read_campaign
from natxy.campaign.report import table_of
from natxy.cli import run_command
from natxy.cli.campaigns import check
from natxy.cli.run import options_of
from natxy.dut.config import settable_keys
from natxy.errors import ConfigurationError
from natxy.model.remark import Remark, Topic
from natxy.model.source import Source
from natxy.report.beside import beside
from natxy.report.campaign_notes import NOTES
from tests.unit.campaigns import EXPERIMENT
from tests.unit.conftest import NAT64

FOLDER = Path(__file__).parents[2] / "experiments"
TESTBEDS = FOLDER / "testbeds"
JOOL, SIIT = TESTBEDS / "jool-nat64.toml", TESTBEDS / "jool.toml"
STATEFUL = [f"sd-figure-{n:02}" for n in range(8, 12)] + [f"mp-table-{n:02}" for n in range(4, 12)]
STATELESS = ["sp-table-02", "sp-table-03", "sp-table-04", "sp-figure-06"]
ASKED = {**dict.fromkeys(STATEFUL, JOOL), **dict.fromkeys(STATELESS, SIIT)}
SSH = '[dut]\nkind = "ssh"\nhost = "dut.example"\nrecipe = "jool-nat64"\n'
VARIABLES = '[dut.variables]\nsix = "eth0"\nfour = "eth1"\n'
# A gateway that needs nothing of this machine, and another tester.
OTHER = f"""\
{NAT64.replace("cores = [0]", "cores = [1]")}
frame_size_bytes = 1280

[dut]
kind = "command"
start = "true"
"""


def cells_of(asked: Asked, *, quick: bool = False) -> tuple[Cell, ...]:
    plan = plan_of(asked.experiment, asked.testbed, 1, quick=quick)
    check(plan)
    return plan.cells


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.toml"
    path.write_text(OTHER)
    return path


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", ASKED)
def test_only_gateway_and_tester_of_a_published_experiment_change(name: str, quick: bool) -> None:
    path = FOLDER / f"{name}.toml"
    with_jool = cells_of(read_asked(path, dut=ASKED[name]), quick=quick)
    own = cells_of(read_asked(path), quick=quick)
    assert [cell.key for cell in with_jool] == [cell.key for cell in own]
    for cell, before in zip(with_jool, own, strict=True):
        assert cell.testbed["dut"]["kind"] == "guest"
        assert cell.testbed["tester"] == tomllib.loads(ASKED[name].read_text())["tester"]
        phase_1 = {"rate_fps": 2000, "incomplete": "repeat"} if ASKED[name] is JOOL else {}
        expected = {"connections": {**before.testbed["connections"], **phase_1}} if phase_1 else {}
        unchanged = {**before.testbed, "dut": 0, "tester": 0, **expected}
        assert {**cell.testbed, "dut": 0, "tester": 0} == unchanged
        changed = {} if "rate" in cell.options else {"rate": before.options.get("rate")}
        assert {**cell.options, **changed} == {**changed, **before.options}


def test_a_key_is_set_where_the_gateway_knows_it_and_named_once_elsewhere() -> None:
    asked = read_asked(FOLDER / "mp-table-07.toml", dut=JOOL)
    for cell in cells_of(asked):
        assert cell.testbed["dut"] == {"kind": "guest", "driver": "jool", "udp_timeout_s": 300}
    assert tuple(map(str, asked.remarks)) == (
        "The gateway is that of --dut (guest, jool), not that of the experiment's testbed.",
        "Of the experiment, this is left out for it: dut.conntrack_entries, dut.hash_size.",
    )


def test_a_rate_that_suits_the_testbeds_gateway_is_left_out() -> None:
    path = FOLDER / "sp-table-03.toml"
    assert cells_of(read_asked(path), quick=True)[0].options["rate"] == 20_000
    asked = read_asked(path, dut=SIIT)
    for quick in (False, True):
        assert "rate" not in cells_of(asked, quick=quick)[0].options
    assert asked.remarks[1].facts == {"left_out": ("option rate",)}


@pytest.mark.parametrize(
    ("section", "known", "unknown"),
    [
        ({"kind": "namespace", "driver": "nat64"}, "hash_size", "accelerator"),
        ({"kind": "namespace", "driver": "tayga"}, "mtu_bytes", "hash_size"),
        ({"kind": "guest", "driver": "jool"}, "pool4_ports", "conntrack_entries"),
        ({"kind": "guest", "driver": "nat64"}, "conntrack_entries", "pool4_ports"),
        # What it only states of its gateway would be false of another.
        ({"kind": "command"}, "set_cores", "hash_size"),
        ({"kind": "ssh", "host": "dut", "recipe": "jool-nat64"}, "variables", "hash_size"),
    ],
)
def test_each_gateway_has_its_own_keys(section: dict[str, str], known: str, unknown: str) -> None:
    keys = settable_keys(section, Source(name="testbed.toml"))
    assert known in keys
    assert unknown not in keys


def test_a_gateway_that_a_recipe_controls_can_be_measured(tmp_path: Path) -> None:
    pytest.importorskip("asyncssh")
    path = tmp_path / "dut.toml"
    path.write_text(SSH + VARIABLES)
    asked = read_asked(FOLDER / "mp-table-07.toml", dut=path)
    assert {cell.testbed["dut"]["host"] for cell in cells_of(asked)} == {"dut.example"}
    assert asked.remarks[0].facts == {"gateway": ("ssh", "jool-nat64", "dut.example")}


def test_a_series_of_a_key_that_is_left_out_keeps_its_columns(
    experiment: Path, other: Path
) -> None:
    experiment.write_text(EXPERIMENT.replace("traffic.frame_size_bytes", "dut.hash_size"))
    asked = read_asked(experiment, dut=other)
    assert [column.label for column in asked.experiment.columns] == ["84 B", "512 B"]
    assert "hash_size" not in cells_of(asked)[0].testbed["dut"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "other.toml: dut: is missing"),
        ("[tester]\ncores = [0]\n", "other.toml: dut: is missing (expected the gateway to measure"),
        ('[dut]\nkind = "x"\n', 'other.toml, line 1: dut: unknown kind "x"'),
        ('[dut]\nkind = "guest"\nhash_size = 1024\n', 'hash_size: is not used by driver "jool"'),
        ('title = "x"\n', "other.toml, line 1: title: is not a known key"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_file_without_a_gateway_is_one_sentence(
    verb: str, text: str, sentence: str, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(text)
    path = FOLDER / "mp-table-07.toml"
    assert run_command([verb, str(path), "--dut", str(other)]) == 2
    assert sentence in only_line(capsys)


@pytest.mark.parametrize("name", ["sd-figure-02", "demo/demo", "guest/jool"])
def test_an_experiment_that_compares_gateways_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^dut: .* chooses a gateway by dut"):
        read_asked(FOLDER / f"{name}.toml", dut=JOOL)


def test_several_testbeds_have_their_own_gateways(
    experiment: Path, other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(experiment), "--dut", str(other), "--testbeds", str(other)]
    assert run_command(words) == 2
    assert capsys.readouterr().err.startswith("natxy: --dut: is not possible beside --testbeds")


def test_the_campaign_remembers_its_gateway(
    experiment: Path, other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment.write_text(EXPERIMENT + "\n[changes.dut]\nhash_size = 1024\n")
    folder = CampaignFolder(path=tmp_path / "campaign")
    words = ["run", str(experiment), "--output", str(folder.path)]
    assert run_command([*words, "--dut", str(other)]) == 0
    first, second = read_asked(experiment, dut=other).remarks
    assert first == Remark.of(Topic.OTHER_GATEWAY, gateway=("command",))
    assert second == Remark.of(Topic.NOT_OF_GATEWAY, left_out=("dut.hash_size",))
    said = " ".join(capsys.readouterr().err.split())
    assert said.count(str(first)) == said.count(str(second)) == 1
    for cell in read_campaign(folder.journal).cells.values():
        assert cell.begun.provenance["testbed"]["tester"]["cores"] == [1]
        assert cell.begun.provenance["testbed"]["dut"] == {"kind": "command", "start": "true"}
        for result in cell.results:
            assert result.remarks[-2:] == (first, second)
    assert folder.asked().testbed == read_asked(experiment, dut=other).testbed
    data = read_data(folder.path)
    assert data.files[DUT] == OTHER
    assert any(str(first) in note for note in table_of(data).notes[NOTES])
    assert run_command(["resume", str(folder.path)]) == 0


def test_a_run_that_begins_again_has_its_own_gateway(
    experiment: Path, other: Path, tmp_path: Path
) -> None:
    folder = CampaignFolder(path=tmp_path / "campaign")
    folder.path.mkdir()
    folder.create(read_asked(experiment, dut=other))
    folder.journal.write_bytes(b"")
    assert folder.asked().testbed["dut"]["kind"] == "command"
    folder.create(read_asked(experiment))
    folder.journal.touch()
    assert "kind" not in folder.asked().testbed.get("dut", {})


@pytest.mark.parametrize(("dut", "is_said"), [(None, True), (SIIT, False)])
def test_what_the_testbeds_gateway_does_differently_is_not_said_of_another(
    dut: Path | None, is_said: bool
) -> None:
    asked = read_asked(FOLDER / "sp-table-02.toml", dut=dut)
    assert asked.published is not None
    labels = [column.label for column in asked.experiment.columns]
    notes = beside(asked.experiment, labels, asked.published, {}).notes[""]
    said = [note for note in notes if note.startswith("Here: The gateway is tayga, a program")]
    assert bool(said) is is_said


def test_an_option_of_the_run_replaces_the_experiments(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = CampaignFolder(path=tmp_path / "campaign")
    words = ["run", str(experiment), "--output", str(folder.path)]
    assert run_command([*words, "--option", "repetitions=1", "--option", "--retry-time=5"]) == 0
    cells = read_campaign(folder.journal).cells
    assert {len(cell.results[0].figures[0].values) for cell in cells.values()} == {1}
    asked = folder.asked()
    header = read_campaign(folder.journal).header
    for cell in plan_again(asked.experiment, asked.testbed, header).cells:
        assert cell.options["repetitions"] == "1", "a resumed campaign has the same options"
        assert cell.options["retry_time"] == "5"


def test_an_option_can_be_switched_on_and_off() -> None:
    assert options_of(["validated=true", "verify=false", "rates=1:2"]) == {
        "validated": True,
        "verify": False,
        "rates": "1:2",
    }


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("rate", '--option: "rate" is no option with its value (expected one such as rate=5000)'),
        ("=5", '--option: "=5" is no option with its value (expected one such as rate=5000)'),
        ("rate=5", '--option: measure "throughput", column "512 B": No such option \'rate\''),
        ("seed=5", '--option: measure "throughput", column "512 B": seed is not possible here'),
    ],
)
@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_wrong_option_of_the_run_is_one_sentence(
    verb: str, option: str, sentence: str, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([verb, str(experiment), "--option", option]) == 2
    said = sentence.replace("EXPERIMENT", str(experiment))
    assert only_line(capsys).startswith(f"natxy: {said}")
