"""The bindings of subscribers, in the formats of gateways."""

from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.dut.bindings import FORMATS, bindings_of
from natxy.errors import ConfigurationError
from natxy.model.subscribers import SubscribersSection
from tests.unit.cli import Captured, complaint
from tests.unit.subscribers import BR, DS_LITE, LW4O6, MAP_E, MAP_T


def lines(format_: str, **members: Any) -> list[str]:
    return list(bindings_of(SubscribersSection.model_validate(members), format_))


def test_a_border_relay_has_a_rule() -> None:
    assert lines("vpp", **MAP_E) == [
        "map add domain ip4-pfx 192.0.2.0/24 ip6-pfx 2001:db8::/40 ip6-src 2001:db8:ffff::1 "
        "ea-bits-len 16 psid-offset 6 psid-len 8"
    ]
    (rule,) = lines("vpp", **MAP_T)
    assert rule.endswith("ip6-src 2001:db8:ffff::/64 ea-bits-len 16 psid-offset 6 psid-len 8")
    assert lines("jool", **MAP_T)[1] == "jool_mapt fmrt add 2001:db8::/40 192.0.2.0/24 16 6"


def test_vpp_needs_a_prefix_of_64_bits() -> None:
    wide = {**MAP_T, "gateway_prefix": "2001:db8:ffff::/96"}
    with pytest.raises(ConfigurationError, match=r"gateway_prefix: .*expected a prefix of 64 bits"):
        lines("vpp", **wide)
    assert lines("jool", **wide)[0].endswith("--dmr 2001:db8:ffff::/96")


def test_an_lwaftr_has_an_entry_for_each_subscriber() -> None:
    found = lines("vpp", **{**LW4O6, "count": 257})
    assert len(found) == 2 + 257
    assert found[0] == (
        "map add domain ip4-pfx 192.0.2.0/32 ip6-pfx ::/0 ip6-src 2001:db8:ffff::1 ea-bits-len 0 "
        "psid-offset 0 psid-len 8"
    )
    assert found[1] == "map add rule index 0 psid 0 ip6-dst 2001:db8::c000:200:0"
    assert found[-2].startswith("map add domain ip4-pfx 192.0.2.1/32")
    assert found[-1] == "map add rule index 1 psid 0 ip6-dst 2001:db8:0:100:0:c000:201:0"


def test_snabbs_table_is_nested_in_braces() -> None:
    found = lines("snabb", **{**LW4O6, "count": 2})
    assert found[:2] == ["softwire-config {", "  binding-table {"]
    assert found[3] == (
        "    softwire { ipv4 192.0.2.0; psid 1; b4-ipv6 2001:db8:0:1:0:c000:200:1; "
        f"br-address {BR}; port-set {{ psid-length 8; reserved-ports-bit-count 0; }} }}"
    )
    assert found[4:] == ["  }", "}"]


def test_snabbs_port_sets_have_their_offset() -> None:
    """PSID 1 of 8 bits would otherwise be ports 256 to 511, which the lwB4 does not use."""
    with_offset = {**LW4O6, "count": 2, "psid_offset_bits": 6}
    assert lines("snabb", **with_offset)[3].endswith(
        "port-set { psid-length 8; reserved-ports-bit-count 6; } }"
    )


def test_a_table_names_everyone() -> None:
    assert lines("csv", **{**DS_LITE, "count": 2}) == [
        "number,ipv6,ipv4,psid,psid_bits,psid_offset_bits",
        "0,2001:db8::1,192.0.0.2,0,0,0",
        "1,2001:db8:0:1::1,192.0.0.2,0,0,0",
    ]
    assert lines("csv", **{**MAP_E, "count": 2})[-1].endswith(",192.0.2.0,1,8,6")


def test_a_gateway_has_bindings_of_its_mechanisms_only() -> None:
    with pytest.raises(ConfigurationError, match="snabb has no bindings of mechanism"):
        lines("snabb", **MAP_T)


def test_the_command(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "testbed.toml"
    text = "".join(f"{key} = {value!r}\n" for key, value in {**MAP_E, "count": 3}.items())
    file.write_text(f"[subscribers]\n{text}")
    assert run_command(["bindings", str(file)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[-1] == "2,2001:db8:0:200:0:c000:200:2,192.0.2.0,2,8,6"
    unknown = complaint(capsys, "bindings", file, "--format", "cisco")
    assert all(name in unknown for name in FORMATS)
    file.write_text("[tester]\n")
    assert "subscribers: is missing" in complaint(capsys, "bindings", file)
