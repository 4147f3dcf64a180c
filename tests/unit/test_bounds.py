"""Input of any size or kind: refused in one sentence and in little time, before it is expanded."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.errors import ConfigurationError
from natxy.model.experiment import Experiment
from natxy.model.source import Source
from natxy.siitperf.configuration import read_entries
from tests.unit.conftest import NAT64

Captured = pytest.CaptureFixture[str]
AT_MOST_S = 5.0  # of CPU; what is refused before it is expanded takes milliseconds
EXPERIMENT = """\
title = "t"
testbed = "testbed.toml"
options = {profile = "quick"}
[[measure]]
command = "pdv"
"""
SIZES = ",".join(map(str, range(84, 984)))  # 900 of them
SHARES = ",".join(f"{tenths / 10}" for tenths in range(900))


@pytest.fixture(autouse=True)
def _takes_little_time() -> Iterator[None]:
    begin_s = time.process_time()
    yield
    assert time.process_time() - begin_s < AT_MOST_S


def refused(capsys: Captured, *words: str) -> str:
    """Runs a command and returns its one sentence."""
    assert run_command(list(words)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1000
    return said.removeprefix("natxy: ").rstrip("\n")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("doctor", "--cores", "0-99999999"), "--cores: 99999999 is out of range (expected 0 to"),
        (("doctor", "--cores", "0-" + "9" * 5000), '--cores: "0-999'),
        (("doctor", "--cores", "3-1"), '--cores: "3-1" is not a list of CPUs'),
        (("doctor", "--cores", "0,x"), '--cores: "0,x" is not a list of CPUs'),
        (("doctor", "--cores", "\u0663"), "--cores: "),
        (("self-test", "--cores", "0-99999999"), "--cores: 99999999 is out of range"),
        (("doctor", "--cores", ",".join(["1"] * 30_000)), "--cores: has 30,000 values (expected"),
    ],
)
def test_lists_of_cpus(capsys: Captured, options: tuple[str, ...], sentence: str) -> None:
    assert refused(capsys, *options).startswith(sentence)


MANY = ",".join(["100"] * 5000)


@pytest.mark.parametrize(
    ("verb", "options", "sentence"),
    [
        *(
            (verb, (option, MANY), f"{option}: has 5,000 values (expected at most 1,000)")
            for verb, option in (
                ("pdv", "--frame-size"),
                ("pdv", "--foreground"),
                ("pdv", "--networks"),
                ("frame-loss", "--rates"),
                ("tear-down", "--counts"),
                ("tear-down", "--source-ports"),
                ("degradation", "--destination-ports"),
                ("scale-up", "--cores"),
            )
        ),
        (
            "pdv",
            ("--frame-size", SIZES, "--foreground", SHARES),
            "--frame-size, --foreground and --networks: make 810,000 measurements",
        ),
        ("pdv", ("--networks", "0"), "--networks: 0 is out of range (expected 1 or more)"),
        ("tear-down", ("--counts", "5,0"), "--counts: 0 is out of range (expected 1 or more)"),
        ("pdv", ("--foreground", "33.333"), "--foreground: 33.333 repeats only after 100,000"),
        ("pdv", ("--foreground", "1" * 4000), '--foreground: "111'),
        ("pdv", ("--foreground", "101"), "--foreground: 101 is out of range (expected 0 to 100)"),
        ("throughput", ("--loss", "0." + "1" * 5000 + "%"), '--loss: "0.111'),
        ("throughput", ("--error", "1" * 5000 + "%"), '--error: "111'),
        ("throughput", ("--max-rate", "1" * 4000), "--max-rate: 111"),
        ("throughput", ("--seed", "1" * 4000), "--seed: 111"),
        ("throughput", ("--seed", "1" * 5000), '--seed: "111'),
        ("throughput", ("--profile", "x" * 4000), '--profile: unknown value "xxx'),
        ("throughput", ("--" + "x" * 4000,), "No such option '--xxx"),
    ],
)
def test_options(
    engine: list[str],
    testbed_file: Path,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    options: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, verb, str(testbed_file), *options).startswith(sentence)


def test_a_digit_of_a_foreign_script_is_no_traceback(
    engine: list[str], testbed_file: Path, capsys: Captured
) -> None:
    for option in ("--loss", "--error", "--networks", "--foreground", "--frame-size"):
        assert option in refused(capsys, "throughput", str(testbed_file), option, "\u00b2%")


VARY = """
[[vary]]
key = "traffic.{key}"
values = [{values}]
"""


def test_series_are_counted_before_they_are_combined(
    tmp_path: Path, testbed_file: Path, capsys: Captured
) -> None:
    del testbed_file
    file = tmp_path / "experiment.toml"
    values = ", ".join(map(str, range(84, 284)))
    series = (VARY.format(key=key, values=values) for key in ("frame_size_bytes", "n", "m"))
    file.write_text(EXPERIMENT + "".join(series))
    said = refused(capsys, "plan", str(file))
    assert said.endswith("vary: makes 8,000,000 columns (expected at most 1,000)")
    file.write_text(f"rounds = 10_000\n{EXPERIMENT}{VARY.format(key='n', values=values)}")
    assert "200 columns with 1 measurements make 2,000,000 cells" in refused(
        capsys, "plan", str(file)
    )
    file.write_text(EXPERIMENT + "".join(f'[[column]]\nlabel = "{n}"\n' for n in range(5000)))
    assert "column: makes 5,000 columns" in refused(capsys, "plan", str(file))
    file.write_text(EXPERIMENT + VARY.format(key=".".join("a" * 50_000), values=1))
    assert "dots" in refused(capsys, "plan", str(file))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (".".join(["a"] * 50_000) + " = 1\n", "line 1: has 49,999 dots"),
        ("\n[" + ".".join(["a"] * 50_000) + "]\n", "line 2: has 49,999 dots"),
        ("a = {" + ".".join(['"a"'] * 2_000) + " = 1}\n", "line 1: has 1,999 dots"),
        ("".join(f"a.b.c{n} = 1\n" for n in range(50_000)), "characters (expected at most"),
        (".".join(["a"] * 900) + " = 1\n", "nested too deeply"),
        ("a = " + "[" * 200 + "]" * 200, "nested too deeply"),
        ('"a\\u0000b" = 1\n', "holds a NUL character"),
    ],
    ids=["key", "table", "inline", "lines", "deep", "lists", "nul"],
)
def test_toml(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence.replace("(", r"\(")):
        Source(name="lab.toml", text=text).toml()


NUL = "a\\u0000b"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("testbed", EXPERIMENT.replace("testbed.toml", NUL)),
        ("title", EXPERIMENT.replace('"t"', f'"{NUL}"')),
        ("options.profile", EXPERIMENT.replace("quick", NUL)),
        ("hooks.before", f'hooks = {{before = [["{NUL}"]]}}\n{EXPERIMENT}'),
        ("published.file", f'{EXPERIMENT}[published]\nfile = "{NUL}"\n'),
        ("column", f'{EXPERIMENT}[[column]]\nlabel = "{NUL}"\n'),
        ("vary", f'{EXPERIMENT}[[vary]]\nkey = "{NUL}"\nvalues = [1]\n'),
    ],
)
def test_nul_in_an_experiment(
    tmp_path: Path, testbed_file: Path, capsys: Captured, where: str, text: str
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(text)
    for verb in ("plan", "run"):
        said = refused(capsys, verb, str(file))
        assert where in said
        assert "holds a NUL character" in said


@pytest.mark.parametrize(
    "text",
    [
        NAT64.replace("fake0", NUL),
        f'{NAT64}[dut]\nkind = "command"\nstart = "{NUL}"\n',
        f'{NAT64}[dut]\nkind = "ssh"\nhost = "{NUL}"\nrecipe = "vyos"\n',
        f'{NAT64}[dut]\nkind = "{NUL}"\n',
        f'{NAT64}[dut]\nkind = "ssh"\nhost = "h"\nrecipe = "x"\nvariables = {{a = "{NUL}"}}\n',
    ],
)
@pytest.mark.parametrize("verb", ["throughput", "plan"])
def test_nul_in_a_testbed(tmp_path: Path, capsys: Captured, text: str, verb: str) -> None:
    (tmp_path / "testbed.toml").write_text(text)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    name = "testbed.toml" if verb == "throughput" else "experiment.toml"
    assert "holds a NUL character" in refused(capsys, verb, str(tmp_path / name))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**34)


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 100)


def _utf_16(path: Path) -> None:
    path.write_bytes(NAT64.encode("utf-16"))


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _json(path: Path) -> None:
    path.write_text("[1, 2]")


KINDS = [_device, _pipe, _folder, _huge, _binary, _utf_16, _loop, _json]
PLACES = {
    "testbed": ("throughput", "{}"),
    "recipe": ("dut", "show", "{}.toml"),
    "check": ("dut", "check", "{}.toml"),
    "bindings": ("bindings", "{}"),
    "spec": ("trial", "testbed.toml", "--spec", "{}"),
    "siitperf": ("init", "new.toml", "--from", "{}"),
    "experiment": ("plan", "{}"),
    "gateway": ("plan", "experiment.toml", "--dut", "{}"),
    "testbeds": ("plan", "experiment.toml", "--testbeds", "testbed.toml,{}"),
    "run": ("run", "{}"),
    "resume": ("resume", "{}"),
    "status": ("status", "{}"),
    "report": ("report", "{}"),
    "compare": ("compare", "{}", "{}"),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_a_file_of_another_kind(
    tmp_path: Path,
    testbed_file: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    kind: Callable[[Path], None],
    place: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    words = PLACES[place]
    name = "odd.toml" if "{}.toml" in words else "odd"
    kind(tmp_path / name)
    assert run_command([word.replace("{}", "odd") for word in words]) in (1, 2)
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
    assert len(said) < 1000


@pytest.mark.parametrize("kind", KINDS[:-1], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("file", ["journal.jsonl.gz", "experiment.toml", "lock"])
@pytest.mark.parametrize("verb", ["status", "report", "resume", "compare"])
def test_a_file_of_another_kind_in_a_campaigns_folder(
    tmp_path: Path, capsys: Captured, kind: Callable[[Path], None], file: str, verb: str
) -> None:
    kind(tmp_path / file)
    words = [verb, str(tmp_path), str(tmp_path)] if verb == "compare" else [verb, str(tmp_path)]
    assert run_command(words) in (1, 2)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1000


@pytest.mark.parametrize("encoding", ["latin-1", "iso-8859-2", "utf-8", "utf-8-sig", "cp1250"])
def test_a_comment_of_a_siitperf_conf_may_be_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "siitperf.conf"
    file.write_bytes("Promisc 0 # Lencse Gábor\r\nForward 1\n".encode(encoding))
    entries = read_entries(file, lambda _: None)
    assert entries.value("Promisc") is False
    assert entries.lines["Forward"] == 2


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029", "\v", "\f", "\x1c", "\x1e", "\r"])
def test_only_a_line_feed_ends_a_line_of_a_siitperf_conf(tmp_path: Path, end: str) -> None:
    file = tmp_path / "siitperf.conf"
    file.write_bytes(f"Promisc 0 # a{end}Wrong 5\nForward 0\n".encode())
    entries = read_entries(file, lambda _: None)
    assert set(entries.written) == {"Promisc", "Forward"}
    assert entries.lines["Forward"] == 2


@pytest.mark.parametrize("value", ["9" * 5000, "0x" + "f" * 5000, "-1", "\u0663", "1e9", "é"])
@pytest.mark.parametrize("key", ["Num-L-Nets", "IP-L-min", "IP-L-Vers", "CPU-L-Send"])
def test_a_wrong_number_in_a_siitperf_conf(tmp_path: Path, key: str, value: str) -> None:
    file = tmp_path / "siitperf.conf"
    file.write_text(f"{key} {value}\n")
    with pytest.raises(ConfigurationError, match=f"line 1: {key}: "):
        read_entries(file, lambda _: None)


@pytest.mark.parametrize("end", ["\v", "\f", "\x85", "\u2028"])
def test_only_a_line_feed_ends_a_line_of_toml(end: str) -> None:
    """The line that an error names is the editor's."""
    source = Source(name="lab.toml", text=f"# a{end}b\n# c\nx = 1\n")
    with pytest.raises(ConfigurationError, match="line 3: x: wrong"):
        source.refuse(("x",), "wrong")


def test_an_experiment_has_a_bound_of_its_own_for_a_program() -> None:
    written = {
        "title": "t",
        "testbed": "x",
        "measure": [{"command": "pdv"}],
        "vary": [{"key": "traffic.n", "values": list(range(1001))}],
    }
    with pytest.raises(ConfigurationError, match="makes 1,001 columns"):
        Source(name="x").validated(Experiment, written)
