"""Input that people got wrong: each is one sentence that names the option or key, and no traceback.

What it costs to be wrong is nothing: no lab is made, and no engine is started.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from natxy import runtime_folder
from natxy.api import timing
from natxy.campaign.journal import Journal
from natxy.cli import run_command
from natxy.cli.series import naming
from natxy.dut import ledger
from natxy.errors import ConfigurationError, DutError, MeasurementError, unknown_value
from natxy.model.source import Source
from natxy.model.testbed import Port, TesterSection, TrafficSection
from natxy.procedure.capacity import CapacityPlan
from natxy.procedure.degradation import Column, DegradationPlan
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.overload import OverloadPlan
from natxy.procedure.scale_up import ScaleUpPlan
from natxy.procedure.self_test import SelfTestPlan
from natxy.procedure.throughput import ThroughputPlan
from natxy.report.numbers import seconds_left
from natxy.tester.command import engine_command
from natxy.trial.timing import DURATION

Captured = pytest.CaptureFixture[str]
LOCAL = TesterSection(left=Port(device="ring"), right=Port(device="ring"))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("x", 'of: unknown value "x" (expected a, latency or pdv)'),
        (
            "Latncy",
            'of: unknown value "Latncy" (expected a, latency or pdv; did you mean latency?)',
        ),
    ],
)
def test_a_near_name_is_suggested(value: str, sentence: str) -> None:
    assert str(unknown_value("of", value, ("a", "latency", "pdv"))) == sentence


@pytest.mark.parametrize(
    ("verb", "options", "sentence"),
    [
        ("frame-loss", ("--step", "33"), "--step: 33 is out of range (expected 0.1 to 10)"),
        ("frame-loss", ("--step", "nan"), "--step: nan is not valid (expected a finite number)"),
        ("establishment", ("--alpha", "nan"), "--alpha: nan is not valid (expected a finite"),
        ("capacity", ("--alpha", "nan"), "--alpha: nan is not valid (expected a finite"),
        ("capacity", ("--c0", "0"), "--c0: 0 is out of range (expected 1 to 4294967296)"),
        ("capacity", ("--error", "0"), "--error: 0 is out of range (expected 1 to 4294967296)"),
        (
            "latency",
            ("--frame-size", "64"),
            "--frame-size: 64 is out of range (expected 84 to 9216, the size of the IPv6 frame: 84 "
            "is 64 as IPv4)",
        ),
        *(
            (
                "throughput",
                ("--loss", f"{others}100%", "--search", search),
                '--loss: "100%" is not a percentage between 0% and 100% (expected for example',
            )
            for search, others in (("bisection", ""), ("mlr", ""), ("mlr", "0.5%,"))
        ),
        ("latency", ("--networks", "0"), "--networks: 0 is out of range (expected 1"),
        ("latency", ("--direction", "up"), '--direction: unknown value "up"'),
        ("tear-down", ("--establishment-rate", "5"), "--establishment-rate: the testbed has no"),
    ],
)
def test_the_option_is_named(
    testbed_file: Path,
    capsys: Captured,
    verb: str,
    options: tuple[str, ...],
    sentence: str,
) -> None:
    assert run_command([verb, str(testbed_file), *options]) == 2
    assert capsys.readouterr().err.startswith(f"natxy: {sentence}")


def test_a_program_reads_the_names_of_arguments() -> None:
    with pytest.raises(ConfigurationError) as caught:
        timing(duration=float("nan"))
    assert str(caught.value) == "duration_s: nan is not valid (expected a finite number)"
    assert caught.value.in_options.startswith("--duration: nan")
    with pytest.raises(ConfigurationError, match=r"^frame_timeout_s: -1 is out of range"):
        timing(duration=1, frame_timeout=-1)
    failed = DutError("The trial ended before the reset; use a longer ", DURATION, ".")
    assert str(failed) == "The trial ended before the reset; use a longer duration_s."
    assert failed.in_options.endswith("use a longer --duration.")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--frame-size", "1519"), "--frame-size: 1519 does not fit the MTU of 1500 octets"),
        (("--connections", "4294967296"), "--connections: 4294967296 "),
    ],
)
@pytest.mark.parametrize("verb", [("trial", "--rate", "1"), ("latency", "--rate", "1")])
def test_a_rule_over_several_keys_names_the_option(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    verb: tuple[str, ...],
    options: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command([verb[0], str(testbed_file), *verb[1:], *options]) == 2
    assert f"natxy: {sentence}" in capsys.readouterr().err


def test_an_output_that_cannot_be_is_refused_before_the_testbed_is_read(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "passwd"
    file.write_text("root")
    missing = str(tmp_path / "missing.toml")
    assert run_command(["latency", missing, "--rate", "1", "--output", str(file)]) == 2
    assert "passwd: is not a folder (expected a folder" in capsys.readouterr().err


def test_a_testbed_says_that_sizes_are_those_of_ipv6(testbed_file: Path) -> None:
    given = {"frame_size_bytes": 64}
    with pytest.raises(ConfigurationError, match=r"9216, the size of .*: 84 is 64 as IPv4\)"):
        Source(name="lab.toml").validated(TrafficSection, given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"seed": "a"}, r"^seed: 'a' \(expected an integer\)"),
        ({"seed": 1, "timing": 0.2}, r"^timing: 0.2 \(expected a Timing\)"),
        ({"seed": -1}, r"^seed: -1 is out of range"),
    ],
)
def test_a_self_test_is_checked_when_it_is_planned(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        SelfTestPlan(**given)


OF_A_PLAN: dict[str, Any] = {"timing": timing(1), "seed": 1, "repetitions": 1}


@pytest.mark.parametrize(
    ("plan", "given", "sentence"),
    [
        (
            ThroughputPlan,
            OF_A_PLAN | {"error": 0.01},
            "error: 0.01 is not valid (expected",
        ),
        (
            EstablishmentPlan,
            OF_A_PLAN | {"error": 0.01},
            "error: 0.01 is not valid (expected",
        ),
        (CapacityPlan, OF_A_PLAN | {"goal": 9}, "goal: 9 (expected a CapacityGoal)"),
        (OverloadPlan, {"test": "pdv", "flows": (9,)}, "test: 'pdv' (expected a ThroughputPlan or"),
        (ScaleUpPlan, {"search": 1, "cores": (1,)}, "search: 1 (expected an EstablishmentPlan or"),
        (
            DegradationPlan,
            {"search": 1, "columns": (Column(connections=9),)},
            "search: 1 (expected",
        ),
    ],
)
def test_a_member_of_a_plan_has_its_kind(plan: Any, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        plan(**given)
    assert str(caught.value).startswith(sentence)


def test_a_file_is_no_folder_for_a_journal(tmp_path: Path) -> None:
    file = tmp_path / "passwd"
    file.write_text("root")
    with pytest.raises(ConfigurationError, match=r"passwd: is not a folder \(expected a folder"):
        Journal(file / "journal.jsonl.gz", {})
    with pytest.raises(ConfigurationError, match=r"passwd/deep: is not a folder"):
        Journal(file / "deep" / "journal.jsonl.gz", {})


def test_a_journal_is_not_overwritten(tmp_path: Path) -> None:
    Journal(tmp_path / "journal.jsonl.gz", {}).close()
    with pytest.raises(ConfigurationError, match=r"journal.jsonl.gz: already exists"):
        Journal(tmp_path / "journal.jsonl.gz", {})


@pytest.mark.parametrize("error", [KeyboardInterrupt, ConfigurationError])
def test_who_is_interrupted_learns_where_the_journal_is(
    tmp_path: Path, capsys: Captured, error: type[BaseException]
) -> None:
    path = tmp_path / "journal.jsonl.gz"
    with pytest.raises(error), Journal(path, {}), naming(path):
        raise error
    assert f"The journal of the trials so far: {path}" in capsys.readouterr().err.replace("\n", "")


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (MeasurementError, 1)])
def test_a_measurement_that_is_cut_off_names_its_journal(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    status: int,
) -> None:
    def cut_off(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr("natxy.cli.series_options.Work.results", cut_off)
    folder = tmp_path / "out"
    options = ["--profile", "quick", "--output", str(folder)]
    assert run_command(["pdv", str(testbed_file), *options]) == status
    said = capsys.readouterr().err.replace("\n", "")
    assert f"The journal of the trials so far: {folder / 'journal.jsonl.gz'}" in said


@pytest.mark.parametrize(
    ("file", "occupy", "options"),
    [("results.json", Path.mkdir, []), ("report", Path.touch, ["--report"])],
)
def test_the_journal_is_named_where_the_results_of_a_measurement_cannot_be_written(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    file: str,
    occupy: Callable[[Path], None],
    options: list[str],
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    occupy(folder / file)
    asked = ["latency", str(testbed_file), "--profile", "quick", "--rate", "1000"]
    assert run_command([*asked, "--repetitions", "1", "--output", str(folder), *options]) == 1
    said = capsys.readouterr().err.replace("\n", "")
    assert f"{folder / file}" in said
    assert f"The journal of the trials so far: {folder / 'journal.jsonl.gz'}" in said


def test_memory_that_the_machine_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATXY_ENGINE", sys.executable)
    huge = LOCAL.model_copy(update={"memory_mb": 2**40})
    with pytest.raises(ConfigurationError, match=r"tester.memory_mb: .* \(expected at most \d+\)"):
        engine_command(huge)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = " + "[" * 20_000, "lab.toml: .* nested too deeply"),
        ("a = " + "1" * 5_000, "lab.toml: is not TOML: "),
        ("a = 0x" + "f" * 5_000, "lab.toml: is not TOML: "),
    ],
)
def test_toml_that_python_cannot_hold_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        Source(name="lab.toml", text=text).toml()


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"spec.json: .* nested too deeply"):
        Source(name="spec.json", text="[" * 100_000).json()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1" * 5_000, "is not JSON: "),
        ('{"version": ' + "1" * 5_000 + "}", "is not JSON: "),
        ("[" * 100_000, "lists or tables are nested too deeply"),
    ],
    ids=["digits", "digits-in-a-table", "nested"],
)
def test_a_spec_that_python_cannot_hold_is_refused(
    testbed_file: Path, tmp_path: Path, capsys: Captured, text: str, sentence: str
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(text)
    assert run_command(["trial", str(testbed_file), "--spec", str(spec)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"natxy: {spec}: {sentence}")
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [["--version"], ["doctor"], ["doctor", "--json"]])
def test_output_that_cannot_be_written_is_one_sentence(words: list[str]) -> None:
    code = f"""
import sys
from natxy.cli import doctor, run_command
from natxy.doctor.finding import impossible
# As root, it would make a veth. Few findings are in the buffer until the command ends.
doctor.examine_tools = lambda: [impossible("x", "y", cost="z", remedy="w")]
for name in ("processor", "kernel", "ports", "nodes"):
    setattr(doctor, f"examine_{{name}}", lambda *_: [])
sys.exit(run_command({words!r}))
"""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": ""},  # the failure is that of the last flush
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "natxy: standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(50, "50 s"), (650, "10 min 50 s"), (7500, "2 h 5 min")]
)
def test_the_time_that_is_left_has_its_units(seconds: float, text: str) -> None:
    assert seconds_left(seconds) == text


def test_who_may_not_make_a_lab_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run"
    file.touch()
    monkeypatch.setattr(runtime_folder, "SYSTEM", file / "natxy")
    monkeypatch.setattr(runtime_folder, "_own_folder", lambda: file / "natxy")
    with pytest.raises(DutError, match=r"run/natxy and the temporary .*: cannot be .* \(expected"):
        ledger.Ledger()


@pytest.mark.parametrize(("verb", "expected"), [("thruput", "throughput"), ("x", "one of those")])
def test_a_wrong_command_is_answered_with_a_near_one(
    capsys: Captured, verb: str, expected: str
) -> None:
    assert run_command([verb]) == 2
    assert f'unknown command "{verb}" (expected {expected}' in capsys.readouterr().err


def test_a_wrong_option_is_answered_with_a_near_one(testbed_file: Path, capsys: Captured) -> None:
    assert run_command(["trial", str(testbed_file), "--ratee", "1"]) == 2
    assert re.search(r"No such option '--ratee'.*--rate\b", capsys.readouterr().err)


def test_an_empty_testbed_is_named_as_such(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty.toml").write_text("\n")
    assert run_command(["throughput", str(tmp_path / "empty.toml")]) == 2
    assert "empty.toml: is empty (expected a testbed" in capsys.readouterr().err
