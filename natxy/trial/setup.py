"""Starts the device under test and the tester, and stops both, whatever happens."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, Self

from natxy.dut.base import Dut, TesterPorts
from natxy.dut.command import CommandDut
from natxy.dut.config import LABS
from natxy.dut.ledger import Ledger, sweep
from natxy.dut.none import NoDut
from natxy.dut.promiscuous import Interface, is_promiscuous
from natxy.interrupts import without_interrupts
from natxy.model.address_checks import SIDES
from natxy.model.event import Hello
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, TesterSection, TrafficSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Verdict
from natxy.tester.claims import Claims
from natxy.tester.command import engine_command, find_engine
from natxy.tester.kernel_stack import check_kernel, interfaces_of
from natxy.tester.placements import Placements
from natxy.tester.port_identity import ends_here
from natxy.tester.tester import Engine, OnProgress, Tester, ignore_progress
from natxy.trial.past import Past
from natxy.trial.repeats import RetryTime
from natxy.verdict.silences import with_silences_counted

AS_GIVEN = "as given"
UNTOLD = (NoDut, CommandDut)  # gateways that may be on this machine
UNNAMED = "it is on this machine, and dut.cpus does not say on which CPUs it runs"
Running = Callable[[Dut], AbstractContextManager[None]]


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
class Starting:
    """The flows that are sent while the others have not started."""

    traffic: TrafficPlan
    lasts_s: Fraction | None = None  # None: as long as the measured part of the trial


@dataclass(frozen=True, kw_only=True)
class ReadyTester:
    """The engine with its two ports, and the traffic that it sends."""

    engine: Engine
    traffic: TrafficPlan  # with the addresses of the lab, if there is one
    # Flows that each trial sends before `traffic` (RFC 8219 section 10.2.2).
    ramp: tuple[Starting, ...] = ()
    records: FrameRecords | None = None
    keeps_invalid_records: bool = False
    phase_1_origin: str = AS_GIVEN  # origin of the phase 1 rate
    # What a series measures, of which this tester measures one; empty: there is no such series.
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

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        return self.past.kept(with_silences_counted(self.engine.run(spec, on_progress)))

    def keep_records(self, trial: TrialRecord) -> None:
        """Stores the records of a valid trial; those of an invalid one only if the user wants them,
        for example to find out what went wrong."""
        if self.records is None:
            return
        if trial.verdict is Verdict.INVALID and not self.keeps_invalid_records:
            self.records.drop()
        else:
            self.records.keep(trial, self.testbed.traffic)

    def with_retry_time(self, given_s: Fraction | None) -> Self:
        """Returns the tester with one time for all INVALID trials; unchanged if it has one."""
        if self.retry_time is not None:
            return self
        return replace(self, retry_time=RetryTime(given_s=given_s))

    def with_testbed(self, testbed: Testbed) -> Self:
        """Returns the same engine with another testbed, which may differ only in its traffic."""
        return replace(self, traffic=TrafficPlan(testbed=testbed, source=self.traffic.source))

    def with_traffic(self, **changes: Any) -> Self:
        """Returns the tester with other values of [traffic]; ConfigurationError if one is wrong."""
        written = self.testbed.traffic.model_dump(mode="json") | changes
        traffic: TrafficSection = Source(name="traffic").validated(TrafficSection, written)
        return self.with_testbed(self.testbed.model_copy(update={"traffic": traffic}))

    def in_series(
        self, *, frame_sizes: tuple[int, ...] = (), foregrounds: tuple[Fraction, ...] = ()
    ) -> Self:
        """Returns the tester as a part of a series that measures these sizes and mixes."""
        return replace(self, frame_sizes=frame_sizes, foregrounds=foregrounds)

    def with_networks(self, *series: int) -> list[Self]:
        """Returns a tester for each number of destination networks behind each side.

        RFC 2544 section 12 asks for 1 and then 256. ConfigurationError if a number is not 1 to 256.
        """
        of_series = replace(self, networks=series)
        return [of_series.with_traffic(left_networks=n, right_networks=n) for n in series]

    def with_connections(self, **changes: Any) -> Self:
        """Returns the tester with other values of [connections], which the testbed must have."""
        asked = self.traffic.required_connections
        changed = asked.model_copy(update=changes)
        return self.with_testbed(self.testbed.model_copy(update={"connections": changed}))


@dataclass(frozen=True, kw_only=True)
class Setup:
    tester: ReadyTester
    dut: Dut

    @property
    def traffic(self) -> TrafficPlan:
        return self.tester.traffic

    @property
    def dut_name(self) -> str:
        return name_of(self.dut)


def name_of(dut: Dut) -> str:
    return name_in(dut.describe())


def name_in(described: Mapping[str, str]) -> str:
    """Returns the name that tables and sentences have for a gateway."""
    name = described.get("name") or described.get("driver") or described.get("kind", "none")
    return "the gateway" if name == "none" else name  # Natxy does not know what it measures


@contextmanager
def started(dut: Dut) -> Iterator[None]:
    """Starts a device, and stops it at the end."""
    try:
        dut.start()
        yield
    finally:
        dut.stop()


@contextmanager
def set_up(
    testbed: Testbed,
    source: Source,
    dut: Dut,
    records: FrameRecords | None = None,
    running: Running = started,
) -> Iterator[Setup]:
    """Sets up DUT and tester; raises InUse if another tester has one of the ports or CPUs.

    `running` starts the device and decides when it stops.
    """
    find_engine()  # so that no lab is created if there is no engine
    with Claims() as claims, ExitStack() as ends:
        claims.take_cpus(testbed.tester.cores)
        if testbed.dut.get("kind") not in LABS:
            # Before the gateway is started and stopped, since another tester may be measuring it.
            claims.take_ports(testbed.tester, namespace=None)
            check_kernel(testbed.tester)
            ends.enter_context(_own_interfaces(testbed.tester))
        with running(dut), _tester(testbed, source, dut, records, claims) as tester:
            yield Setup(tester=tester, dut=dut)


@contextmanager
def _own_interfaces(tester: TesterSection) -> Iterator[None]:
    """Ends the promiscuous mode of the tester's own interfaces, unless they have it before."""
    names = [name for side in SIDES for name in interfaces_of(tester, side)]
    if names:
        sweep()  # a tester that was killed may have left the mode
    quiet = [Interface.here(name) for name in names if not is_promiscuous(name)]
    if not quiet:
        yield
        return
    ledger = Ledger()
    try:
        for interface in quiet:
            ledger.note_interface(interface)
        yield
    finally:
        with without_interrupts():
            ledger.undo()


@contextmanager
def _tester(
    testbed: Testbed, source: Source, dut: Dut, records: FrameRecords | None, claims: Claims
) -> Iterator[ReadyTester]:
    resolved = with_ports(testbed, dut.tester_ports())
    traffic = TrafficPlan(testbed=resolved, source=source)
    traffic.check()  # before the engine takes a port
    claims.take_ports(resolved.tester, dut.tester_namespace)
    claims.announce_cpus(dut.cpus)
    if testbed.dut.get("kind") not in LABS:
        check_kernel(resolved.tester)  # again: what starts a gateway may have changed it
    _ = dut.watched  # a process that has ended is said before the ports start
    records_fd = None if records is None else records.fd
    command = engine_command(resolved.tester, dut.tester_namespace, records_fd=records_fd)
    placements = Placements(resolved.tester.cores[0])
    unwatched = type(dut) in UNTOLD and not dut.cpus and leads_here(resolved)

    def noted(result: TrialResult) -> TrialResult:
        claims.announce_cpus(dut.cpus)  # a measurement may have changed them
        more: dict[str, Any] = {"shared_cpus": claims.shared_cpus()}
        if unwatched:
            more["unwatched_reason"] = UNNAMED
        return placements.noted(result).model_copy(update=more)

    with Tester(command, records_fd=records_fd, noted=noted) as engine:
        yield ReadyTester(engine=engine, traffic=traffic, records=records)


def leads_here(testbed: Testbed) -> bool:
    """Returns whether a port of the tester leads to a gateway on this machine."""
    devices = [testbed.tester.port(side).device or "" for side in SIDES]
    return any(map(ends_here, devices))


def with_ports(testbed: Testbed, ports: TesterPorts | None) -> Testbed:
    """Returns the testbed with the ports of a lab in place of its own."""
    if ports is None:
        return testbed
    tester = testbed.tester.model_copy(
        update={
            "left": _merged(testbed.tester.left, ports.left),
            "right": _merged(testbed.tester.right, ports.right),
            "mtu_bytes": ports.mtu_bytes,
        }
    )
    return testbed.model_copy(update={"tester": tester})


def _merged(written: Port, made: Port) -> Port:
    known = made.model_dump(exclude_unset=True, exclude_none=True)
    return written.model_copy(update=known)
