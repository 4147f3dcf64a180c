"""The gap between trials: from the end of one's drain to the first frame of the next."""

import time
from fractions import Fraction
from pathlib import Path

from natxy.campaign.journal import Journal
from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_record import TrialRecord
from natxy.trial.observer import Observer, Observers
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials

LAB = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'namespace'\n"
TIMING = Timing(duration_s=Fraction(1, 20), drain_s=Fraction(1, 50))
TRIALS = 11
LIMIT_S = 0.050


class EndTimes(Observer):
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def trial_ended(self, trial: TrialRecord) -> None:
        self.seconds.append(time.monotonic())


def test_it_is_short_where_nothing_changed(tmp_path: Path) -> None:
    """Journal, reset, request, warm-up and all; with no settle time asked for. From result to
    result there is a gap, a trial, and what the engine takes to tell the result, which counts as
    gap here. What is done in a gap is done in each: the shortest one, since a host that takes cores
    away adds to the others."""
    source = Source(name="lab.toml", text=LAB)
    testbed: Testbed = source.validated(Testbed, source.toml())
    ends = EndTimes()
    with (
        set_up(testbed, source, dut_of(testbed, source)) as session,
        Journal(tmp_path / "journal.jsonl.gz", {"seed": 1}) as journal,
    ):
        observer = Observers((ends, journal))
        trials = Trials(session=session.with_observer(observer), timing=TIMING, campaign_seed=1)
        records = [trials.run(load=1000, repetition=1, seed=1) for _ in range(TRIALS)]
    gaps_s = [
        after - before - record.result.duration_ns / 1e9
        for before, after, record in zip(ends.seconds, ends.seconds[1:], records[1:], strict=False)
    ]
    print(f"gaps of {min(gaps_s) * 1000:.1f} to {max(gaps_s) * 1000:.1f} ms")
    assert min(gaps_s) < LIMIT_S
