"""The programs of the lab before, kept for the next test of a file.

An engine and a calibration gateway take longer to start than most tests to measure. What differs
between labs is in the specs of their trials and in the gateway's configuration.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.tester.command import engine_command
from natxy.trial.session import Session
from natxy.trial.setup import set_up, with_ports
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan

Lab = tuple[Session, CalibrationDut]
# A gateway has no route to these addresses.
NOBODY = """
[tester]
cores = [0]
warm_up = "neighbours"
[tester.left]
device = "left"
ipv6_real = "2001:db8:ffff::1"
next_hop_mac = "02:00:00:00:00:01"
[tester.right]
device = "right"
ipv6_real = "2001:db8:ffff::2"
next_hop_mac = "02:00:00:00:00:01"
[traffic]
left_ip_version = 6
right_ip_version = 6
direction = "forward"
"""


class Bench:
    """Starts programs if those that run are not the ones that a testbed asks for."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._first: Session | None = None  # it has started the programs
        self._programs: object = None

    @contextmanager
    def lab(self, testbed: Testbed, source: Source) -> Iterator[Lab]:
        """Sets up the testbed of a calibration gateway; ends the programs after an error."""
        dut = dut_of(testbed, source)
        assert isinstance(dut, CalibrationDut)
        try:
            yield self._set_up(testbed, source, dut), dut
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the programs; before other ones need their CPUs, since a gateway polls its ports."""
        self._first = None
        self._running.close()

    def _set_up(self, testbed: Testbed, source: Source, dut: CalibrationDut) -> Session:
        asked = _programs(testbed, dut)
        if self._first is None or asked != self._programs:
            self.close()
            session = self._running.enter_context(set_up(testbed, source, dut))
            self._first, self._programs = session, asked
            return session
        _take_over(dut, self._first.dut)
        traffic = TrafficPlan(testbed=with_ports(testbed, dut.tester_ports()), source=source)
        traffic.check()
        # The gateway has forgotten who its neighbours are, and loses frames while it asks them.
        self._first.run(_TO_NOBODY.model_copy(update={"sides": traffic.sides()}))
        return replace(self._first, traffic=traffic, dut=dut)


def _programs(testbed: Testbed, dut: CalibrationDut) -> object:
    """Returns what is fixed when engine and gateway start."""
    ports = {"left": Port(device="left"), "right": Port(device="right")}
    command = engine_command(testbed.tester.model_copy(update=ports))
    return command, dut.cpus, dut.describe()["mtu_bytes"]


def _take_over(dut: CalibrationDut, started: Dut) -> None:
    """Makes a device use the program of one that was started, as if it had started it itself."""
    for name in ("_process", "_socket", "_version"):
        setattr(dut, name, getattr(started, name))
    dut.configure(faults=dut.faults, nat=dut.nat)


def _to_nobody() -> TrialSpec:
    """Returns a trial of one frame, from an address that no other trial has: so the tester asks for
    its neighbours anew, before this trial and before the next one."""
    source = Source(name="nobody", text=NOBODY)
    traffic = TrafficPlan(testbed=source.validated(Testbed, source.toml()), source=source)
    timing = Timing(duration_s=Fraction(1, 1000), drain_s=Fraction(0))
    return TrialPlan(traffic=traffic, timing=timing).spec(load=1000, seed=1, nonce=0)


_TO_NOBODY = _to_nobody()
BENCH = Bench()
