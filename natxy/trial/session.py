"""A session: a tester and a gateway that are ready, and who is told what happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, Self

from natxy.dut.base import ConnectionTable, Dut, name_in
from natxy.errors import DutError
from natxy.model.event import Hello
from natxy.model.source import Source
from natxy.model.testbed import Testbed, TrafficSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.tester.tester import Engine, OnProgress, ignore_progress
from natxy.trial.observer import Observer, Observers
from natxy.trial.past import Past
from natxy.trial.phases import Starting
from natxy.trial.repeats import RetryTime
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.verdict.pacing import with_late_counted
from natxy.verdict.silences import with_silences_counted

AS_GIVEN = "as given"


class FrameRecords(Protocol):
    """The destination of the records of all frames, if the user asked for them."""

    @property
    def fd(self) -> int:
        """The file descriptor to which the engine writes records."""

    def keep(self, trial: TrialRecord, traffic: TrafficSection) -> None:
        """Stores the records of the trial that has just ended."""

    def drop(self) -> None:
        """Discards the records of the trial that has just ended."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """The engine with its two ports, the traffic that it sends, and the gateway between the ports.

    The methods `with_...` return the same engine and the same gateway, used in another way.
    """

    engine: Engine
    traffic: TrafficPlan  # with the addresses of the lab, if there is one
    dut: Dut
    observer: Observer = field(default_factory=Observer)  # this one ignores all events
    # Flows that each trial sends before `traffic` (RFC 8219 section 10.2.2).
    ramp: tuple[Starting, ...] = ()
    records: FrameRecords | None = None
    keeps_invalid_records: bool = False
    phase_1_origin: str = AS_GIVEN  # origin of the phase 1 rate
    # What a series measures, of which this session measures one; empty: there is no such series.
    networks: tuple[int, ...] = ()  # numbers of destination networks
    frame_sizes: tuple[int, ...] = ()
    foregrounds: tuple[Fraction, ...] = ()  # shares of foreground traffic
    # Timeout of the gateway's connections, if the user gave one; None: as long as each trial needs.
    connection_timeout_s: float | None = None
    # Shared by all searches and trials of a measurement; None: each of them has its own.
    retry_time: RetryTime | None = None
    # Trials that the journal has; they are read in place of being run.
    past: Past = field(default_factory=Past)

    @property
    def hello(self) -> Hello:
        return self.engine.hello

    @property
    def testbed(self) -> Testbed:
        return self.traffic.testbed

    @property
    def trials(self) -> int:
        """Trials since the gateway was set up; in a campaign, of this cell."""
        return self.past.read + self.engine.trials

    @property
    def dut_name(self) -> str:
        return name_in(self.dut.describe())

    @property
    def required_table(self) -> ConnectionTable:
        """The gateway's connection table; raises DutError if Natxy cannot access one."""
        if self.dut.table is None:
            raise DutError(
                f"{self.dut_name} has no connection table that Natxy can count and empty (expected "
                '[dut] with kind = "command" and commands that do it, or another gateway).'
            )
        return self.dut.table

    def trial_plan(self, timing: Timing) -> TrialPlan:
        """Returns what all trials with these times share."""
        return TrialPlan(
            traffic=self.traffic,
            ramp=self.ramp,
            timing=timing,
            realtime_allowed=self.hello.realtime_allowed,
        )

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        whole = with_silences_counted(self.engine.run(spec, on_progress))
        return self.past.kept(with_late_counted(whole))

    def keep_records(self, trial: TrialRecord) -> None:
        """Stores the records of a valid trial; those of an invalid one only if the user wants them,
        for example to find out what went wrong."""
        if self.records is None:
            return
        if trial.verdict is Verdict.INVALID and not self.keeps_invalid_records:
            self.records.drop()
        else:
            self.records.keep(trial, self.testbed.traffic)

    def with_observer(self, observer: Observer) -> Self:
        """Returns the session with one more observer, which is told after the others."""
        return replace(self, observer=Observers([self.observer, observer]))

    def with_retry_time(self, given_s: Fraction | None) -> Self:
        """Returns the session with one time for all INVALID trials; unchanged if it has one."""
        if self.retry_time is not None:
            return self
        return replace(self, retry_time=RetryTime(given_s=given_s))

    @contextmanager
    def half_of_the_retry_time(self) -> Iterator[Self]:
        """Yields the session for a search before the trials, which need time as well."""
        time = self.retry_time
        if time is None or not time.is_limit:
            yield self
            return
        own = RetryTime(given_s=max(Fraction(0), time.left_s / 2))
        yield replace(self, retry_time=own)
        time.used_s += own.used_s

    def with_testbed(self, testbed: Testbed) -> Self:
        """Returns the session with another testbed, which may differ only in its traffic."""
        return replace(self, traffic=TrafficPlan(testbed=testbed, source=self.traffic.source))

    def with_traffic(self, **changes: Any) -> Self:
        """Returns the session with other [traffic]; ConfigurationError if a value is wrong."""
        written = self.testbed.traffic.model_dump(mode="json") | changes
        traffic: TrafficSection = Source(name="traffic").validated(TrafficSection, written)
        return self.with_testbed(self.testbed.model_copy(update={"traffic": traffic}))

    def in_series(
        self, *, frame_sizes: tuple[int, ...] = (), foregrounds: tuple[Fraction, ...] = ()
    ) -> Self:
        """Returns the session as a part of a series that measures these sizes and mixes."""
        return replace(self, frame_sizes=frame_sizes, foregrounds=foregrounds)

    def with_networks(self, *series: int) -> list[Self]:
        """Returns a session for each number of destination networks behind each side.

        RFC 2544 section 12 asks for 1 and then 256. ConfigurationError if a number is not 1 to 256.
        """
        of_series = replace(self, networks=series)
        return [of_series.with_traffic(left_networks=n, right_networks=n) for n in series]

    def with_connections(self, **changes: Any) -> Self:
        """Returns the session with other values of [connections], which the testbed must have."""
        asked = self.traffic.required_connections
        changed = asked.model_copy(update=changes)
        return self.with_testbed(self.testbed.model_copy(update={"connections": changed}))
