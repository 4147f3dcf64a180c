"""Numbers as a person types them, where an option is a count or a rate."""

import pytest

from natxy.cli.options import numbers_of
from natxy.cli.stateful import ranges_of
from natxy.cli.verbs import VERBS, command_of
from natxy.errors import ConfigurationError
from natxy.measure.table_size import PortRange
from natxy.search.bisection import RATE_FPS
from natxy.search.settings import search_error
from natxy.setting import Setting, whole_number
from tests.unit.cli import Captured, complaint


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("10k", 10_000), ("10K", 10_000), ("1.5M", 1_500_000), ("2G", 2 * 10**9)),
        *(("10_000", 10_000), ("1_0.5k", 10_500), ("0", 0), ("-5", -5), ("-1.5k", -1500)),
        *(("1.0", 1), ("1.50k", 1500), ("0.001k", 1), (" 7 ", 7)),
    ],
)
def test_a_number_may_have_a_suffix_and_underscores(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("", "k", "many", "1.5", "0.0001k", "10m", "10g", "10kk", "10 k", "1e3", "0x10", "nan"),
        *("_1", "1_", "1__0", "1,000", "1.M", ".5M", "٣"),
    ],
)
def test_what_is_no_whole_number(text: str) -> None:
    assert whole_number(text) is None


def test_lists_errors_and_ports_take_them() -> None:
    assert numbers_of(Setting("flows"), "10,1k,1.5M,10_000") == (10, 1000, 1_500_000, 10_000)
    assert search_error(RATE_FPS, "1.5k").rate_fps == 1500
    assert ranges_of(Setting("ports"), "40k,1-9") == (
        PortRange(count=40_000),
        PortRange(count=9, first=1),
    )
    for text in ("1k,", "1k,x", "1.5", "0,1k"):
        with pytest.raises(ConfigurationError, match=r"^flows: .*\(expected "):
            numbers_of(Setting("flows"), text)


def test_an_option_takes_them(capsys: Captured) -> None:
    words = ["bed.toml", "--max-rate", "1.5M", "--repetitions", "1_0", "--seed", "2G"]
    with command_of("throughput").make_context("throughput", words) as context:
        assert context.params["max_rate_fps"] == 1_500_000
        assert context.params["repetitions"] == 10
        assert context.params["seed"] == 2 * 10**9
    for text in ("1.5", "fast", "10m"):
        said = complaint(capsys, "throughput", "bed.toml", "--max-rate", text)
        assert said.startswith(f'--max-rate: "{text}" is not a whole number (expected for example ')
    said = complaint(capsys, "throughput", "bed.toml", "--duration", "long")
    assert said == '--duration: "long" is not a number (expected for example 0.5)'


@pytest.mark.parametrize("verb", VERBS)
def test_no_option_reads_whole_numbers_otherwise(verb: str) -> None:
    kinds = {type(each.type).__name__ for each in command_of(verb).params}
    assert kinds <= {"Number", "StringParamType", "BoolParamType", "Path", "Choice"}
