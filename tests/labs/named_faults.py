"""What tests of named faults share with others."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from natxy.model.trial_record import TrialRecord
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.labs.trials import testbed_of
from tests.valid import valid

RATE_FPS = 5000
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 10))
LAB = """
[tester]
warm_up = '{warm_up}'
warm_up_timeout_s = {warm_up_timeout_s}
lateness_tolerance_us = 1000000000
[traffic]
left_ip_version = {version}
right_ip_version = {version}
direction = 'forward'
frame_size_bytes = 1500
hop_limit = {hop_limit}
udp_checksum = '{udp_checksum}'
[dut]
kind = 'namespace'
device = '{device}'
"""


class Lab:
    """A router between two links, and hands to change it with."""

    def __init__(
        self, session: Session, observer: Observer | None = None, timing: Timing = TIMING
    ) -> None:
        assert session.dut.tester_namespace is not None
        self.session = session
        self.tester = session.dut.tester_namespace
        self.label = self.tester.removeprefix("natxy-t-")
        self.gateway = f"natxy-g-{self.label}"
        self.trials = Trials(
            session=session.with_observer(observer or Observer()), timing=timing, campaign_seed=7
        )

    def run(self, *arguments: str, feed: str = "") -> None:
        command = ["ip", "netns", "exec", self.gateway, *arguments]
        subprocess.run(command, input=feed, text=True, check=True, timeout=30)

    def lower_mtu(self) -> None:
        self.run("ip", "link", "set", f"d1-{self.label}", "mtu", "1280")

    def clear_df(self) -> None:
        rule = "type filter hook prerouting priority raw; ip frag-off set 0"
        self.run("nft", "-f", "-", feed=f"table ip natxy_df {{\nchain clear {{ {rule}; }}\n}}\n")

    def take_udp_checksums_away(self, family: str) -> None:
        rule = "type filter hook forward priority 0; udp checksum set 0"
        table = f"table {family} natxy_sum {{\nchain clear {{ {rule}; }}\n}}\n"
        self.run("nft", "-f", "-", feed=table)

    def trial(self) -> TrialRecord:
        return self.trials.run(load=RATE_FPS, repetition=1, seed=7)

    def valid_trial(self) -> TrialRecord:
        return valid(self.trial, lambda trial: trial.invalid_reasons)


@contextmanager
def lab(
    *,
    version: int = 4,
    device: str = "auto",
    warm_up: str = "neighbours",
    warm_up_timeout_s: float = 2.0,
    udp_checksum: str = "optional",
    hop_limit: int = 64,
    observer: Observer | None = None,
    timing: Timing = TIMING,
) -> Iterator[Lab]:
    text = LAB.format(
        version=version,
        device=device,
        warm_up=warm_up,
        warm_up_timeout_s=warm_up_timeout_s,
        udp_checksum=udp_checksum,
        hop_limit=hop_limit,
    )
    testbed, source, dut = testbed_of(text)
    with set_up(testbed, source, dut) as session:
        yield Lab(session, observer, timing)
