"""The tester on PCI devices behind an IOMMU, through vfio-pci, as the tutorial describes it.

The devices are emulated, in a guest: whether it works is tested, and not how fast.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut.addresses import AddressPlan
from tests.hardware.tester_guest import Hardware, TesterGuest, tester_guest
from tests.programs import ROOT

pytestmark = pytest.mark.long
DEVICES = ("0000:01:00.0", "0000:02:00.0")
NATXY = f"{ROOT}/.venv/bin/natxy"
TESTBED = """
[tester]
cores = {cores}
rx_queues = {queues}
lateness_tolerance_us = 100000
[tester.left]
device = "{left}"
ipv4_real = "198.18.0.2"
next_hop_ipv4 = "198.18.0.1"
[tester.right]
device = "{right}"
ipv4_real = "198.19.0.2"
next_hop_ipv4 = "198.19.0.1"
[traffic]
left_ip_version = 4
right_ip_version = 4
"""


def bind(guest: TesterGuest) -> None:
    """Gives both devices to vfio-pci, with its own interface: dpdk-devbind.py does the same."""
    guest.run("modprobe vfio-pci")
    for device in DEVICES:
        of = f"/sys/bus/pci/devices/{device}"
        guest.run(f"[ ! -e {of}/driver ] || echo {device} >{of}/driver/unbind")
        guest.run(f"echo vfio-pci >{of}/driver_override")
        guest.run(f"echo {device} >/sys/bus/pci/drivers_probe")
        assert guest.run(f"basename $(readlink {of}/driver)").strip() == "vfio-pci"


@pytest.fixture(params=["e1000e", "vmxnet3", "virtio"])
def nic(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def guest(nic: str, tmp_path: Path) -> Iterator[TesterGuest]:
    plan = AddressPlan(left_ip_version=4, right_ip_version=4)
    with tester_guest(tmp_path, Hardware(nic=nic), plan) as running:
        bind(running)
        running.run("mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages")
        yield running


def write_testbed(guest: TesterGuest, cores: list[int], queues: int = 1) -> str:
    text = TESTBED.format(cores=cores, queues=queues, left=DEVICES[0], right=DEVICES[1])
    guest.run(f"cat >/tmp/testbed.toml <<'END'\n{text}\nEND")
    return "/tmp/testbed.toml"


def test_throughput_and_latency(guest: TesterGuest) -> None:
    testbed = write_testbed(guest, [2, 3])
    print(guest.run(f"{NATXY} doctor --json || true"))
    said = guest.run(f"{NATXY} trial {testbed} --rate 100 --duration 2 --json || true")
    trial = json.loads(said)
    assert trial["verdict"] == "PASS", said[-3000:]
    for stream in trial["result"]["streams"]:
        assert stream["kinds"]["foreground"]["misdelivered"]["total"] == 0
