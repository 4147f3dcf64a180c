"""A port with a clock of its own: net_pcap, whose frames bear the time at which the kernel took
them from the wire, while libpcap hands them over half a millisecond later."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from natxy.dut.addresses import LEFT, RIGHT, looped_port
from natxy.dut.base import TesterPorts
from natxy.dut.lab import LOOP_MTU_BYTES, VethLoop
from natxy.model.port_result import PortResult
from natxy.model.remark import Topic
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_record import TrialRecord
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.tester_delay import delay_remarks
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.remarks import about
from tests.valid import valid_trial

TESTBED = """
[tester]
arrival_clock = "{clock}"
warm_up = "neighbours"
[traffic]
left_ip_version = 4
right_ip_version = 4
direction = "forward"
[dut]
kind = "none"
"""
RATE_FPS = 10_000
HANDED_OVER_NS = 100_000  # libpcap's part of a delay is several times as long


class PcapLoop(VethLoop):
    def tester_ports(self) -> TesterPorts | None:
        return TesterPorts(
            left=looped_port(LEFT, RIGHT, "net_pcap0,iface=t0"),
            right=looped_port(RIGHT, LEFT, "net_pcap1,iface=t1"),
            mtu_bytes=LOOP_MTU_BYTES,
        )


@pytest.fixture(autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("a lab needs root")


@contextmanager
def trial_by(clock: str) -> Iterator[tuple[Session, TrialRecord, PortResult]]:
    source = Source(name="pcap.toml", text=TESTBED.format(clock=clock))
    testbed: Testbed = source.validated(Testbed, source.toml())
    timing = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 10))
    with set_up(testbed, source, PcapLoop()) as session:
        trials = Trials(session=session, timing=timing, campaign_seed=7)
        trial = valid_trial(trials, RATE_FPS)
        (right,) = (port for port in trial.result.ports if port.side == "right")
        yield session, trial, right


def median_ns(trial: TrialRecord) -> float:
    foreground = trial.result.streams[0].kinds.foreground
    assert foreground
    assert foreground.received == foreground.sent == RATE_FPS / 5
    assert foreground.delay.p50_ns is not None
    return foreground.delay.p50_ns


def test_a_delay_ends_at_the_ports_own_stamp() -> None:
    with trial_by("auto") as (session, trial, port):
        assert trial.result.delay_clock == "port"
        assert "rx_timestamp" in session.hello.ports[1].offloads
        assert port.clock_error_ns is not None
        assert 0 < port.clock_error_ns < 20_000
        assert port.unstamped == port.implausible_stamps == 0
        # The stamps are the kernel's, taken inside the send call, or right after it.
        assert 0 <= median_ns(trial) < HANDED_OVER_NS / 2
        definition = str(about(Topic.DELAY_BY_CLOCK, delay_remarks(session, [trial])))
        assert "own stamp" in definition
        assert "transmit queue, DMA, serialisation on the link" in definition
        assert "send call at most" not in definition
        assert "clock of arrivals: port, known within" in definition


def test_by_the_processors_clock_it_ends_when_the_port_is_polled() -> None:
    with trial_by("tsc") as (session, trial, port):
        assert trial.result.delay_clock == "tsc"
        assert "rx_timestamp" not in session.hello.ports[1].offloads
        assert port.clock_error_ns is None
        assert median_ns(trial) > HANDED_OVER_NS
