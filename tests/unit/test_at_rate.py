"""Latency, PDV and IPDV against the fake engine: rates, trials, what is said."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from natxy.cli import run_command
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, DutError, TesterDied, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.port_result import PortResult
from natxy.model.remark import Topic
from natxy.model.schemas import blank
from natxy.model.traffic import TrafficPlan
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.delay_variation import RFC as PDV_RFC
from natxy.procedure.delay_variation import RFC_IPDV, IpdvPlan, PdvPlan, ipdv, pdv
from natxy.procedure.latency import RFC as LATENCY_RFC
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.reset import PROFILES as RESETS
from natxy.procedure.throughput import ThroughputPlan
from natxy.records.extra import records_to
from natxy.report.trial_text import trial_lines
from natxy.search.bisection import SearchError
from natxy.trial.profile import RFC, Profile, deviations
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.tester_delay import delay_remarks
from natxy.trial.timing import Timing
from tests.remarks import about, topics
from tests.unit.clauses import codes, in_full_series, texts
from tests.unit.fake_program import of_the_environment
from tests.unit.kept import Kept

FAST = Timing(duration_s=Fraction("0.02"), drain_s=Fraction(0))
RATE_FPS = 10_000
FRAMES = 200
GIVEN: dict[str, Any] = {"timing": FAST, "seed": 7, "repetitions": 3, "rate_fps": RATE_FPS}


def fake(nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch, **limits: int) -> Session:
    for name, value in limits.items():
        monkeypatch.setenv(f"FAKE_{name.upper()}", str(value))
    return of_the_environment().session(nat64)


@pytest.fixture
def session(nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch) -> Session:
    return fake(nat64, monkeypatch)


@contextmanager
def recording(nat64: TrafficPlan, path: Path) -> Iterator[Session]:
    """A session with the program, which writes a record of each frame."""
    with (
        records_to(path) as kept,
        set_up(nat64.testbed, nat64.source, NoDut(), kept) as session,
    ):
        yield session


def test_a_value_each_repetition_and_direction(session: Session) -> None:
    kept = Kept()
    result = latency(LatencyPlan(**GIVEN, tags=50), session.with_observer(kept))
    typical = result.figure("typical latency", "forward")
    assert (typical.unit, typical.values) == ("ns", (1000.0,) * 3)
    # Of the 50 tags one took 90 us: the 50th is the smallest v with F(v) >= 0.999.
    assert result.figure("worst-case latency", "reverse").values == (90_000.0,) * 3
    assert result.figure("tagged frames", "forward").values == (50.0,) * 3
    assert {figure.direction for figure in result.figures} == {"forward", "reverse"}
    assert result.conditions.rate_fps == RATE_FPS
    assert result.counts.trials == 3
    assert [trial.repetition for trial in kept.trials] == [1, 2, 3]
    assert len({trial.result.seed for trial in kept.trials}) == 3


def test_pdv_is_the_percentile_less_the_minimum(session: Session) -> None:
    """RFC 8219 section 7.3.1: delays from 1 us to 90 us, and one of 200 frames took that long."""
    result = pdv(PdvPlan(**GIVEN), session)
    for direction in ("forward", "reverse"):
        (primary,) = (f for f in result.figures if f.primary and f.direction == direction)
        assert primary.values == (89_000.0,) * 3


def test_fewer_or_earlier_tags_than_the_rfcs_depart(session: Session) -> None:
    timing = replace(LATENCY_RFC.timing, settle_s=Fraction(0))
    asked: dict[str, Any] = {**GIVEN, "timing": timing, "repetitions": 1}

    def said(**changes: Any) -> list[str]:
        result = latency(LatencyPlan(**asked | changes), session)
        return [each for each in texts(result.deviations) if "tags" in each]

    few = " tags, not 500 (RFC 8219 section 7.2)"
    assert said(tags=500) == []
    assert said(tags=499) == [f"499{few}"]
    assert said(rate_fps=4, tags=500) == [f"480{few}"]  # there are no more frames
    assert said(tags_after_s=Fraction(59)) == ["tags after 59 s, not 60 s (RFC 2544 section 26.2)"]


def test_a_search_before_long_trials_has_those_of_rfc_2544(session: Session) -> None:
    timing = replace(LATENCY_RFC.timing, settle_s=Fraction(0))
    plan = LatencyPlan(**GIVEN | {"timing": timing, "rate_fps": None, "repetitions": 1})
    result = latency(plan, session)
    assert result.conditions.duration_s == 120
    facts = about(Topic.RATE_FOUND, result.remarks).facts
    assert (facts["searches"], facts["duration_s"]) == (1, 60)


def test_ipdv_is_signed_and_counts_its_undefined_pairs(session: Session) -> None:
    result = ipdv(IpdvPlan(**GIVEN), session)
    assert result.figure("minimum IPDV", "reverse").values == (-500.0,) * 3
    assert result.figure("maximum IPDV", "reverse").values == (700.0,) * 3
    assert result.figure("undefined pairs", "forward").values == (1.0,) * 3
    assert Topic.IPDV in topics(result.remarks)


@pytest.mark.parametrize(
    ("measure", "plan", "needs"),
    [
        (ipdv, IpdvPlan(**GIVEN), "IPDV"),
        (pdv, PdvPlan(**GIVEN, records=True), "a record of every frame"),
    ],
)
def test_what_needs_one_receive_queue_is_refused_with_more(
    measure: Any,
    plan: RatePlan,
    needs: str,
    nat64: TrafficPlan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    testbed = nat64.testbed
    queues = testbed.tester.model_copy(update={"rx_queues": 2})
    traffic = replace(nat64, testbed=testbed.model_copy(update={"tester": queues}))
    said = f"tester.rx_queues: is 2, but {needs} needs one receive queue"
    session = fake(traffic, monkeypatch)
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        measure(plan, session)


def test_without_a_rate_it_is_the_throughput(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept()
    search = ThroughputPlan(
        timing=FAST, seed=7, repetitions=1, error=SearchError(rate_fps=50), max_rate_fps=60_000
    )
    plan = PdvPlan(**GIVEN | {"rate_fps": None}, search=search)
    session = fake(nat64, monkeypatch, capacity_fps=20_000)
    result = pdv(plan, session.with_observer(kept))
    assert result.conditions.rate_fps is not None
    assert 19_950 <= result.conditions.rate_fps <= 20_000
    assert result.counts.trials == 3  # those of the search are not of the measurement
    assert about(Topic.RATE_FOUND, result.remarks).facts["searches"] == 1
    nonces = [trial.result.nonce for trial in kept.trials]
    assert len(set(nonces)) == len(nonces) > 3


def test_a_rate_that_the_tester_ended_says_so(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = fake(nat64, monkeypatch, limit_fps=5000)
    result = pdv(PdvPlan(**GIVEN | {"rate_fps": None}), session)
    assert Topic.RATE_IS_BOUND in topics(result.remarks)
    assert Differs.OF_A_BOUND in codes(result.deviations)


def test_a_gateway_that_passes_nothing_has_no_rate(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = fake(nat64, monkeypatch, capacity_fps=0)
    with pytest.raises(DutError, match=r"loses frames at every rate.* set rate"):
        pdv(PdvPlan(**GIVEN | {"rate_fps": None}), session)


def test_how_well_a_ports_clock_was_known_is_the_worst_of_all_trials(session: Session) -> None:
    kept = Kept()
    pdv(PdvPlan(**GIVEN | {"repetitions": 2}), session.with_observer(kept))
    trials = []
    for trial, error_ns in zip(kept.trials, (19_900.0, 2_000.0), strict=True):
        stamping = PortResult.model_validate(blank(PortResult, clock_error_ns=error_ns))
        result = trial.result.model_copy(update={"delay_clock": "port", "ports": (stamping,)})
        trials.append(trial.model_copy(update={"result": result}))
    clock = str(about(Topic.DELAY_BY_CLOCK, delay_remarks(session, trials)))
    assert clock.endswith("clock of arrivals: port, known within 19.9 µs.")


def test_a_rate_beyond_the_tester_is_no_figure(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = fake(nat64, monkeypatch, limit_fps=5000)
    with pytest.raises(TesterLimit, match="4 trials at 10000 frames a second were invalid"):
        pdv(PdvPlan(**GIVEN, invalid_repeats=3), session)


def test_a_lost_frame_counts_with_the_longest_delay_that_it_can_have() -> None:
    times = Timing(duration_s=Fraction(120), drain_s=Fraction(2))
    asked: dict[str, Any] = {**GIVEN, "timing": times}
    assert LatencyPlan(**asked).lost_ns == 62e9
    assert LatencyPlan(**asked, tags_after_s=Fraction(100)).lost_ns == 22e9
    assert PdvPlan(**asked).lost_ns == 122e9


@pytest.mark.parametrize(
    ("plan", "right"), [(LatencyPlan, LATENCY_RFC), (PdvPlan, PDV_RFC), (IpdvPlan, PDV_RFC)]
)
def test_what_the_rfc_asks_for_conforms(
    plan: type[RatePlan], right: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trials themselves are as short as ever: what is said is a matter of the plan."""
    measure: Any = {LatencyPlan: latency, PdvPlan: pdv, IpdvPlan: ipdv}[plan]
    short = replace(right.timing, settle_s=Fraction(0))
    monkeypatch.setattr("natxy.tester.tester.time.sleep", lambda _: None)
    error = SearchError(fraction=Fraction(1, 10))
    search = ThroughputPlan(timing=RFC.timing, seed=1, repetitions=1, error=error)
    asked = plan(timing=right.timing, seed=1, repetitions=20, search=search)
    if isinstance(asked, LatencyPlan):
        asked = replace(asked, tags=500)  # the least that conforms, in a result that is read soon
    alone = texts(measure(asked, session).deviations)
    assert "1 destination network, not 1 and then 256 (RFC 2544 section 12)" in alone
    session = in_full_series(session)
    (of_error, departure) = texts(measure(asked, session).deviations)
    assert of_error.startswith("throughput: a search error of 10 %, not the highest rate")
    assert "begin before the call that sends a frame" in departure
    fast = replace(asked, search=replace(search, timing=FAST))
    (of_search, *_, _) = texts(measure(fast, session).deviations)
    assert of_search.startswith("throughput: trials of ")
    given = replace(asked, timing=short, repetitions=1, rate_fps=1000)
    said = texts(measure(given, session).deviations)
    assert len(said) == 4
    assert "a settle time of 0 s, not 5 s" in said[0]
    assert said[1].startswith("1 repetition, not 20 (RFC 8219 section 7.")
    # Nobody knows whether it is the throughput: RFC 8219 wants the determined one.
    assert said[2].startswith("a given rate, not the measured throughput (RFC 8219 section 7.")


@pytest.mark.parametrize(
    ("right", "source"),
    [
        (RFC, "60 s (RFC 2544 section 24)"),
        (LATENCY_RFC, "120 s (RFC 8219 section 7.2)"),
        (PDV_RFC, "60 s (RFC 8219 section 7.3.1)"),
        (RFC_IPDV, "60 s (RFC 8219 section 7.3.2)"),
    ],
)
def test_a_deviation_names_the_rfc_that_asks(right: Profile, source: str) -> None:
    """Whatever RFC the procedure itself is of: no section stands alone."""
    said = texts(deviations(FAST, right))
    assert said[0] == f"trials of 0.02 s, not {source}"
    assert said[1:] == [
        "a drain of 0 s, not 2 s (RFC 2544 section 23 d)",
        "a settle time of 0 s, not 5 s (RFC 2544 section 23 e)",
    ]


def test_nobody_asks_for_a_resets_trials_to_be_long() -> None:
    """RFC 6201 wants traffic until it is forwarded again."""
    assert Differs.DURATION not in codes(deviations(FAST, RESETS["rfc"]))


def test_tags_after_the_last_frame_are_refused(session: Session) -> None:
    plan = LatencyPlan(**GIVEN, tags_after_s=Fraction("0.02"))
    with pytest.raises(
        ConfigurationError, match=r"tags_after_s: 0.02 s .* \(expected 0 to 0.0199\)"
    ):
        latency(plan, session)


def test_every_frames_record_is_in_the_file(
    engine: list[str], nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file holds the trials of the measurement, but not those of the search for its rate."""
    del engine
    path = tmp_path / "frames.parquet"
    plan = PdvPlan(**GIVEN | {"rate_fps": None}, records=True)
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "10000")
    with recording(nat64, path) as session:
        result = pdv(plan, session)
    frames = (result.conditions.rate_fps or 0) // 50
    table = pq.read_table(path)
    assert len(table) == 3 * 2 * frames
    assert table["trial"].unique().to_pylist() == [1, 2, 3]
    delays = table["delay_ns"].to_numpy()
    assert (delays == 1000.0 + table["number"].to_numpy()).all()


def test_an_engine_that_dies_leaves_no_records(
    engine: list[str], nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del engine
    path = tmp_path / "records" / "frames.parquet"
    monkeypatch.setenv("FAKE_MODE", "die-at-the-end")
    with pytest.raises(TesterDied, match="signal 9"), recording(nat64, path) as session:
        pdv(PdvPlan(**GIVEN, records=True), session)
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("verb", ["latency", "pdv", "ipdv"])
def test_a_series_of_sizes_is_one_file(
    verb: str, engine: list[str], testbed_file: Path, tmp_path: Path
) -> None:
    del engine
    path = tmp_path / "frames.parquet"
    times = ["--duration", "0.02", "--drain", "0", "--settle", "0", "--repetitions", "2"]
    places = ["--rate", str(RATE_FPS), "--frame-size", "84,512", "--direction", "forward"]
    output = ["--output", str(tmp_path / "results"), "--records", str(path)]
    assert run_command([verb, str(testbed_file), *times, *places, *output]) == 0
    found = pq.read_table(path).group_by(["frame_size_bytes", "trial", "repetition"])
    rows = found.aggregate([("number", "count")]).to_pylist()
    counted = [tuple(row.values()) for row in rows]
    assert sorted(counted) == [
        (size, number, number, FRAMES) for size in (84, 512) for number in (1, 2)
    ]


def test_one_trials_frames_are_kept_by_the_command(
    engine: list[str], testbed_file: Path, tmp_path: Path
) -> None:
    del engine
    path = tmp_path / "frames.parquet"
    options = ["--rate", str(RATE_FPS), "--duration", "0.02", "--records", str(path)]
    assert run_command(["trial", str(testbed_file), *options]) == 0
    assert len(pq.read_table(path)) == 2 * FRAMES
    assert (
        run_command(["trial", str(testbed_file), *options]) == 2
    )  # what is there is not overwritten


def test_a_trials_text_shows_what_was_recorded(session: Session) -> None:
    kept = Kept()
    ipdv(IpdvPlan(**GIVEN), session.with_observer(kept))
    latency(LatencyPlan(**GIVEN, tags=50), session.with_observer(kept))
    first, last = (
        "\n".join(trial_lines(trial.result, ())) for trial in (kept.trials[0], kept.trials[-1])
    )
    assert re.search(r"^ +ipdv +min -500 ns .* max 700 ns .*; 1 pairs undefined$", first, re.M)
    assert re.search(r"^ +tags +sent 50, lost 0; delay min 1 µs ", last, re.M)
    assert "ipdv" not in last
