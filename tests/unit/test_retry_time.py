"""The time that a user gives for INVALID trials bounds those of a whole measurement."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from natxy.cli.series_options import SeriesOptions, Work
from natxy.errors import TesterLimit
from natxy.model.measurement import Measurement
from natxy.model.reason import Reason
from natxy.model.remark import Topic
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.procedure.back_to_back import BackToBackPlan, back_to_back
from natxy.procedure.defaults import MEASURES
from natxy.procedure.delay_variation import PdvPlan, pdv
from natxy.procedure.establishment import with_phase_1_rate
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.recovery import RecoveryPlan, recovery
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.observer import Observer, Observers
from natxy.trial.repeats import BETWEEN_S
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.remarks import about
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, beyond, rate_of
from tests.unit.reasons import LATE
from tests.unit.stateful_gateway import StatefulGateway

TIMING = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 20), retry_s=Fraction(2))
EACH_S = TIMING.duration_s + TIMING.drain_s + BETWEEN_S
SEARCH = ThroughputPlan(
    timing=TIMING,
    seed=1,
    repetitions=1,
    error=SearchError(fraction=Fraction(1, 20)),
    max_rate_fps=60_000,
)
AT_THROUGHPUT: dict[str, Any] = {"timing": TIMING, "seed": 1, "repetitions": 3, "search": SEARCH}
FOUND_FIRST = [
    (pdv, PdvPlan(**AT_THROUGHPUT)),
    (latency, LatencyPlan(**AT_THROUGHPUT)),
    (recovery, RecoveryPlan(**AT_THROUGHPUT)),
    (back_to_back, BackToBackPlan(**AT_THROUGHPUT, burst_rate_fps=100_000)),
]


@dataclass
class Hour(Observer):
    """Noise makes `bad` of every `of` trials INVALID; remembers all trials."""

    bad: int
    of: int
    trials: list[TrialRecord] = field(default_factory=list)

    def engine(self) -> FakeEngine:
        return FakeEngine(invalid=self._reason, too_slow=False)

    def _reason(self, spec: TrialSpec) -> Reason | None:
        del spec
        return LATE if len(self.trials) % self.of < self.bad else None

    def trial_ended(self, trial: TrialRecord) -> None:
        self.trials.append(trial)

    @property
    def invalid_s(self) -> Fraction:
        return EACH_S * sum(trial.verdict is Verdict.INVALID for trial in self.trials)


@pytest.mark.parametrize(("measure", "plan"), FOUND_FIRST)
def test_a_search_for_the_rate_leaves_half_of_the_time_to_the_trials(
    measure: Any, plan: Any, nat64: TrafficPlan
) -> None:
    hour = Hour(bad=1_000, of=10_000)
    engine = hour.engine()
    quiet = Quiet(hour)
    with pytest.raises(TesterLimit, match=r"is used up|no burst"):
        measure(plan, engine.session(nat64, observer=Observers([hour, quiet])))
    assert quiet.searched, "the search ended with a lower bound"
    assert quiet.search_s <= 1 + EACH_S
    assert len(quiet.after) > len(set(quiet.after)), "a load is tried again"
    assert hour.invalid_s <= 2 + EACH_S * (2 + len(set(quiet.after)))


class Quiet(Observer):
    """Ends the noise at all rates but the first, until the search has ended."""

    def __init__(self, hour: Hour) -> None:
        self._hour, self._bad = hour, hour.bad
        self._first_fps = 0
        self.searched = False
        self.search_s = Fraction(0)  # of INVALID trials of the search
        self.after: list[int] = []  # frames of each trial after the search

    def repetition_started(self, number: int, count: int) -> None:
        del number
        self.searched = count > 1
        self.search_s = self.search_s or self.searched * self._hour.invalid_s
        self._hour.bad = self._bad

    def trial_started(
        self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
    ) -> None:
        del bracket_fps, connections
        self._first_fps = self._first_fps or rate_fps
        if not self.searched:
            self._hour.bad = self._bad if rate_fps == self._first_fps else 0

    def trial_ended(self, trial: TrialRecord) -> None:
        if self.searched:
            self.after.append(trial.result.streams[0].due)


@pytest.mark.parametrize("quiet_from", [8, 1_000])
def test_a_search_spends_a_part_of_the_time_on_each_rate_and_comes_back(
    quiet_from: int, nat64: TrafficPlan
) -> None:
    """In the noise of an hour, the gateway's limit of 50,000 shows only below 40,000."""

    def invalid(spec: TrialSpec) -> Reason | None:
        noisy = len(engine.specs) < quiet_from
        return LATE if noisy and rate_of(spec.phases[0].streams[0]) > 40_000 else None

    engine = FakeEngine(
        lose=partial(beyond, 50_000),
        invalid=invalid,
        too_slow=False,
    )
    hour = Hour(bad=0, of=1)
    (figure,) = throughput(SEARCH, engine.session(nat64, observer=hour)).figures
    bound = quiet_from == 1_000
    assert any(figure.lower_bound) == bound
    limit_fps = 40_000 if bound else 50_000
    assert limit_fps * 19 / 20 <= figure.values[0] <= limit_fps
    assert hour.invalid_s <= 2 + EACH_S
    first_fps = hour.trials[0].rate_fps
    assert len([t for t in hour.trials if t.rate_fps == first_fps]) <= 2 / EACH_S / 4 + 1


def test_a_measurement_in_an_hour_of_noise_ends_soon(nat64: TrafficPlan) -> None:
    """Three of four trials are INVALID: valid ones add nothing to the time that was given."""
    hour = Hour(bad=3, of=4)
    plan = replace(SEARCH, repetitions=5)
    result = throughput(plan, hour.engine().session(nat64, observer=hour))
    searches = {trial.repetition for trial in hour.trials}
    steps = len({(trial.repetition, trial.rate_fps) for trial in hour.trials})
    assert 2 <= hour.invalid_s <= 2 + steps * EACH_S
    assert len(searches) < 5
    facts = about(Topic.LACKING_BY_RETRY_TIME, result.remarks).facts
    assert facts["asked"] == 5
    assert 5 - len(searches) <= float(str(facts["lacking"])) <= 5


def test_a_limit_of_0_cuts_nothing_off_without_an_invalid_trial(nat64: TrafficPlan) -> None:
    hour = Hour(bad=0, of=1)
    timing = replace(SEARCH.timing, retry_s=Fraction(0))
    plan = replace(SEARCH, repetitions=3, timing=timing)
    result = throughput(plan, hour.engine().session(nat64, observer=hour))
    assert len(result.figures[0].values) == 3


def test_the_search_for_phase_1_uses_the_same_time() -> None:
    engine = FakeEngine(gateway=StatefulGateway(new_cps=30_000))
    session = engine.session(traffic_plan({"rate_fps": None})).with_retry_time(None)
    ready = with_phase_1_rate(session, TIMING, seed=1)
    assert ready.retry_time is not None
    assert ready.retry_time is session.retry_time
    assert ready.retry_time.used_s < 0, "its valid trials have earned some"


def test_each_measurement_of_a_series_has_a_time_of_its_own(nat64: TrafficPlan) -> None:
    sessions: list[Session] = []

    def measure(plan: ThroughputPlan, session: Session) -> Measurement:
        sessions.append(session)
        return throughput(SEARCH, session)

    options = SeriesOptions(testbed=Path("testbed.toml"), retry_time=5, seed=1)
    throughput_of = replace(MEASURES["throughput"], run=measure)
    work = Work(
        options=options, name="throughput", measure=throughput_of, given={}, series=({}, {})
    )
    list(work.results(FakeEngine().session(nat64), lambda _: Shown()))
    first, second = (session.retry_time for session in sessions)
    assert first is not second
    assert first is not None
    assert first.given_s == 5


class Shown(Observer):
    def __enter__(self) -> Observer:
        return self

    def __exit__(self, *_: object) -> None:
        pass
