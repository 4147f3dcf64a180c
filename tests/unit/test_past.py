"""Trials of the journal are read and not run, whatever the measurement, and wherever it was
interrupted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.fewer_runs import shortened
from natxy.campaign.journal import Journal, read_journal
from natxy.campaign.records import CellRecord, read_campaign
from natxy.errors import OtherTrials
from natxy.model.measurement import Measurement
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import Collapse, TrialRecord
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.capacity import CapacityPlan, capacity
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.reset import ResetPlan, reset
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.capacity_goal import CapacityGoal
from natxy.trial.observer import Observer
from natxy.trial.past import Collapsed, Past, fingerprint
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.unit.campaigns import HEADER
from tests.unit.capacity import WIDE, EngineAtACorpse, Mortal, Recovering
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, beyond
from tests.unit.reset import GONE, Switch, pause
from tests.unit.results import result_of, stream_of
from tests.unit.stateful_gateway import StatefulGateway
from tests.unit.tear_down import Deleting

CELL = CellRecord(key="1", number=1, column="", measure="", round=1, seed=1, started="")
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
SPECS = ("a", "b", "c")


@dataclass(kw_only=True)
class Bench:
    """A measurement of a gateway that has just been started."""

    session: Session
    measure: Callable[[Session], Measurement]

    def measured(self, observer: Observer, past: Past) -> Measurement:
        return self.measure(replace(self.session, observer=observer, past=past))


def of_throughput(nat64: TrafficPlan) -> Bench:
    plan = ThroughputPlan(timing=TIMING, seed=7, repetitions=2, max_rate_fps=100_000)
    engine = FakeEngine(lose=lambda stream: beyond(30_000, stream))
    session = engine.session(nat64, Switch())
    return Bench(session=session, measure=partial(throughput, plan))


def of_reset(nat64: TrafficPlan) -> Bench:
    plan = ResetPlan(
        timing=replace(TIMING, drain_s=Fraction(0)),
        seed=7,
        repetitions=3,
        rate_fps=10_000,
        reset_after_s=Fraction(1, 100),
    )
    engine = FakeEngine(lose=lambda _: GONE, during=pause)
    return Bench(session=engine.session(nat64, Switch()), measure=partial(reset, plan))


def of_capacity(_: TrafficPlan, most: int = 10**9) -> Bench:
    """Of a gateway that dies of too many connections, which is seen after the trial."""
    plan = CapacityPlan(timing=TIMING, seed=7, repetitions=1, goal=CapacityGoal(c0=1000))
    gateway = Mortal(bears=5000)
    engine = EngineAtACorpse(gateway=gateway, most=most)
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    session = engine.session(traffic, Recovering(gateway=gateway))
    return Bench(session=session, measure=partial(capacity, plan))


def of_corpses(nat64: TrafficPlan) -> Bench:
    """Of one that answers nobody then, so that the trial has no result."""
    return of_capacity(nat64, most=4000)


def of_tear_down(_: TrafficPlan) -> Bench:
    plan = TearDownPlan(timing=TIMING, seed=7, repetitions=3)
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    session = engine.session(traffic_plan({}), Deleting(gateway=gateway))
    return Bench(session=session, measure=partial(tear_down, plan))


def of_establishment(_: TrafficPlan) -> Bench:
    plan = EstablishmentPlan(timing=TIMING, seed=7, repetitions=1, alpha=Fraction(1, 2))
    gateway = StatefulGateway(new_cps=20_000)
    engine = FakeEngine(gateway=gateway)
    session = engine.session(traffic_plan({}), Deleting(gateway=gateway))
    return Bench(session=session, measure=partial(establishment, plan))


def measured(bench: Bench, path: Path, past: Past) -> Measurement:
    with Journal(path, HEADER) as journal:
        journal.append(CELL)
        return bench.measured(journal, past)


def trials_of(path: Path) -> list[dict[str, Any]]:
    """The trials without what differs from start to start."""
    lines = [each for each in read_journal(path) if each["record"] in ("trial", "collapse")]
    for line in lines:
        line["started"] = ""
        line.get("result", {})["nonce"] = 0
    return lines


@pytest.mark.parametrize(
    "bench_of", [of_throughput, of_reset, of_capacity, of_corpses, of_tear_down, of_establishment]
)
def test_a_measurement_that_goes_on_finds_what_it_would_have_found(
    bench_of: Callable[[TrafficPlan], Bench], nat64: TrafficPlan, tmp_path: Path
) -> None:
    """Interrupted after each of its trials; after the last one, none is left to run."""
    whole = tmp_path / "whole.jsonl.gz"
    found = measured(bench_of(nat64), whole, Past((), shortened))
    written = trials_of(whole)
    assert len(written) > 2
    for count in range(len(written) + 1):
        entries = list(read_campaign(whole).past_of("1"))[:count]
        bench, path = bench_of(nat64), tmp_path / f"{count}.jsonl.gz"
        again = measured(bench, path, Past(entries, shortened))
        assert again == found, f"{count} of {len(written)} trials were read"
        assert trials_of(path) == written[count:]
        assert bench.session.engine.trials == 0 or count < len(written)


def test_the_journal_says_how_a_gateway_collapsed(nat64: TrafficPlan, tmp_path: Path) -> None:
    path_after, path_within = tmp_path / "after.jsonl.gz", tmp_path / "within.jsonl.gz"
    measured(of_capacity(nat64), path_after, Past())
    measured(of_corpses(nat64), path_within, Past())
    after, within = trials_of(path_after), trials_of(path_within)
    assert any(each["collapse"] == "The gateway's process has ended." for each in after)
    refused = [each for each in within if each["record"] == "collapse"]
    assert {each["error"] for each in refused} == {"nobody answers for 198.18.0.1"}


def trial(spec: str, repetition: int = 1) -> TrialRecord:
    return TrialRecord(
        number=1,
        repetition=repetition,
        rate_fps=1000,
        started="",
        verdict=Verdict.PASS,
        invalid_reasons=(),
        result=result_of(stream_of(sent=1)),
        spec=spec,
    )


def test_trials_are_read_in_their_order_until_there_are_none() -> None:
    entries = list(map(trial, SPECS))
    past = Past(entries)
    assert [past.next(spec, 1) for spec in SPECS] == entries
    assert past.next("d", 1) is None
    assert past.read == len(SPECS)


@pytest.mark.parametrize(("spec", "repetition"), [("b", 1), ("a", 2)])
def test_another_trial_is_refused(spec: str, repetition: int) -> None:
    with pytest.raises(OtherTrials, match="another trial than the next one"):
        Past([trial("a")]).next(spec, repetition)


def test_trials_that_nobody_asks_for_are_refused() -> None:
    past = Past([trial("a")])
    with pytest.raises(OtherTrials, match="more trials than"):
        past.check_read()
    past.next("a", 1)
    past.check_read()


def test_a_trial_in_which_the_gateway_collapsed_is_not_run_again() -> None:
    past = Past([Collapse(spec="a", error="it has ended")])
    with pytest.raises(Collapsed, match="it has ended"):
        past.next("a", 1)
    assert not past


def test_a_spec_is_known_again_after_a_new_start(nat64: TrafficPlan) -> None:
    """Threads have other numbers then, and nonces are others; the rate is not."""
    specs: list[TrialSpec] = []
    bench = of_throughput(nat64)
    bench.measured(Observer(), Past())
    engine = bench.session.engine
    assert isinstance(engine, FakeEngine)
    specs = engine.specs[:2]
    again = specs[0].model_copy(update={"nonce": 1, "watched": ()})
    assert fingerprint(again) == fingerprint(specs[0]) != fingerprint(specs[1])
