"""Measurements by the tester on NICs through vfio-pci: every frame comes back as it should be, and
what is found of a gateway whose capacity is known is right. No rate is judged."""

import json
from typing import Any

import pytest

from tests.hardware.bench import Bench, whatever_qemu_does
from tests.hardware.gateway import CONNECTIONS as OF_THE_GATEWAY
from tests.hardware.gateway import DELAY_S
from tests.hardware.nics import CONNECTIONS, bind, write_testbed
from tests.programs import ROOT

pytestmark = pytest.mark.long
QUICK = "--profile quick --repetitions 1 --seed 5 --output /tmp/results"
CAPACITY = "connection tracking table capacity C"
PROBES = 10  # connections of the warm-up that may still be in the table
# The others of the emulated NICs have one receive queue that the tester can use.
queues_of_each = pytest.mark.parametrize(
    ("nic", "queues"),
    [("e1000e", 1), ("vmxnet3", 1), ("virtio", 1), ("virtio", 2), ("virtio", 4)],
    indirect=["nic"],
)


def measured(bench: Bench, words: str, queues: int, more: str = "") -> dict[str, Any]:
    """Returns the entry of results.json; in no trial was a frame misdelivered."""
    bind(bench.guest)
    testbed = write_testbed(bench.guest, queues=queues, cores=4 if queues > 1 else 2, more=more)
    bench.guest.run("rm -rf /tmp/results")
    verb, _, options = words.partition(" ")
    (entry,) = bench.guest.json(f"{verb} {testbed} {options} {QUICK}")
    judged = f"/usr/bin/python3 {ROOT}/tests/hardware/judged.py /tmp/results/journal.jsonl.gz"
    sums = json.loads(bench.guest.run(judged))
    assert sums["received"] > 0
    assert (sums["misdelivered"], sums["duplicated"], sums["changed"]) == (0, 0, 0), sums
    assert sums["verdicts"].get("PASS", 0) > 0, sums
    check_distribution(sums["by_queue"], queues)
    found: dict[str, Any] = entry
    return found


def check_distribution(by_queue: dict[str, list[int]], queues: int) -> None:
    """Checks that each queue got at least a quarter of an equal share, where frames arrived."""
    arrived = [counts for counts in by_queue.values() if any(counts)]
    assert arrived
    for counts in arrived:
        assert len(counts) == queues
        assert min(counts) >= sum(counts) / (4 * queues), by_queue


def values_of(entry: dict[str, Any], name: str) -> list[float]:
    found = [each for each in entry["figures"] if each["figure"].startswith(name)]
    return [value for each in found for value in each["values"]]


@queues_of_each
@whatever_qemu_does
def test_throughput(bench: Bench, queues: int) -> None:
    bench.gateway.route()
    entry = measured(bench, "throughput --error 30% --max-rate 20000", queues)
    assert entry["rate_fps_per_direction"] > 100


@queues_of_each
@whatever_qemu_does
def test_latency(bench: Bench, queues: int) -> None:
    bench.gateway.route()
    with bench.gateway.delaying():
        entry = measured(bench, "latency --rate 200 --tags 50 --drain 1", queues)
    assert len(found := values_of(entry, "typical latency")) == 2
    assert all(DELAY_S <= value_ns / 1e9 < 3 * DELAY_S for value_ns in found), found
    assert values_of(entry, "lost tagged frames") == [0, 0]


@queues_of_each
@whatever_qemu_does
def test_establishment(bench: Bench, queues: int) -> None:
    bench.gateway.masquerade()
    entry = measured(bench, "establishment --error 30%", queues, CONNECTIONS)
    assert entry["figures"][0]["values"][0] > 50


@queues_of_each
@whatever_qemu_does
def test_capacity(bench: Bench, queues: int) -> None:
    bench.gateway.masquerade()
    words = "capacity --error 10 --max-rate 2000 --rate-error 50%"
    entry = measured(bench, words, queues, CONNECTIONS)
    (figure,) = (each for each in entry["figures"] if each["figure"] == CAPACITY)
    (found,) = figure["values"]
    assert found <= OF_THE_GATEWAY
    if figure["bound"] != "lower":  # that of an hour in which trials above it stayed invalid
        assert found >= OF_THE_GATEWAY - PROBES - 10
