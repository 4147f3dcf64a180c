"""Tests of natxy.Testbed, whose measurements are methods, and of the results that they return."""

import inspect
import os
import signal
import sys
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import altair
import mypy.api
import pytest

import natxy
from natxy.campaign.data import read_data
from natxy.campaign.journal import read_journal
from natxy.cli.verbs import command_of
from natxy.errors import DutError
from natxy.procedure.defaults import MEASURES, PROFILE
from natxy.procedure.keywords import OUTPUT, keywords
from natxy.trial.profile import QUICK
from natxy.trial.setup import set_up
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64

QUICK_LOOK: dict[str, Any] = {"profile": "quick", "seed": 1, "repetitions": 1, "duration_s": 0.05}
# Options that a program gives in another form, by the command.
OTHERWISE = {
    "throughput": {
        *("search", "burst-rate"),  # mlr_throughput, Bursts
        *("exceed-ratio", "duration-sum", "initial-duration"),  # of a goal of mlr_throughput
    },
    "latency": {"records"},  # of natxy.connect
    "pdv": {"records"},
    "ipdv": {"records"},
    "overload": {"of"},  # test
    "scale_up": {"of"},  # search
    "establishment": {"validated"},  # alpha
    "tear_down": {"counts", "source-ports", "destination-ports", "by", "max-rate", "error"},
    "degradation": {
        *("of", "counts", "source-ports", "destination-ports"),
        *("entries", "hash-sizes", "timeouts"),  # of a column
    },
}
FOR_A_TERMINAL = {"json", "quiet", "verbose", "report", "help"}
ANY: Any = natxy  # natxy.Testbed has its methods from a stub; tests give them wrong values


@pytest.fixture
def bench(engine: list[str], testbed_file: Path) -> natxy.Testbed:
    return natxy.Testbed(testbed_file)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was started and stopped."""
    told: list[str] = []

    class Told:
        def __init__(self, *given: Any) -> None:
            self.real = set_up(*given)

        def __enter__(self) -> natxy.Session:
            told.append("start")
            return self.real.__enter__()

        def __exit__(self, *error: Any) -> bool | None:
            told.append("stop")
            return self.real.__exit__(*error)

    monkeypatch.setattr("natxy.api.set_up", Told)
    return told


@pytest.mark.parametrize("name", sorted({*MEASURES} - {"mlr_throughput", "closing"}))
def test_a_method_has_the_options_of_its_command(name: str) -> None:
    command = command_of(name.replace("_", "-"))
    options = {option[2:] for each in command.params for option in each.opts if option[:2] == "--"}
    known = {each.setting.flag[2:] for each in keywords(MEASURES[name]).values()}
    assert options - known - FOR_A_TERMINAL == OTHERWISE.get(name, set())


@pytest.mark.parametrize("name", MEASURES)
def test_signature_and_help_are_made_from_the_settings(name: str) -> None:
    method = getattr(natxy.Testbed, name)
    _, *parameters = inspect.signature(method).parameters.values()
    assert [each.name for each in parameters] == [*keywords(MEASURES[name])]
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters)
    for each in parameters:
        assert f"\n    {each.name}: " in method.__doc__


def test_a_type_checker_knows_the_keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        'import natxy\nbed = natxy.Testbed("lab.toml")\n'
        'reveal_type(bed.latency(profile="quick", tags=500, duration_s=0.2))\n'
        "bed.latency(rate=5)\n"
        'bed.throughput(profile="quickly")\n'
    )
    monkeypatch.chdir(Path(__file__).parents[2])
    said, *_ = mypy.api.run([str(program), "--no-error-summary"])
    revealed, unknown, *wrong = said.splitlines()
    assert "natxy.campaign.loaded.Results" in revealed
    assert 'Unexpected keyword argument "rate"' in unknown
    assert 'has incompatible type "Literal' in "".join(wrong)


def test_the_defaults_are_those_of_the_command(bench: natxy.Testbed) -> None:
    (result,) = bench.throughput(profile="quick", seed=3)
    assert result.conditions.seed == 3
    assert result.conditions.duration_s == float(QUICK.timing.duration_s)
    assert len(result.figure("throughput").values) == QUICK.repetitions
    search = result.conditions.search
    assert search is not None
    assert search.loss_verifications == QUICK.loss_verifications
    assert PROFILE.default == "rfc"


def test_a_rate_is_found_first(bench: natxy.Testbed) -> None:
    (found,) = bench.pdv(**QUICK_LOOK)
    (given,) = bench.pdv(**QUICK_LOOK, rate_fps=1000)
    assert given.conditions.rate_fps == 1000
    assert found.conditions.rate_fps is not None
    assert found.conditions.rate_fps > 1000
    assert found.conditions.seed != bench.pdv(profile="quick", rate_fps=1000)[0].conditions.seed


def test_texts_and_lists_are_read(bench: natxy.Testbed) -> None:
    rates = bench.frame_loss(**QUICK_LOOK, rates_fps=[1000, 2000], loss="0.5%")
    assert [figure.rate_fps for figure in rates[0].figures if figure.direction == "forward"] == [
        1000,
        2000,
    ]
    (result,) = bench.throughput(**QUICK_LOOK, error="5%", max_rate_fps=4000)
    assert result.conditions.search is not None
    assert result.conditions.search.error == "5 %"


def test_a_series_is_measured_as_by_the_command(bench: natxy.Testbed) -> None:
    right = 'ipv6_real = "2001:2:0:2::2"\nnext_hop_ipv6 = "2001:2:0:2::1"\n[traffic]'
    bench.path.write_text(NAT64.replace("[traffic]", right))
    bench = natxy.Testbed(bench.path)
    results = bench.frame_loss(
        **QUICK_LOOK, rates_fps=(1000,), frame_size_bytes=(84, 512), foreground_percent=(100, 50)
    )
    places = [(each.conditions.frame_size_bytes, each.conditions.m) for each in results]
    assert places == [(84, 1), (512, 1), (84, 1), (512, 1)]
    assert [each.conditions.n for each in results] == [1, 1, 2, 2]
    assert [*results.df["frame_size_bytes"].unique()] == [84, 512]


def test_networks_and_directions_are_the_testbeds_keys(bench: natxy.Testbed) -> None:
    results = bench.frame_loss(
        **QUICK_LOOK, rates_fps=(1000,), networks=(1, 4), direction="forward"
    )
    assert [each.conditions.networks for each in results] == ["1", "4"]
    assert {each.conditions.direction for each in results} == {"forward"}


def test_what_is_measured_in_an_overload_is_named(bench: natxy.Testbed) -> None:
    (result,) = bench.overload(**QUICK_LOOK, test="frame_loss", rates_fps=(1000,), flows=(2,))
    assert "frame loss rate" in result.title
    plan = natxy.FrameLossPlan(timing=natxy.timing(0.05, 0), seed=1, rates_fps=(1000,))
    (other,) = bench.overload(**QUICK_LOOK, test=plan, flows=(2,))
    assert other.title == result.title


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("throughput", {"profile": "fast"}, r'^profile: unknown value "fast" '),
        ("throughput", {"profile": 3}, r'^profile: unknown value "3" '),
        ("throughput", {"frame_size_bytes": 63}, r"^frame_size_bytes: 63 is out of range"),
        ("throughput", {"error": "much"}, r'^error: "much" is neither a share'),
        ("throughput", {"seed": -1}, r"^seed: -1 is out of range"),
        ("throughput", {"connections": 0}, r"^connections: 0 is out of range"),
        ("overload", {"test": "capacity"}, r'^test: unknown value "capacity" '),
        ("overload", {"test": "pdv", "tags": 5}, r'^tags: is not possible with test = "pdv"'),
        ("overload", {"test": None, "flows": ()}, "^flows: is empty"),
        (
            "frame_loss",
            {"rates_fps": (1.5,)},
            r"^rates_fps: 1\.5 is not valid",
        ),
        ("degradation", {}, "^columns: is empty"),
        ("throughput", {"max_rate_fps": "a"}, "^max_rate_fps: 'a' is not valid"),
        ("throughput", {"max_rate_fps": 1.5}, r"^max_rate_fps: 1\.5 is not valid"),
        ("frame_loss", {"rates_fps": "a"}, "^rates_fps: 'a' is not valid"),
        ("throughput", {"repetitions": True}, "^repetitions: True is not valid"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(
    name: str,
    given: dict[str, Any],
    sentence: str,
    bench: natxy.Testbed,
    starts: list[str],
) -> None:
    with pytest.raises(natxy.NatxyError, match=sentence):
        getattr(bench, name)(**{**QUICK_LOOK, **given})
    assert starts == []


def test_what_needs_connections_is_refused_without(bench: natxy.Testbed, starts: list[str]) -> None:
    with pytest.raises(natxy.NatxyError, match="connections"):
        bench.establishment(profile="quick")
    assert starts == []


def test_an_unknown_keyword_is_a_type_error(bench: natxy.Testbed) -> None:
    with pytest.raises(TypeError, match="rate"):
        ANY.Testbed(bench.path).throughput(rate=5)


def test_a_block_keeps_tester_and_gateway(bench: natxy.Testbed, starts: list[str]) -> None:
    with bench as ready:
        ready.frame_loss(**QUICK_LOOK, rates_fps=(1000,))
        ready.frame_loss(**QUICK_LOOK, rates_fps=(1000,), frame_size_bytes=128)
        with pytest.raises(natxy.NatxyError, match=r"^networks: 2 is more than the lab"):
            ready.frame_loss(**QUICK_LOOK, networks=2)
        with pytest.raises(natxy.NatxyError, match=r"^connections: is not possible in this block"):
            ready.frame_loss(**QUICK_LOOK, connections=2)
    assert starts == ["start", "stop"]
    bench.frame_loss(**QUICK_LOOK, rates_fps=(1000,))
    assert starts == ["start", "stop", "start", "stop"]


@pytest.mark.parametrize("in_block", [True, False])
def test_ctrl_c_stops_everything(
    in_block: bool, bench: natxy.Testbed, starts: list[str], tmp_path: Path
) -> None:
    class Interrupting(natxy.Observer):
        def trial_ended(self, trial: Any) -> None:
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()

    bench = natxy.Testbed(bench.path, observer=Interrupting())
    asked: dict[str, Any] = {"seed": 1, "rate_fps": 1000, "output": tmp_path / "out"}
    with pytest.raises(KeyboardInterrupt), bench if in_block else nullcontext():
        bench.pdv(**asked)
    assert starts == ["start", "stop"]
    kinds = [record["record"] for record in read_journal(tmp_path / "out" / "journal.jsonl.gz")]
    assert kinds[:2] == ["campaign", "trial"], "the folder keeps the trials before it"
    assert "it ended without a result" in repr(natxy.load(tmp_path / "out"))


def test_a_failure_stops_everything(
    bench: natxy.Testbed, starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "die")
    with pytest.raises(natxy.NatxyError):
        bench.throughput(**QUICK_LOOK)
    assert starts == ["start", "stop"]


@pytest.mark.parametrize("failure", [DutError("not stopped"), KeyboardInterrupt()])
def test_results_are_kept_after_an_error(
    failure: BaseException, bench: natxy.Testbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(natxy.Observer):
        def part_started(self, number: int, count: int) -> None:
            if number == 2:
                raise failure

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bench = natxy.Testbed(bench.path, observer=Failing())
    asked = {**QUICK_LOOK, "rates_fps": (1000,)}
    bench.frame_loss(**asked)
    assert [*tmp_path.glob("natxy-*")] == []
    with pytest.raises(type(failure)) as raised:
        bench.frame_loss(**asked, frame_size_bytes=[84, 128])
    (folder,) = tmp_path.glob("natxy-*")
    said = "".join(map(str, (raised.value, *getattr(raised.value, "__notes__", ()))))
    assert said.endswith(f"results until then are in {folder}")
    assert len(natxy.load(folder)) == 1


def test_a_folder_is_written_as_by_the_command(bench: natxy.Testbed, tmp_path: Path) -> None:
    results = bench.throughput(profile="quick", seed=5, error="1%", output=tmp_path / "out")
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"journal.jsonl.gz", "results.csv", "results.json"}
    again = natxy.load(tmp_path / "out")
    assert [*again] == [*results]
    header = next(iter(natxy.read_journal(tmp_path / "out" / "journal.jsonl.gz")))
    call = f"natxy.Testbed({str(bench.path)!r}).throughput("
    assert header["command"][0].startswith(call)
    assert "seed=5" in header["command"][0]
    with pytest.raises(natxy.NatxyError, match="already exists"):
        bench.throughput(profile="quick", output=tmp_path / "out")
    assert OUTPUT.name in keywords(MEASURES["throughput"])


def test_results_are_a_table_and_plots(bench: natxy.Testbed) -> None:
    results = bench.frame_loss(**QUICK_LOOK, rates_fps=(1000, 100_000))
    assert [*results.df["figure"]] == [figure.name for figure in results[0].figures]
    assert results.df["median"].dtype.kind == "f"
    assert isinstance(results.plot(), altair.TopLevelMixin)
    assert results.plots[-1] == "over-time"
    title = results.plot("over-time").to_dict()["title"]["text"]
    assert title != results.plot().to_dict()["title"]["text"]
    with pytest.raises(natxy.NatxyError, match=r"^plot: there is no heatmap \(expected "):
        results.plot("heatmap")


def test_a_campaign_is_loaded(engine: list[str], testbed_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    run(path, tmp_path / "campaign")
    results = natxy.load(tmp_path / "campaign")
    cells = read_data(tmp_path / "campaign").cells
    assert [*results] == [result for cell in cells for result in cell.results]
    assert {*results.df["column"]} == {cell.column for cell in cells}
    assert {*results.df["measure"]} == {cell.measure for cell in cells}
    assert "<table" in results._repr_html_()


def test_a_notebook_shows_table_and_plot(bench: natxy.Testbed) -> None:
    results = bench.throughput(profile="quick", seed=1)
    page = results._repr_html_()
    assert page.count("<table") == 1
    assert page.count("<svg") == 1
    assert "http" not in page.replace("http://www.w3.org/", ""), "it loads nothing"
    assert results[0].title in repr(results)
    assert "<" not in repr(results)
    assert "" not in repr(results).splitlines(), "no empty lines"


def test_without_the_extra_a_notebook_shows_the_text(
    bench: natxy.Testbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = bench.throughput(**QUICK_LOOK)
    for name in ("vl_convert", "pandas", "altair"):
        monkeypatch.setitem(sys.modules, name, None)
    assert results._repr_html_().startswith("<pre>")
    with pytest.raises(natxy.NatxyError, match=r"natxy\[notebook\]"):
        results.plot()
    with pytest.raises(natxy.NatxyError, match=r"natxy\[notebook\]"):
        _ = results.df
