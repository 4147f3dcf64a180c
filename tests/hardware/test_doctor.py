"""`natxy doctor` on a machine with two memory nodes, and NICs behind an IOMMU: each of its remedies
is followed, and helps."""

from typing import Any

import pytest

from natxy.doctor.kernel import LOAD_TOLERATED
from tests.hardware.bench import PAGES, Bench, whatever_qemu_does
from tests.hardware.nics import KERNELS_DRIVER, NICS, bind, set_free_pages, unbind
from tests.hardware.tester_guest import ENGINE, TesterGuest

pytestmark = pytest.mark.long
EMULATED = {"isolated cores", "time stamp counter", "virtual machine", "real-time throttling"}
NODE_1 = "/sys/devices/system/node/node1/hugepages"
only_virtio = pytest.mark.parametrize("nic", ["virtio"], indirect=True)
Findings = dict[str, dict[str, Any]]


def examined(guest: TesterGuest, cores: str, *wrong: str) -> Findings:
    """Checks that what is not good is this, and what no emulated machine has, and nothing else."""
    found: Findings = {each["name"]: each for each in guest.json(f"doctor --cores {cores}")}
    not_good = {name for name, each in found.items() if each["grade"] != "good"}
    interrupts = f"interrupts on CPU {cores.replace(',', ', ')}"
    load = float(found["load"]["state"].split()[0])  # the one thing here that time changes
    expected = {*EMULATED, interrupts, *wrong, *(["load"] if load > LOAD_TOLERATED else [])}
    assert not_good == expected
    return found


def grades(findings: Findings, *names: str) -> list[str]:
    return [findings[name]["grade"] for name in names]


def follow(guest: TesterGuest, remedy: str) -> None:
    guest.run(remedy)


@whatever_qemu_does
def test_nics_are_taken_as_the_doctor_says(bench: Bench) -> None:
    guest, names = bench.guest, [f"NIC {nic}" for nic in NICS]
    unbind(guest, bench.nic)
    before = examined(guest, "2,3", *names)
    assert grades(before, *names) == ["costs", "costs"]
    assert "cores of node 1" not in before  # no NIC of DPDK is on it yet
    for name in names:
        assert (KERNELS_DRIVER[bench.nic] or "no driver") in before[name]["state"]
        assert "iommu=on" not in before[name]["remedy"]  # it is on
        follow(guest, before[name]["remedy"])

    after = examined(guest, "2,3", "cores of node 1")
    assert grades(after, *names) == ["good", "good"]
    assert grades(after, "engine", "cores", "huge pages", "AF_XDP", "clock source") == ["good"] * 5
    assert after["engine"]["state"] == str(ENGINE)
    assert after["cores"]["state"] == "8 online"
    assert after["huge pages"]["state"] == "600 free of 2 MB, 0 free of 1024 MB"
    assert after["huge pages of node 1"]["state"].endswith("300 free of 2 MB, 0 free of 1024 MB")
    assert grades(after, "huge pages of node 1", "cores of node 1") == ["good", "costs"]
    assert after["cores of node 1"]["state"].endswith("workers elsewhere: 2, 3")
    assert after["cores of node 1"]["remedy"].endswith("tester.cores: 4, 5, 6, 7")


@only_virtio
@whatever_qemu_does
def test_pages_are_missed_at_the_node_of_the_nics(bench: Bench) -> None:
    guest, free = bench.guest, f"{NODE_1}/hugepages-{{}}kB/nr_hugepages"
    bind(guest)
    try:
        guest.run(f"echo 0 >{free.format(2048)}")
        without = examined(guest, "4,5", "huge pages of node 1")
        assert grades(without, "cores of node 1", "huge pages") == ["good", "good"]
        assert grades(without, "huge pages of node 1") == ["costs"]
        follow(guest, without["huge pages of node 1"]["remedy"])
        assert grades(examined(guest, "4,5"), "huge pages of node 1") == ["good"]
        set_free_pages(guest, of_1_gb=True)
        of_1_gb = examined(guest, "4,5")
        assert grades(of_1_gb, "huge pages", "huge pages of node 1") == ["good", "good"]
        assert of_1_gb["huge pages"]["state"] == "0 free of 2 MB, 2 free of 1024 MB"
    finally:
        set_free_pages(guest, of_2_mb=PAGES)


@only_virtio
@whatever_qemu_does
def test_an_iommu_group_is_taken_as_a_whole(bench: Bench) -> None:
    guest = bench.guest
    bind(guest)
    unbind(guest, bench.nic, NICS[1])
    finding = examined(guest, "4,5", *(f"NIC {nic}" for nic in NICS))[f"NIC {NICS[0]}"]
    assert finding["grade"] == "costs"
    assert f"{NICS[1]} (virtio-pci)" in finding["state"]
    follow(guest, finding["remedy"])
    assert grades(examined(guest, "4,5"), *(f"NIC {nic}" for nic in NICS)) == ["good", "good"]
