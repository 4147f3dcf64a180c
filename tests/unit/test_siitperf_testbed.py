"""Tests of a siitperf.conf as a testbed, its file, its ports and its addresses in a lab."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.errors import ConfigurationError, DeviceError
from natxy.model.testbed import AddressField, Port, Testbed, TesterSection, read_testbed
from natxy.model.traffic_spec import Series
from natxy.siitperf.configuration import Configuration
from natxy.siitperf.testbed import testbed_of
from natxy.siitperf.testbed_toml import testbed_toml
from natxy.siitperf.whole_testbed import (
    at_testbed,
    check_cores,
    check_ports,
    first_two_devices,
    with_devices,
    with_own_addresses,
)
from tests.unit.siitperf import configured

FIGURE_2 = """\
IP-L-Vers 6 # Left Sender fg. IP ver.
IP-R-Vers 4 # Right Sender fg. IP ver.
IPv6-L-Real 2001:2::2
IPv6-L-Virt :: # currently not used
IPv6-R-Real 2001:2:0:8000::2
IPv6-R-Virt 2001:2:0:1000::2
IPv4-L-Real 0.0.0.0 # currently unused
IPv4-L-Virt 198.18.0.2
IPv4-R-Real 198.19.0.2
IPv4-R-Virt 0.0.0.0 # currently unused
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a
CPU-L-Send 2
CPU-R-Recv 4
CPU-R-Send 6
CPU-L-Recv 8
"""
VARYING = """\
Fwd-var-sport 1
Fwd-sport-min 5000
Fwd-sport-max 6000
Rev-var-dport 3
IP-L-var 2
IP-L-min 0x100
IP-L-max 0x1ff
IPv4-L-offset 2
IPv6-L-offset 14
Reverse 0
"""

Configure = Callable[[str], Configuration]


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    return lambda text: configured(tmp_path, text)


def test_addresses_are_our_real_and_virtual_ones(configure: Configure) -> None:
    testbed = testbed_of(configure(FIGURE_2))
    assert testbed.tester.left == Port(
        ipv6_real="2001:2::2", ipv4_virtual="198.18.0.2", next_hop_mac="a0:36:9f:c5:e6:58"
    )
    assert testbed.tester.right == Port(
        ipv4_real="198.19.0.2",
        ipv6_real="2001:2:0:8000::2",
        ipv6_virtual="2001:2:0:1000::2",
        next_hop_mac="a0:36:9f:c5:e6:5a",
    )
    assert testbed.tester.warm_up == "neighbours"


def test_cores_are_siitperfs_layout_in_the_engines_order(configure: Configure) -> None:
    assert testbed_of(configure(FIGURE_2)).tester.cores == (2, 6, 4, 8)
    assert testbed_of(configure(FIGURE_2 + "Reverse 0")).tester.cores == (2, 4)
    shared = FIGURE_2.replace("Send 6", "Send 2").replace("Recv 8", "Recv 4")
    assert testbed_of(configure(shared)).tester.cores == (2, 4)


def test_traffic_varies_as_it_says(configure: Configure) -> None:
    traffic = testbed_of(configure(FIGURE_2 + VARYING)).traffic
    assert traffic.direction == "forward"
    assert traffic.forward.source_port == Series(mode="increasing", min=5000, max=6000)
    assert traffic.reverse.destination_port == Series(mode="pseudorandom", min=1, max=49151)
    assert traffic.left_field == AddressField(
        mode="decreasing", min=0x100, max=0x1FF, ipv4_offset=2, ipv6_offset=14
    )
    assert traffic.right_field == AddressField()


def test_ports_that_do_not_vary_are_those_of_rfc_2544(configure: Configure) -> None:
    forward = testbed_of(configure(FIGURE_2)).traffic.forward
    assert forward.source_port == Series(mode="fixed", min=0xC020, max=0xC020)
    assert forward.destination_port == Series(mode="fixed", min=7, max=7)


@pytest.mark.parametrize("more", ["", VARYING, "Num-R-Nets 256\nForward 0\n"])
@pytest.mark.parametrize("devices", [("0000:01:00.0", "0000:01:00.1"), (None, None)])
def test_the_testbeds_file_is_the_same_testbed(
    more: str, devices: tuple[str | None, str | None], configure: Configure, tmp_path: Path
) -> None:
    testbed = with_devices(testbed_of(configure(FIGURE_2 + more)), devices)
    path = tmp_path / "testbed.toml"
    path.write_text(testbed_toml(testbed, "siitperf.conf"))
    assert read_testbed(path)[0] == testbed
    assert "Converted from siitperf.conf" in path.read_text()


def test_init_writes_it(
    configure: Configure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = configure(FIGURE_2 + "Stateful 1\n")
    path = tmp_path / "testbed.toml"
    assert run_command(["init", "--from", configuration.entries.name, str(path)]) == 0
    testbed, _ = read_testbed(path)
    assert testbed.traffic == testbed_of(configuration).traffic
    assert "Warning: Stateful: " in capsys.readouterr().err
    assert (
        run_command(["init", "--from", str(tmp_path / "no.conf"), str(tmp_path / "other.toml")])
        == 2
    )
    both = ["--from", configuration.entries.name, "--kind", "namespace"]
    assert run_command(["init", *both, str(tmp_path / "other.toml")]) == 2
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("IPv6-L-Real 2001:2::2", "IPv6-L-Real"),
        ("IPv4-L-Virt 198.18.0.2", "IPv4-L-Virt"),
        ("IPv4-R-Real 198.19.0.2", "IPv4-R-Real"),
        ("IPv6-R-Virt 2001:2:0:1000::2", "IPv6-R-Virt"),
        ("MAC-L-DUT a0:36:9f:c5:e6:58", "MAC-L-DUT"),
        ("MAC-R-DUT a0:36:9f:c5:e6:5a", "MAC-R-DUT"),
    ],
)
def test_what_the_traffic_needs_is_asked_for_by_siitperfs_key(
    line: str, key: str, configure: Configure
) -> None:
    whole, lacking = configure(FIGURE_2), configure(FIGURE_2.replace(line, ""))
    check_ports(testbed_of(whole), whole)
    with pytest.raises(ConfigurationError, match=f": {key}: is missing"):
        check_ports(testbed_of(lacking), lacking)


def test_background_traffic_alone_needs_the_real_ipv6_addresses_alone(
    configure: Configure,
) -> None:
    lines = [line for line in FIGURE_2.splitlines() if not line.startswith(("IPv4", "IPv6-R-V"))]
    configuration = configure("\n".join(lines))
    testbed = testbed_of(configuration)
    traffic = testbed.traffic.model_copy(update={"n": 2, "m": 0})
    check_ports(testbed.model_copy(update={"traffic": traffic}), configuration)
    with pytest.raises(ConfigurationError, match="IPv4-R-Real"):
        check_ports(testbed, configuration)


def test_a_cpu_that_is_not_there_is_refused(configure: Configure) -> None:
    here = min(os.sched_getaffinity(0))
    cpus = f"CPU-L-Send {here}\nCPU-R-Recv {here}\n"
    check_cores(configure(cpus + "Reverse 0\n"))
    with pytest.raises(ConfigurationError, match="CPU-L-Recv: this process may not use CPU 4095"):
        check_cores(configure(f"{cpus}CPU-R-Send {here}\nCPU-L-Recv 4095\n"))


def pci_device(drivers: Path, driver: str, address: str, kind: str = "0x020000") -> None:
    device = drivers / driver / address
    device.mkdir(parents=True)
    (device / "class").write_text(kind + "\n")


def test_the_first_two_ports_are_dpdks(tmp_path: Path) -> None:
    pci_device(tmp_path, "vfio-pci", "0000:81:00.1")
    pci_device(tmp_path, "igb_uio", "0000:81:00.0")
    pci_device(tmp_path, "uio_pci_generic", "0000:02:00.0")
    pci_device(tmp_path, "vfio-pci", "0000:01:00.0", kind="0x030000")  # a display
    pci_device(tmp_path, "ixgbe", "0000:01:00.1")
    assert first_two_devices(tmp_path) == ["0000:02:00.0", "0000:81:00.0"]


def test_one_port_is_too_few(tmp_path: Path) -> None:
    pci_device(tmp_path, "vfio-pci", "0000:81:00.1")
    with pytest.raises(DeviceError, match=r"1 network devices .* NATXY_TESTBED=FILE"):
        first_two_devices(tmp_path)


def written(path: Path, text: str) -> Path:
    file = path / "place.toml"
    file.write_text(text)
    return file


def test_the_named_testbeds_ports_and_gateway_are_taken(
    configure: Configure, tmp_path: Path, warned: list[str]
) -> None:
    configuration = configure(FIGURE_2)
    place = written(
        tmp_path,
        "[tester]\ncores = [0]\n[tester.left]\ndevice = 'net_null0'\nnext_hop_ipv6 = '2001:2::1'\n"
        "ipv6_real = '2001:2::9'\n[tester.right]\ndevice = 'net_null1'\n"
        "[traffic]\nleft_ip_version = 4\navoid_zero_checksum = true\nhop_limit_drop = 3\n"
        "hop_limit = 10\ndont_fragment = false\nudp_checksum = 'required'\n",
    )
    testbed, _ = at_testbed(testbed_of(configuration), configuration, place, warned.append)
    assert testbed.tester.cores == (0,)
    left, right = testbed.tester.left, testbed.tester.right
    assert (left.device, right.device) == ("net_null0", "net_null1")
    assert (left.next_hop_ipv6, left.next_hop_mac) == ("2001:2::1", None)
    assert left.ipv6_real == "2001:2::2"
    assert right.next_hop_mac == "a0:36:9f:c5:e6:5a"
    assert (testbed.traffic.left_ip_version, testbed.traffic.hop_limit_drop) == (6, 3)
    assert testbed.traffic.avoid_zero_checksum
    assert (testbed.traffic.hop_limit, testbed.traffic.dont_fragment) == (10, False)
    assert testbed.traffic.udp_checksum == "required"
    assert len(warned) == 1
    assert warned[0].startswith("CPU-L-Send, CPU-R-Send, CPU-R-Recv, CPU-L-Recv: are ignored")


LAB = Testbed(
    tester=TesterSection(
        left=Port(ipv6_real="2001:2::2", ipv4_virtual="198.18.0.2"),
        right=Port(
            ipv4_real="198.19.0.2", ipv6_real="2001:2:0:8000::2", ipv6_virtual="2001:2:0:1000::2"
        ),
    )
)


def test_addresses_that_lead_through_a_lab_are_used_there(
    configure: Configure, warned: list[str]
) -> None:
    other = FIGURE_2.replace("2001:2::2", "2001:2::107").replace("198.18.0.2", "198.18.1.7")
    own = with_own_addresses(LAB, configure(other), warned.append)
    assert own.tester.left.ipv6_real == "2001:2::107"
    assert own.tester.left.ipv4_virtual == "198.18.1.7"
    assert warned == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2001:2::2", "2001:2::3"),  # is mapped to 198.18.0.3
        ("2001:2::2", "2001:db8::2"),
        ("198.19.0.2", "192.19.0.2"),
        ("2001:2:0:8000::2", "2001:2:0:9::2"),
    ],
)
def test_addresses_that_do_not_are_replaced_with_a_warning(
    old: str, new: str, configure: Configure, warned: list[str]
) -> None:
    own = with_own_addresses(LAB, configure(FIGURE_2.replace(old, new)), warned.append)
    assert own == LAB
    assert len(warned) == 1
    assert "IPv6-L-Real 2001:2::2" in warned[0]
