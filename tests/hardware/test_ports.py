"""One port through vfio-pci and what belongs to it: its memory, its ring, its queues, its link, its
MTU, and that it can be given back."""

import threading
import time
from typing import Any

import pytest

from natxy.dut.addresses import LEFT
from tests.hardware.bench import MTU_BYTES, PAGES, RING_FRAMES, Bench, whatever_qemu_does
from tests.hardware.nics import (
    DPDKS_DRIVER,
    NICS,
    SPEED_MBPS,
    bind,
    set_free_pages,
    unbind,
    write_testbed,
)
from tests.hardware.tester_guest import TesterGuest
from tests.valid import valid

pytestmark = pytest.mark.long
LARGEST_BYTES = MTU_BYTES + 18 + 20  # with header and FCS; as an IPv4 frame, it is 20 smaller
LINK_DOWN_S = 1.0
# Lists, while the engine runs, the free pages of 1 GB and of 2 MB of node 0, then those of node 1,
# and the engine's threads with their CPUs.
WATCH = """
until engine=$(pidof natxy-engine); do sleep 0.1; done
while [ -e /proc/$engine/exe ]; do
  cat /sys/devices/system/node/node[01]/hugepages/hugepages-*/free_hugepages | tr '\\n' ' '
  for task in /proc/$engine/task/*; do
    echo -n "$(cat $task/comm):$(sed -n 's/Cpus_allowed_list:\\t//p' $task/status) "
  done
  echo
  sleep 0.5
done 2>/dev/null
"""


def with_router(bench: Bench) -> TesterGuest:
    bench.gateway.route()
    bind(bench.guest)
    return bench.guest


def refusal(guest: TesterGuest, testbed: str) -> str:
    guest.start(f"trial {testbed} --rate 100 --duration 0.5")
    assert guest.wait() != 0
    return " ".join(guest.run("cat /tmp/errors").split())


def valid_trial(guest: TesterGuest, testbed: str, options: str = "") -> dict[str, Any]:
    words = f"trial {testbed} --rate 100 --duration 0.5 {options}"
    return valid(lambda: guest.json(words), invalid_reasons)


def watched_trial(guest: TesterGuest, testbed: str) -> tuple[list[list[str]], dict[str, Any]]:
    """Returns the lines of WATCH, as words, and the trial."""
    guest.start(f"trial {testbed} --rate 100 --duration 0.5 --json")
    seen = [words for line in guest.run(WATCH).splitlines() if len(words := line.split()) > 4]
    guest.wait()
    return seen, guest.read_json()


def invalid_reasons(trial: dict[str, Any]) -> list[dict[str, Any]]:
    return list(trial["invalid_reasons"])


def check_every_frame(trial: dict[str, Any]) -> None:
    assert trial["verdict"] == "PASS", trial["invalid_reasons"]
    for stream in trial["result"]["streams"]:
        counters = stream["kinds"]["foreground"]
        assert counters["received"] == counters["sent"] == stream["due"]
        assert (counters["misdelivered"]["total"], counters["duplicated"]) == (0, 0)


@pytest.mark.parametrize("size", ["2 MB", "1 GB"])
@whatever_qemu_does
def test_memory_and_workers_are_near_the_port(bench: Bench, size: str) -> None:
    bound = with_router(bench)
    testbed = write_testbed(bound, cores=4, queues=2 if bench.nic == "virtio" else 1)
    try:
        if size == "1 GB":
            set_free_pages(bound, of_1_gb=True)
        seen, trial = valid(
            lambda: watched_trial(bound, testbed), lambda found: invalid_reasons(found[1])
        )
    finally:
        set_free_pages(bound, of_2_mb=PAGES)
    free = [min(int(words[place]) for words in seen) for place in range(4)]
    if size == "1 GB":
        assert free[2] == 0, seen
    else:
        assert free[3] < free[1], seen
    threads = {word for words in seen for word in words[4:]}
    assert {f"rte-worker-{n}:{n + 3}" for n in (1, 2, 3, 4)} <= threads, threads

    check_every_frame(trial)
    tester, workers = trial["provenance"]["tester"], trial["result"]["workers"]
    assert tester["huge_pages"]
    for port in tester["ports"]:
        assert (port["numa_node"], port["driver"]) == (1, DPDKS_DRIVER[bench.nic])
        assert port["link_speed_mbps"] == SPEED_MBPS[bench.nic]
        if bench.nic == "virtio":  # whose driver leaves a place or two of the ring empty
            assert RING_FRAMES - 8 <= port["rx_ring_frames"] <= RING_FRAMES
        else:
            assert port["rx_ring_frames"] == 1024
        assert port["offloads"] == []  # none of these devices time-stamps arrivals
    assert [worker["cpu"] for worker in workers] == [4, 5, 6, 7]
    assert all(worker["tasks"] for worker in workers), workers


@pytest.mark.parametrize("queues", [2, 4])
@pytest.mark.parametrize("nic", ["e1000e", "vmxnet3"], indirect=True)
@whatever_qemu_does
def test_a_nic_that_cannot_distribute_says_so(bench: Bench, nic: str, queues: int) -> None:
    """QEMU's e1000e does not distribute for DPDK, and its vmxnet3 not by the ports of UDP."""
    bound = with_router(bench)
    said = refusal(bound, write_testbed(bound, cores=4, queues=queues))
    reason = "" if nic == "e1000e" else " by the ports of UDP"
    assert (
        f'left: the device "{NICS[0]}" does not distribute frames among receive queues{reason} '
        "(expected --rx-queues 1)" in said
    )


@whatever_qemu_does
def test_frames_of_an_mtu_of_9000(bench: Bench) -> None:
    bound = with_router(bench)
    testbed = write_testbed(bound, mtu_bytes=MTU_BYTES)
    check_every_frame(valid_trial(bound, testbed, f"--frame-size {LARGEST_BYTES}"))


@whatever_qemu_does
def test_frames_of_ipv6(bench: Bench) -> None:
    """The gateway asks for the tester by Neighbour Solicitations, which are multicast."""
    bound = with_router(bench)
    check_every_frame(valid_trial(bound, write_testbed(bound, ip_version=6)))


@whatever_qemu_does
def test_a_link_that_falls_in_a_trial_is_counted(bench: Bench) -> None:
    bound = with_router(bench)
    testbed = write_testbed(bound)
    ended = threading.Event()

    def pull_the_cable() -> None:
        while not ended.is_set():
            for state, seconds in (("off", LINK_DOWN_S), ("on", 2 * LINK_DOWN_S)):
                bound.monitor(f"set_link n0 {state}")
                time.sleep(seconds)

    cable = threading.Thread(target=pull_the_cable)
    cable.start()
    try:
        trial = bound.json(f"trial {testbed} --rate 100 --duration 10")
    finally:
        ended.set()
        cable.join()
    falls = {port["side"]: port["link_downs"] for port in trial["result"]["ports"]}
    assert falls["left"] > 0
    assert falls["right"] == 0
    assert trial["verdict"] == "INVALID"
    assert any("link" in reason["code"] for reason in trial["invalid_reasons"])


@whatever_qemu_does
def test_a_nic_is_given_back_and_taken_again(bench: Bench) -> None:
    bound = with_router(bench)
    testbed = write_testbed(bound)
    unbind(bound, bench.nic)
    if bench.nic != "e1000e":  # the guest's kernel has no driver for it
        interfaces = bound.run(f"ls /sys/bus/pci/devices/{NICS[0]}/{{,virtio*/}}net 2>&1 || true")
        assert "eth" in interfaces
    assert f"DPDK finds no Ethernet device {NICS[0]}" in refusal(bound, testbed)
    bind(bound)
    check_every_frame(valid_trial(bound, testbed))


@whatever_qemu_does
def test_a_next_hop_behind_the_nic_is_missed(bench: Bench) -> None:
    bound = with_router(bench)
    testbed = write_testbed(bound)
    bound.run(f"sed -i 's/{LEFT.gateway_ipv4}/198.18.0.9/' {testbed}")
    bound.run(f"sed -i 's/^rx_queues/warm_up_timeout_s = 2\\nrx_queues/' {testbed}")
    assert "198.18.0.9" in refusal(bound, testbed)
