"""Tests of the connections and addresses that a siitperf.conf and N M R T D ask for."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.errors import ConfigurationError
from natxy.model.testbed import ConnectionsSection, Port, Testbed, TesterSection, read_testbed
from natxy.siitperf.configuration import Configuration
from natxy.siitperf.stateful import connections_of
from natxy.siitperf.testbed import cpu_keys, testbed_of
from natxy.siitperf.whole_testbed import check_ports, with_own_addresses
from tests.unit.siitperf import arguments_of, configured
from tests.unit.siitperf_stateful import COMMON, CONF, ENUMERATED, PHASE_1

NAT64 = """\
IPv6-L-Real 2001:2::107
IPv4-L-Virt 0.0.0.0 # the gateway's choice
IPv6-R-Virt 2001:2:0:1000::c613:2
IPv4-R-Real 0.0.0.0
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a
CPU-L-Send 0
CPU-R-Recv 0
CPU-R-Send 0
CPU-L-Recv 0
Stateful 1
"""
ADDRESSES = "".join(
    f"IP-{side}-var 3\nIP-{side}-min 1\nIP-{side}-max {{0}}\nIPv4-{side}-offset 2\n"
    for side in "LR"
)

Captured = pytest.CaptureFixture[str]
Configure = Callable[[str], Configuration]


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def configure(tmp_path: Path, warned: list[str]) -> Configure:
    return lambda text: configured(tmp_path, text, warned.append)


def asked_of(configuration: Configuration, warned: list[str], words: str) -> ConnectionsSection:
    asked = connections_of(configuration, arguments_of(configuration, words), warned.append)
    assert asked is not None
    return asked


@pytest.mark.parametrize(
    ("mode", "order"), [(1, "increasing"), (2, "decreasing"), (3, "pseudorandom")]
)
def test_enumerations_are_orders(
    mode: int, order: str, configure: Configure, warned: list[str]
) -> None:
    text = CONF.replace("port 3", f"port {mode}") + f"Enumerate-ports {mode}\n"
    asked = asked_of(
        configure(f"{text}Responder-tuples {mode}\n"), warned, f"{COMMON} 4000 3999 20000 300 1500"
    )
    assert asked == ConnectionsSection.model_validate(
        {
            "initiator": "left",
            "count": 4000,
            "rate_fps": 20_000,
            **dict.fromkeys(("order", "initiator_order", "responder_order"), order),
            "delay_s": 1.5,
            "sample": 0,
            "incomplete": "accept",
            "minimum": 3999,
        }
    )
    assert warned == []


def test_the_first_tuple_alone_is_a_fixed_order(configure: Configure, warned: list[str]) -> None:
    configuration = configure(ENUMERATED.replace("Stateful 1", "Stateful 2") + "Rev-dport-max 9\n")
    asked = asked_of(configuration, warned, f"{COMMON} {PHASE_1}")
    assert (asked.initiator, asked.responder_order) == ("right", "fixed")
    traffic = testbed_of(configuration).traffic
    assert traffic.reverse.source_port.values == 64_512
    assert traffic.reverse.destination_port.values == 9
    # Of the initiator they are those of the right, and vary since they are enumerated.
    assert asked.initiator_order == "fixed"


def enumerating(mode: int, combinations: int) -> str:
    one = CONF.replace("dport 3", "dport 0").replace("dport-max 83", "dport-max 80")
    one = one.replace("sport 3", f"sport {mode}")
    return f"{one}Enumerate-ports {mode}\nFwd-sport-max {9999 + combinations}\n"


@pytest.mark.parametrize(
    ("mode", "order"), [(1, "increasing"), (2, "decreasing"), (3, "pseudorandom")]
)
def test_an_enumeration_may_have_as_many_combinations_as_frames(
    mode: int, order: str, configure: Configure, warned: list[str]
) -> None:
    configuration = configure(enumerating(mode, 4000))
    warned.clear()
    assert asked_of(configuration, warned, f"{COMMON} {PHASE_1}").order == order
    assert warned == []


@pytest.mark.parametrize("mode", [1, 2])
def test_an_enumeration_of_too_few_combinations_is_drawn_with_repetition(
    mode: int, configure: Configure, warned: list[str]
) -> None:
    """siitperf begins anew."""
    configuration = configure(enumerating(mode, 3999))
    warned.clear()
    asked = asked_of(configuration, warned, f"{COMMON} {PHASE_1}")
    assert (asked.order, asked.count) == ("repeating", 4000)
    assert warned == [
        "Enumerate-ports: is ignored: the 3999 combinations are fewer than the 4000 "
        "foreground preliminary frames, so they are drawn with repetition"
    ]


@pytest.mark.parametrize(
    ("text", "key", "combinations"),
    [
        (ENUMERATED.replace("dport-max 83", "dport-max 82"), "Enumerate-ports", 3000),
        (
            CONF.replace("port 3", "port 0") + ADDRESSES.format(63) + "Enumerate-ips 3\n",
            "Enumerate-ips",
            3969,
        ),
        (
            enumerating(3, 9) + ADDRESSES.format(21) + "Enumerate-ips 3\n",
            "Enumerate-ports",
            3969,
        ),
    ],
)
def test_a_pseudorandom_enumeration_of_too_few_combinations_is_refused(
    text: str, key: str, combinations: int, configure: Configure, warned: list[str]
) -> None:
    """By siitperf too."""
    with pytest.raises(ConfigurationError) as refused:
        asked_of(configure(text), warned, f"{COMMON} {PHASE_1}")
    assert str(refused.value).endswith(
        f"{key}: is 3, but the {combinations} combinations are fewer than the 4000 foreground "
        "preliminary frames (expected a smaller N, or wider ranges)"
    )


def test_what_is_not_enumerated_is_drawn_with_repetition(
    configure: Configure, warned: list[str]
) -> None:
    asked = asked_of(configure(CONF), warned, f"{COMMON} {PHASE_1}")
    assert (asked.order, asked.minimum, asked.incomplete) == ("repeating", None, "stop")
    assert warned == []


def test_one_range_that_is_gone_through_is_an_enumeration(
    configure: Configure, warned: list[str]
) -> None:
    one = CONF.replace("dport 3", "dport 0").replace("sport 3", "sport 2")
    asked = asked_of(configure(one), warned, f"{COMMON} 1000 1000 20000 300 600")
    assert (asked.order, asked.initiator_order) == ("decreasing", "decreasing")
    assert warned == []
    asked = asked_of(configure(one), warned, f"{COMMON} 1001 1000 20000 300 600")
    assert asked.order == "repeating"
    assert warned == [
        "Fwd-var-sport: ignored in phase 1, which draws values where nothing is enumerated"
    ]


def test_far_more_combinations_than_frames_are_not_drawn(
    configure: Configure, warned: list[str]
) -> None:
    """A table of them would have 25 gigabytes."""
    wide = "\n".join(line for line in CONF.splitlines() if not re.search("-m(in|ax)", line))
    asked = asked_of(configure(wide), warned, f"{COMMON} {PHASE_1}")
    assert (asked.order, asked.minimum) == ("pseudorandom", 3990)
    assert len(warned) == 1
    assert "3170829312 combinations" in warned[0]


def test_series_that_differ_are_not_honoured_in_phase_2(
    configure: Configure, warned: list[str]
) -> None:
    mixed = ENUMERATED.replace("dport 3", "dport 1")
    asked = asked_of(configure(mixed), warned, f"{COMMON} {PHASE_1}")
    assert asked.initiator_order == "pseudorandom"
    assert warned == [
        "Fwd-var-dport: ignored in phase 2, which uses the connections of phase 1 in "
        "pseudorandom order"
    ]
    warned.clear()
    asked_of(configure(mixed + "Forward 0\n"), warned, f"{COMMON} {PHASE_1}")
    assert warned == []


def test_addresses_alone_may_be_enumerated(configure: Configure, warned: list[str]) -> None:
    fixed = CONF.replace("port 3", "port 0") + ADDRESSES.format(100) + "Enumerate-ips 3\n"
    configuration = configure(fixed)
    asked = asked_of(configuration, warned, f"{COMMON} 10000 10000 20000 300 9000")
    assert asked.order == "pseudorandom"
    traffic = testbed_of(configuration).traffic
    assert traffic.left_field.series.values == traffic.right_field.series.values == 100
    with pytest.raises(ConfigurationError, match="Enumerate-ports: is 0, but ports vary"):
        configure(fixed + "Fwd-var-dport 1\n")


def test_too_many_combinations_are_refused(configure: Configure, warned: list[str]) -> None:
    many = ENUMERATED + ADDRESSES.format(2000) + "Enumerate-ips 3\n"
    with pytest.raises(ConfigurationError, match=r"IP-L-var: its 2000 values .* make 16000000000"):
        asked_of(configure(many), warned, f"{COMMON} {PHASE_1}")


def test_several_networks_behind_the_responder_are_refused(
    configure: Configure, warned: list[str]
) -> None:
    with pytest.raises(ConfigurationError, match="Num-R-Nets: 2 is not possible in a stateful"):
        configure(CONF + "Num-R-Nets 2\n")
    traffic = testbed_of(configure(CONF + "Num-L-Nets 2\n")).traffic
    assert (traffic.left_networks, traffic.right_networks) == (1, 1)
    assert warned == ["Num-L-Nets: is ignored, because replies go to the initiator's own addresses"]
    enumerated = configure(ENUMERATED + "Num-L-Nets 4\n")
    assert enumerated.enumerated_ports == 3
    assert warned == 2 * warned[:1]
    with pytest.raises(ConfigurationError, match="Num-R-Nets: 4 is not possible in a stateful"):
        configure(ENUMERATED + "Num-R-Nets 4\n")


def test_phase_1_needs_its_cores_also_where_its_direction_is_not_active(
    configure: Configure,
) -> None:
    assert "CPU-L-Send" in cpu_keys(configure(CONF + "Forward 0\n"))
    with pytest.raises(ConfigurationError, match="CPU-L-Send: is missing, and Stateful is active"):
        configure(CONF.replace("CPU-L-Send 0\n", "") + "Forward 0\n")


def with_phase_1(configuration: Configuration) -> Testbed:
    connections = connections_of(
        configuration, arguments_of(configuration, f"{COMMON} {PHASE_1}"), lambda _: None
    )
    return testbed_of(configuration).model_copy(update={"connections": connections})


def test_the_responders_address_is_embedded_in_its_ipv6_address(configure: Configure) -> None:
    configuration = configure(NAT64)
    assert configuration.right.ipv4_real == "198.19.0.2"
    check_ports(with_phase_1(configuration), configuration)
    given = NAT64.replace("IPv4-R-Real 0.0.0.0", "IPv4-R-Real 198.19.0.9")
    assert configure(given).right.ipv4_real == "198.19.0.9"
    assert configure(NAT64.replace("Stateful 1", "Stateful 0")).right.ipv4_real is None


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("2001:2:0:1000::c613:2", "::", "IPv4-R-Real"),
        ("2001:2::107", "::", "IPv6-L-Real"),
        ("MAC-L-DUT a0:36:9f:c5:e6:58\n", "Forward 0\n", "MAC-L-DUT"),
    ],
)
def test_what_does_not_follow_is_asked_for(
    old: str, new: str, key: str, configure: Configure
) -> None:
    configuration = configure(NAT64.replace(old, new))
    with pytest.raises(ConfigurationError, match=f": {key}: is missing"):
        check_ports(with_phase_1(configuration), configuration)


LAB = Testbed(
    tester=TesterSection(
        left=Port(ipv6_real="2001:2::2", ipv4_virtual="198.18.0.2"),
        right=Port(
            ipv4_real="198.19.0.2",
            ipv6_real="2001:2:0:8000::2",
            ipv6_virtual="2001:2:0:1000::c613:2",
        ),
    )
)


@pytest.mark.parametrize("outside", ["0.0.0.0", "203.0.113.7"])
def test_a_lab_does_not_mind_how_the_initiator_is_seen_outside(
    outside: str, configure: Configure, warned: list[str]
) -> None:
    text = NAT64.replace("IPv4-L-Virt 0.0.0.0", f"IPv4-L-Virt {outside}")
    own = with_own_addresses(LAB, configure(text), warned.append)
    assert own.tester.left.ipv6_real == "2001:2::107"
    assert own.tester.left.ipv4_virtual == "198.18.0.2"
    assert warned == []
    other = with_own_addresses(LAB, configure(text.replace("c613:2", "c613:7")), warned.append)
    assert other.tester.right.ipv4_real == "198.19.0.7"
    assert warned == []
    elsewhere = text.replace("2001:2:0:1000::c613:2", "64:ff9b::c613:2")
    assert with_own_addresses(LAB, configure(elsewhere), warned.append) == LAB
    assert len(warned) == 1


def test_init_takes_the_connections_over(
    configure: Configure, tmp_path: Path, capsys: Captured
) -> None:
    configuration = configure(ENUMERATED + "Responder-tuples 1\n")
    path = tmp_path / "testbed.toml"
    assert run_command(["init", "--from", configuration.entries.name, str(path)]) == 0
    assert read_testbed(path)[0].connections == ConnectionsSection(
        count=4000, order="pseudorandom", responder_order="increasing"
    )
    assert "Warning: Stateful: N is an argument" in capsys.readouterr().err
