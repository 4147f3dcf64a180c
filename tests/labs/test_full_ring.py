"""A valid trial blames the gateway for no frame that the tester's own ring had no room for."""

import json
import os
import subprocess
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from natxy.dut import lab
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.labs.trials import testbed_of
from tests.noise import taken
from tests.valid import PATIENCE_S

SENDER, RECEIVER = 0, 1  # CPUs of the workers that have the left and the right port
RATE_FPS = 20_000
RING_FRAMES = 512  # the driver's own default: 25.6 ms at the rate, twice as long as who receives
# is away. Who sends is away for 30 ms and makes up for 600 frames at once.
TESTBED = """
[tester]
cores = [0, 1]
lateness_tolerance_us = 50000
warm_up = "neighbours"
[traffic]
left_ip_version = 4
right_ip_version = 4
direction = "forward"
[dut]
kind = "namespace"
device = "af_packet"
"""
TIMING = Timing(duration_s=Fraction(1, 2), drain_s=Fraction(1, 10))
CATCHES_UP = replace(steady(RATE_FPS, TIMING.duration_s), pauses=False)
OTHERS = 50  # frames on the link that are not the trial's: ARP
ENOUGH = 2


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A trial, and how many frames the kernel delivered to the tester in it."""

    trial: TrialRecord
    delivered: int

    @property
    def is_valid(self) -> bool:
        return self.trial.verdict is not Verdict.INVALID

    @property
    def lost_in_ring(self) -> int:
        """What the link brought and the tester did not count, but for a few that are others'."""
        (stream,) = self.trial.result.streams
        return max(0, self.delivered - stream.received - OTHERS)

    @property
    def wrongly_lost(self) -> int:
        """What the trial counts as lost beyond what the links lost."""
        (stream,) = self.trial.result.streams
        return max(0, stream.lost - max(0, stream.sent - self.delivered) - OTHERS)


def delivered(namespace: str) -> int:
    """By the right link, since it was made."""
    command = ["ip", "-n", namespace, "-s", "-j", "link", "show", "t1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return int(json.loads(done.stdout)[0]["stats64"]["rx"]["packets"])


def one(trials: Trials, namespace: str) -> Seen:
    before = delivered(namespace)
    trial = trials.run(load=CATCHES_UP, repetition=1, seed=7)
    return Seen(trial=trial, delivered=delivered(namespace) - before)


@pytest.mark.long
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="sender and receiver have a CPU each")
def test_what_a_full_ring_lost_is_no_loss_of_a_valid_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the receiver is away, the sender comes back and sends what it owes."""
    monkeypatch.setattr(lab, "PACKET_FRAMES", RING_FRAMES)
    testbed, source, dut = testbed_of(TESTBED)
    seen: list[Seen] = []

    def is_enough() -> bool:
        """As many trials as show that the ring was full, and one to be judged."""
        full = sum(1 for each in seen if each.lost_in_ring)
        return full >= ENOUGH and any(each.is_valid for each in seen)

    with (
        set_up(testbed, source, dut) as session,
        taken("10%", "--pieces", "30ms-30ms", "--cpus", str(SENDER)),
        taken("20%", "--pieces", "12ms-12ms", "--cpus", str(RECEIVER)),
    ):
        assert session.dut.tester_namespace is not None
        trials = Trials(session=session, timing=TIMING, campaign_seed=7)
        end_s = time.monotonic() + PATIENCE_S
        while not is_enough() and time.monotonic() < end_s:
            seen.append(one(trials, session.dut.tester_namespace))
    print([(each.trial.verdict, each.lost_in_ring, each.trial.invalid_reasons) for each in seen])
    assert is_enough(), "the ring was not full often enough, or no trial is valid"
    assert [each.wrongly_lost for each in seen if each.is_valid and each.wrongly_lost] == []
