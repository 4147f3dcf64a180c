"""464XLAT by a CLAT and a PLAT in a row (RFC 8219 section 4.2), frame by frame and by commands.

Tables are small, and rates are such as both gateways surely do.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw

from natxy.dut.addresses import LEFT, RIGHT, SideAddresses
from natxy.dut.namespace import NamespaceDut
from natxy.dut.process import within
from natxy.errors import DutError
from tests.labs.conftest import StartLab
from tests.labs.stateful_verbs import COMMON, ENTRIES, UP_TO_4000, measured, run, values
from tests.labs.traffic import DATA, LabWire, answer_to, has_right_checksums, ipv4, ipv6
from tests.valid import valid_run

XLAT464 = f"""\
{COMMON}
[traffic]
left_ip_version = 4
right_ip_version = 4
avoid_zero_checksum = true
[dut]
kind = "namespace"
driver = "464xlat"
conntrack_entries = {ENTRIES}
"""
SHORT = ("--duration", "0.2", "--drain", "0.1", "--settle", "0")
HOPS = 6  # kernel, tayga and kernel again, in each of the two gateways
LARGEST = bytes(1472)  # an IPv4 packet of 1500 octets
DIRECTIONS = ("forward", "reverse")


def largest(source: str, destination: str) -> Packet:
    return (
        IP(src=source, dst=destination, flags="DF", ttl=64)
        / UDP(sport=1025, dport=7)
        / Raw(LARGEST)
    )


def taygas(dut: NamespaceDut) -> dict[str, int]:
    """Process numbers by the name of the configuration."""
    label = str(dut.gateway_namespace).removeprefix("natxy-g-")
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text(errors="replace")
        except OSError:  # the process ended meanwhile
            continue
        if f"natxy-lab-{label}-0/" in words:
            found["CLAT" if "/clat.conf" in words else "PLAT"] = int(path.parent.name)
    return found


@pytest.mark.parametrize("make", [ipv4, largest], ids=["64", "1518"])
def test_a_frame_and_its_answer(shared_lab: StartLab, make: Any) -> None:
    """The PLAT shows its own address outside, and knows whose the answer is."""
    wire = LabWire(shared_lab("464xlat", 4, 4))
    sent = make(LEFT.tester_ipv4, RIGHT.tester_ipv4)
    (came,) = wire.carry_until(LEFT, [sent])
    assert (came[IP].src, came[IP].dst) == (RIGHT.gateway_ipv4, RIGHT.tester_ipv4)
    assert came[IP].ttl == 64 - HOPS
    assert bytes(came[UDP].payload) == (LARGEST if make is largest else DATA)
    assert has_right_checksums(came)
    (back,) = wire.carry(RIGHT, [answer_to(came)], 2)
    assert (back[IP].src, back[IP].dst) == (RIGHT.tester_ipv4, LEFT.tester_ipv4)
    assert (back[UDP].sport, back[UDP].dport) == (7, sent[UDP].sport)
    assert has_right_checksums(back)


def test_every_network_is_translated(shared_lab: StartLab) -> None:
    wire = LabWire(shared_lab("464xlat", 4, 4))
    out = [ipv4("198.18.7.2", f"198.19.{n}.2") for n in range(256)]
    assert wire.carry_until(LEFT, [out[0]])
    came = wire.carry(LEFT, out, 3)
    assert sorted(c[IP].dst for c in came) == sorted(f"198.19.{n}.2" for n in range(256))


@pytest.mark.parametrize("side", [LEFT, RIGHT], ids=["forward", "reverse"])
def test_native_ipv6_is_routed_by_both(shared_lab: StartLab, side: SideAddresses) -> None:
    wire = LabWire(shared_lab("464xlat", 4, 4))
    other = RIGHT if side is LEFT else LEFT
    (came,) = wire.carry_until(side, [ipv6(side.tester_ipv6, other.tester_ipv6)])
    assert (came[IPv6].src, came[IPv6].dst) == (side.tester_ipv6, other.tester_ipv6)
    assert came[IPv6].hlim == 62


def test_frames_come_again_after_a_reset(start_lab: StartLab) -> None:
    dut = start_lab("464xlat", 4, 4)
    wire = LabWire(dut)
    sent = ipv4(LEFT.tester_ipv4, RIGHT.tester_ipv4)
    assert wire.carry_until(LEFT, [sent])
    before = taygas(dut)
    said = dut.restart()
    assert "CLAT: software reset" in said
    assert "PLAT: software reset" in said
    after = taygas(dut)
    assert sorted(before) == sorted(after) == ["CLAT", "PLAT"]
    assert not set(before.values()) & set(after.values())
    assert dut.table is not None
    assert dut.table.count() == 0
    assert wire.carry_until(LEFT, [sent])


def test_both_are_watched_on_the_gateways_cpu(start_lab: StartLab) -> None:
    dut = start_lab("464xlat", 4, 4)
    if not dut.watched:
        pytest.skip("on one CPU, the gateways run in the tester's send call and are not watched")
    (watched,) = dut.watched
    pids = taygas(dut)
    assert sorted(pids) == ["CLAT", "PLAT"]
    assert set(pids.values()) <= set(watched.threads)
    assert all(os.sched_getaffinity(pid) == {watched.cpu} for pid in pids.values())


@pytest.mark.parametrize("name", [pytest.param("CLAT", marks=pytest.mark.long), "PLAT"])
def test_the_one_that_died_is_named(start_lab: StartLab, name: str) -> None:
    dut = start_lab("464xlat", 4, 4)
    dut.before_trial()
    os.kill(taygas(dut)[name], signal.SIGKILL)

    def is_known() -> bool:
        try:
            dut.before_trial()
        except DutError:
            return True
        return False

    assert within(5, is_known)
    with pytest.raises(DutError, match=f"^{name}: tayga ended"):
        dut.before_trial()
    dut.recover()
    dut.before_trial()


@pytest.mark.long  # tests/accuracy measures the rate of the same gateways, which is known there
def test_validated_establishment_rate(tmp_path: Path) -> None:
    options = ("--validated", "--error", "20%", *UP_TO_4000)
    ((rate_cps,),) = values(measured("establishment", XLAT464, tmp_path, *options)).values()
    assert rate_cps > 1000


def entries_of(verb: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    """The entries of results.json; no frame was misdelivered."""
    done = valid_run(lambda: run(verb, XLAT464, folder, *options))
    assert done.returncode == 0, done.stderr[-2000:]
    entries: list[dict[str, Any]] = json.loads(done.stdout)
    assert all(entry["misdelivered"] == 0 for entry in entries)
    return entries


def figures(entry: dict[str, Any], name: str, direction: str) -> list[float]:
    return [
        value
        for figure in entry["figures"]
        if (figure["figure"], figure["direction"]) == (name, direction)
        for value in figure["values"]
    ]


@pytest.mark.long
def test_throughput_in_phase_2(tmp_path: Path) -> None:
    (entry,) = entries_of("throughput", tmp_path, "--error", "20%", *UP_TO_4000)
    assert entry["rate_fps_per_direction"] >= 1000


@pytest.mark.long
def test_latency(tmp_path: Path) -> None:
    (entry,) = entries_of("latency", tmp_path, *SHORT, "--rate", "2000", "--tags", "100")
    for direction in DIRECTIONS:
        (typical_ns,) = figures(entry, "typical latency", direction)
        assert 0 < typical_ns < 1e8
        assert figures(entry, "lost tagged frames", direction) == [0]


@pytest.mark.parametrize(
    "series",
    [
        pytest.param(("--foreground", "100,50"), id="with-native-ipv6"),
        pytest.param(("--frame-size", "1538"), id="1518-octets-of-ipv4", marks=pytest.mark.long),
    ],
)
def test_nothing_is_lost_at_a_low_rate(series: tuple[str, str], tmp_path: Path) -> None:
    entries = entries_of("frame-loss", tmp_path, *SHORT, "--rates", "2000", *series)
    for entry in entries:
        for direction in DIRECTIONS:
            assert figures(entry, "frame loss rate", direction) == [0.0]
