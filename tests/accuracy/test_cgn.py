"""Carrier-grade NATs: more subscribers than an address has ports, and how the calibration gateway
has given out its ports to them, in words of the trial alone (RFC 6888, RFC 7422)."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.model.reason import Reason
from natxy.model.table_result import CountSummary, MappingsResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import ESTABLISH, Recording
from natxy.model.verdict import Verdict
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.trial.establishing import Establishing
from natxy.trial.load import steady
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.accuracy.subscribers import (
    GATEWAY,
    OF_THEIR_OWN,
    RATE_FPS,
    STATEFUL,
    TIMING,
    N,
    gateway_for,
    mechanism,
    set_up_from,
)
from tests.valid import valid, valid_trial

HOSTS, PORTS_OF_A_HOST = 100, 20
ALL = HOSTS * PORTS_OF_A_HOST  # inside endpoints, each of which needs an external port
TWO_ADDRESSES = ["198.19.0.1", "198.19.1.1"]
MAPPINGS = Recording(mappings=True)

SUBSCRIBERS = 70_000  # more than the 65,536 ports of an address
# A trial lasts less than a second, so that tester and gateway can keep their cores to themselves.
RATE_CPS = 200_000
CGN_TIMING = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 20))
CGN = f"""
[tester]
cores = [0]
lateness_tolerance_us = 10000
warm_up = "neighbours"
realtime = "on"
[traffic]
left_ip_version = 4
right_ip_version = 4
[traffic.forward]
source_port = {{mode = "fixed", min = 10000, max = 10000}}
destination_port = {{mode = "fixed", min = 53, max = 53}}
[connections]
count = {SUBSCRIBERS}
rate_fps = {RATE_CPS}
sample = 0
incomplete = "repeat"
repeats = 20
{mechanism("ds-lite", SUBSCRIBERS, OF_THEIR_OWN, GATEWAY)}
[dut]
kind = "calibration"
realtime = true
nat = {{pool = {TWO_ADDRESSES}, entries = 131072}}
"""


def each(count: int) -> CountSummary:
    """Returns the distribution of a count that is the same for all."""
    return CountSummary(min=count, median=count, p99=count, max=count)


def trials_of(session: Session, timing: Timing = TIMING) -> Trials:
    return FrameLossPlan(timing=timing, seed=1).trials(session)


def with_mappings(trials: Trials) -> tuple[TrialResult, MappingsResult]:
    """Returns the whole result of a valid trial, and the summary of its mappings."""
    # No rate is judged, so the senders may pause as long as they must.
    load = replace(steady(RATE_FPS, TIMING.duration_s, MAPPINGS), pause_share=Fraction(1))

    def reasons(record: TrialRecord) -> tuple[Reason, ...]:
        return record.invalid_reasons

    valid(lambda: trials.run(load=load, repetition=1, seed=1), reasons)
    assert trials.last is not None
    whole = trials.last.result
    assert whole.connections is not None
    assert whole.connections.mappings is not None
    return whole, whole.connections.mappings


@pytest.mark.parametrize("name", STATEFUL)
def test_the_mappings_of_a_gateway_are_summed_up(name: str, tmp_path: Path) -> None:
    """The gateway gives out the ports of its one address in the order of new connections."""
    with gateway_for(name, tmp_path) as (session, _):
        _, found = with_mappings(trials_of(session))
    assert (found.hosts, found.addresses, found.ports) == (HOSTS, 1, N)
    assert found.hosts_per_address == each(HOSTS)
    assert found.ports_per_address == found.connections_per_address == each(N)
    assert found.addresses_per_host == each(1)
    ports = found.ports_per_host
    assert ports.min < N / HOSTS < ports.max
    assert ports.min <= ports.median <= ports.p99 <= ports.max
    assert found.connections_per_host == ports  # each has a source port of its own
    assert found.block_ports == 1


@pytest.mark.parametrize(
    ("name", "block_ports", "blocks"), [("ds-lite", 64, 1), ("464xlat", 16, 2)]
)
def test_the_blocks_of_a_gateway_are_found(
    name: str, block_ports: int, blocks: int, tmp_path: Path
) -> None:
    """Hosts have the addresses in turn, and as many blocks as they need."""
    cgn = {"pool": TWO_ADDRESSES, "block_ports": block_ports}
    lab = gateway_for(name, tmp_path, connections=ALL, ports=PORTS_OF_A_HOST, nat=cgn)
    with lab as (session, _):
        _, found = with_mappings(trials_of(session))
    assert (found.hosts, found.addresses, found.ports) == (HOSTS, 2, ALL)
    assert found.block_ports == block_ports
    assert found.blocks_per_host == each(blocks)
    assert found.ports_per_host == each(PORTS_OF_A_HOST)
    assert found.addresses_per_host == each(1)
    assert found.hosts_per_address == each(HOSTS // 2)
    assert found.ports_per_address == each(ALL // 2)


def test_the_ports_of_a_host_are_limited(tmp_path: Path) -> None:
    """A connection beyond the limit is a lost frame of phase 1, and no connection of the table."""
    limit = 8
    lab = gateway_for(
        "ds-lite",
        tmp_path,
        connections=ALL,
        ports=PORTS_OF_A_HOST,
        asked='incomplete = "accept"\nminimum = 1',
        nat={"ports_per_host": limit},
    )
    with lab as (session, dut):
        whole, found = with_mappings(trials_of(session))
        refused = dut.record()["nat"]["refused"]
    made = whole.stream_of(ESTABLISH)
    assert made is not None
    beyond = ALL - limit * HOSTS
    assert (made.sent, made.lost, made.missing) == (ALL, beyond, beyond)
    assert refused == {"full": 0, "rate": 0, "limit": beyond, "ports": 0}
    assert whole.connections is not None
    assert (whole.connections.stored, found.hosts, found.ports) == (800, HOSTS, 800)
    assert found.ports_per_host == found.connections_per_host == each(limit)


@pytest.fixture(scope="module")
def cgn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Trials, CalibrationDut]]:
    """One lab for several tests, and the last one of the file: its gateway polls its ports all the
    time, and would share its core with that of another lab."""
    with set_up_from(CGN, tmp_path_factory.mktemp("cgn")) as (session, dut):
        yield trials_of(session, CGN_TIMING), dut


def test_more_subscribers_than_an_address_has_ports(cgn: tuple[Trials, CalibrationDut]) -> None:
    """Each has a connection from the same address and port; all are told apart by their softwires
    (RFC 6333 section 6.6), and answered there."""
    trials, dut = cgn
    load = Establishing(rate_cps=RATE_CPS, alpha=Fraction(1), pause_share=Fraction(1))
    trial: TrialRecord = valid_trial(trials, load)
    nat = dut.record()["nat"]
    assert trial.verdict is Verdict.PASS
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert nat["created"] == nat["entries"] == SUBSCRIBERS
    made, answered, *again = (stream.kinds.foreground for stream in trial.result.streams)
    assert made is not None
    assert answered is not None
    assert made.received == SUBSCRIBERS
    late = sum(each.received for each in again if each is not None)  # lost, and sent once more
    assert answered.received + late == SUBSCRIBERS


def test_the_mappings_of_more_subscribers_than_an_address_has_ports(
    cgn: tuple[Trials, CalibrationDut],
) -> None:
    trials, _ = cgn
    _, found = with_mappings(trials)
    assert (found.hosts, found.addresses, found.ports) == (SUBSCRIBERS, 2, SUBSCRIBERS)
    assert found.connections_per_host == found.ports_per_host == each(1)
    assert found.hosts_per_address == found.ports_per_address == each(SUBSCRIBERS // 2)
    assert found.block_ports == 1
