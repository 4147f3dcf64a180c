"""What a self-test has found is kept, and stands beside the delays of such a tester alone."""

from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run
from natxy.cli.self_test import traffic_words
from natxy.dut.cable import Cable
from natxy.errors import StorageError
from natxy.model.event import Hello, PortInfo, Worker
from natxy.model.self_test_record import OwnDelay, SelfTestRecord, TesterIdentity
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.procedure.delay_remarks import own_delay
from natxy.procedure.self_test import SelfTestPlan, looped, self_test
from natxy.report.whole_file import write_whole
from natxy.tester.self_tests import RECORDS, known_self_test, state_file, with_self_test
from tests.unit.stateful_engine import StatefulEngine, StatefulGateway


def hello(
    driver: str = "net_af_xdp",
    cpu: str = "a CPU",
    version: str = "1",
    cpus: int = 1,
    offloads: tuple[str, ...] = (),
) -> Hello:
    members: dict[str, Any] = {
        "driver": driver,
        "device": f"{driver}0",
        "mac": "02:00:00:00:00:01",
        "mtu_bytes": 1500,
        "link_speed_mbps": 0,
        "rx_ring_frames": 2048,
        "refusal": "tester",
        "offloads": offloads,
        "numa_node": -1,
    }
    return Hello(
        event="hello",
        protocol=1,
        engine_version=version,
        dpdk_version="none",
        tsc_hz=10**9,
        tsc_invariant=True,
        huge_pages=False,
        cpu_model=cpu,
        kernel="none",
        main_cpus=(0,),
        workers=tuple(Worker(cpu=cpu) for cpu in range(cpus)),
        ports=tuple(PortInfo(side=side, **members) for side in ("left", "right")),
    )


def record(tester: Hello, *, date: str = "2026-01-02", median_ns: float = 1500.0) -> SelfTestRecord:
    delays = [
        OwnDelay(frame_size_bytes=size, median_ns=median_ns * n, p999_ns=9000.0 * n)
        for n, size in enumerate((84, 1518), start=1)
    ]
    identity = TesterIdentity.of(tester)
    return SelfTestRecord(date=date, loop="veth", cpus=(0,), tester=identity, delays=tuple(delays))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is kept: nothing is there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return state_file()


def keep(path: Path, *records: SelfTestRecord) -> None:
    for each in records:
        write_whole(path, with_self_test(each, path))


def test_it_is_kept_where_the_state_of_programs_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_file() == tmp_path / "natxy" / "self-tests.json"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/somebody")
    assert state_file() == Path("/somebody/.local/state/natxy/self-tests.json")


def test_a_delay_says_what_the_nearest_frame_size_had(kept: Path) -> None:
    keep(kept, record(hello()))
    assert own_delay(hello(), 128) == (
        "Tester's own delay (self-test of 2026-01-02, veth net_af_xdp, 84 B): "
        "median 1.5 µs, P99.9 9 µs."
    )
    assert "1518 B): median 3 µs, P99.9 18 µs" in own_delay(hello(), 1280)
    assert "84 B, another version)" in own_delay(hello(version="2"), 84)


@pytest.mark.parametrize(
    "other",
    [
        hello(driver="net_memif"),
        hello(cpu="another CPU"),
        hello(cpus=2),
        hello(offloads=("rx_timestamp",)),
    ],
)
def test_another_tester_has_none(kept: Path, other: Hello) -> None:
    keep(kept, record(hello()))
    assert known_self_test(other) is None
    assert "unknown; run natxy self-test" in own_delay(other, 84)


def test_the_newest_of_its_kind_is_kept_beside_the_others(kept: Path) -> None:
    ring = hello(driver="net_ring")
    keep(kept, record(hello(), median_ns=1.0), record(ring, median_ns=2.0), record(hello()))
    found = known_self_test(hello())
    assert found == record(hello())
    assert known_self_test(ring) == record(ring, median_ns=2.0)


def test_one_without_a_valid_trial_tells_nothing(kept: Path) -> None:
    keep(kept, record(hello()).model_copy(update={"delays": ()}))
    assert known_self_test(hello()) is None


def test_a_spoilt_file_is_as_good_as_none_and_is_written_anew(kept: Path) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_text('[{"record": "self-test"')
    assert known_self_test(hello()) is None
    keep(kept, record(hello()))
    assert known_self_test(hello()) == record(hello())


def test_the_command_that_finds_it_is_named() -> None:
    assert "run natxy self-test --loop veth." in own_delay(hello(), 84)
    assert "run natxy self-test." in own_delay(hello(driver="net_ring"), 84)
    assert "natxy self-test TESTBED with its two ports" in own_delay(hello(driver="net_mlx5"), 84)


def test_a_place_that_takes_nothing_is_one_sentence() -> None:
    with pytest.raises(StorageError, match="/proc/natxy: cannot be written: "):
        keep(Path("/proc/natxy"), record(hello()))


def test_the_command_keeps_it_for_the_next_measurement(
    engine: list[str], testbed_file: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The script's loop adds 45.5 µs: what natxy pdv then says beside its figures."""
    del engine
    measure = ["pdv", str(testbed_file), "--rate", "1000", "--duration", "0.05", "--drain", "0"]
    measure += ["--settle", "0", "--repetitions", "1", "--output", str(kept.parent / "results")]
    assert run(["self-test", "--frame-size", "84", "--seed", "1"]) == 0
    assert f"Kept for the delays that are measured next: {kept}" in capfd.readouterr().out
    assert run(measure) == 0
    assert "ring fake, 84 B): median 45.5 µs, P99.9 45.5 µs." in capfd.readouterr().out


def test_it_can_be_kept_elsewhere(engine: list[str], kept: Path, tmp_path: Path) -> None:
    del engine
    path = tmp_path / "mine.json"
    assert run(["self-test", "--frame-size", "84", "--output", str(path), "--json"]) == 0
    assert not kept.exists()
    (record,) = RECORDS.validate_json(path.read_bytes())
    assert (record.loop, record.tester.driver, record.cpus) == ("ring", "fake", (0,))


OF_A_NAT: dict[str, Any] = {
    "tester": {"left": {"device": "a"}, "right": {"device": "b"}},
    "traffic": {
        "left_ip_version": 4,
        "right_ip_version": 4,
        "n": 10,
        "m": 9,
        "direction": "reverse",
        "hop_limit_drop": 1,
        "forward": {"destination_port": {"mode": "fixed", "min": 80, "max": 80}},
    },
    "connections": {"count": 100, "rate_fps": 1000},
}


def test_the_loop_has_the_testbeds_own_traffic() -> None:
    """A tester is slower with a mix, with 256 networks and with connections."""
    source = Source(name="test")
    written: Testbed = source.validated(Testbed, OF_A_NAT)
    traffic = looped(written).traffic
    assert (traffic.n, traffic.m, traffic.direction) == (10, 9, "reverse")
    assert (traffic.left_ip_version, traffic.right_ip_version) == (4, 4)
    assert traffic.forward == written.traffic.forward
    assert traffic.hop_limit_drop == 0  # a cable lowers none
    assert looped(written).connections == written.connections
    TrafficPlan(testbed=looped(written), source=source).check()
    assert traffic_words(looped(written)) == (
        "IPv4, reverse only, 90 % foreground, 1 destination network, 100 connections"
    )
    translated = {"left_ip_version": 6, "right_ip_version": 4, "right_networks": 256}
    six = looped(source.validated(Testbed, {"traffic": translated})).traffic
    assert (six.left_ip_version, six.right_ip_version, six.right_networks) == (6, 6, 256)
    assert traffic_words(looped(Testbed())) == (
        "IPv6, both directions at once, 100 % foreground, 1 destination network"
    )


def test_a_self_test_of_connections_needs_nobody_to_delete_them() -> None:
    source = Source(name="test")
    asked = OF_A_NAT | {"connections": {"count": 100}}
    loop = looped(source.validated(Testbed, asked))
    engine = StatefulEngine(gateway=StatefulGateway(new_cps=40_000, frames_fps=50_000))
    tester = engine.tester(TrafficPlan(testbed=loop, source=source))
    plan = SelfTestPlan(seed=1, sizes_bytes=(84,))
    (ceiling,) = self_test(plan, tester, Cable())
    assert ceiling.rate_fps == pytest.approx(50_000, rel=0.02)
    assert {spec.phases[0].name for spec in engine.specs} == {"establish"}
