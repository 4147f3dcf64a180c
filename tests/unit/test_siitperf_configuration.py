"""siitperf.conf: every key, its default, what is refused and where that is said to be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from natxy.errors import ConfigurationError
from natxy.siitperf.configuration import Configuration, read_configuration
from natxy.siitperf.keys import KEYS, PARTS

CPUS = "CPU-L-Send 2\nCPU-R-Recv 4\nCPU-R-Send 6\nCPU-L-Recv 8\n"
VARYING = (
    "IP-L-var 3\nIP-L-min 2\nIP-L-max 0xff\nIPv4-L-offset 2\nIPv6-L-offset 14\n"
    "IP-R-var 1\nIP-R-min 0\nIP-R-max 9\nIPv4-R-offset 1\nIPv6-R-offset 6\n"
)
# Of each key: a text that is not its default, and its value.
WRITTEN: dict[str, tuple[str, object]] = {
    "IP-L-Vers": ("4", 4),
    "IP-R-Vers": ("6", 6),
    "Forward": ("0", False),
    "Reverse": ("0", False),
    "Promisc": ("0", False),
    "MEM-Channels": ("2", 2),
    "Stateful": ("2", 2),
    "Enumerate-ports": ("3", 3),
    "Enumerate-ips": ("2", 2),
    "Responder-tuples": ("1", 1),
    **{
        f"IPv6-{side}-{seen}": ("2001:2::5", "2001:2::5")
        for side in "LR"
        for seen in ("Real", "Virt")
    },
    **{
        f"IPv4-{side}-{seen}": ("198.18.0.5", "198.18.0.5")
        for side in "LR"
        for seen in ("Real", "Virt")
    },
    **{
        f"MAC-{side}-{whose}": ("A0:36:9F:c5:fa:1c", "a0:36:9f:c5:fa:1c")
        for side in "LR"
        for whose in ("Tester", "DUT")
    },
    **{f"Num-{side}-Nets": ("256", 256) for side in "LR"},
    **{f"CPU-{side}-{does}": ("11", 11) for side in "LR" for does in ("Send", "Recv")},
    **{f"IP-{side}-var": ("2", 2) for side in "LR"},
    **{f"IP-{side}-{end}": ("0x10", 16) for side in "LR" for end in ("min", "max")},
    **{f"IPv4-{side}-offset": ("1", 1) for side in "LR"},
    **{f"IPv6-{side}-offset": ("6", 6) for side in "LR"},
    **{f"{way}-var-{port}": ("3", 3) for way in ("Fwd", "Rev") for port in ("sport", "dport")},
    **{
        f"{way}-{port}-{end}": ("2000", 2000)
        for way in ("Fwd", "Rev")
        for port in ("sport", "dport")
        for end in ("min", "max")
    },
}
DEFAULTS = {
    "IP-L-Vers": 6,
    "IP-R-Vers": 4,
    **dict.fromkeys(("Num-L-Nets", "Num-R-Nets", "MEM-Channels"), 1),
    **dict.fromkeys(("Forward", "Reverse", "Promisc"), True),
    **dict.fromkeys(("Fwd-sport-min", "Rev-sport-min"), 1024),
    **dict.fromkeys(("Fwd-sport-max", "Rev-sport-max"), 65535),
    **dict.fromkeys(("Fwd-dport-min", "Rev-dport-min"), 1),
    **dict.fromkeys(("Fwd-dport-max", "Rev-dport-max"), 49151),
    **{f"{way}-var-{port}": 0 for way in ("Fwd", "Rev") for port in ("sport", "dport")},
    **dict.fromkeys(("IP-L-var", "IP-R-var", "Stateful"), 0),
    **dict.fromkeys(("Enumerate-ports", "Enumerate-ips", "Responder-tuples"), 0),
}

Read = Callable[[str], Configuration]


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def read(tmp_path: Path, warned: list[str], monkeypatch: pytest.MonkeyPatch) -> Read:
    def of(text: str) -> Configuration:
        monkeypatch.chdir(tmp_path)
        Path("siitperf.conf").write_text(text)
        return read_configuration(Path("siitperf.conf"), warned.append)

    return of


def value(configuration: Configuration, name: str) -> object:
    part = next(part for part, keys in PARTS.items() if name in [key.name for key in keys])
    holder = configuration if part == "common" else getattr(configuration, part)
    found: object = getattr(holder, KEYS[name].field)
    return found


def written(*, but: str = "") -> str:
    """The CPUs, without the line of a key that is to be written again."""
    return "".join(line for line in CPUS.splitlines(True) if line.split()[0] != but)


def test_the_table_has_every_key() -> None:
    assert set(WRITTEN) == set(KEYS)
    assert len(KEYS) == 50


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_key_is_read(name: str, read: Read) -> None:
    text, expected = WRITTEN[name]
    lines = written(but=name) + f"{name} {text}   # as siitperf's users write it\n"
    if name.startswith(("Enumerate", "IP-L-var", "IP-R-var")):
        lines += "Stateful 1\n" + VARYING.replace(f"{name} ", "# ")
    if name.startswith("Enumerate"):
        lines += f"Enumerate-ports {text}\nEnumerate-ips {text}\n"
    assert value(read(lines), name) == expected


@pytest.mark.parametrize("name", sorted(set(KEYS) - {key for key in KEYS if "CPU" in key}))
def test_every_key_has_its_default(name: str, read: Read, warned: list[str]) -> None:
    assert value(read(CPUS), name) == DEFAULTS.get(name)
    assert warned == []


@pytest.mark.parametrize("name", [f"IPv{version}-L-Real" for version in (4, 6)])
def test_an_unused_address_is_none(name: str, read: Read) -> None:
    unused = "0.0.0.0" if "4" in name else "::"
    assert value(read(f"{CPUS}{name} {unused} # currently not used\n"), name) is None


def test_an_octet_of_a_mac_address_may_have_one_digit(read: Read) -> None:
    assert value(read(f"{CPUS}MAC-L-DUT 2:51:0:0:a:1\n"), "MAC-L-DUT") == "02:51:00:00:0a:01"


@pytest.mark.parametrize(("text", "number"), [("010", 10), ("09", 9), ("10", 10), ("0256", 256)])
def test_a_leading_zero_changes_nothing(text: str, number: int, read: Read) -> None:
    assert value(read(f"{CPUS}Num-L-Nets {text}\n"), "Num-L-Nets") == number


@pytest.mark.parametrize("key", ["IP-L-min", "IP-L-max", "IP-R-min", "IP-R-max"])
@pytest.mark.parametrize(("text", "number"), [("010", 8), ("0x10", 16), ("10", 10), ("0377", 255)])
def test_the_range_of_addresses_may_have_another_base(
    key: str, text: str, number: int, read: Read
) -> None:
    """siitperf reads these keys with %i, all others as decimal numbers."""
    assert value(read(f"{CPUS}{key} {text}\n"), key) == number


def test_comments_and_empty_lines_are_ignored(read: Read, warned: list[str]) -> None:
    configuration = read(f"# IP-L-Vers 4\n\n   \n\t\n{CPUS}Num-L-Nets\t7#seven\n#\n")
    assert configuration.left.ip_version == 6
    assert configuration.left.networks == 7
    assert warned == []


def test_the_older_name_of_responder_tuples(read: Read) -> None:
    assert read(CPUS + "Responder-ports 3\n").responder_tuples == 3


def test_what_is_odd_is_warned_of_in_no_word_that_scripts_look_for(
    read: Read, warned: list[str]
) -> None:
    configuration = read(CPUS + "Num-L-Nets 2 networks on the left\nNum-L-Nets 3\n")
    assert configuration.left.networks == 3
    assert len(warned) == 2
    assert "siitperf.conf, line 5: Num-L-Nets: " in warned[0]
    assert not any("Error" in said or "invalid" in said for said in warned)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("IP-L-Vers 5", 'IP-L-Vers: "5" is an unknown value (expected 4 or 6)'),
        ("IPv6-L-Real 2001:2::0:8000::2", '"2001:2::0:8000::2" is not an IPv6 address'),
        ("IPv6-L-Real 198.18.0.2", '"198.18.0.2" is not an IPv6 address'),
        ("IPv4-R-Virt 2001:2::2", '"2001:2::2" is not an IPv4 address'),
        ("MAC-L-DUT a0:36:9f:c5:e6", "is not a MAC address"),
        ("MAC-L-DUT a0:36:9f:c5:e6:158", "is not a MAC address"),
        ("Num-L-Nets 9.5", '"9.5" is not a whole number (expected 1 to 256)'),
        ("Num-L-Nets 0x10", "which siitperf reads as 0 (expected 1 to 256, decimal)"),
        ("Forward 0x1", '"0x1" is hexadecimal, which siitperf reads as 0 (expected 0 or 1, decim'),
        ("Stateful 0x1", '"0x1" is hexadecimal, which siitperf reads as 0 (expected 0 or 1 or 2,'),
        ("IP-R-min 09", '"09" is not a whole number (expected 0 to 65535)'),
        ("Num-R-Nets 0", '"0" is out of range (expected 1 to 256)'),
        ("Num-R-Nets 257", '"257" is out of range (expected 1 to 256)'),
        ("Forward yes", '"yes" is not a whole number'),
        ("CPU-L-Send -1", '"-1" is out of range'),
        ("MEM-Channels 0", '"0" is out of range'),
        ("Fwd-var-sport 4", '"4" is out of range (expected 0 to 3)'),
        ("Rev-dport-max 65536", '"65536" is out of range (expected 0 to 65535)'),
        ("IP-L-max 0x10000", '"0x10000" is out of range'),
        ("IPv4-L-offset 0", '"0" is out of range (expected 1 to 2)'),
        ("IPv6-R-offset 5", '"5" is out of range (expected 6 to 14)'),
        ("Stateful 3", '"3" is an unknown value (expected 0 or 1 or 2)'),
        ("Responder-tuples 4", '"4" is out of range (expected 0 to 3)'),
        ("Num-L-Net 2", "is not a known key (did you mean Num-L-Nets?)"),
        ("Promisc", "has no value (expected `Promisc VALUE`)"),
        ("Enumerate-ports 1", "is used only by stateful tests"),
        ("Enumerate-ips 2", "is used only by stateful tests"),
        ("Fwd-sport-max 1000", "1000 is below the minimum (expected 1024 or more)"),
    ],
)
def test_a_refusal_is_a_sentence_with_file_line_and_key(
    line: str, sentence: str, read: Read
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(f"\n{written(but=line.split()[0])}{line}\n")
    said = str(refused.value)
    number = 5 if line.startswith("CPU") else 6
    assert said.startswith(f"siitperf.conf, line {number}: {line.split()[0]}: ")
    assert sentence in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        (CPUS + "Forward 0\nReverse 0\n", "Forward", "(expected 1 for one of them)"),
        (CPUS.replace("CPU-L-Send 2\n", ""), "CPU-L-Send", "is missing, and Forward is active"),
        (CPUS.replace("CPU-R-Recv 4\n", ""), "CPU-R-Recv", "is missing, and Forward is active"),
        (CPUS.replace("CPU-R-Send 6\n", ""), "CPU-R-Send", "is missing, and Reverse is active"),
        (CPUS.replace("CPU-L-Recv 8\n", ""), "CPU-L-Recv", "is missing, and Reverse is active"),
        (CPUS + VARYING + "Num-L-Nets 2\n", "IP-L-var", "or 1 network)"),
        (CPUS + VARYING + "Num-R-Nets 2\n", "IP-L-var", "or 1 network)"),
        (CPUS + VARYING.replace("IP-L-min 2\n", ""), "IP-L-min", "is missing"),
        (CPUS + VARYING.replace("IP-R-max 9\n", ""), "IP-R-max", "is missing"),
        (CPUS + VARYING.replace("IPv4-L-offset 2\n", ""), "IPv4-L-offset", "(expected 1 or 2)"),
        (CPUS + VARYING.replace("IPv6-R-offset 6\n", ""), "IPv6-R-offset", "(expected 6 to 14)"),
        (
            CPUS + VARYING.replace("max 9", "max 9\nIP-R-min 10"),
            "IP-R-max",
            "expected 10 or more",
        ),
    ],
)
def test_what_is_refused_of_several_keys(text: str, key: str, sentence: str, read: Read) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(text)
    assert f": {key}: " in str(refused.value)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        (VARYING + "Enumerate-ports 1\nEnumerate-ips 2\n", "Enumerate-ips", "(expected 1)"),
        (VARYING + "Enumerate-ports 1\n", "Enumerate-ips", "is 0, but addresses vary"),
        (
            VARYING + "Enumerate-ips 3\nFwd-var-sport 3\n",
            "Enumerate-ports",
            "is 0, but ports vary",
        ),
        (
            VARYING.replace("IP-R-var 1", "IP-R-var 0") + "Enumerate-ports 1\nEnumerate-ips 1\n",
            "IP-R-var",
            "(expected 1, 2 or 3)",
        ),
    ],
)
def test_what_is_refused_of_an_enumeration(text: str, key: str, sentence: str, read: Read) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(CPUS + "Stateful 1\n" + text)
    assert f": {key}: " in str(refused.value)
    assert sentence in str(refused.value)


def test_a_stateful_test_may_be_its_phase_1_alone(read: Read) -> None:
    configuration = read("Stateful 2\nForward 0\nReverse 0\nCPU-R-Send 2\nCPU-L-Recv 4\n")
    assert not configuration.has_phase_2
    assert configuration.sends_reverse
    assert not configuration.sends_forward


def test_one_direction_needs_its_own_cpus_alone(read: Read) -> None:
    configuration = read("Reverse 0\nCPU-L-Send 2\nCPU-R-Recv 4\n")
    assert not configuration.has_reverse
    assert configuration.left.receive_cpu is None


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path, warned: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="there is no such file"):
        read_configuration(tmp_path / "siitperf.conf", warned.append)
