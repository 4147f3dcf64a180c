"""What a person writes wrong is named: file, line, key, value, and what would be right."""

from pathlib import Path

import pytest

from natxy.errors import ConfigurationError
from natxy.model.testbed import read_testbed
from natxy.model.traffic import TrafficPlan


def check(path: Path) -> None:
    testbed, source = read_testbed(path)
    TrafficPlan(testbed=testbed, source=source).check()


def complaint(path: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        check(path)
    return str(refused.value).removeprefix(str(path))


def changed(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "cores = [0]",
            "coers = [0]",
            ", line 2: tester.coers: is not a key known here, did you mean cores?",
        ),
        (
            'ipv6_real = "2001:2::2"',
            'ipv6_real = "198.18.0.2"',
            ', line 6: tester.left.ipv6_real: "198.18.0.2" is not an IPv6 address, such as '
            "2001:2::2 is right",
        ),
        (
            'ipv6_real = "2001:2::2"\n',
            "",
            ", line 4: tester.left.ipv6_real: is missing: traffic from IPv6 on the left to IPv4 on "
            "the right asks for it; an address is right",
        ),
        (
            'next_hop_ipv4 = "198.19.0.1"\n',
            "",
            ", line 10: tester.right.next_hop_ipv4: is missing: frames leave there as IPv4; it, or "
            "next_hop_mac, is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 5",
            ", line 18: traffic.right_ip_version: 5 is not known, 4 or 6 is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nframe_size_bytes = 83",
            ", line 19: traffic.frame_size_bytes: 83 is out of range, 84 to 9216 is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nframe_size_bytes = 1519",
            ", line 19: traffic.frame_size_bytes: 1519 does not fit the MTU of 1500 octets, at "
            "most 1518 is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nn = 2\nm = 3",
            ", line 20: traffic.m: 3 is more than n, 0 to 2 is right",
        ),
        (
            "right_ip_version = 4",
            'right_ip_version = 4\nleft_networks = 4\n[traffic.left_field]\nmode = "increasing"',
            ", line 20: traffic.left_field.ipv4_offset: 2 makes the field cover octet 2, where the "
            "number of each of the 4 networks is; another offset, or 1 network, is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nhop_limit = 10\nhop_limit_drop = 10",
            ", line 20: traffic.hop_limit_drop: 10 uses up a hop limit of 10, 0 to 9 is right",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nhop_limit = 256",
            ", line 19: traffic.hop_limit: 256 is out of range, 1 to 255 is right",
        ),
        ("cores = [0]", "cores = []", ", line 2: tester.cores: 0 elements, at least 1 is right"),
        ("cores = [0]", "cores = 0", ", line 2: tester.cores: 0 is not a list, such as [...]"),
        (
            "[traffic]",
            '[traffic]\nforward = {source_port = {mode = "random", min = 1, max = 2}}',
            ", line 17: traffic.forward.source_port.mode: \"random\" is not known, 'fixed', ",
        ),
    ],
)
def test_what_is_wrong_is_named(testbed_file: Path, old: str, new: str, sentence: str) -> None:
    assert complaint(changed(testbed_file, old, new)).startswith(sentence)


def test_a_file_that_is_not_there_or_not_toml(tmp_path: Path) -> None:
    assert complaint(tmp_path / "no.toml") == ": there is no such file"
    (tmp_path / "bad.toml").write_text("cores = [")
    assert "is not TOML" in complaint(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    assert "is not text in UTF-8" in complaint(tmp_path / "latin.toml")
    assert "cannot be read" in complaint(tmp_path)
