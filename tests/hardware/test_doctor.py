"""`natxy doctor` on a machine with two memory nodes, and NICs behind an IOMMU: each of its remedies
is followed, and helps."""

from typing import Any

import pytest

from tests.hardware.conftest import Bench
from tests.hardware.nics import KERNELS_DRIVER, NICS, bind, unbind
from tests.hardware.tester_guest import ENGINE, TesterGuest

pytestmark = pytest.mark.long
NODE_1 = "/sys/devices/system/node/node1/hugepages"
only_virtio = pytest.mark.parametrize("nic", ["virtio"], indirect=True)
Findings = dict[str, dict[str, Any]]


def examined(guest: TesterGuest, cores: str) -> Findings:
    return {each["name"]: each for each in guest.json(f"doctor --cores {cores}")}


def grades(findings: Findings, *names: str) -> list[str]:
    return [findings[name]["grade"] for name in names]


def follow(guest: TesterGuest, remedy: str) -> None:
    guest.run(remedy.partition(" (apt-get")[0])


def test_nics_are_taken_as_the_doctor_says(bench: Bench) -> None:
    guest, names = bench.guest, [f"NIC {nic}" for nic in NICS]
    unbind(guest, bench.nic)
    before = examined(guest, "2,3")
    assert grades(before, *names) == ["costs", "costs"]
    assert "cores of node 1" not in before  # no NIC of DPDK is on it yet
    for name in names:
        assert (KERNELS_DRIVER[bench.nic] or "no driver") in before[name]["state"]
        assert "iommu=on" not in before[name]["remedy"]  # it is on
        follow(
            guest, before[name]["remedy"].removeprefix("unless you reach this machine through it: ")
        )

    after = examined(guest, "2,3")
    assert grades(after, *names) == ["good", "good"]
    assert grades(after, "engine", "cores", "huge pages", "AF_XDP", "clock source") == ["good"] * 5
    assert after["engine"]["state"] == str(ENGINE)
    assert after["cores"]["state"] == "8 online"
    assert after["huge pages"]["state"] == "600 free of 2 MB, 2 free of 1024 MB"
    assert after["huge pages of node 1"]["state"].endswith("300 free of 2 MB, 1 free of 1024 MB")
    assert grades(after, "huge pages of node 1", "cores of node 1") == ["good", "costs"]
    assert after["cores of node 1"]["state"].endswith("workers elsewhere: 2, 3")
    assert after["cores of node 1"]["remedy"].endswith("tester.cores: 4, 5, 6, 7")


@only_virtio
def test_pages_are_missed_at_the_node_of_the_nics(bench: Bench) -> None:
    guest = bench.guest
    bind(guest)
    guest.run(f"for pages in {NODE_1}/*/nr_hugepages; do echo 0 >$pages; done")
    try:
        without = examined(guest, "4,5")
        assert grades(without, "cores of node 1", "huge pages") == ["good", "good"]
        assert grades(without, "huge pages of node 1") == ["costs"]
        follow(guest, without["huge pages of node 1"]["remedy"])
        assert grades(examined(guest, "4,5"), "huge pages of node 1") == ["good"]
    finally:
        guest.run(f"echo 300 >{NODE_1}/hugepages-2048kB/nr_hugepages")
        guest.run(f"echo 1 >{NODE_1}/hugepages-1048576kB/nr_hugepages")


@only_virtio
def test_an_iommu_group_is_taken_as_a_whole(bench: Bench) -> None:
    guest = bench.guest
    bind(guest)
    unbind(guest, bench.nic, NICS[1])
    finding = examined(guest, "4,5")[f"NIC {NICS[0]}"]
    assert finding["grade"] == "costs"
    assert f"{NICS[1]} (virtio-pci)" in finding["state"]
    follow(guest, finding["remedy"].partition(";")[0])
    assert grades(examined(guest, "4,5"), *(f"NIC {nic}" for nic in NICS)) == ["good", "good"]
