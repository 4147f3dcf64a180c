"""Gateways in a guest, by the engine: each forwards every frame rightly.

Emulated, a guest takes seconds to boot and forwards slowly, so most of these tests are long.
"""

import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.model.telemetry import Telemetry
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.setup import set_up
from tests.guest.guests import (
    AFTR,
    AFTR_TCP,
    DS_LITE,
    NAT44,
    NAT44_IPTABLES,
    NAT44_RANDOM,
    NAT64,
    NAT64_TAYGA,
    NAT64_TCP,
    PLAT,
    RATE_FPS,
    RINGS,
    ROUTER6,
    SIIT,
    TAYGA,
    campaign,
    measured,
    testbed_of,
    trials_of,
    values_of,
)
from tests.noise import taken
from tests.valid import valid_trial

GATEWAYS = {
    "nat64": NAT64,
    "nat64-tcp": NAT64_TCP,
    "nat64-plat": PLAT,
    "siit": SIIT,
    "siit-1518": SIIT.replace("[dut]", "frame_size_bytes = 1518\n[dut]"),
    "siit-networks": SIIT.replace("[dut]", "right_networks = 256\n[dut]"),
    "nat44": NAT44,
    "nat44-iptables": NAT44_IPTABLES,
    "nat44-random": NAT44_RANDOM,
    "nat64-tayga": NAT64_TAYGA,
    "tayga": TAYGA,
    "aftr": AFTR,
    "aftr-tcp": AFTR_TCP,
    "ds-lite-1518": DS_LITE.replace("[connections]", "frame_size_bytes = 1518\n[connections]"),
    "ipv6-router": ROUTER6,
}
SHORT = "aftr-tcp"  # many parts in one trial of seconds: softwires, masquerading, TCP


def check_every_frame(trial: TrialRecord) -> None:
    assert trial.verdict is Verdict.PASS
    assert trial.result.sent > 0
    for stream in trial.result.streams:
        assert stream.lost == 0
        for _, counters in stream.counters():
            assert counters.misdelivered.total == 0
    assert trial.changed == 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name, marks=() if name == SHORT else pytest.mark.long)
        for name, text in GATEWAYS.items()
    ],
)
def test_every_frame_comes_out_right_in_both_directions(text: str) -> None:
    testbed, source, dut = testbed_of(text)
    with set_up(testbed, source, dut) as session:
        trial = valid_trial(trials_of(session), RATE_FPS, seed=7)
        assert dut.watched or dut.describe()["gateway_cpu"] == "any"
    check_every_frame(trial)
    assert trial.telemetry is not None
    # The guest's, whichever of this machine's QEMU has. A short trial may miss all of its ticks.
    assert [each.cpu for each in trial.telemetry.cpus] == [0]


@pytest.mark.long
def test_the_cpus_of_a_gateway_are_those_that_the_guest_has() -> None:
    """Two virtual ones, even where the tester leaves the guest one of this machine's."""
    testbed, source, dut = testbed_of(ROUTER6)
    dut._cores = 2
    with set_up(testbed, source, dut) as session:
        before = dut.telemetry()
        time.sleep(1.5)
        idle = Telemetry.between(before, dut.telemetry())
        loaded = valid_trial(trials_of(session, Fraction(1)), 4 * RATE_FPS, seed=7).telemetry
        host_cpus = dut.cpus
    assert idle is not None
    assert loaded is not None
    for used in (idle, loaded):
        assert [each.cpu for each in used.cpus] == [0, 1]
        assert not host_cpus or tuple(each.cpu for each in used.host_cpus) == host_cpus
    busy, softirq = (
        [sum(getattr(each, name) for each in used.cpus) / used.seconds for used in (idle, loaded)]
        for name in ("busy_s", "softirq_s")
    )
    assert busy[1] > 2 * busy[0]
    assert softirq[1] > 2 * softirq[0]


@pytest.mark.long
def test_what_takes_the_guests_cpu_is_seen_and_excuses_what_it_loses() -> None:
    """At a rate far below what the guest's router forwards, and pauses that the rings of the tap
    and of the guest, 1,256 frames together, do not outlast."""
    testbed, source, dut = testbed_of(ROUTER6)
    with set_up(testbed, source, dut) as session:
        if not dut.cpus:
            pytest.skip("needs a CPU that the tester leaves free")
        (cpu,) = dut.cpus
        pauses = ("--cpus", str(cpu), "--pieces", "500ms-500ms")
        with taken("40%", *pauses):
            trials = [
                trials_of(session, Fraction(2)).run(load=5_000, repetition=1, seed=seed)
                for seed in range(8)
            ]
    assert all([each.cpu for each in trial.result.watched] == [cpu] for trial in trials)
    away_share = sum(t.away_ns for t in trials) / sum(t.result.sending_ns for t in trials)
    assert 0.1 < away_share < 0.95
    losing = [trial for trial in trials if trial.result.lost]
    assert losing
    assert all(trial.verdict is Verdict.INVALID for trial in losing)
    assert any(f"CPU {cpu}" in trial.invalid_reasons[0].where for trial in losing)


@pytest.mark.long
def test_the_ring_that_refuses_frames_is_named_after_the_port_that_sends_them() -> None:
    """Frames in one direction, of which an emulated guest loses most, whoever takes its core."""
    testbed, source, dut = testbed_of(SIIT.replace("[dut]", 'direction = "forward"\n[dut]'))
    with set_up(testbed, source, dut) as session:
        if dut.machine.accelerator == "kvm":
            pytest.skip("a guest with KVM loses none of them")
        trial = trials_of(session).run(load=32_000, repetition=1, seed=7)
    assert trial.telemetry is not None
    assert trial.telemetry.drops is not None
    assert list(trial.telemetry.drops) == [RINGS["forward"]]
    assert 0 < trial.telemetry.drops[RINGS["forward"]] <= trial.result.lost


Holds = Callable[[dict[str, Any]], bool]


@pytest.mark.long
@pytest.mark.parametrize(
    ("verb", "options", "holds"),
    [
        (
            "establishment",
            ("--validated", "--error", "30%"),
            lambda entry: entry["figures"][0]["values"][0] > 50,
        ),
        (
            "throughput",
            ("--error", "30%"),
            lambda entry: entry["rate_fps_per_direction"] > 100,
        ),
        (
            "latency",
            ("--rate", str(RATE_FPS)),
            lambda entry: (
                len(found := values_of(entry, "typical latency")) == 2
                and all(0 < value_ns < 1e9 for value_ns in found)
                and values_of(entry, "lost tagged frames") == [0, 0]
            ),
        ),
        (
            "frame-loss",
            ("--rates", "200"),
            lambda entry: values_of(entry, "frame loss rate") == [0, 0],
        ),
    ],
    ids=["establishment", "throughput", "latency", "frame-loss"],
)
@pytest.mark.parametrize(
    "testbed",
    [
        pytest.param(PLAT, id="jool-as-plat"),
        pytest.param(AFTR, id="aftr"),
        pytest.param(DS_LITE, id="ds-lite-in-a-row"),
    ],
)
def test_a_gateway_of_subscribers_is_measured(
    verb: str, options: tuple[str, ...], holds: Holds, testbed: str, tmp_path: Path
) -> None:
    entry = measured(verb, tmp_path, *options, testbed=testbed)
    assert holds(entry), entry["figures"]


@pytest.mark.long
def test_one_experiment_compares_gateways_in_the_same_guest(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    cells = campaign(folder, "run", "experiments/guest/gateways.toml", "--quick")
    columns = [json.loads(key)[0] for key in cells]
    assert columns == [
        "Jool, stateful NAT64",
        "tayga and iptables, stateful NAT64",
        "nftables, NAT44",
        "iptables, NAT44",
        "AFTR of DS-Lite",
    ]
    duts = []
    for cell in cells.values():
        ((figure,),) = (result.figures for result in cell.results)
        assert figure.name == "throughput"
        assert all(100 < value < 1e5 for value in figure.values)
        duts.append(cell.begun.provenance["dut"])
    drivers = [dut["driver"] for dut in duts]
    assert drivers == ["jool", "nat64", "nat44", "nat44-iptables", "aftr"]
    for same in ("kernel", "qemu", "accelerator", "cores", "memory_mb", "gateway_cpu"):
        assert len({dut[same] for dut in duts}) == 1
