"""The published tables and figures: whole, as printed, and right where they can be recomputed."""

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from natxy.cli.verbs import VERBS
from natxy.errors import ConfigurationError
from natxy.model.published import Published, read_published
from natxy.model.published_values import BY_COLUMN, Printed, Row
from natxy.procedure import (
    capacity,
    delay_variation,
    establishment,
    latency,
    scale_up,
    series,
    tear_down,
)
from tests.published_settings import Difference, differences

FOLDER = Path(__file__).parents[2] / "experiments" / "published"
NAMES = sorted(path.name for path in FOLDER.iterdir())
EXPECTED = {
    *(f"sd-figure-{number:02}.toml" for number in (2, 4, 5, 6, 8, 9, 10, 11)),
    *(f"mp-table-{number:02}.toml" for number in range(2, 24)),
    "mp-figure-02.toml",
    *(f"sp-table-{number:02}.toml" for number in range(2, 6)),
    "sp-figure-06.toml",
}
DRAWN = {"mp-figure-02.toml", "sp-figure-06.toml"}
# (file, row or variable of the columns, column)
MISPRINTS = {
    ("sd-figure-05.toml", "connections", 2),  # 6.35M
    ("sd-figure-09.toml", "connections", 2),
    ("sd-figure-10.toml", "connections", 2),
    ("mp-table-23.toml", "destination_ports", 3),  # 1,000
    ("mp-table-23.toml", "destination_ports", 4),
    ("mp-table-11.toml", "tear_down_rate", 1),  # 2,758,621: not from the times that are printed
}
FIGURES = {
    "throughput",
    establishment.RATE,
    establishment.VALIDATED,
    "connections",
    "ending new connection ratio",
    tear_down.RATE,
    "full table deletion time",
    "empty table deletion time",
    tear_down.TIME,
    *("C0", "R0", "CS", "RS", "CT", capacity.CAPACITY),
    latency.TYPICAL,
    latency.WORST_CASE,
    delay_variation.PDV,
    scale_up.RELATIVE,
    series.PREVIOUS,
}
# The same measurement in two tables: (file, column from 1) of each.
TWICE = [
    (("mp-table-04.toml", 5), ("mp-table-06.toml", 2)),
    (("mp-table-04.toml", 5), ("mp-table-22.toml", 2)),
    (("mp-table-05.toml", 5), ("mp-table-07.toml", 2)),
    (("mp-table-05.toml", 5), ("mp-table-08.toml", 2)),
    (("mp-table-12.toml", 2), ("mp-table-22.toml", 4)),
    (("mp-table-14.toml", 2), ("mp-table-15.toml", 2)),
    (("mp-table-18.toml", 2), ("mp-table-22.toml", 6)),
    (("mp-table-19.toml", 2), ("mp-table-20.toml", 2)),
]
ORDERED = ("minimum", "P1", "median", "mean", "P99", "maximum")  # mean: only above the minimum

Interval = tuple[Fraction, Fraction]  # lowest and highest value that is printed so
EXPERIMENTS_FOLDER = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = sorted(EXPERIMENTS_FOLDER.glob("*.toml"))
LARGEST_ENTRIES = 2**31 - 1  # net.netfilter.nf_conntrack_max is a signed integer
EACH = pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)


def published(name: str) -> Published:
    return read_published(FOLDER / name)


def exactly(value: float) -> Fraction:
    return Fraction(str(value))


def half_unit(row: Row, column: int) -> Fraction:
    """Returns how far rounding can have moved a number; settings are exact."""
    if row.role == "setting":
        return Fraction(0)
    text = row.printed[column] if row.printed else str(row.values[column])
    read = Printed.read(text, row.scale)
    assert read is not None, text
    return Fraction(read.half_unit)


def interval(of: Published, key: str, column: int) -> Interval | None:
    value = of.numbers(key)[column]
    if value is None:
        return None
    half = half_unit(of.rows[key], column) if key in of.rows else Fraction(0)
    return exactly(value) - half, exactly(value) + half


def quotient(a: Interval, b: Interval) -> Interval:
    return a[0] / b[1], a[1] / b[0]


def difference(a: Interval, b: Interval) -> Interval:
    return a[0] - b[1], a[1] - b[0]


def product(a: Interval, b: Interval) -> Interval:
    return a[0] * b[0], a[1] * b[1]


def recomputed(of: Published, row: Row, column: int) -> Interval:
    """Returns the range of a derived number that the printed operands leave."""
    assert row.derived is not None

    def at(number: int) -> tuple[Interval, ...]:
        found = [interval(of, key, number) for key in row.derived.of] if row.derived else []
        assert None not in found
        return tuple(each for each in found if each is not None)

    here = at(column)
    match row.derived.rule:
        case "relative scale up":
            if not column:
                return Fraction(1), Fraction(1)
            found = quotient(here[0], product(here[1], at(0)[0]))
        case "to previous column":
            found = quotient(here[0], at(column - 1)[0])
        case "quotient":
            found = quotient(*here)
        case "difference":
            found = difference(*here)
        case "dispersion":
            found = quotient(difference(here[0], here[1]), here[2])
    return (found[0] * 100, found[1] * 100) if row.unit == "%" else found


def as_printed(row: Row, column: int) -> Interval | None:
    value = row.values[column]
    if isinstance(value, str):
        return None
    half = half_unit(row, column)
    return exactly(value) - half, exactly(value) + half


def wrong_columns(of: Published, row: Row) -> list[int]:
    """Returns the columns, from 1, where a derived number does not follow from its operands."""
    wrong = []
    for column in range(of.column_count):
        printed = as_printed(row, column)
        if printed is None:
            continue
        found = recomputed(of, row, column)
        if found[1] < printed[0] or printed[1] < found[0]:
            wrong.append(column + 1)
    return wrong


def test_there_is_a_file_for_each_table_and_figure() -> None:
    assert set(NAMES) == EXPECTED
    assert len(NAMES) == 36


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_and_has_its_name(name: str) -> None:
    of = published(name)
    source = of.source
    assert name == f"{source.document.lower()}-{source.kind}-{source.number:02}.toml"
    assert of.drawn == (name in DRAWN)
    assert source.doi or source.url
    assert set(of.measured.commands) <= set(VERBS)
    if "device" in of.columns:
        assert set(of.columns["device"].values) == set(of.devices)


def test_figures_have_the_names_that_natxys_results_have() -> None:
    rows = [row for name in NAMES for row in published(name).rows.values()]
    variables = [of.columns["figure"] for of in map(published, NAMES) if "figure" in of.columns]
    named = {row.figure for row in rows} | {name for each in variables for name in each.values}
    assert named - {"", BY_COLUMN} == FIGURES


@pytest.mark.parametrize("name", NAMES)
def test_each_row_has_a_value_for_each_column(name: str) -> None:
    of = published(name)
    cells = [(each.values, each.printed) for each in of.columns.values()]
    cells += [(each.values, each.printed) for each in of.rows.values()]
    for values, printed in cells:
        assert len(values) == of.column_count
        assert len(printed) in (0, of.column_count)


@pytest.mark.parametrize("name", NAMES)
def test_a_derived_row_follows_from_the_printed_ones_except_for_misprints(name: str) -> None:
    of = published(name)
    for key, row in of.rows.items():
        if row.derived is not None:
            listed = [column for file, cell, column in MISPRINTS if (file, cell) == (name, key)]
            assert wrong_columns(of, row) == listed, key


def test_the_misprints_are_those_of_the_files() -> None:
    found = {
        (name, key, column)
        for name in NAMES
        for key, misprint in published(name).misprints.items()
        for column in misprint.columns
    }
    assert found == MISPRINTS


@pytest.mark.parametrize("name", NAMES)
def test_connections_are_the_combinations_of_ports(name: str) -> None:
    of = published(name)
    names = ("source_ports", "destination_ports", "connections")
    if all(key in of.rows or key in of.columns for key in names):
        sources, destinations, connections = (of.numbers(key) for key in names)
        for a, b, product in zip(sources, destinations, connections, strict=True):
            assert a is not None
            assert b is not None
            assert product == a * b


@pytest.mark.parametrize("name", NAMES)
def test_the_median_lies_between_the_extremes(name: str) -> None:
    of = published(name)
    groups: dict[tuple[str, str], dict[str, Sequence[float | None]]] = {}
    for key, row in of.rows.items():
        if row.statistic in ORDERED:
            groups.setdefault((row.figure, row.device), {})[row.statistic] = of.numbers(key)
    for group in groups.values():
        rows = [group[statistic] for statistic in ORDERED if statistic in group]
        for column in zip(*rows, strict=True):
            known = [value for value in column if value is not None]
            low, high = known[0], known[-1]
            assert all(low <= value <= high for value in known)


@pytest.mark.parametrize(("one", "other"), TWICE)
def test_a_measurement_in_two_tables_has_the_same_figures(
    one: tuple[str, int], other: tuple[str, int]
) -> None:
    def figures(name: str, column: int) -> dict[str, float | None]:
        of = published(name)
        return {
            row.statistic: of.numbers(key)[column - 1]
            for key, row in of.rows.items()
            if row.role == "measured"
        }

    assert figures(*one) == figures(*other)


def test_misprints_are_put_right_and_unknown_numbers_left_out() -> None:
    assert published("sd-figure-09.toml").columns["connections"].values[1] == 6_350_000
    assert published("sd-figure-09.toml").numbers("connections")[1] == 6_250_000
    assert published("mp-table-23.toml").numbers("destination_ports") == (100, 100, 100, 100)
    assert published("mp-table-23.toml").numbers("connections_minimum")[0] is None
    assert published("mp-table-11.toml").numbers("tear_down_rate")[0] is None


@pytest.mark.parametrize("name", sorted(name for name in NAMES if name.startswith("sp-")))
def test_addresses_that_are_misprinted_in_no_cell_are_in_a_note(name: str) -> None:
    """RFC 2544 reserves 198.18.0.0/15; the paper's configuration has other addresses twice."""
    (note,) = (note for note in published(name).notes if "section 3.5.3" in note)
    assert "addresses 192.18.0.2 and 192.19.0.2, which must be 198.18.0.2 and 198.19.0.2" in note
    assert "2001:2::0:8000::2, which is no address and must be 2001:2:0:8000::2" in note


TABLE = FOLDER / "mp-table-23.toml"


def complaint(path: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_published(path)
    return str(refused.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            'label = "Error (cps)"',
            'lable = "Error (cps)"',
            ", line N: rows.error.lable: is not a known key, did you mean label?",
        ),
        (
            "values = [1_000, 2_000, 2_000, 1_000]",
            "values = [1_000, 2_000, 2_000]",
            ", line N: rows.error.values: has 3 elements (expected 4, one for each column)",
        ),
        (
            "values = [1_000, 2_000, 2_000, 1_000]",
            "values = [1_000, 2_000, 2_000, true]",
            ", line N: rows.error.values[3]: true is not the value of a cell (expected a number, "
            'or "–" for none)',
        ),
        (
            'printed = ["7.6294", "4.8224", "7.6290", "7.6294"]',
            'printed = ["7.6294", "4.8224", "7.6289", "7.6294"]',
            ', line N: rows.connections_per_hash_entry.printed: "7.6289" is not 7.629 (expected '
            "its text)",
        ),
        (
            'printed = ["7.6294", "4.8224", "7.6290", "7.6294"]\n',
            "",
            ", line N: rows.connections_per_hash_entry.printed: is missing (expected the texts of "
            "values that are not whole, or are scaled)",
        ),
        (
            'of = ["connections_median", "hash_size"]',
            'of = ["connections", "hash_size"]',
            ', line N: rows.connections_per_hash_entry.derived.of: "connections" is neither '
            "another row nor a variable of the columns (expected one)",
        ),
        (
            'of = ["connections_median", "hash_size"]',
            'of = ["connections_median"]',
            ", line N: rows.connections_per_hash_entry.derived.of: has 1 elements (expected 2 for "
            '"quotient")',
        ),
        (
            'figure = "ending new connection ratio"\n',
            "",
            ', line N: rows.ending_new_ratio.figure: "" does not name a figure (expected one such '
            'as "throughput")',
        ),
        (
            'unit = "cps"',
            'unit = "pps"',
            ', line N: rows.error.unit: unknown value "pps" (expected ',
        ),
        (
            "correct = [100, 100]",
            "correct = [100]",
            ", line N: misprints.destination_ports.correct: has 1 elements (expected 2, one for "
            "each wrong cell)",
        ),
        (
            "columns = [3, 4]",
            "columns = [3, 5]",
            ", line N: misprints.destination_ports.columns: 5 is out of range (expected 1 to 4)",
        ),
        (
            "[misprints.destination_ports]",
            "[misprints.destination_port]",
            ", line N: misprints.destination_port: is neither a row nor a variable of the columns "
            "(expected its name)",
        ),
        (
            "[source]",
            "drawn = true\n\n[source]",
            ", line N: drawn: true is for a figure without columns (expected false)",
        ),
        (
            "number = 23",
            'number = "23"',
            ', line N: source.number: "23" is not a whole number',
        ),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    text = TABLE.read_text()
    assert old in text
    path = tmp_path / "table.toml"
    path.write_text(text.replace(old, new, 1))
    said = complaint(path)
    assert re.sub(r"line \d+", "line N", said).startswith(sentence)
    named = re.match(r", line (\d+): ([^:\[]*)", said)
    assert named is not None
    line = path.read_text().splitlines()[int(named[1]) - 1]
    assert set(named[2].split(".")) & set(re.findall(r"\w+", line))


def test_an_empty_file_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    assert complaint(path) == ": there is no such file"
    path.write_text("\n")
    assert complaint(path) == ": is empty (expected a published table or figure)"


@pytest.mark.parametrize(
    ("text", "scale", "value", "half"),
    [
        ("1,341", 1000, 1_341_000, 500),
        ("223.5", 1000, 223_500, 50),
        ("2^23", 1, 2**23, 0),
        ("6.25M", 1, 6_250_000, 5000),
        ("(2,758,621)", 1, 2_758_621, Fraction(1, 2)),
        ("0.00", 1, 0, Fraction(1, 200)),
        ("1.90", 1, Fraction(19, 10), Fraction(1, 200)),
    ],
)
def test_a_printed_number(text: str, scale: int, value: Fraction, half: Fraction) -> None:
    read = Printed.read(text, scale)
    assert read is not None
    assert (Fraction(read.value), Fraction(read.half_unit)) == (value, half)


@pytest.mark.parametrize("text", ["–", "", "none", "1,34", "1.2.3", "12k", "-1", "2^"])
def test_what_is_not_a_printed_number(text: str) -> None:
    assert Printed.read(text) is None


def unnamed(path: Path) -> list[Difference]:
    asked = read_asked(path)
    named = asked.experiment.published
    assert named is not None
    said = (*named.differs, *named.gateway_differs)
    return [each for each in differences(asked) if not each.is_named(said)]


@EACH
def test_what_differs_is_named(path: Path) -> None:
    assert unnamed(path) == []


@EACH
def test_what_is_named_differs(path: Path) -> None:
    """A sentence of `differs` that is about no difference is left over from an earlier version."""
    asked = read_asked(path)
    named = asked.experiment.published
    assert named is not None
    about = {"The kernel is", "The ports are connected", "256 destination networks"}  # no settings
    for sentence in named.differs:
        is_setting = any(each.is_named((sentence,)) for each in differences(asked))
        assert is_setting or sentence.startswith(tuple(about))


@EACH
@pytest.mark.parametrize("quick", [False, True])
def test_the_kernel_can_have_such_a_table(path: Path, quick: bool) -> None:
    asked = read_asked(path)
    for cell in plan_of(asked.experiment, asked.testbed, 1, quick=quick).cells:
        assert cell.testbed["dut"].get("conntrack_entries", 16) <= LARGEST_ENTRIES


FIXED_SOURCE = 'mode = "fixed", min = 49184, max = 49184'
ALL_SOURCES = 'mode = "pseudorandom", min = 1024, max = 65535'
# What a reader once found, or might find: (experiment, text, its replacement, the setting).
FAULTS = [
    ("sp-table-02", FIXED_SOURCE, ALL_SOURCES, "source ports"),
    ("sp-figure-06", 'mode = "fixed", min = 7, max = 7', ALL_SOURCES, "destination ports"),
    ("sp-table-03", FIXED_SOURCE, ALL_SOURCES, "reverse flows"),
    ("sp-table-04", "repetitions = 20", "repetitions = 10", "repetitions"),
    ("sp-table-02", "left_networks = 256", "left_networks = 255", "networks"),
    ("sp-table-02", "frame_size_bytes = 1518", "frame_size_bytes = 1500", "frame size"),
    ("sp-table-03", "repetitions = 20,", "repetitions = 20, tags = 500,", "tags"),
    ("sp-table-04", "repetitions = 20,", "repetitions = 20, duration = 30,", "duration"),
    ("mp-table-14", 'incomplete = "repeat", repeats = 1000', "sample = 100", "incomplete"),
    ("mp-table-12", "udp_timeout_s = 200", "udp_timeout_s = 300", "timeout"),
    ("mp-table-13", 'loss = "0.01%"', 'loss = "0.1%"', "loss"),
    ("mp-table-13", "destination_port = { max = 1000 }", "destination_port = { max = 100 }",
     "destination ports"),
    ("mp-table-08", 'direction = "reverse"', 'direction = "both"', "direction"),
    ("mp-table-23", 'order = "increasing"', 'order = "decreasing"', "order"),
    ("mp-table-23", "hash_size = 524_288", "hash_size = 524_289", "hash size"),
    ("mp-table-17", "left_ip_version = 6", "left_ip_version = 4", "left IP version"),
    ("mp-table-02", "cores = 8", "cores = 9", "cores"),
    ("mp-table-02", 'error = "0.1%"', 'error = "0.01%"', "error"),
    ("sd-figure-02", "max = 13999 }", "max = 14999 }", "reverse flows"),
    ("sd-figure-04", "options = { repetitions = 1 } ", "", "repetitions"),
    ("sd-figure-05", "options = { repetitions = 5 }", "", "repetitions"),
    ("sd-figure-09", 'differs = ["The error', 'differs = ["The', "error"),
    ("sd-figure-10", "count = 1_600_000_000", "count = 160_000_000", "connections"),
    ("sd-figure-06", "beta = 0.2", "beta = 0.3", "beta"),
    ("sd-figure-06", "conntrack_entries = 4_194_304", "conntrack_entries = 4_194_303",
     "table entries"),
    ("sd-figure-11", "alpha = 0.6", "alpha = 0.7", "alpha"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "setting"), FAULTS)
def test_a_wrong_setting_is_found(
    name: str, old: str, new: str, setting: str, tmp_path: Path
) -> None:
    for folder in ("testbeds", "published"):
        (tmp_path / folder).symlink_to(EXPERIMENTS_FOLDER / folder)
    text = (EXPERIMENTS_FOLDER / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / f"{name}.toml"
    path.write_text(text.replace(old, new))
    found = {each.setting for each in unnamed(path)}
    assert setting in found


@EACH
def test_the_published_ports_are_stated_or_said_not_to_be(path: Path) -> None:
    """A stateless table without them would be compared with any ports."""
    data: dict[str, Any] = tomllib.loads((EXPERIMENTS_FOLDER / "published" / path.name).read_text())
    stated = {**data["traffic"], **data.get("connections", {}), **data.get("rows", {})}
    silent = any("port ranges" in words for words in data["not_stated"])
    assert "source_ports" in stated or silent
