"""siitperf's stateful tests: what they ask the engine for, and the lines that scripts look for."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.base import Dut, TableParameters
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TesterSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Phase
from natxy.siitperf import program
from natxy.siitperf.arguments import Arguments
from natxy.siitperf.configuration import read_configuration
from natxy.siitperf.program import missing_entries, too_slow
from natxy.trial.session import Session
from tests.unit.fake_engine import FakeEngine
from tests.unit.reasons import LATE
from tests.unit.siitperf import PLACE, arguments_of, free_of_info, siitperf
from tests.unit.siitperf_stateful import COMMON, ENUMERATED, PHASE_1
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

Captured = pytest.CaptureFixture[str]
Start = Callable[..., FakeEngine]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """In a folder with siitperf.conf, before a gateway that is arithmetic."""

    def of(gateway: StatefulGateway, dut: Dut | None = None, text: str = ENUMERATED) -> Any:
        (tmp_path / "siitperf.conf").write_text(text)
        (tmp_path / "place.toml").write_text(PLACE)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("NATXY_TESTBED", "place.toml")
        engine = FakeEngine(gateway=gateway)

        @contextmanager
        def set_up(testbed: Testbed, source: Source, _: Dut) -> Iterator[Session]:
            traffic = TrafficPlan(testbed=testbed, source=source)
            traffic.check()
            yield engine.session(traffic, dut)

        monkeypatch.setattr(program, "set_up", set_up)
        return engine

    return of


def test_the_preliminary_lines_come_first(start: Start, capsys: Captured) -> None:
    start(StatefulGateway())
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    captured = capsys.readouterr()
    assert free_of_info(captured.out) == [
        "Preliminary frames sent: 4000",
        "Preliminary frames received: 4000",
        "Forward frames sent: 2000",
        "Forward frames received: 2000",
        "Reverse frames sent: 2000",
        "Reverse frames received: 2000",
    ]
    assert "Info: Connections in the state table: 4000." in captured.out
    assert captured.err == ""


def test_more_frames_than_combinations_are_taken(start: Start, capsys: Captured) -> None:
    """siitperf begins its enumeration anew; M counts frames that repeat a connection as well."""
    start(StatefulGateway(), text=ENUMERATED.replace("Enumerate-ports 3", "Enumerate-ports 1"))
    assert siitperf(f"tp {COMMON} 4001 4001 20000 300 600") == 0
    captured = capsys.readouterr()
    assert free_of_info(captured.out)[:2] == [
        "Preliminary frames sent: 4001",
        "Preliminary frames received: 4001",
    ]
    (warning,) = captured.err.splitlines()
    assert warning.startswith("Warning: Enumerate-ports: is ignored: the 4000 combinations are ")


def test_more_frames_than_a_pseudorandom_enumeration_has_are_refused(
    start: Start, capsys: Captured
) -> None:
    engine = start(StatefulGateway())
    assert siitperf(f"tp {COMMON} 4001 4001 20000 300 600") == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Input Error: siitperf.conf, line ")
    assert ": Enumerate-ports: is 3, but the 4000 combinations are fewer than the 4001 " in line
    assert not engine.specs


def test_where_a_connection_went_is_an_info(start: Start, capsys: Captured) -> None:
    known = TableParameters(entries=5000, timeout_s=60)
    gateway = StatefulGateway(absent=5, collided=2, changed=3)
    start(gateway, StatefulDut(gateway=gateway, known=known))
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    out = capsys.readouterr().out
    assert "Info: Connections in the gateway's table: 3995 (it takes 5000)." in out
    assert "Info: Forward: 3 frames arrived with a mapping that had changed." in out
    assert "Info: Reverse: 2 frames were delivered to another connection, 2 of them" in out
    assert "Reverse frames received: 1993" in out.splitlines()


def test_a_table_with_fewer_than_m_entries_ends_the_test(start: Start, capsys: Captured) -> None:
    start(StatefulGateway(entries=3989))
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 1
    *lines, failure = free_of_info(capsys.readouterr().out)
    assert lines == ["Preliminary frames sent: 4000", "Preliminary frames received: 3989"]
    assert re.match(r"Error: Failed to fill state table \(.*\b3989\b.*\b3990\b.*\)", failure)


def test_a_table_of_m_entries_is_enough(start: Start, capsys: Captured) -> None:
    start(StatefulGateway(entries=3990))
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Preliminary frames received: 3990" in lines
    assert "Reverse frames received: 2000" in lines


def test_an_invalid_test_has_its_lines_all_the_same(start: Start, capsys: Captured) -> None:
    engine = start(StatefulGateway())
    engine.limit_fps = 19_999
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 1
    out = capsys.readouterr().out
    assert f"Info: the test is invalid: {LATE}" in out.splitlines()
    assert [line.split(" frames ")[0] for line in free_of_info(out)] == [
        side for side in ("Preliminary", "Forward", "Reverse") for _ in ("sent", "received")
    ]


def test_what_the_gateways_absence_explains_is_asked_again(start: Start, capsys: Captured) -> None:
    """90 frames of phase 2, at 2000 a second, are less than what comes in 50 ms."""
    engine = start(StatefulGateway())

    def first_test(phase: Phase) -> bool:
        return phase.name == "test" and len(engine.specs) == 2  # the warm-up is before it

    engine.lost_while_away = lambda phase: 90 if first_test(phase) else 0
    engine.away_ns = lambda phase: 5e7 if first_test(phase) else 0.0
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    out = capsys.readouterr().out
    assert "Info: Repeat 1 of at most 5, because the last test does not count: the" in out
    assert "Forward frames received: 2000" in out.splitlines()
    assert not re.search("invalid|Error", out)
    assert len({spec.nonce for spec in engine.specs}) == len(engine.specs) == 3


def test_what_it_does_not_explain_is_the_gateways(start: Start, capsys: Captured) -> None:
    """201 frames come in 50 ms, in as long again, and in 0.4 ms."""
    engine = start(StatefulGateway())
    engine.lost_while_away = lambda phase: 203 if phase.name == "test" else 0
    engine.away_ns = lambda phase: 5e7 if phase.name == "test" else 0.0
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    out = capsys.readouterr().out
    assert "Forward frames received: 1797" in out.splitlines()
    assert "Repeat" not in out


@pytest.mark.parametrize(("stateful", "outward"), [(1, "forward"), (2, "reverse")])
def test_phase_1_alone(stateful: int, outward: str, start: Start, capsys: Captured) -> None:
    text = ENUMERATED.replace("Stateful 1", f"Stateful {stateful}") + "Forward 0\nReverse 0\n"
    engine = start(StatefulGateway(), text=text)
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    assert free_of_info(capsys.readouterr().out) == [
        "Preliminary frames sent: 4000",
        "Preliminary frames received: 4000",
    ]
    (phase,) = engine.specs[-1].phases
    assert [stream.direction for stream in phase.streams] == [outward]


def test_one_direction_of_phase_2_is_enough(start: Start, capsys: Captured) -> None:
    """The initiator sends in phase 1 all the same."""
    start(StatefulGateway(), text=ENUMERATED + "Forward 0\n")
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    out = capsys.readouterr().out
    assert "Preliminary frames received: 4000" in out
    assert "Reverse frames received: 2000" in out
    assert "Forward" not in out


def times_ms(engine: FakeEngine) -> list[Fraction | int]:
    """How long the engine waits for frames of either phase, and when phase 2 begins."""
    spec = engine.specs[-1]
    first, second = (phase.streams[0].segments[0] for phase in spec.phases)
    drain_ms, ms = Fraction(spec.drain_ns, 10**6), 10**6
    sending_ns = Fraction(first.frames * 10**9, first.rate_fps)
    ends_ns = sending_ns + first.pause_ns + spec.drain_ns + spec.phases[0].gap_ns
    return [
        drain_ms + Fraction(first.pause_ns, ms),
        drain_ms + Fraction(second.pause_ns, ms),
        ends_ns / ms,
    ]


@pytest.mark.parametrize("global_ms", [0, 100, 300, 700, 60_000])
def test_each_phase_has_its_timeout_and_phase_2_begins_after_d(
    global_ms: int, start: Start
) -> None:
    """Phase 1 lasts 200 ms, T is 300 ms."""
    engine = start(StatefulGateway())
    for d_ms in (500, 1234):
        words = f"tp 84 2000 1 {global_ms} 2 2 4000 4000 20000 300 {d_ms}"
        assert siitperf(words) == 0
        assert times_ms(engine) == [300, global_ms, d_ms]


def test_d_may_be_a_part_of_a_millisecond_too_short(start: Start) -> None:
    """Phase 1 lasts 16.67 ms."""
    engine = start(StatefulGateway())
    assert siitperf("tp 84 2000 1 300 2 2 50 50 3000 300 316") == 0
    assert 0 <= times_ms(engine)[2] - (300 + Fraction(50, 3)) < Fraction(1, 1000)


def test_connections_live_until_the_end(start: Start) -> None:
    gateway = StatefulGateway()
    dut = StatefulDut(gateway=gateway)
    start(gateway, dut)
    assert siitperf("tp 84 2000 7 1000 2 2 4000 4000 20000 300 5000") == 0
    assert dut.told_s[-1] == 5 + 7 + 1 + 2  # and a margin


def test_more_than_a_day_is_refused(start: Start, capsys: Captured) -> None:
    start(StatefulGateway())
    assert siitperf("tp 84 2000 3600 1000 2 2 4000 4000 20000 300 82799001") == 2
    assert "Input Error: D: 82799001 makes the test longer than a day (expected at" in (
        capsys.readouterr().out
    )
    assert siitperf("tp 84 2000 3600 1000 2 2 4000 4000 20000 300 82799000") == 0


def result_of(start: Start, capsys: Captured, words: str) -> tuple[Arguments, TrialResult]:
    engine = start(StatefulGateway())
    assert siitperf(words) == 0
    capsys.readouterr()
    configuration = read_configuration(Path("siitperf.conf"), lambda _: None)
    result = engine.run(engine.specs[-1])
    return arguments_of(configuration, words.removeprefix("tp ")), result


def sent_in(result: TrialResult, *durations_s: float) -> TrialResult:
    streams = tuple(
        stream.model_copy(update={"sending_ns": seconds * 1e9})
        for stream, seconds in zip(result.streams, durations_s, strict=True)
    )
    return result.model_copy(update={"streams": streams})


def test_sending_may_take_1_00001_times_its_time(start: Start, capsys: Captured) -> None:
    """Phase 1 is to take 0.2 s, phase 2 a second."""
    arguments, result = result_of(start, capsys, f"tp {COMMON} {PHASE_1}")
    testbed = Testbed()
    assert too_slow(arguments, sent_in(result, 0.2000019, 1.0000099, 1.0000099), testbed) == ()
    assert [
        reason.where
        for reason in too_slow(arguments, sent_in(result, 0.2000021, 1.0, 1.0000101), testbed)
    ] == ["Preliminary", "Reverse"]
    own = Testbed(tester=TesterSection(lateness_tolerance_us=5000))
    assert too_slow(arguments, sent_in(result, 0.3, 2.0, 2.0), own) == ()


def test_a_frame_that_repeats_a_connection_fills_the_table_as_well(
    start: Start, capsys: Captured
) -> None:
    arguments, result = result_of(start, capsys, f"tp {COMMON} {PHASE_1}")
    table, made = result.connections, result.streams[0]
    assert table is not None
    assert made.connections is not None

    def with_known(known: int) -> TrialResult:
        counters = made.connections.model_copy(update={"known": known})  # type: ignore[union-attr]
        first = made.model_copy(update={"connections": counters})
        return result.model_copy(
            update={
                "connections": table.model_copy(update={"stored": 2500}),
                "streams": (first, *result.streams[1:]),
            }
        )

    assert missing_entries(arguments, with_known(1490)) is None
    said = missing_entries(arguments, with_known(1489))
    assert said is not None
    assert said.startswith("Failed to fill state table (valid entries: 3989, required: 3990)")


def test_connections_of_a_testbeds_file_are_not_used(start: Start, capsys: Captured) -> None:
    engine = start(StatefulGateway())
    Path("place.toml").write_text(f"{PLACE}[connections]\ncount = 7\n")
    assert siitperf(f"tp {COMMON} {PHASE_1}") == 0
    assert "[connections] is ignored" in capsys.readouterr().err
    assert engine.specs[-1].phases[0].streams[0].frames == 4000
