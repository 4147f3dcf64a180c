"""The tester in the place of subscribers of IPv4-as-a-Service: every frame of a trial passes the
calibration gateway, which checks addresses and ports itself, and every fault is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.trial.observer import Observer
from natxy.trial.setup import Setup, set_up
from natxy.trial.timing import Timing
from tests.valid import valid_trial

RATE_FPS = 20_000
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 25))
FRAMES = RATE_FPS // 10
TESTBED = """
[tester]
cores = [0]
lateness_tolerance_us = 10000
warm_up = "neighbours"
[tester.left]
{left}
[tester.right]
{right}
[traffic]
left_ip_version = {version}
right_ip_version = 4
{connections}
{subscribers}
[dut]
kind = "calibration"
{nat}
faults = [{fault}]
"""
SHARED = 'ipv6_prefix = "2001:db8::/32"\nipv4_prefix = "10.64.0.0/{length}"\npsid_bits = 8\n'
GATEWAY = 'gateway = "2001:db9::1"\n'
PREFIX = 'gateway_prefix = "2001:db9::/96"\n'
CONNECTIONS = """
[traffic.forward]
source_port = {mode = "pseudorandom", min = 10000, max = 10099}
destination_port = {mode = "fixed", min = 53, max = 53}
[connections]
count = 1000
rate_fps = 20000
"""
NAT = 'nat = {pool = ["198.19.0.1"], entries = 10000}\n'


def mechanism(name: str, count: int, *lines: str) -> str:
    return f'[subscribers]\nmechanism = "{name}"\ncount = {count}\n' + "".join(lines)


FEW, ALL = SHARED.format(length=32), SHARED.format(length=16)  # 256 or 2^24 subscribers
STATELESS = {
    "lw4o6": (4, mechanism("lw4o6", 200, FEW, GATEWAY)),
    "map-e": (4, mechanism("map-e", 2**24, ALL, GATEWAY)),
    "map-t": (6, mechanism("map-t", 2**24, ALL, PREFIX)),
}
STATEFUL = {
    "ds-lite": (4, mechanism("ds-lite", 100, 'ipv6_prefix = "2001:db8::/32"\n', GATEWAY)),
    "464xlat": (6, mechanism("464xlat", 100, 'ipv6_prefix = "2001:db8::/32"\n', PREFIX)),
}


@contextmanager
def gateway_for(
    kind: tuple[int, str], folder: Path, fault: str = "", *, stateful: bool = False, tags: str = ""
) -> Iterator[tuple[Setup, CalibrationDut]]:
    version, subscribers = kind
    path = folder / "subscribers.toml"
    text = TESTBED.format(
        left=tags,
        right="",
        version=version,
        subscribers=subscribers,
        connections=CONNECTIONS if stateful else "",
        nat=NAT if stateful else "",
        fault=fault,
    )
    path.write_text(text)
    testbed, source = read_testbed(path)
    dut = dut_of(testbed, source)
    assert isinstance(dut, CalibrationDut)
    with set_up(testbed, source, dut) as setup:
        yield setup, dut


def trial_through(setup: Setup, dut: CalibrationDut) -> tuple[TrialRecord, Any]:
    plan = FrameLossPlan(timing=TIMING, seed=1)
    trial = valid_trial(plan.trials(setup.tester, dut, Observer()), RATE_FPS)
    return trial, dut.record()


@pytest.mark.parametrize("name", [*STATELESS, *STATEFUL])
def test_all_frames_of_subscribers_pass(name: str, tmp_path: Path) -> None:
    stateful = name in STATEFUL
    with gateway_for((STATELESS | STATEFUL)[name], tmp_path, stateful=stateful) as (setup, dut):
        trial, record = trial_through(setup, dut)
    for stream in trial.result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        assert (seen.sent, seen.received) == (FRAMES, FRAMES)
        assert record["directions"][stream.direction]["forwarded"] >= FRAMES


def test_they_pass_with_vlan_tags_on_their_side(tmp_path: Path) -> None:
    tags = 'vlans = [{tpid = "802.1ad", id = 7}, {id = 100}]'
    with gateway_for(STATELESS["map-e"], tmp_path, tags=tags) as (setup, dut):
        trial, _ = trial_through(setup, dut)
    for stream in trial.result.streams:
        assert stream.kinds.foreground is not None
        assert stream.kinds.foreground.received == FRAMES


@pytest.mark.parametrize(
    ("name", "field", "counter"),
    [
        ("map-e", "outer_destination", "tunnel"),
        ("map-e", "destination_address", "address"),
        ("map-e", "destination_port", "port"),
        ("map-e", "port_set", "port"),
        ("map-e", "softwire", "tunnel"),
        ("map-e", "outer_hop_limit", "tunnel"),
        ("map-e", "outer_fragment", "malformed"),
        ("map-e", "fragment", "malformed"),
        ("map-e", "hop_limit_kept", "hop_limit"),
        ("lw4o6", "outer_source", "tunnel"),
        ("lw4o6", "port_set", "port"),
        ("lw4o6", "softwire", "tunnel"),
        ("map-t", "destination_address", "address"),
        ("map-t", "port_set", "port"),
        ("map-t", "fragment", "malformed"),
        ("map-t", "hop_limit", "hop_limit"),
        ("map-t", "hop_limit_kept", "hop_limit"),
    ],
)
def test_a_wrong_header_is_named(name: str, field: str, counter: str, tmp_path: Path) -> None:
    """Of the frames to subscribers, every twentieth is wrong."""
    fault = f'{{kind = "corrupt", direction = "reverse", every = 20, field = "{field}"}}'
    with gateway_for(STATELESS[name], tmp_path, fault) as (setup, dut):
        trial, _ = trial_through(setup, dut)
    forward, reverse = (stream.kinds.foreground for stream in trial.result.streams)
    assert forward is not None
    assert reverse is not None
    assert forward.received == FRAMES
    assert reverse.received == FRAMES - FRAMES // 20
    assert getattr(reverse.misdelivered, counter) == FRAMES // 20
