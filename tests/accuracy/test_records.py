"""Every frame's record: what the file says is what the result says, and what the gateway did."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Recording
from natxy.records.parquet_file import RecordsFile
from natxy.statistics import P99, percentile
from natxy.trial.load import Frames, steady
from natxy.trial.trials import Trials
from tests.accuracy.calibration import LOSES_NOTHING_US, TESTBED, TIMING, gateway_that
from tests.command import natxy
from tests.valid import valid_trial

RATE_FPS = 50_000
FRAMES = int(RATE_FPS * TIMING.duration_s)
EVERY = 40
FAULTS = {
    "delays": {"kind": "delay", "uniform_ns": [0, 4_000_000], "seed": 2},
    "losses": {"kind": "loss", "every": EVERY},
    "duplicates": {"kind": "duplicate", "direction": "forward", "every": EVERY},
}
Recorded = tuple[TrialResult, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recorded]:
    """The result of a valid trial with each fault, and the table of its frames, from one file."""
    folder = tmp_path_factory.mktemp("records")
    load = steady(RATE_FPS, TIMING.duration_s, Recording(frames=True))
    with (
        RecordsFile(folder / "frames.parquet") as file,
        gateway_that("", folder, file, tolerance_us=LOSES_NOTHING_US) as (session, dut),
    ):
        trials = Trials(session=session, timing=TIMING, campaign_seed=3)
        done = {name: trial_with(fault, trials, dut, load) for name, fault in FAULTS.items()}
    table = pq.read_table(file.path)
    return {
        name: (trial.result, table.filter(pc.equal(table["trial"], trial.number)))
        for name, trial in done.items()
    }


def trial_with(
    fault: dict[str, Any], trials: Trials, dut: CalibrationDut, load: Frames
) -> TrialRecord:
    dut.configure(faults=[fault])
    return valid_trial(trials, load, seed=3)


def of(table: Any, direction: str) -> Any:
    return table.filter(pc.equal(table["direction"].cast("string"), direction))


def test_its_statistics_are_the_results(recorded: dict[str, Recorded]) -> None:
    """Count, minimum and maximum exactly, percentiles as near as a result's are."""
    result, table = recorded["delays"]
    assert len(table) == 2 * FRAMES
    for stream in result.streams:
        counted = stream.kinds.foreground
        assert counted is not None
        mine = of(table, stream.direction)
        delays = mine["delay_ns"].to_pylist()
        assert len(delays) == counted.delay.count == counted.received
        assert min(delays) == pytest.approx(counted.delay.min_ns, rel=1e-9)
        assert max(delays) == pytest.approx(counted.delay.max_ns, rel=1e-9)
        assert percentile(delays, Fraction(1, 2)) == pytest.approx(counted.delay.p50_ns, rel=1e-3)
        assert percentile(delays, P99) == pytest.approx(counted.delay.p99_ns, rel=1e-3)
        assert set(mine["status"].to_pylist()) == {"received"}
        departures = mine["departure_ns"].to_numpy()
        due_ns = mine["number"].to_numpy() * (1e9 / RATE_FPS)
        assert np.max(departures - due_ns) == pytest.approx(stream.lateness.max_ns, rel=0.05)


def test_what_is_not_in_it_was_lost(recorded: dict[str, Recorded]) -> None:
    result, table = recorded["losses"]
    lost = set(range(EVERY - 1, FRAMES, EVERY))
    assert result.lost == 2 * len(lost)
    for direction in ("forward", "reverse"):
        numbers = of(table, direction)["number"].to_pylist()
        assert set(range(FRAMES)) - set(numbers) == lost
        assert len(numbers) == FRAMES - len(lost)


def test_frames_that_came_twice_are_there_twice(recorded: dict[str, Recorded]) -> None:
    result, table = recorded["duplicates"]
    twice = table.filter(pc.equal(table["status"].cast("string"), "duplicate"))
    assert result.duplicated == len(twice) == FRAMES // EVERY
    assert set(twice["number"].to_pylist()) == set(range(EVERY - 1, FRAMES, EVERY))
    assert set(twice["direction"].to_pylist()) == {"forward"}


@pytest.mark.long
def test_one_trial_by_the_command(tmp_path: Path) -> None:
    """Whatever its verdict on a busy machine: its frames are in the file."""
    testbed, path = tmp_path / "calibration.toml", tmp_path / "frames.parquet"
    testbed.write_text(TESTBED.format(fault="", tolerance_us=LOSES_NOTHING_US))
    options = ["--rate", "2000", "--duration", "0.2", "--json", "--records", str(path)]
    done = natxy("trial", str(testbed), *options, timeout_s=60)
    assert done.returncode in (0, 1), done.stderr
    streams = json.loads(done.stdout)["result"]["streams"]
    received = {s["direction"]: s["kinds"]["foreground"]["received"] for s in streams}
    table = pq.read_table(path)
    assert {name: len(of(table, name)) for name in received} == received
