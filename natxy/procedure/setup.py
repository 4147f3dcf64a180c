"""Brings up the device under test and the tester, and takes both down whatever happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from natxy.dut.base import Dut, TesterPort, TesterPorts
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed
from natxy.model.traffic import TrafficPlan
from natxy.tester.command import engine_command, find_engine
from natxy.tester.tester import Tester


@dataclass(frozen=True, kw_only=True)
class Setup:
    tester: Tester
    dut: Dut
    traffic: TrafficPlan  # with the addresses that the lab made

    @property
    def dut_name(self) -> str:
        described = self.dut.describe()
        return described.get("name") or described.get("driver") or described.get("kind", "DUT")


@contextmanager
def set_up(testbed: Testbed, source: Source, dut: Dut) -> Iterator[Setup]:
    find_engine()  # before a lab is made for nothing
    try:
        dut.start()
        resolved = with_ports(testbed, dut.tester_ports())
        traffic = TrafficPlan(testbed=resolved, source=source)
        traffic.check()  # before the engine takes a port
        with Tester(engine_command(resolved.tester, dut.tester_namespace)) as tester:
            yield Setup(tester=tester, dut=dut, traffic=traffic)
    finally:
        dut.stop()


def with_ports(testbed: Testbed, ports: TesterPorts | None) -> Testbed:
    """The testbed with what a lab made in place of what was written."""
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


def _merged(written: Port, made: TesterPort) -> Port:
    known = {key: value for key, value in vars(made).items() if value is not None}
    return written.model_copy(update=known)
