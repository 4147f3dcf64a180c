"""Starts the device under test and the tester, and stops both, whatever happens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from natxy.dut.base import Dut, TesterPorts
from natxy.dut.command import CommandDut
from natxy.dut.config import LABS
from natxy.dut.ledger import Interface, Ledger, is_promiscuous, sweep
from natxy.dut.none import Here, NoDut
from natxy.dut.peers import AtPorts
from natxy.dut.process import within
from natxy.interrupts import without_interrupts
from natxy.model.address_checks import SIDES
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, TesterSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.tester.claims import Claims, ends_here, is_socket
from natxy.tester.command import engine_command, find_engine
from natxy.tester.kernel_stack import check_kernel, interfaces_of
from natxy.tester.placements import Placements
from natxy.tester.tester import Tester
from natxy.trial.session import FrameRecords, Session

UNTOLD = (NoDut, CommandDut)  # gateways that may be on this machine
UNNAMED = "it is on this machine, and dut.cpus does not say on which CPUs it runs"
CONNECTS_WITHIN_S = 2.0  # a gateway that is no server of a socket tries again each second or so
Running = Callable[[Dut], AbstractContextManager[None]]


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
) -> Iterator[Session]:
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
        with running(dut), _session(testbed, source, dut, records, claims) as session:
            yield session


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
def _session(
    testbed: Testbed, source: Source, dut: Dut, records: FrameRecords | None, claims: Claims
) -> Iterator[Session]:
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
        if unwatched and not result.watched and not result.unwatched_reason:
            more["unwatched_reason"] = UNNAMED
        return placements.noted(result).model_copy(update=more)

    with Tester(command, records_fd=records_fd, noted=noted) as engine:
        if unwatched and isinstance(dut, Here) and _has_sockets(resolved):
            dut.at_ports = AtPorts(tester=engine.pid, cpus=frozenset(resolved.tester.cores))
            within(CONNECTS_WITHIN_S, dut.at_ports.are_there)
            _ = dut.watched  # so that its description has its CPUs
        yield Session(engine=engine, traffic=traffic, dut=dut, records=records)


def leads_here(testbed: Testbed) -> bool:
    """Returns whether a port of the tester leads to a gateway on this machine."""
    devices = [testbed.tester.port(side).device or "" for side in SIDES]
    return any(map(ends_here, devices))


def _has_sockets(testbed: Testbed) -> bool:
    return any(is_socket(testbed.tester.port(side).device or "") for side in SIDES)


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
