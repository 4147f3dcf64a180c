"""The plugin of pytest: what tests measure is kept, shown, and compared with an earlier run."""

from pathlib import Path

import pytest

import natxy
from natxy.cli import run_command
from tests.unit.conftest import NAT64

pytest_plugins = ["pytester"]
TEST = """
import pytest

QUICK = dict(profile="quick", seed=1, repetitions=3, duration_s=0.02)

@pytest.mark.parametrize("size", [84, 512])
def test_rate(natxy_testbed, size):
    testbed = natxy_testbed("lab.toml")
    (rate,) = testbed.throughput(**QUICK, frame_size_bytes=size, error="1%", max_rate_fps=100_000)
    assert rate.figure("throughput").benchmark > 10_000

def test_loss(natxy_testbed):
    testbed = natxy_testbed("lab.toml")
    testbed.frame_loss(**QUICK, rates_fps=[1000])
    testbed.frame_loss(**QUICK, rates_fps=[2000])

def test_that_measures_nothing(natxy_testbed):
    natxy_testbed("lab.toml")
"""
RATE = "suite-test_gateway.py-test_rate[84]/throughput"
SAVED = [
    "suite-test_gateway.py-test_loss/frame_loss",
    "suite-test_gateway.py-test_loss/frame_loss-2",
    "suite-test_gateway.py-test_rate[512]/throughput",
    RATE,
]
LIMIT = ("--natxy-compare", "before", "--natxy-fail-if", "worse-by=5%")


@pytest.fixture
def suite(
    pytester: pytest.Pytester, engine: list[str], monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A gateway's tests with their testbed, which is in their folder, not in pytest's. Others with
    a conftest.py of their own are beside them."""
    folder = pytester.mkdir("suite")
    (folder / "lab.toml").write_text(NAT64)
    (folder / "test_gateway.py").write_text(TEST)
    other = pytester.mkdir("other")
    (other / "conftest.py").touch()
    (other / "test_other.py").write_text("def test_other():\n    pass\n")
    monkeypatch.setenv("COLUMNS", "120")
    return pytester


def run(suite: pytest.Pytester, *options: str) -> pytest.RunResult:
    return suite.runpytest_inprocess("-p", "no:xdist", "-p", "no:randomly", *options)


@pytest.fixture
def saved(suite: pytest.Pytester) -> Path:
    run(suite, "--natxy-save", "before").assert_outcomes(passed=5)
    return suite.path / "before"


def test_each_measurement_is_kept_where_the_commands_read_it(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(str(each.relative_to(saved)) for each in saved.glob("*/*")) == SAVED
    (rate,) = natxy.load(saved / RATE)
    assert rate.conditions.frame_size_bytes == 84
    for command in (["compare", *(str(saved / RATE),) * 2], ["report", str(saved / RATE)]):
        assert run_command(command) == 0, capsys.readouterr().err


def test_a_run_that_saves_nothing_shows_what_each_test_found(suite: pytest.Pytester) -> None:
    done = run(suite)
    assert done.ret == 0
    for size in (84, 512):
        done.stdout.fnmatch_lines([f"suite/test_gateway.py::test_rate?{size}?: throughput *fps*"])
    assert not [*suite.path.glob("natxy-results")]


@pytest.mark.parametrize(("capacity_fps", "status"), [(50_000, 0), (45_000, 1)])
def test_a_slower_gateway_fails_the_run_and_an_equal_one_does_not(
    suite: pytest.Pytester,
    saved: Path,
    capacity_fps: int,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", str(capacity_fps))
    done = run(suite, *LIMIT)
    done.assert_outcomes(passed=5)
    assert done.ret == status
    ends = [line.split()[-1] for line in done.outlines if line.strip()]
    assert (ends.count("worse"), ends.count("shown")) == ((2, 4) if status else (0, 6))


def test_a_slower_gateway_is_only_shown_without_a_limit(
    suite: pytest.Pytester, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "45000")
    done = run(suite, *LIMIT[:2], "--natxy-save", "after")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*worse*"])
    assert sorted(str(each.relative_to("after")) for each in Path("after").glob("*/*")) == SAVED


def test_a_part_of_the_tests_is_compared_alone(suite: pytest.Pytester, saved: Path) -> None:
    assert run(suite, "-k", "84", *LIMIT).ret == 0
    assert run(suite, "-k", "nothing", *LIMIT).ret == 1, "no figure could be judged"


def test_a_measurement_that_is_gone_fails_the_run(suite: pytest.Pytester, saved: Path) -> None:
    """A test that no longer measures what it did cannot be said to be no worse."""
    path = suite.path / "suite/test_gateway.py"
    path.write_text("".join(line for line in TEST.splitlines(True) if "[2000]" not in line))
    assert run(suite, "-k", "loss", *LIMIT).ret == 1
    assert run(suite, "-k", "loss", *LIMIT[:2]).ret == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--natxy-save", "suite"),
        ("--natxy-compare", "nowhere"),
        ("--natxy-fail-if", "worse-by=5%"),
        ("--natxy-compare", "suite", "--natxy-fail-if", "5"),
    ],
)
def test_wrong_options_are_refused_before_a_test_runs(
    suite: pytest.Pytester, options: tuple[str, ...]
) -> None:
    done = run(suite, *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --natxy-*: *(expected *"])


def test_a_folder_that_cannot_be_read_fails_a_run_with_a_limit(
    suite: pytest.Pytester, saved: Path
) -> None:
    for journal in saved.glob("*/*/journal.jsonl.gz"):
        journal.write_text("not a journal")
    assert run(suite, "-k", "84", *LIMIT).ret == 1
