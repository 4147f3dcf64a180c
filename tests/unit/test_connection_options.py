"""--connections, --establishment-rate, --loss: what a command line says instead of the testbed."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.cli.series_options import SeriesOptions, Work
from natxy.cli.stateful import one_each, searching, sizes_of
from natxy.errors import ConfigurationError
from natxy.measure.table_size import COUNTS, PortRange, Size
from natxy.measure.traffic_settings import CONNECTIONS, ESTABLISHMENT_RATE, with_values
from natxy.model.source import Source
from natxy.model.testbed import ConnectionsSection, Testbed
from natxy.procedure.defaults import MEASURES
from natxy.search.settings import LOSS, loss_tolerance

STATELESS: Testbed = Source(name="test").validated(Testbed, {})
STATEFUL: Testbed = Source(name="test").validated(
    Testbed, {"connections": {"count": 10, "rate_fps": 5, "initiator": "right"}}
)


def asked(testbed: Testbed, count: int | None, rate: int | None) -> ConnectionsSection | None:
    changed = with_values(testbed, {CONNECTIONS: count, ESTABLISHMENT_RATE: rate})
    assert changed.traffic == testbed.traffic
    return changed.connections


def test_nothing_is_changed_where_nothing_is_given() -> None:
    assert asked(STATELESS, None, None) is None
    assert asked(STATEFUL, None, None) == STATEFUL.connections


def test_connections_alone_make_a_stateful_measurement() -> None:
    made = asked(STATELESS, 4000, 20_000)
    assert made
    assert (made.count, made.rate_fps, made.initiator) == (4000, 20_000, "left")


def test_options_override_their_keys_alone() -> None:
    changed = asked(STATEFUL, 7, None)
    assert changed
    assert (changed.count, changed.rate_fps, changed.initiator) == (7, 5, "right")
    faster = asked(STATEFUL, None, 99)
    assert faster
    assert (faster.count, faster.rate_fps) == (10, 99)


@pytest.mark.parametrize(
    ("testbed", "count", "rate", "sentence"),
    [
        (STATEFUL, 0, None, "connections.*0 is out of range"),
        (STATEFUL, None, 0, "--establishment-rate.*0 is out of range"),
        (STATELESS, None, 5, r"--establishment-rate: the testbed has no \[connections\]"),
    ],
)
def test_what_is_wrong_names_the_option(
    testbed: Testbed, count: int | None, rate: int | None, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        asked(testbed, count, rate)
    assert re.search(sentence, refused.value.in_options)


def test_accepted_loss_is_a_share() -> None:
    accepted = loss_tolerance(LOSS, "0.01%")
    assert accepted
    assert accepted.fraction == Fraction(1, 10_000)
    for wrong in ("0%", "100%", "1", "-1%", "0.01%,1%"):
        with pytest.raises(ConfigurationError, match="loss: "):
            loss_tolerance(LOSS, wrong)


@pytest.mark.parametrize("verb", ["throughput", "establishment"])
def test_a_trial_that_ends_early_accepts_no_loss(
    verb: str, testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [verb, str(testbed_file), "--connections", "10", "--early-end", "--loss", "1%"]
    assert run_command(arguments) == 2
    assert "natxy: --early-end: " in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("command", "section", "sentence"),
    [
        *(
            (command, "", "connections: is missing: a stateful gateway")
            for command in ("establishment", "capacity", "tear-down", "churn --load 1000")
        ),
        ("tear-down --by fin", "[connections]\ncount = 9\n", '--by: "fin" ends connections of TCP'),
    ],
)
def test_traffic_that_cannot_be_measured_is_refused_before_a_lab_is_made(
    command: str,
    section: str,
    sentence: str,
    testbed_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    verb, *options = command.split()
    folder = tmp_path / "results"
    testbed_file.write_text(testbed_file.read_text() + section)
    assert run_command([verb, str(testbed_file), *options, "--output", str(folder)]) == 2
    assert sentence in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("establishment", ("--duration", "--direction", "--establishment-rate", "--networks")),
        ("capacity", ("--duration", "--direction", "--establishment-rate", "--networks")),
        ("tear-down", ("--duration", "--direction", "--connections", "--networks")),
        ("degradation", ("--connections", "--networks")),
        ("overload", ("--connections", "--networks")),
    ],
)
def test_an_option_that_would_change_nothing_is_absent(
    verb: str, options: tuple[str, ...], testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in options:
        assert run_command([verb, str(testbed_file), option, "1"]) == 2
        assert f"natxy: No such option '{option}'" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["scale-up", "degradation"])
@pytest.mark.parametrize("figure", ["establishment", "validated"])
@pytest.mark.parametrize(
    "given", [("--duration", "1"), ("--direction", "reverse"), ("--establishment-rate", "1000")]
)
def test_a_figure_of_phase_1_takes_no_option_of_phase_2(
    verb: str,
    figure: str,
    given: tuple[str, str],
    testbed_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = ("--counts", "1000,2000") if verb == "degradation" else ()
    assert run_command([verb, str(testbed_file), *counts, "--of", figure, *given]) == 2
    said = f"{given[0]}: is not possible with --of {figure}, which measures the rate of phase 1"
    assert said in capsys.readouterr().err


def test_columns_are_lists_of_numbers_and_of_ranges() -> None:
    """The methodology paper's Table 12 in one command."""
    assert sizes_of(None, "40000", "10,100,1000,10000") == tuple(
        Size(source_ports=PortRange(count=40_000), destination_ports=PortRange(count=each))
        for each in (10, 100, 1000, 10_000)
    )
    ranges = (PortRange(count=40_000, first=10_000), PortRange(count=2))
    assert sizes_of("7,8", "10000-49999,2", None) == (
        Size(connections=7, source_ports=ranges[0]),
        Size(connections=8, source_ports=ranges[1]),
    )
    assert sizes_of(None, None, None) == ()


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((None, "x", "1"), 'source_ports: "x" is neither a number nor a range of ports'),
        ((None, "2-1", "1"), 'source_ports: "2-1" is neither a number'),
        ((None, None, "0"), 'destination_ports: "0" is neither a number'),
        (("1,2,3", "1,2", None), "source_ports: 2 values do not fit 3 columns"),
        ((None, "40000", None), "connections, destination_ports: neither is given"),
    ],
)
def test_columns_that_are_wrong_name_the_option(
    given: tuple[str | None, str | None, str | None], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        sizes_of(*given)


@pytest.mark.parametrize("figure", ["establishment", "validated", "throughput"])
def test_an_accepted_loss_is_the_searchs(figure: str) -> None:
    options = SeriesOptions(testbed=Path("testbed.toml"))
    loss = loss_tolerance(LOSS, "0.01%")
    measure = MEASURES["scale_up"]
    work = Work(options=options, name="scale-up", measure=measure, given={"loss": loss})
    search = searching(work, figure)
    assert search.loss == loss


@pytest.mark.parametrize("verb", ["scale-up", "degradation"])
def test_a_series_takes_a_loss(
    verb: str, testbed_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = ("--counts", "1000,2000") if verb == "degradation" else ()
    assert run_command([verb, str(testbed_file), *counts, "--loss", "1"]) == 2
    assert '--loss: "1" is not a percentage' in capsys.readouterr().err


def test_the_list_of_n_is_enough_for_connections(
    engine: list[str], testbed_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The testbed has none; its gateway has no table, which is what is said then."""
    common = [str(testbed_file), "--counts", "20,10", "--output", str(tmp_path / "o")]
    assert run_command(["tear-down", *common]) == 1
    assert "has no connection table" in capsys.readouterr().err
    assert run_command(["tear-down", str(testbed_file), "--output", str(tmp_path / "p")]) == 2
    assert "connections: is missing" in capsys.readouterr().err


def test_a_single_value_is_that_of_every_column() -> None:
    assert one_each(COUNTS, [5], 3) == [5, 5, 5]
    assert one_each(COUNTS, [5, 6, 7], 3) == [5, 6, 7]
    assert one_each(COUNTS, [], 3) == [None, None, None]
