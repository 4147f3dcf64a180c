"""Tests of kept self-tests: each stands beside the delays of such a tester alone."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
from rich.console import Console

from natxy.cli import run_command
from natxy.cli.self_test import ceiling_table, remarks, traffic_words
from natxy.dut.none import Cable
from natxy.errors import StorageError
from natxy.model.distribution import NOTHING
from natxy.model.event import Hello, Worker
from natxy.model.reason import Reason
from natxy.model.remark import Remark, Topic
from natxy.model.self_test_record import DelayAt, OwnDelay, SelfTestRecord, TesterIdentity
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TrafficSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream, TrialSpec
from natxy.model.verdict import Limit
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.self_test import Ceiling, SelfTestPlan, looped, own_delay_errors, self_test
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.results_csv import results_csv
from natxy.report.results_json import result_entry
from natxy.search.bisection import SearchError
from natxy.tester.self_tests import RECORDS, known_self_test, state_file, with_self_test
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.tester_delay import ON_A_CABLE, own_delay
from natxy.trial.timing import Timing
from natxy.whole_file import write_whole
from tests.remarks import topics
from tests.unit.fake_engine import FakeEngine, distribution, first_above, frames_in, rate_of
from tests.unit.reasons import LATE
from tests.unit.results import result_of, stream_of
from tests.unit.stateful_gateway import StatefulGateway

SHORT = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(0), settle_s=Fraction(0))
PLAN = SelfTestPlan(seed=1, sizes_bytes=(84,), timing=SHORT, error=SearchError(rate_fps=1))


def hello(
    driver: str = "net_af_xdp",
    cpu: str = "a CPU",
    version: str = "1",
    cpus: int = 1,
    offloads: tuple[str, ...] = (),
    mbps: int = 0,
    variant: str = "x86-64-v3",
) -> Hello:
    fake = FakeEngine(link_mbps=mbps).hello
    device = {"driver": driver, "device": f"{driver}0", "offloads": offloads}
    return fake.model_copy(
        update={
            "engine_version": version,
            "variant": variant,
            "cpu_model": cpu,
            "workers": tuple(Worker(cpu=cpu) for cpu in range(cpus)),
            "ports": tuple(port.model_copy(update=device) for port in fake.ports),
        }
    )


def traffic(frame_size_bytes: int = 84, ip_version: Literal[4, 6] = 6) -> TrafficSection:
    return TrafficSection(
        left_ip_version=ip_version,
        right_ip_version=ip_version,
        frame_size_bytes=frame_size_bytes,
    )


def looped_session(engine: FakeEngine) -> Session:
    loop = looped(Testbed(traffic=traffic()))
    return engine.session(TrafficPlan(testbed=loop, source=Source(name="test")), Cable())


def delay_at(rate_fps: int, nth: int, median_ns: float) -> DelayAt:
    found = {"minimum_ns": 500.0 * nth, "median_ns": median_ns * nth, "p999_ns": 9000.0 * nth}
    return DelayAt(rate_fps=rate_fps, **found)


def record(tester: Hello, *, date: str = "2026-01-02", median_ns: float = 1500.0) -> SelfTestRecord:
    delays = [
        OwnDelay(
            frame_size_bytes=size,
            offset=delay_at(1000, nth, median_ns / 2),
            loaded=delay_at(400_000, nth, median_ns),
        )
        for nth, size in enumerate((84, 1518), start=1)
    ]
    identity = TesterIdentity.of(tester, traffic())
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
    (said,) = own_delay(hello(), traffic(84))
    assert str(said) == (
        "Tester's own delay (self-test of 2026-01-02, veth net_af_xdp, 84 B): at 1,000 fps "
        "minimum 500 ns, median 750 ns; at 400,000 fps minimum 500 ns, median 1.50 µs, P99.9 9 µs."
    )
    _, of_128 = own_delay(hello(), traffic(128))
    assert of_128.facts == {"asked_bytes": 128, "size_bytes": 84}
    of_1518, of_1280 = own_delay(hello(), traffic(1280))
    assert of_1280.facts == {"asked_bytes": 1280, "size_bytes": 1518}
    assert of_1518.facts["low_minimum_ns"] == 1000
    assert topics(own_delay(hello(version="2"), traffic()))[1:] == [Topic.OWN_DELAY_OF_VERSION]


def test_a_delays_conditions_hold_what_the_tester_adds_to_it(kept: Path) -> None:
    """Of the ports that measure, at the nearest frame size; in JSON and in CSV."""
    source = Source(name="test")
    engine = FakeEngine()
    for size, nth in ((84, 1), (1280, 2)):
        testbed = looped(Testbed(traffic=traffic(size)))
        session = engine.session(TrafficPlan(testbed=testbed, source=source), Cable())
        keep(kept, record(session.hello))
        plan = PdvPlan(timing=SHORT, seed=1, repetitions=1, rate_fps=1000)
        measured = pdv(plan, session)
        entry = result_entry(measured)["tester_delay"]
        assert entry["frame_size_bytes"] == (84, 1518)[nth - 1]
        assert entry["offset"] == {
            "rate_fps": 1000,
            "minimum_ns": 500.0 * nth,
            "median_ns": 750.0 * nth,
            "p999_ns": 9000.0 * nth,
        }
        assert entry["loaded"]["median_ns"] == 1500.0 * nth
        row = next(csv.DictReader(io.StringIO(results_csv([measured]))))
        assert row["tester_delay_size_bytes"] == str(entry["frame_size_bytes"])
        for part in ("offset", "loaded"):
            assert row[f"tester_{part}_fps"] == str(entry[part]["rate_fps"])
            for name in ("minimum_ns", "median_ns", "p999_ns"):
                assert row[f"tester_{part}_{name}"] == str(entry[part][name])
        kept.unlink()
        unknown = pdv(plan, session)
        assert result_entry(unknown)["tester_delay"] is None
        row = next(csv.DictReader(io.StringIO(results_csv([unknown]))))
        assert {value for name, value in row.items() if name.startswith("tester_")} == {""}


def test_a_throughput_has_it_too(kept: Path) -> None:
    """A frame timeout is held against delays."""
    session = looped_session(FakeEngine())
    keep(kept, record(session.hello))
    plan = ThroughputPlan(timing=SHORT, seed=1, repetitions=1, max_rate_fps=1000)
    found = throughput(plan, session)
    assert found.conditions.tester_delay == record(session.hello).delays[0]


@pytest.mark.parametrize(
    "other",
    [
        hello(driver="net_memif"),
        hello(cpu="another CPU"),
        hello(cpus=2),
        hello(offloads=("rx_timestamp",)),
        hello(mbps=10_000),
    ],
)
def test_another_tester_has_none(kept: Path, other: Hello) -> None:
    keep(kept, record(hello()))
    assert known_self_test(other, traffic()) is None
    assert topics(own_delay(other, traffic())) == [Topic.OWN_DELAY_UNKNOWN]


def test_a_loop_of_ipv6_says_nothing_of_ipv4(kept: Path) -> None:
    keep(kept, record(hello()))
    assert known_self_test(hello(), traffic(ip_version=4)) is None
    (said,) = own_delay(hello(), traffic(ip_version=4))
    assert said.facts["command"] == "natxy self-test --loop veth --ip-version 4"
    translated = TrafficSection(left_ip_version=6, right_ip_version=4)
    assert known_self_test(hello(), translated) == record(hello())  # its loop is IPv6


def test_a_file_of_the_version_before_is_refused_in_one_sentence(kept: Path) -> None:
    old = record(hello()).model_dump(mode="json")
    del old["tester"]["link_speeds_mbps"], old["tester"]["ip_version"]
    old["delays"] = [{"frame_size_bytes": 84, "median_ns": 1.0, "p999_ns": 2.0}]
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps([old]))
    said, unreadable = own_delay(hello(), traffic())
    assert str(said) == (
        "Tester's own delay (net_af_xdp): unknown; `natxy self-test --loop veth` measures it."
    )
    assert unreadable == Remark.of(Topic.SELF_TESTS_UNREADABLE, file=str(kept))
    keep(kept, record(hello()))
    assert topics(own_delay(hello(), traffic())) == [Topic.OWN_DELAY]


def test_the_newest_of_its_kind_is_kept_beside_the_others(kept: Path) -> None:
    ring = hello(driver="net_ring")
    keep(kept, record(hello(), median_ns=1.0), record(ring, median_ns=2.0), record(hello()))
    found = known_self_test(hello(), traffic())
    assert found == record(hello())
    assert known_self_test(ring, traffic()) == record(ring, median_ns=2.0)


def test_one_without_a_valid_trial_tells_nothing(kept: Path) -> None:
    keep(kept, record(hello()).model_copy(update={"delays": ()}))
    assert known_self_test(hello(), traffic()) is None


def test_a_spoilt_file_is_as_good_as_none_and_is_written_anew(kept: Path) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_text('[{"record": "self-test"')
    assert known_self_test(hello(), traffic()) is None
    keep(kept, record(hello()))
    assert known_self_test(hello(), traffic()) == record(hello())


def test_the_command_that_finds_it_is_named() -> None:
    def named(tester: Hello, **changes: Any) -> Any:
        (said,) = own_delay(tester, traffic(**changes))
        return said.facts["command"]

    assert named(hello()) == "natxy self-test --loop veth"
    assert named(hello(driver="net_ring")) == "natxy self-test"
    assert named(hello(driver="net_mlx5"), ip_version=4) == ON_A_CABLE


def test_the_offset_is_measured_where_no_frame_waits() -> None:
    """The fake's queue is as long as the rate is high; the reverse direction is the worse one."""

    def delays(stream: Stream) -> dict[str, Any]:
        worse = 2.0 if stream.direction == "reverse" else 1.0
        queued_ns = float(rate_of(stream))
        named = {"min_ns": 10.0, "p50_ns": 10.0 + queued_ns, "p999_ns": 20.0 + queued_ns}
        delay = {name: worse * delay_ns for name, delay_ns in named.items()}
        return {"delay": distribution(frames_in(stream)) | delay}

    engine = FakeEngine(counters=delays, link_mbps=1000)
    session = looped_session(engine)
    plan = SelfTestPlan(seed=1, sizes_bytes=(84, 1518), timing=SHORT)
    for ceiling, size in zip(self_test(plan, session), (84, 1518), strict=True):
        assert ceiling.delay is not None
        offset, loaded = ceiling.delay.offset, ceiling.delay.loaded
        assert ceiling.delay.frame_size_bytes == size
        assert (offset.rate_fps, loaded.rate_fps) == (1000, ceiling.rate_fps // 2)
        assert (offset.minimum_ns, offset.median_ns, offset.p999_ns) == (20.0, 2020.0, 2040.0)
        assert loaded.median_ns == 20.0 + 2 * loaded.rate_fps


def test_the_offset_of_a_slow_loop_is_below_its_ceiling() -> None:
    engine = FakeEngine(lose=first_above(900))
    session = looped_session(engine)
    (ceiling,) = self_test(SelfTestPlan(seed=1, sizes_bytes=(84,), timing=SHORT), session)
    assert ceiling.rate_fps == pytest.approx(900, rel=0.02)
    assert ceiling.delay is not None
    assert ceiling.delay.offset.rate_fps == ceiling.rate_fps // 2


@pytest.mark.parametrize("spoilt_fps", [1000, 5000])
def test_without_a_valid_trial_at_either_rate_there_is_no_delay(spoilt_fps: int) -> None:
    """The low rate, or half of the ceiling; the search itself is valid."""

    def invalid(spec: TrialSpec) -> Reason | None:
        spoilt = rate_of(spec.phases[0].streams[0]) == spoilt_fps
        return LATE if spoilt and spec.seed == repetition_seed(2, 1) else None

    engine = FakeEngine(lose=first_above(10_000), invalid=invalid)
    session = looped_session(engine)
    (ceiling,) = self_test(PLAN, session)
    assert ceiling.rate_fps == 10_000
    assert ceiling.delay is None


@pytest.mark.parametrize("too_slow", [True, False])
def test_a_rate_that_noise_limits_is_a_lower_bound_and_says_so(too_slow: bool) -> None:
    """The tester may reach more, which one that was too slow does not."""

    def invalid(spec: TrialSpec) -> Reason | None:
        above = rate_of(spec.phases[0].streams[0]) > 50_000
        return LATE if above else None

    engine = FakeEngine(invalid=invalid, too_slow=too_slow)
    plan = SelfTestPlan(seed=1, sizes_bytes=(84,), timing=SHORT)
    (ceiling,) = self_test(plan, looped_session(engine))
    assert ceiling.rate_fps == pytest.approx(50_000, rel=0.02)
    assert ceiling.lower_bound == ceiling.noise == (not too_slow)
    output = io.StringIO()
    Console(file=output, width=80).print(ceiling_table([ceiling]))
    shown = output.getvalue()
    assert ("≥ " in shown) == ("noise" in shown) == (not too_slow)
    assert ("lateness" in shown) == too_slow
    assert any("Limited by noise" in said for said in remarks([ceiling])) == (not too_slow)


@pytest.mark.parametrize("spoilt_fps", [1000, 5000])
@pytest.mark.parametrize("absences", [2, 10_000])
def test_an_own_delay_that_an_absence_may_have_made_does_not_count(
    spoilt_fps: int, absences: int
) -> None:
    """One frame in a hundred waited 5 ms for the tester's own poll, in the first trials."""
    spoilt = 0

    def is_spoilt(stream: Stream) -> bool:
        of_delay = engine.specs[-1].seed == repetition_seed(2, 1)
        return of_delay and rate_of(stream) == spoilt_fps and spoilt <= 2 * absences

    def delays(stream: Stream) -> dict[str, Any]:
        nonlocal spoilt
        spoilt += is_spoilt(stream)
        count = frames_in(stream)
        worst, worst_ns = (count // 100, 5e6) if is_spoilt(stream) else (1, 3000.0)
        delay = {
            "min_ns": 1000.0,
            "max_ns": worst_ns,
            "p50_ns": 1000.0,
            "p999_ns": worst_ns,
            "buckets": ((1000.0, 1000.0, count - worst), (worst_ns, worst_ns, worst)),
        }
        return {"delay": distribution(count) | delay}

    def gaps(stream: Stream) -> dict[str, Any]:
        count = frames_in(stream)
        buckets = ((0.0, 1000.0, count - count // 100), (4e6, 6e6, count // 100))
        gap = {**distribution(count), "max_ns": 5e6, "buckets": buckets}
        return {"poll_gap": gap} if is_spoilt(stream) else {}

    engine = FakeEngine(lose=first_above(10_000), counters=delays, members=gaps)
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert ceiling.rate_fps == 10_000
    if absences == 2:
        assert ceiling.delay is not None
        assert (ceiling.delay.offset.p999_ns, ceiling.delay.loaded.p999_ns) == (3000.0, 3000.0)
        assert remarks([ceiling]) == ()
        return
    assert ceiling.delay is None
    (said,) = remarks([ceiling])
    assert said.startswith("The tester's own delay at 84 B is unknown, and is not stored: ")
    assert "the P99.9 of the tester's own delay of 5 ms may be 5 ms too long" in said
    assert "natxy doctor" in said


def test_a_self_test_without_a_delay_leaves_an_earlier_one_stored(
    engine: list[str],
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    del engine
    command = ["self-test", "--frame-size", "84"]
    assert run_command(command) == 0
    before = kept.read_bytes()
    monkeypatch.setattr("natxy.procedure.self_test._own_delay", lambda *_: (None, "no trial"))
    capfd.readouterr()
    assert run_command(command) == 0
    said = capfd.readouterr().out
    assert "own delay at 84 B is unknown, and is not stored: no trial." in said
    assert "Stored" not in said
    assert kept.read_bytes() == before


def test_no_number_is_cut_off_in_80_columns() -> None:
    at = delay_at(1000, 1, 123_456.0)
    ceiling = Ceiling(
        frame_size_bytes=1518,
        rate_fps=14_880_952,
        limit=Limit.DUT,
        lower_bound=True,
        trials=25,
        invalid_trials=12,
        misdelivered=0,
        delay=OwnDelay(frame_size_bytes=1518, offset=at, loaded=at),
    )
    output = io.StringIO()
    table = ceiling_table([ceiling, ceiling.model_copy(update={"delay": None})])
    Console(file=output, width=80).print(table)
    shown = output.getvalue()
    assert "…" not in shown
    for cell in ("1518 B", "≥ 14,880,952", "183.095", "123 µs", "12 of 25", "none"):
        assert cell in shown


def test_the_loop_is_of_the_ip_version_that_is_asked_for(
    engine: list[str], kept: Path, capfd: pytest.CaptureFixture[str], testbed_file: Path
) -> None:
    del engine
    for version in ("4", "6"):
        assert run_command(["self-test", "--frame-size", "84", "--ip-version", version]) == 0
        assert f"Traffic: IPv{version}, both directions" in capfd.readouterr().out
    known = RECORDS.validate_json(kept.read_bytes())
    assert [each.tester.ip_version for each in known] == [4, 6]
    assert run_command(["self-test", "--ip-version", "5"]) == 2
    assert "--ip-version: unknown value 5 (expected 4 or 6)" in capfd.readouterr().err
    assert run_command(["self-test", str(testbed_file), "--ip-version", "4"]) == 2
    assert "a testbed, which has its own traffic" in capfd.readouterr().err


def test_a_place_that_takes_nothing_is_one_sentence() -> None:
    with pytest.raises(StorageError, match="/proc/natxy: cannot be written: "):
        keep(Path("/proc/natxy"), record(hello()))


def test_the_command_keeps_it_for_the_next_measurement(
    engine: list[str], testbed_file: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The fake's loop adds 45.5 µs: what natxy pdv then says beside its figures."""
    del engine
    measure = ["pdv", str(testbed_file), "--rate", "1000", "--duration", "0.05", "--drain", "0"]
    measure += [
        "--settle",
        "0",
        "-v",
        "--repetitions",
        "1",
        "--output",
        str(kept.parent / "results"),
    ]
    assert run_command(["self-test", "--frame-size", "84", "--seed", "1"]) == 0
    assert f"Stored for later measurements of delay: {kept}" in capfd.readouterr().out
    assert run_command(measure) == 0
    said = capfd.readouterr().out
    assert "ring fake, 84 B): at 1,000 fps minimum 1 µs, median 45.5 µs; at " in said
    assert "fps minimum 1 µs, median 45.5 µs, P99.9 45.5 µs." in said


def test_it_can_be_kept_elsewhere(engine: list[str], kept: Path, tmp_path: Path) -> None:
    del engine
    path = tmp_path / "mine.json"
    assert run_command(["self-test", "--frame-size", "84", "--output", str(path), "--json"]) == 0
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


def test_the_loop_has_no_tags_no_tunnel_and_no_extension_headers() -> None:
    """They differ between the sides, or leave no room for the smallest frame."""
    ports = {
        "left": {
            "vlans": [{"id": 100}],
            "tunnel": {"address": "192.0.2.2", "gateway": "192.0.2.1"},
        },
        "right": {"vlans": [{"id": 200}]},
    }
    traffic = {"left_ip_version": 4, "right_ip_version": 4, "extension_headers": ["routing"]}
    source = Source(name="test")
    loop = looped(source.validated(Testbed, {"tester": ports, "traffic": traffic}))
    sides = loop.tester.left, loop.tester.right
    assert [port.vlans for port in sides] == [(), ()]
    assert [port.tunnel for port in sides] == [None, None]
    assert loop.traffic.extension_headers == ()


def test_a_self_test_of_connections_needs_nobody_to_delete_them() -> None:
    source = Source(name="test")
    asked = OF_A_NAT | {"connections": {"count": 100}}
    loop = looped(source.validated(Testbed, asked))
    engine = FakeEngine(gateway=StatefulGateway(new_cps=40_000, frames_fps=50_000))
    session = engine.session(TrafficPlan(testbed=loop, source=source), Cable())
    plan = SelfTestPlan(seed=1, sizes_bytes=(84,))
    (ceiling,) = self_test(plan, session)
    assert ceiling.rate_fps == pytest.approx(50_000, rel=0.02)
    assert {spec.phases[0].name for spec in engine.specs} == {"establish"}


def of_search(spec: TrialSpec) -> bool:
    return spec.seed != repetition_seed(2, 1)


def test_the_trials_of_the_search_are_counted_without_those_of_the_delay() -> None:
    engine = FakeEngine(lose=first_above(10_000))

    def invalid(spec: TrialSpec) -> Reason | None:
        return LATE if len(engine.specs) in (1, 3) and of_search(spec) else None

    engine.invalid = invalid
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert ceiling.rate_fps == 10_000
    assert ceiling.trials == sum(map(of_search, engine.specs)) == len(engine.specs) - 2
    assert (ceiling.invalid_trials, ceiling.misdelivered) == (2, 0)
    assert len({spec.nonce for spec in engine.specs}) == len(engine.specs)


def test_frames_that_came_wrong_are_counted_and_make_a_ceiling_of_0() -> None:
    engine = FakeEngine(misdelivers=1)
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert (ceiling.rate_fps, ceiling.limit) == (0, Limit.DUT)
    assert ceiling.misdelivered == 2 * ceiling.trials  # in each direction
    assert ceiling.delay is not None
    assert ceiling.delay.offset.rate_fps == ceiling.delay.loaded.rate_fps == 1


def test_a_ceiling_that_is_the_medias_rate_is_no_bound() -> None:
    engine = FakeEngine(link_mbps=10)
    (ceiling,) = self_test(PLAN, looped_session(engine))
    assert ceiling.limit is Limit.MAXIMUM
    assert (ceiling.rate_fps, ceiling.lower_bound, ceiling.noise) == (12_019, False, False)


def test_each_port_knows_the_others_address_so_that_nothing_is_resolved() -> None:
    class TwoPorts(FakeEngine):
        def port_at(self, side: str) -> dict[str, Any]:
            return super().port_at(side) | {"mac": f"02:00:00:00:00:0{'12'[side == 'right']}"}

    engine = TwoPorts(link_mbps=10)
    self_test(PLAN, looped_session(engine))
    for spec in engine.specs:
        assert spec.sides.left.next_hop.mac == "02:00:00:00:00:02"
        assert spec.sides.right.next_hop.mac == "02:00:00:00:00:01"


def test_a_direction_without_frames_has_no_error() -> None:
    arrived = stream_of(sent=10)
    (_, counters), *_ = arrived.counters()
    assert counters.delay == NOTHING
    assert own_delay_errors(result_of(arrived)) == []
