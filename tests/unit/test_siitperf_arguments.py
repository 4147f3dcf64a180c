"""The positional arguments of siitperf's three commands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from natxy.errors import ConfigurationError
from natxy.model.testbed import TrafficSection
from natxy.siitperf.arguments import Arguments, read_arguments
from natxy.siitperf.configuration import Configuration
from tests.unit.siitperf import configured

CPUS = "CPU-L-Send 2\nCPU-R-Recv 4\nCPU-R-Send 6\nCPU-L-Recv 8\n"
IPV4 = "IP-L-Vers 4\nIP-R-Vers 4\n"
COMMON = "84 1000 60 2000 2 2"
PHASE_1 = "4000 1000 1000 500 5000"  # N M R T D

Configure = Callable[[str], Configuration]


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    return lambda text: configured(tmp_path, CPUS + text)


@pytest.fixture
def stateless(configure: Configure) -> Configuration:
    return configure("")


def arguments_of(command: str, words: list[str], configuration: Configuration) -> Arguments:
    return read_arguments(command, words, configuration, lambda _: None)


def refusal(command: str, words: str, configuration: Configuration) -> str:
    with pytest.raises(ConfigurationError) as refused:
        arguments_of(command, words.split(), configuration)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_common_arguments_in_siitperfs_order(stateless: Configuration) -> None:
    read = arguments_of("tp", ["128", "1488095", "3600", "60000", "10", "9"], stateless)
    expected = Arguments(
        command="tp",
        frame_size_bytes=128,
        rate_fps=1_488_095,
        duration_s=3600,
        timeout_ms=60_000,
        n=10,
        m=9,
    )
    assert read == expected


def test_those_of_each_command_come_last(stateless: Configuration, configure: Configure) -> None:
    assert arguments_of("lat", f"{COMMON} 10 50000".split(), stateless).last == {
        "tags_after_s": 10,
        "tags": 50_000,
    }
    assert arguments_of("pdv", f"{COMMON} 10".split(), stateless).frame_timeout_ms == 10
    assert arguments_of("pdv", f"{COMMON} 61999".split(), stateless).frame_timeout_ms == 61_999
    assert arguments_of("lat", f"{COMMON} 59 1000".split(), stateless).last["tags"] == 1000
    stateful = arguments_of("pdv", f"{COMMON} {PHASE_1} 7".split(), configure("Stateful 1"))
    assert stateful.frame_timeout_ms == 7
    assert stateful.preliminary is not None
    assert vars(stateful.preliminary) == {
        "preliminary_frames": 4000,
        "table_entries": 1000,
        "preliminary_rate_fps": 1000,
        "preliminary_timeout_ms": 500,
        "preliminary_delay_ms": 5000,
    }


@pytest.mark.parametrize(("n", "m", "share"), [(2, 2, (2, 2)), (2, 3, (2, 2)), (10, 0, (10, 0))])
def test_frame_i_is_foreground_iff_i_mod_n_is_below_m(
    n: int, m: int, share: tuple[int, int], stateless: Configuration
) -> None:
    read = arguments_of("tp", f"84 1000 1 0 {n} {m}".split(), stateless)
    traffic = read.traffic(TrafficSection())
    assert (traffic.n, traffic.m) == share


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("83 1000 60 2000 2 2", 'IPv6 frame size: "83" is out of range (expected 84 to'),
        ("1539 1000 60 2000 2 2", 'IPv6 frame size: "1539" is out of range'),
        (
            "1519 1000 60 2000 2 2",
            "all traffic is IPv4 (expected 84 to 1518)",
        ),
        ("84 0 60 2000 2 2", 'frame rate: "0" is out of range'),
        ("84 1e6 60 2000 2 2", 'frame rate: "1e6" is not a whole number'),
        ("84 1000 0 2000 2 2", 'duration: "0" is out of range (expected 1 to 3600'),
        ("84 1000 3601 2000 2 2", 'duration: "3601" is out of range (expected 1 to 3600'),
        ("84 1000 60 -1 2 2", 'global timeout: "-1" is out of range (expected 0 to 60000'),
        ("84 1000 60 60001 2 2", 'global timeout: "60001" is out of range (expected 0 to 60000'),
        ("84 1000 60 2000 1 1", 'n: "1" is out of range (expected 2 to'),
        ("84 1000 60 2000 2 -1", 'm: "-1" is out of range'),
        (
            "84 1000 60 2000 2",
            "5 arguments are too few (expected 6: <IPv6 frame size> <fra",
        ),
        ("010 1000 60 2000 2 2", 'IPv6 frame size: "010" is out of range'),
        ("84 8. 60 2000 2 2", 'frame rate: "8." is not a whole number'),
        ("", "0 arguments are too few (expected 6: "),
    ],
)
def test_a_wrong_common_argument(words: str, sentence: str, stateless: Configuration) -> None:
    assert sentence in refusal("tp", words, stateless)


@pytest.mark.parametrize(
    ("command", "last", "sentence"),
    [
        ("lat", "3601 500", 'delay: "3601" is out of range (expected 0 to 3600'),
        ("lat", "60 500", "delay: 60 is not before the end of the test (expected 0 to 59)"),
        ("lat", "10 0", 'timestamps: "0" is out of range (expected 1 to 50000'),
        ("lat", "10 50001", 'timestamps: "50001" is out of range (expected 1 to 50000'),
        (
            "lat",
            "59 1001",
            "timestamps: 1001 is more than the 1000 frames after the delay (exp",
        ),
        ("lat", "10", "<delay> <timestamps>)"),
        ("pdv", "-1", 'frame timeout: "-1" is out of range'),
        (
            "pdv",
            "62000",
            "frame timeout: 62000 is not less than the duration plus",
        ),
        ("pdv", "", "<frame timeout>)"),
    ],
)
def test_a_wrong_argument_of_a_command(
    command: str, last: str, sentence: str, stateless: Configuration
) -> None:
    assert sentence in refusal(command, f"{COMMON} {last}", stateless)


def test_a_frame_of_1538_is_for_ipv4_alone(configure: Configure) -> None:
    ipv4 = configure(IPV4)
    assert arguments_of("tp", ["1538", "1", "1", "0", "2", "2"], ipv4).frame_size_bytes == 1538
    assert "all traffic is IPv4" in refusal("tp", "1538 1 1 0 2 1", ipv4)
    assert "all traffic is IPv4" in refusal("tp", "1538 1 1 0 2 2", configure(""))


def test_background_traffic_needs_the_place_of_a_varying_field(configure: Configure) -> None:
    varying = configure(IPV4 + "IP-L-var 1\nIP-L-min 2\nIP-L-max 9\nIPv4-L-offset 2\n")
    assert arguments_of("tp", COMMON.split(), varying).m == 2
    assert "IPv6-L-offset: is missing" in refusal("tp", "84 1000 60 2000 2 1", varying)


@pytest.mark.parametrize(
    ("n_and_m", "phase_1", "sentence"),
    [
        ("2 2", "0 1 1000 500 5000", 'N: "0" is out of range (expected 1 to 4294967295'),
        ("2 2", "4000 4294967296 1000 500 5000", 'M: "4294967296" is out of range'),
        ("2 2", "4000 1000 0 500 5000", 'R: "0" is out of range'),
        ("2 2", "4000 1000 1000 2001 7000", 'T: "2001" is out of range (expected 1 to 2000'),
        ("2 2", "4000 1000 1000 500 100000001", 'D: "100000001" is out of range'),
        (
            "2 2",
            "4000 1000 1000 500 4499",
            "4499 is less than 1000 N / R + T (expected 4500",
        ),
        ("2 2", "4000 4001 1000 500 5000", "4001 is more than the 4000 foreground frames"),
        ("10 9", "4005 3606 1000 500 5000", "3606 is more than the 3605 foreground frames"),
        ("2 2", "4000 1000 1000 500", "10 arguments are too few (expected 11: "),
    ],
)
def test_what_is_refused_of_the_preliminary_frames(
    n_and_m: str, phase_1: str, sentence: str, configure: Configure
) -> None:
    words = f"84 1000 60 2000 {n_and_m} {phase_1}"
    assert sentence in refusal("tp", words, configure("Stateful 1"))


def test_the_shortest_delay_and_the_largest_table_are_taken(configure: Configure) -> None:
    stateful = configure("Stateful 2")
    words = "84 1000 60 2000 10 9 4005 3605 1000 500 4505"
    assert arguments_of("tp", words.split(), stateful).preliminary is not None


def test_the_shortest_delay_is_in_whole_milliseconds(configure: Configure) -> None:
    """50 frames at 3000 a second take 16.67 ms."""
    words = "84 1000 60 2000 2 2 50 50 3000 300 {}"
    read = arguments_of("tp", words.format(316).split(), configure("Stateful 1"))
    assert read.preliminary is not None
    assert "(expected 316 or more)" in refusal("tp", words.format(315), configure("Stateful 1"))


def test_extra_arguments_are_not_used(stateless: Configuration) -> None:
    warned: list[str] = []
    words = f"{COMMON} 7 eight"
    read = read_arguments("tp", words.split(), stateless, warned.append)
    assert read == arguments_of("tp", COMMON.split(), stateless)
    assert warned == ['siitperf-tp: "7 eight" is ignored (expected 6 arguments)']


@pytest.mark.parametrize(("written", "fps"), [("0200", 200), ("0900", 900), ("200", 200)])
def test_a_leading_zero_changes_nothing(written: str, fps: int, stateless: Configuration) -> None:
    assert arguments_of("tp", f"84 {written} 60 00 2 2".split(), stateless).rate_fps == fps


def test_a_hexadecimal_number_is_refused(stateless: Configuration) -> None:
    """siitperf reads 0 and ignores the rest."""
    with pytest.raises(
        ConfigurationError,
        match=r'^frame rate: "0x200" is hexadecimal, which siitperf reads as 0 \(expected 1 to \d+,'
        r" decimal\)$",
    ):
        arguments_of("tp", ["84", "0x200", "60", "00", "2", "2"], stateless)


def test_responder_tuples_do_not_go_with_a_table_of_one(configure: Configure) -> None:
    words = f"{COMMON} 4000 1 1000 500 5000"
    assert "M is 1" in refusal("tp", words, configure("Stateful 1\nResponder-tuples 2\n"))
    assert arguments_of("tp", words.split(), configure("Stateful 1")).preliminary is not None
