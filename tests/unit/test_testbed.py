"""Tests of errors in a testbed: file, line, key, value and what was expected are named."""

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
            ", line 2: tester.coers: is not a known key, did you mean cores?",
        ),
        (
            'ipv6_real = "2001:2::2"',
            'ipv6_real = "198.18.0.2"',
            ', line 6: tester.left.ipv6_real: "198.18.0.2" is not an IPv6 address (expected '
            "one such as 2001:2::2)",
        ),
        (
            'ipv6_real = "2001:2::2"\n',
            "",
            ", line 4: tester.left.ipv6_real: is missing: traffic from IPv6 on the left to IPv4 on "
            "the right needs it (expected an address)",
        ),
        (
            'next_hop_ipv4 = "198.19.0.1"\n',
            "",
            ", line 10: tester.right.next_hop_ipv4: is missing: this side sends IPv4 frames "
            "(expected it or next_hop_mac)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 5",
            ", line 18: traffic.right_ip_version: unknown value 5 (expected 4 or 6)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nframe_size_bytes = 83",
            ", line 19: traffic.frame_size_bytes: 83 is out of range (expected 84 to 9216, the "
            "size of the IPv6 frame: 84 is 64 as IPv4)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nframe_size_bytes = 1519",
            ", line 19: traffic.frame_size_bytes: 1519 does not fit the MTU of 1500 octets "
            "(expected at most 1518)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nn = 2\nm = 3",
            ", line 20: traffic.m: 3 is more than n (expected 0 to 2)",
        ),
        (
            "right_ip_version = 4",
            'right_ip_version = 4\nleft_networks = 4\n[traffic.left_field]\nmode = "increasing"',
            ", line 20: traffic.left_field.ipv4_offset: 2 makes the field cover octet 2, which "
            "holds the number of each of the 4 networks (expected another offset, or 1 network)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nhop_limit = 10\nhop_limit_drop = 10",
            ", line 20: traffic.hop_limit_drop: 10 uses up a hop limit of 10 (expected 0 to 9)",
        ),
        (
            "right_ip_version = 4",
            "right_ip_version = 4\nhop_limit = 256",
            ", line 19: traffic.hop_limit: 256 is out of range (expected 1 to 255)",
        ),
        (
            "cores = [0]",
            "cores = []",
            ", line 2: tester.cores: has 0 elements (expected at least 1)",
        ),
        (
            "cores = [0]",
            "cores = 0",
            ", line 2: tester.cores: 0 is not a list (expected one such as [...])",
        ),
        (
            'device = "fake0"',
            'device = "net_vhost0,iface=/tmp/\\u0000"',
            ", line 5: tester.left.device: holds a NUL character (expected a text without)",
        ),
        (
            "[traffic]",
            '[traffic]\nforward = {source_port = {mode = "random", min = 1, max = 2}}',
            ', line 17: traffic.forward.source_port.mode: unknown value "random" (expected ',
        ),
        (
            "[traffic]",
            '[traffic]\nforward = {source_port = {mode = "increasing", min = 3, max = 2}}',
            ", line 17: traffic.forward.source_port.max: 2 is below min (expected 3 to 65535)",
        ),
        (
            "right_ip_version = 4",
            'right_ip_version = 4\n[traffic.left_field]\nmode = "increasing"\nmin = 9\nmax = 8',
            ", line 22: traffic.left_field.max: 8 is below min (expected 9 to 65535)",
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
