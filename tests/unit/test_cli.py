"""Tests of commands as a person types them: bad input is one sentence and a non-zero status."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import natxy
from natxy.campaign.journal import read_journal
from natxy.cli import run_command
from natxy.cli.declared import all_declared
from natxy.cli.options import repeat_command
from natxy.cli.verbs import VERBS, command_of
from natxy.errors import ConfigurationError
from natxy.model.testbed import read_testbed
from natxy.search.bisection import RATE_FPS
from natxy.search.settings import search_error
from tests.programs import installed
from tests.unit.cli import Captured, complaint
from tests.unit.spec_examples import VALID, invalid, valid

ROOT = Path(__file__).parents[2]
START_S = 0.25  # of CPU, within which help is there


@pytest.mark.parametrize("kind", ["pci", "namespace"])
def test_init_writes_a_testbed_that_can_be_read(
    kind: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "testbed.toml"
    assert run_command(["init", "--kind", kind, str(path)]) == 0
    testbed, _ = read_testbed(path)
    assert testbed.dut["kind"] in ("none", "namespace")
    capsys.readouterr()
    assert "already" in complaint(capsys, "init", path)


@pytest.mark.parametrize("kind", ["pci", "namespace"])
def test_what_is_commented_out_in_a_testbed_can_be_read_too(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "testbed.toml"
    run_command(["init", "--kind", kind, str(path)])
    lines = path.read_text().split("[dut]")[0].splitlines()
    path.write_text("\n".join(line.removeprefix("# ") if "=" in line or line.startswith("# [")
                              else line for line in lines))  # fmt: skip
    testbed, _ = read_testbed(path)
    assert testbed.traffic.left_field.mode == "pseudorandom"
    assert testbed.tester.memory_mb == 512


def test_a_trial_as_text_and_as_json(
    engine: list[str], testbed_file: Path, capsys: Captured
) -> None:
    assert run_command(["trial", str(testbed_file), "--rate", "1000", "--seed", "5", "-v"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("PASS: all 2,000 frames")
    assert "delay" in text
    assert "█" in text
    assert run_command(["trial", str(testbed_file), "--rate", "100000", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["verdict"] == "FAIL"
    assert output["result"]["streams"][0]["kinds"]["foreground"]["lost"] == 1


def test_an_invalid_trial_has_a_status(
    engine: list[str], testbed_file: Path, capsys: Captured
) -> None:
    assert run_command(["trial", str(testbed_file), "--rate", "2000000", "--duration", "0.1"]) == 1
    assert "invalid: forward: a frame left 2 ms after it was due" in capsys.readouterr().out


def test_a_trial_from_a_spec(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    spec = VALID["stateless-nat64"]
    assert run_command(["trial", str(testbed_file), "--spec", str(spec), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["seed"] == 42
    bad = tmp_path / "frame-of-63.json"
    bad.write_text(json.dumps(invalid("frame-of-63")))
    sentence = complaint(capsys, "trial", testbed_file, "--spec", bad)
    assert "frame_size_bytes: 63 is out of range" in sentence


def test_a_spec_of_an_older_version_is_refused_for_it(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    """And not for a member that this version does not have."""
    old = valid("stateless-nat64") | {"version": 2}
    old["phases"][0]["streams"][0]["frame_size_bytes"] = 84
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old))
    sentence = complaint(capsys, "trial", testbed_file, "--spec", path)
    assert sentence.startswith(f"{path}: version: 2 is another version of the trial spec (expected")


def test_the_file_is_named_where_the_engine_refuses_its_spec(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The engine alone knows the rules that concern several members."""
    monkeypatch.setenv("FAKE_MODE", "refuses-the-spec")
    bad = tmp_path / "spec.json"
    bad.write_text(json.dumps(invalid("background-missing")))
    sentence = complaint(capsys, "trial", testbed_file, "--spec", bad)
    assert sentence == f"{bad}: phases[0].streams[0].background: is missing (expected an object)"


def test_throughput_end_to_end(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    folder = tmp_path / "out"
    options = ["--profile", "quick", "--error", "10", "--seed", "3", "--output", str(folder)]
    assert run_command(["throughput", str(testbed_file), *options]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Throughput  ")
    assert "Does not conform: " in captured.out
    assert "seed 3" in captured.err
    result = json.loads((folder / "results.json").read_text())[0]
    assert 49_990 < result["rate_fps_per_direction"] <= 50_000
    assert result["search"]["loss_verifications"] == 1
    header = next(read_journal(folder / "journal.jsonl.gz"))
    assert result["natxy_version"] == natxy.__version__ == header["natxy_version"]
    assert (result["started"], [result["command"]]) == (header["started"], header["command"])
    *_, last = read_journal(folder / "journal.jsonl.gz")
    assert (last["record"], last["procedure"]) == ("measurement", "throughput")
    again = complaint(capsys, "throughput", testbed_file, *options)
    assert "already" in again


def test_each_length_of_a_burst_is_measured_at_each_frame_size(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    places = ["--frame-size", "84,512", "--error", "10%", "--bursts", "1,16"]
    options = ["--profile", "quick", "--output", str(tmp_path / "out"), "-v", *places]
    assert run_command(["throughput", str(testbed_file), *options, "--burst-rate", "500000"]) == 0
    entries = json.loads((tmp_path / "out" / "results.json").read_text())
    found = [(each["frame_size_bytes"], each["burst_frames"]) for each in entries]
    assert found == [(84, 1), (84, 16), (512, 1), (512, 16)]
    assert [len(each["figures"]) for each in entries] == [1, 2, 1, 2]
    assert "least interval" in capsys.readouterr().out


def test_a_series_of_throughputs_is_a_row_each(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    places = ["--frame-size", "84,128,256,512,768,1024,1280,1518", "--error", "10%"]
    options = ["--profile", "quick", "--output", str(tmp_path / "out"), "-v", *places]
    assert run_command(["throughput", str(testbed_file), *options]) == 0
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if " B  " in line]
    sizes = [int(row[0].replace(",", "")) for row in rows]
    assert sizes == [84, 128, 256, 512, 768, 1024, 1280, 1518]
    rates = [int(row[2].replace(",", "")) for row in rows]
    assert all(40_000 < rate_fps <= 50_000 for rate_fps in rates)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--rate", "0"], "--rate: 0 is out of range (expected 1 to 8589934592)"),
        (["--rate", "-5"], "--rate: -5 is out of range"),
        (["--rate", "1", "--duration", "0"], "--duration: 0 is out of range"),
        (["--rate", "1", "--duration", "nan"], "--duration: nan is not valid"),
        (["--rate", "1", "--drain", "-1"], "--drain: -1 is out of range"),
        (["--rate", "1", "--frame-size", "83"], "--frame-size: 83 is out of"),
        (["--rate", "1", "--direction", "up"], '--direction: unknown value "up"'),
        (["--rate", "1", "--seed", "-1"], "--seed: -1 is out of range"),
        (["--rate", "many"], '--rate: "many" is not a whole number (expected '),
        (["--rate", "1", "--colour"], "No such option '--colour'."),
        ([], "--rate, --spec: neither is given (expected one of them"),
        (["--spec", "s.json", "--drain", "1"], "--drain: is not possible with --spec"),
        (["--spec", "s.json", "--seed", "1"], "--seed: is not possible with --spec"),
    ],
)
def test_bad_options_of_a_trial(
    engine: list[str], testbed_file: Path, capsys: Captured, arguments: list[str], sentence: str
) -> None:
    assert complaint(capsys, "trial", testbed_file, *arguments).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--max-rate", "0"], "--max-rate: 0 is out of range"),
        (["--repetitions", "0"], "--repetitions: 0 is out of range"),
        (["--error", "0"], '--error: "0" is neither a share'),
        (["--error", "0%"], '--error: "0%" is neither a share'),
        (["--profile", "slow"], '--profile: unknown value "slow" (expected rfc or quick)'),
        (["--verify-loss", "-1"], "--verify-loss: -1 is out of range"),
        (
            ["--search", "mlr", "--verify-loss", "1"],
            "--verify-loss: is not possible with --search mlr (expected --exceed-ratio and ",
        ),
        (["--search", "mlr", "--bursts", "16"], "--bursts: is not possible with --search mlr"),
        (["--bursts", "16,x"], '--bursts: "16,x" is not a list of numbers'),
        (["--bursts", "65537"], "--bursts: 65537 is out of range (expected 2 to 65536)"),
        (["--burst-rate", "9"], "--burst-rate: is used only with --bursts (expected both)"),
        (["--bursts", "16"], "--burst-rate: is missing: the ports' media have no rate"),
        (
            ["--exceed-ratio", "0.5"],
            "--exceed-ratio: is an option of MLRsearch (expected",
        ),
        (
            ["--duration-sum", "120"],
            "--duration-sum: is an option of MLRsearch (expected",
        ),
        (
            ["--initial-duration", "1"],
            "--initial-duration: is an option of MLRsearch (expected",
        ),
        (["--search", "mlr", "--exceed-ratio", "1"], "--exceed-ratio: 1 is out of range (expected"),
        (["--search", "mlr", "--exceed-ratio", "-0.1"], "--exceed-ratio: -0.1 is out of range"),
        (["--search", "mlr", "--exceed-ratio", "nan"], "--exceed-ratio: nan is not valid"),
        (["--search", "mlr", "--duration-sum", "59"], "--duration-sum: 59 s is out of range"),
        (["--search", "mlr", "--duration-sum", "inf"], "--duration-sum: inf is not valid"),
        (["--search", "mlr", "--initial-duration", "0"], "--initial-duration: 0 s is out of range"),
        (["--search", "mlr", "--initial-duration", "61"], "--initial-duration: 61 s is out of"),
    ],
)
def test_bad_options_of_throughput(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    arguments: list[str],
    sentence: str,
) -> None:
    """Some are wrong for these ports only, and are found when the journal is there."""
    command = ["throughput", testbed_file, "--output", tmp_path / "out", *arguments]
    assert complaint(capsys, *command).startswith(sentence)


@pytest.mark.parametrize("option", ["--step", "--max-rate"])
def test_rates_that_are_listed_are_no_series(
    testbed_file: Path, capsys: Captured, option: str
) -> None:
    sentence = complaint(capsys, "frame-loss", testbed_file, "--rates", "1000", option, "5")
    assert sentence.startswith("--rates: is not possible with")


def test_a_file_that_is_not_there(engine: list[str], tmp_path: Path, capsys: Captured) -> None:
    sentence = complaint(capsys, "trial", tmp_path / "no.toml", "--rate", "1")
    assert sentence.endswith("there is no such file")


@pytest.mark.parametrize(
    ("mode", "status", "sentence"),
    [
        ("no-device", 2, "fake0: there is no such device"),
        ("deaf", 1, "right: probes do not come through from left"),
        ("die", 1, "natxy-engine (process "),
    ],
)
def test_what_the_engine_cannot_do(
    engine: list[str],
    testbed_file: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    status: int,
    sentence: str,
) -> None:
    monkeypatch.setenv("FAKE_MODE", mode)
    said = complaint(capsys, "trial", testbed_file, "--rate", "1000", status=status)
    assert said.startswith(sentence)


def test_an_unknown_dut_is_refused(engine: list[str], testbed_file: Path, capsys: Captured) -> None:
    testbed_file.write_text(testbed_file.read_text() + '\n[dut]\nkind = "nonsense"\n')
    sentence = complaint(capsys, "trial", testbed_file, "--rate", "1000")
    assert "dut" in sentence
    assert "nonsense" in sentence


def test_the_error_of_a_search() -> None:
    assert str(search_error(RATE_FPS, "0.1%")) == "0.1 %"
    assert str(search_error(RATE_FPS, "100")) == "100 fps"
    assert search_error(RATE_FPS, "0.1%").at(1_000_000) == 1000
    with pytest.raises(ConfigurationError):
        search_error(RATE_FPS, "a bit")


def test_the_command_that_repeats_a_measurement() -> None:
    words = ["throughput", "my bed.toml", "--seed", "1", "--output=x", "--error", "0.5%"]
    assert repeat_command(9, words) == "natxy throughput 'my bed.toml' --error 0.5% --seed 9"
    for given, kept in {"-o x": "", "-ox": "", "-vo x": " -v", "-qox": " -q", "-v": " -v"}.items():
        repeated = repeat_command(9, ["pdv", *given.split(), "--error", "2"])
        assert repeated == f"natxy pdv{kept} --error 2 --seed 9"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        *((number, 128 + number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)),
        *((number, 128 + number) for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU)),
        (signal.SIGRTMIN, 128 + signal.SIGRTMIN),
    ],
)
def test_a_signal_ends_the_trial_and_the_engine(
    engine: list[str],
    testbed_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    status: int,
) -> None:
    monkeypatch.setenv("FAKE_MODE", "endless")
    code = "import natxy.cli; natxy.cli.main()"
    process = subprocess.Popen(
        # nohup, or a shell's background, may have the tests ignore some of these signals.
        [
            *("env", "--default-signal", sys.executable, "-c", code),
            *("trial", str(testbed_file), "--rate", "1000"),
        ],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    engines = wait_for(lambda: children.read_text().split())
    time.sleep(0.3)  # the engine has said hello
    process.send_signal(number)
    _, complaints = process.communicate(timeout=10)
    assert process.returncode == status
    assert "everything is cleaned up" in complaints
    assert not [pid for pid in engines if Path(f"/proc/{pid}").exists()]


def test_a_signal_that_is_ignored_from_the_start_stays_ignored() -> None:
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); import natxy.cli as c; "
        "c.run_command = lambda _: os.kill(os.getpid(), signal.SIGHUP) or 7; c.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 7


def wait_for(condition: Callable[[], list[str]]) -> list[str]:
    deadline = time.monotonic() + 10
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_without_a_verb_there_is_help(capsys: Captured) -> None:
    assert run_command([]) in (0, 2)
    captured = capsys.readouterr()
    assert "throughput" in captured.out + captured.err
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.startswith("natxy ")


def test_a_verb_imports_no_other_and_no_library_that_it_may_not_need() -> None:
    found = imported("throughput", "no.toml")
    assert not {"MLRsearch", "natxy.cli.measurements", "natxy.campaign.report"} & found
    assert {"natxy.cli.throughput", "natxy.procedure.throughput"} <= found
    drivers = {f"natxy.dut.{name}" for name in ("calibration", "guest", "namespace", "ssh")}
    assert not (drivers | {"natxy.guest.machine", "asyncio", "pyarrow"}) & found


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--help"], ["-h"], ["--version"], ["-V"], [], ["no-verb"], ["--no-option"]),
        *(["--help", "pdv"], ["help"], ["help", "throughput"], ["throughput", "--help"]),
        *(["throughput", "-h"], ["capacity", "nat.toml", "--most", "1M", "--help"]),
        ["completion", "--help"],
    ],
)
def test_what_runs_no_verb_imports_none(arguments: list[str]) -> None:
    found = imported(*arguments)
    assert {name for name in found if name.startswith("natxy.")} == {
        "natxy.cli",
        "natxy.cli.declared",
        "natxy.cli.help",
        "natxy.cli.limits",
        "natxy.cli.streams",
        "natxy.cli.verbs",
        "natxy.errors",
        "natxy.interrupts",
        "natxy.setting",
        "natxy.visible",
    }
    assert not {"pydantic", "yaml", "numpy", "pyarrow", "MLRsearch", "rich", "asyncio"} & found


@pytest.mark.parametrize("arguments", [["--help"], ["throughput", "--help"], ["pdv", "-h"]])
def test_help_is_there_at_once(arguments: list[str]) -> None:
    """By CPU time, since a program that waits for a core of a busy machine is not slow; by the
    least of several runs, since noise (caches that others use, modules that are compiled first)
    only ever adds to it. The first run that is fast enough is the last one."""
    runs_s = [cpu_s(*arguments)]
    while min(runs_s) >= START_S and len(runs_s) < 10:
        runs_s.append(cpu_s(*arguments))
    assert min(runs_s) < START_S


def cpu_s(*arguments: str) -> float:
    """Runs the program; returns the user and system time that the kernel has counted for it."""
    program = str(installed("natxy"))
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(program, [program, *arguments], os.environ, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    spent_s: float = used.ru_utime + used.ru_stime
    return spent_s


@pytest.mark.parametrize("arguments", [["no-verb"], ["trial", "--no-option"]])
def test_a_wrong_command_line_draws_nothing(arguments: list[str]) -> None:
    assert "rich.table" not in imported(*arguments)


def imported(*arguments: str) -> set[str]:
    """Names of the modules that are there when `natxy` has done what these arguments ask for."""
    code = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from natxy.cli import main
main()
"""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_says_what_each_says_itself(verb: str) -> None:
    first, *_ = (command_of(verb).help or "").split("\n\n")
    assert all_declared()[verb].summary == " ".join(first.split())


def test_every_verb_is_listed(capsys: Captured) -> None:
    assert run_command(["--help"]) == 0
    shown = capsys.readouterr().out
    rows = re.findall(r"^  ([a-z][a-z-]+) +[A-Z]", shown, re.MULTILINE)
    assert rows == list(VERBS)


@pytest.mark.parametrize(
    "module", ["click", "natxy.cli.verbs", "pydantic", "natxy.procedure.latency"]
)
def test_an_interrupt_of_the_start_is_no_traceback(module: str) -> None:
    """Ctrl-C comes while a module is imported."""
    code = f"""
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            print("now", flush=True)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from natxy.cli import main
main()
"""
    command = [sys.executable, "-c", code, "latency", "no.toml"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "now\n"
    assert done.stderr == ""
    assert done.returncode == -signal.SIGINT
