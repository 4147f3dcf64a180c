"""The kernel's NAT44 loses its table between the phases of a trial: it is a FAIL that says so,
whichever way phase 2 goes. Its port preserving mappings come again with the initiator's."""

import threading
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.model.reason import HowLost
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.valid import valid

N = 500
RATE_FPS = 10_000
TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
TESTBED = """
[tester]
lateness_tolerance_us = 100000
[traffic]
left_ip_version = 4
right_ip_version = 4
direction = "{direction}"
[connections]
count = 500
rate_fps = 10000
delay_s = {delay_s}
sample = {sample}
[dut]
kind = "namespace"
driver = "nat44"
conntrack_entries = 4096
"""


# Of twice as many frames as there are connections: replies alone make an entry each.
LOAD = steady(RATE_FPS, TIMING.duration_s)


def disturbances(trial: TrialRecord) -> Sequence[object]:
    """Where a ring was full, the gateway was away, and some replies did not make their entries."""
    drops = trial.telemetry.drops if trial.telemetry else None
    full = [f"{count} frames dropped by {ring}" for ring, count in (drops or {}).items() if count]
    return (*trial.invalid_reasons, *full)


@pytest.mark.parametrize(
    ("direction", "sample", "code", "facts"),
    [
        *(
            pytest.param(
                *(way, 100, HowLost.SAMPLE_SILENT, {"tested": 100, "silent": 100}),
                marks=pytest.mark.long,
            )
            for way in ("both", "forward", "reverse")
        ),
        ("reverse", 0, HowLost.REPLIES_LOST, {"sent": 1000, "lost": 1000}),
    ],
)
def test_a_table_that_was_dropped_between_the_phases_fails_the_trial(
    direction: str, sample: int, code: HowLost, facts: dict[str, float], tmp_path: Path
) -> None:
    path = tmp_path / "testbed.toml"
    path.write_text(TESTBED.format(direction=direction, delay_s=0.5, sample=sample))
    testbed, source = read_testbed(path)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        table = session.dut.table
        assert table is not None
        trials = Trials(session=session, timing=TIMING, campaign_seed=1)

        def drop() -> None:
            """Phase 1 lasts 50 ms and drains for as long; the rest of the delay is nobody's."""
            while table.count() < N:
                time.sleep(0.01)
            time.sleep(0.15)
            table.delete_all()

        def while_it_is_dropped() -> TrialRecord:
            session.dut.reset()
            dropper = threading.Thread(target=drop)
            dropper.start()
            try:
                return trials.run(load=LOAD, repetition=1, seed=1)
            finally:
                dropper.join()

        trial = valid(while_it_is_dropped, disturbances)
        assert trial.verdict is Verdict.FAIL
        assert trial.lost_connections
        assert trial.lost_connections.code is code
        assert trial.lost_connections.facts.items() >= facts.items()
