"""Connections through a gateway of known limits and faults: what is found, named and refused."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command as natxy
from natxy.dut.base import TableParameters
from natxy.dut.calibration import CalibrationDut
from natxy.errors import ConfigurationError, DutError, MeasurementError
from natxy.model.event import Progress
from natxy.model.measurement import Measurement
from natxy.model.reason import HowLost, WhyLost
from natxy.model.remark import Topic
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.latency import TAGGED, TYPICAL, LatencyPlan, latency
from natxy.search.bisection import SearchError
from natxy.trial.establishing import Establishing
from natxy.trial.load import Load
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.accuracy.bench import BENCH
from tests.remarks import about
from tests.valid import ATTEMPTS, with_and_without_noise
from tests.valid import valid_trial as first_valid

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
N = 1000
RATE_FPS = 20_000
ERROR = Fraction(1, 100)
# A bucket that is full while nobody sends gains nothing: who is late meets a lower limit.
BURST = 4
ROUNDING_CPS = 50  # frames that a gateway takes at once come a little later than they left
# What a sender makes up for at once takes so many frames of what a limiter holds. A gateway that
# was away meets them all at once: a trial is harder for that, and what is dropped is excused.
PUNCTUAL = {
    "tester": f"burst_limit_frames = {BURST}",
    "dut": "realtime = true\npoll_gap_limit_us = 20000",
}
AFTER_PHASE_1_NS = 75_000_000  # it lasts 50 ms, and drains for as long
VALIDATED = Establishing(rate_cps=RATE_FPS, alpha=Fraction(1, 2))
TESTBED = """
[tester]
cores = [0]
{tester}
[traffic]
left_ip_version = {left}
right_ip_version = {right}
direction = "{direction}"
avoid_zero_checksum = true
[traffic.forward]
source_port = {{mode = "increasing", min = 10000, max = 10999}}
destination_port = {{mode = "fixed", min = 80, max = 80}}
[traffic.reverse]
source_port = {{mode = "increasing", min = 10000, max = 10999}}
destination_port = {{mode = "fixed", min = 80, max = 80}}
[connections]
count = {count}
rate_fps = {rate_fps}
{connections}
[dut]
kind = "calibration"
nat = {{{nat}}}
faults = [{faults}]
{dut}
"""
DEFAULTS = {
    # A ring holds 25 ms of the fastest frames here: tester and gateway together lose nothing.
    "tester": "lateness_tolerance_us = 10000",
    "left": 4,
    "right": 4,
    "direction": "both",
    "count": N,
    "rate_fps": RATE_FPS,
    "connections": "",
    "nat": "",
    "faults": "",
    "dut": "realtime = true\npoll_gap_limit_us = 10000",
}


def testbed_file(folder: Path, **values: Any) -> Path:
    path = folder / "stateful.toml"
    path.write_text(TESTBED.format(**(DEFAULTS | values)))
    return path


@contextmanager
def stateful_gateway(folder: Path, **values: Any) -> Iterator[tuple[Session, CalibrationDut]]:
    with BENCH.lab(*read_testbed(testbed_file(folder, **values))) as lab:
        yield lab


def valid_trial(session: Session, load: Load | int = RATE_FPS) -> TrialRecord:
    trials = Trials(session=session, timing=TIMING, campaign_seed=1)
    return first_valid(trials, load)


def of_phase(trial: TrialRecord, phase: str) -> ConnectionCounters:
    stream = trial.result.stream_of(phase)
    assert stream
    assert stream.connections
    return stream.connections


def plan(**changes: Any) -> EstablishmentPlan:
    # A bucket drops a few frames of a gateway that was away for too short a time to be excused, as
    # a queue of a real one would have room for: while it is full it gains nothing. That loss is a
    # stray one. In noise one valid trial of eight has it, so it takes several to be believed.
    defaults = {"repetitions": 1, "max_rate_cps": 60_000, "loss_verifications": 3, "error": ERROR}
    values: dict[str, Any] = defaults | changes
    error = SearchError(fraction=values.pop("error"))
    return EstablishmentPlan(timing=TIMING, seed=3, error=error, **values)


def highest(limit_per_s: int, depth: int) -> float:
    """At which N frames find a token each: the bucket is full at the first."""
    return limit_per_s * (N - 1) / (N - depth)


def is_the_limit_or_a_bound(result: Measurement, lowest_cps: float, exact_cps: float) -> None:
    """A command's own patience may be less than noise asks for: then the figure says so. Noise made
    trials INVALID, or lost frames at a rate that passed again. A tester that paused, or sent late,
    gave the bucket time to fill: by the search's error at most."""
    (figure,) = result.figures
    (rate_cps,) = figure.values
    assert rate_cps <= exact_cps * (1 + ERROR)
    assert rate_cps >= (lowest_cps / 4 if any(figure.lower_bound) else lowest_cps)
    noisy = result.counts.invalid_trials or result.counts.overturned
    assert noisy or not any(figure.lower_bound)


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_the_limit_on_new_connections_is_found(tmp_path: Path) -> None:
    nat = "new_per_s = 20000, depth = 200"
    with stateful_gateway(tmp_path, nat=nat, **PUNCTUAL) as (session, _):
        result = establishment(plan(), session)
    lowest_cps = highest(20_000, 200 - BURST) * (1 - ERROR) - ROUNDING_CPS
    is_the_limit_or_a_bound(result, lowest_cps, highest(20_000, 200))


@with_and_without_noise
def test_validated_the_limit_is_that_of_the_replies(noise: str, tmp_path: Path) -> None:
    """Half the rate of phase 1 is what they come with; no connection was absent. A search that
    confirms its end in longer trials has less of the bucket."""
    error = Fraction(1, 10) if noise == "0%" else ERROR
    replies = '{kind = "rate_limit", direction = "reverse", rate_fps = 12000, depth = 100}'
    nat = "new_per_s = 40000, depth = 200"
    with stateful_gateway(tmp_path, nat=nat, faults=replies, **PUNCTUAL) as (session, _):
        asked = plan(alpha=Fraction(1, 2), max_rate_cps=30_000, error=error)
        result = establishment(asked, session)
    lowest_cps = 2 * float(12_000 * (1 - error) - ROUNDING_CPS)
    is_the_limit_or_a_bound(result, lowest_cps, 2 * highest(12_000, 100))
    assert about(Topic.VALIDATION, result.remarks).facts["absent"] == 0


@pytest.mark.parametrize(
    ("initiator", "inside", "direction"),
    [
        ("left", 4, "both"),
        ("left", 6, "both"),
        ("right", 4, "both"),
        ("right", 6, "both"),
        ("left", 6, "forward"),
        ("left", 6, "reverse"),
    ],
)
def test_phase_2_uses_what_phase_1_has_made(
    initiator: str, inside: int, direction: str, tmp_path: Path
) -> None:
    versions = {"left": inside, "right": 4} if initiator == "left" else {"left": 4, "right": inside}
    with stateful_gateway(
        tmp_path,
        **versions,
        direction=direction,
        connections=f'initiator = "{initiator}"',
        nat=f'inside = "{initiator}"',
    ) as (session, dut):
        trial = valid_trial(session)
        record = dut.record()["nat"]
    assert trial.verdict is Verdict.PASS
    assert (record["created"], record["entries"]) == (N, N)
    assert trial.result.misdelivered == trial.result.changed == 0
    assert len(trial.result.streams) == (2 if direction == "both" else 1)
    assert all(stream.sent == RATE_FPS * TIMING.duration_s for stream in trial.result.streams)


def test_latency_is_that_of_phase_2(tmp_path: Path) -> None:
    """Phase 1 is over before the first tagged frame of a phase would be due."""
    plan = LatencyPlan(
        timing=TIMING,
        seed=1,
        repetitions=1,
        rate_fps=RATE_FPS,
        tags=500,
        invalid_repeats=ATTEMPTS,
    )
    delay = '{kind = "delay", ns = 2000000}'
    with stateful_gateway(tmp_path, faults=delay) as (session, _):
        result = latency(plan, session)
    assert result.conditions.connections
    assert result.conditions.connections.count == N
    for direction in ("forward", "reverse"):
        (typical,) = (f for f in result.figures if (f.name, f.direction) == (TYPICAL, direction))
        assert typical.values[0] == pytest.approx(2e6, rel=0.05)
        (tagged,) = (f for f in result.figures if (f.name, f.direction) == (TAGGED, direction))
        assert tagged.values == (500,)


class Stages(Observer):
    """Of a trial, as the engine tells them."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def trial_progressed(self, progress: Progress) -> None:
        self.seen.add(progress.stage)


def test_the_testers_table_is_made_ready_once(tmp_path: Path) -> None:
    """Of later trials it is empty without having been cleared."""
    BENCH.close()  # its tester has a table already
    with stateful_gateway(tmp_path) as (session, _):
        trials = Trials(session=session, timing=TIMING, campaign_seed=1)
        seen = []
        for _ in range(2):
            stages = Stages()
            trials.session = session.with_observer(stages)
            trial = first_valid(trials, RATE_FPS)
            assert trial.phase_1
            assert trial.phase_1.connections
            assert trial.phase_1.connections.new == N
            seen.append("table" in stages.seen)
    assert seen == [True, False]


def test_colliding_mappings_are_named(tmp_path: Path) -> None:
    with stateful_gateway(tmp_path, faults='{kind = "nat-collide", every = 100}') as (session, dut):
        trial = valid_trial(session, VALIDATED)
        assert dut.record()["nat"]["collided"] == N // 100
    validated = of_phase(trial, "validate")
    assert trial.verdict is Verdict.FAIL
    assert (validated.wrong, validated.collided) == (N // 100, N // 100)


def test_a_changed_mapping_is_named(tmp_path: Path) -> None:
    """Replies to the external endpoint that it had are nobody's; frames come from another one."""
    fault = f'{{kind = "nat-change", connection = 7, after_ns = {AFTER_PHASE_1_NS}}}'
    nat = 'filtering = "address-and-port-dependent"'
    with stateful_gateway(tmp_path, direction="forward", nat=nat, faults=fault) as (session, dut):
        trial = valid_trial(session)
        record = dut.record()["nat"]
    assert (record["changed"], record["created"]) == (1, N)
    assert trial.verdict is Verdict.FAIL
    assert of_phase(trial, "test").changed == 1
    assert trial.result.lost == 0
    assert trial.sample
    assert trial.sample.lost == 1


def test_a_forgotten_connection_is_absent_however_slowly_it_is_asked(tmp_path: Path) -> None:
    fault = f'{{kind = "nat-forget", connection = 7, after_ns = {AFTER_PHASE_1_NS}}}'
    with stateful_gateway(tmp_path, faults=fault) as (session, _):
        trial = valid_trial(session, VALIDATED)
    validated, again = (trial.result.stream_of(name) for name in ("validate", "ask again"))
    assert trial.verdict is Verdict.FAIL
    assert validated
    assert again
    assert (validated.sent, validated.lost) == (N, 1)
    assert (again.sent, again.lost) == (1, 1)


def test_one_connection_each_or_drawn_with_repetition(tmp_path: Path) -> None:
    """2 N draws of N combinations make about N (1 - exp(-2)) connections (MP Table 23)."""
    with stateful_gateway(
        tmp_path, count=2 * N, rate_fps=2 * RATE_FPS, connections='order = "repeating"'
    ) as (session, dut):
        trial = valid_trial(session, Establishing(rate_cps=RATE_FPS))
        assert dut.count() == of_phase(trial, "establish").new
    made = of_phase(trial, "establish")
    assert made.new + made.known == 2 * N
    assert made.new == pytest.approx(865, abs=40)
    assert 0 < made.ending_new_percent < 50
    assert trial.verdict is Verdict.PASS


def tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway whose table can be counted, but neither described nor changed."""

    def refuse(table: CalibrationDut, timeout_s: float) -> None:
        raise DutError("Its timeout cannot be set.")

    monkeypatch.setattr(CalibrationDut, "parameters", lambda _: TableParameters())
    monkeypatch.setattr(CalibrationDut, "set_timeout", refuse)


def test_a_table_with_too_few_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stateful_gateway(tmp_path, nat="entries = 900") as (session, _):
        with pytest.raises(ConfigurationError, match=r"takes 900 entries.* 1,000 connections"):
            valid_trial(session)
        tells_nothing(monkeypatch)
        with pytest.raises(MeasurementError, match=r"created 900 of 1,000 .* only 900"):
            valid_trial(session)


def test_fewer_connections_can_be_accepted(tmp_path: Path) -> None:
    accepts = 'incomplete = "accept"\nminimum = 900'
    with stateful_gateway(tmp_path, nat="entries = 900", connections=accepts) as (session, dut):
        trial = valid_trial(session)
        assert dut.count() == 900
    assert trial.verdict is Verdict.PASS
    assert trial.phase_1
    assert trial.phase_1.sent - trial.phase_1.lost == 900


HOW_LOST = [(100, HowLost.SAMPLE_SILENT), (0, HowLost.CONNECTIONS_GONE)]


@pytest.mark.parametrize(("sample", "code"), HOW_LOST)
def test_a_timeout_that_is_too_short(
    sample: int, code: HowLost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody knows it, what it has done to the connections is told."""
    tells_nothing(monkeypatch)
    asked = {"connections": f"sample = {sample}", "nat": "timeout_ns = 60000000"}
    with stateful_gateway(tmp_path, direction="reverse", **asked) as (session, _):
        trial = valid_trial(session)
    assert trial.verdict is Verdict.FAIL
    lost = trial.lost_connections
    assert lost
    assert (lost.code, lost.because) == (code, WhyLost.DROPPED_OR_EXPIRED)
    assert lost.facts["needed_s"] == 3


@pytest.mark.parametrize(("sample", "code"), HOW_LOST)
def test_a_table_that_is_dropped_between_the_phases(
    sample: int, code: HowLost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both cores are shared with who empties it, so the trial has no real-time policy."""
    with stateful_gateway(
        tmp_path,
        direction="reverse",
        connections=f"delay_s = 0.6\nsample = {sample}",
        tester='realtime = "off"\nlateness_tolerance_us = 20000',
        dut="poll_gap_limit_us = 20000",
    ) as (session, dut):
        starts = dut.before_trial

        def empties_it_later() -> None:
            starts()
            threading.Timer(0.35, dut.delete_all).start()

        monkeypatch.setattr(dut, "before_trial", empties_it_later)
        trial = valid_trial(session)
    assert trial.verdict is Verdict.FAIL
    lost = trial.lost_connections
    assert lost
    assert (lost.code, lost.because) == (code, WhyLost.DROPPED)
    assert lost.facts.get("silent", 100) == 100
    assert not lost.facts.get("left")


def test_frames_that_are_lost_in_phase_1(tmp_path: Path) -> None:
    fault = '{kind = "loss", direction = "forward", every = 100}'
    with (
        stateful_gateway(tmp_path, faults=fault) as (session, _),
        pytest.raises(MeasurementError, match=r"created 990 of 1,000 .* 10 frames were lost"),
    ):
        valid_trial(session)


def test_a_refused_measurement_reports_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BENCH.close()  # the command's gateway has the same CPU
    testbed = testbed_file(tmp_path, nat="entries = 900")
    results = tmp_path / "results"
    arguments = ["throughput", str(testbed), "--profile", "quick", "--max-rate", "20000"]
    assert natxy([*arguments, "--output", str(results)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "natxy: The gateway's connection tracking table takes 900 entries" in said.err
    assert not (results / "results.json").exists()
