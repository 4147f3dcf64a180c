"""Jool in a guest, measured by all procedures. The first test may build the guest."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from natxy.measure.memory import MEMORY
from natxy.model.measurement import Measurement
from natxy.model.trial_record import TrialRecord
from tests.guest.guests import (
    JOOL,
    NAT64,
    NAT64_TCP,
    RATE_FPS,
    RINGS,
    campaign,
    measured,
    trials_in,
    values_of,
)

of_each_transport = pytest.mark.parametrize(
    "testbed", [pytest.param(NAT64, id="udp"), pytest.param(NAT64_TCP, id="tcp")]
)


@pytest.mark.long
@of_each_transport
@pytest.mark.parametrize("options", [(), ("--validated",)])
def test_establishment_rate(testbed: str, options: tuple[str, ...], tmp_path: Path) -> None:
    entry = measured("establishment", tmp_path, "--error", "30%", *options, testbed=testbed)
    rate_cps, *_ = (figure["values"][0] for figure in entry["figures"])  # TCP has handshakes, too
    assert rate_cps > 50


@pytest.mark.long
@of_each_transport
def test_throughput(testbed: str, tmp_path: Path) -> None:
    entry = measured("throughput", tmp_path, "--error", "30%", testbed=testbed)
    assert entry["rate_fps_per_direction"] > 100
    assert entry["misdelivered"] == 0


@pytest.mark.long
def test_a_tear_down_has_times_for_each_number_of_connections(tmp_path: Path) -> None:
    entry = measured("tear-down", tmp_path, "--counts", "100,300")
    for name in ("full table deletion time", "empty table deletion time"):
        times = values_of(entry, name)
        assert len(times) == 2
        assert all(0 < value < 10 for value in times)


def test_one_command_measures_jool_by_all_procedures(tmp_path: Path) -> None:
    cells = campaign(tmp_path / "campaign", "run", JOOL, "--quick")
    columns = [json.loads(key)[0] for key in cells]
    assert {name: columns.count(name) for name in columns} == {
        "Jool, stateful NAT64": 9,
        "Jool, SIIT": 5,
    }
    assert [cell.end.error for cell in cells.values() if cell.end] == [""] * len(cells)
    results = [result for cell in cells.values() for result in cell.results]
    check_figures(results)
    check_rings(trials_in(tmp_path / "campaign/journal.jsonl.gz"))


# What the figures of a name can be on a slow machine in noise, and how many values there are.
RANGES = {
    "maximum connection establishment rate": (1, 100, 1e5),
    "validated connection establishment rate, alpha 0.5": (1, 100, 1e5),
    "throughput": (7, 100, 1e5),  # two of them of the degradation
    "typical latency": (4, 1, 1e9),  # of two gateways in two directions
    "worst-case latency": (4, 1, 1e9),
    "tagged frames": (4, 1, 1e5),
    "lost tagged frames": (4, 0, 0),
    "PDV": (4, 1, 1e9),
    "minimum delay": (4, 1, 1e9),
    "lost frames": (4, 0, 0),
    "full table deletion time": (2, 0.001, 10),
    "empty table deletion time": (2, 0.001, 10),
    "connection tear-down rate": (2, 0, 1e7),  # 0: noise made the deletion of nothing longer
}
COUNTS = [50, 200]


def check_figures(results: Sequence[Measurement]) -> None:
    figures = [figure for result in results for figure in result.figures]
    for name, (count, lowest, highest) in RANGES.items():
        values = [value for each in figures if each.name == name for value in each.values]
        assert len(values) == count, name
        assert all(lowest <= value <= highest for value in values), (name, values)
    losses = [figure for figure in figures if figure.name == "frame loss rate"]
    at_500 = [figure for figure in losses if figure.at_value == RATE_FPS]
    assert len(at_500) == 2  # directions
    for figure in at_500:  # the error is what the timing explains
        assert figure.values[0] <= figure.errors[0], figure
    for name in ("full table deletion time", "throughput"):
        points = [figure.at_value for figure in figures if figure.name == name]
        assert [at for at in points if at is not None] == COUNTS


def check_rings(trials: Sequence[TrialRecord]) -> None:
    """Checks what a full ring refused at 32,000 fps: no more than was lost, and not nothing where
    most frames were lost."""
    fastest = [trial for trial in trials if trial.rate_fps == 32_000]
    assert fastest
    refused = 0
    for trial in fastest:
        assert trial.telemetry is not None
        drops = trial.telemetry.drops or {}
        for stream in trial.result.streams:
            assert drops.get(RINGS[stream.direction], 0) <= stream.lost
        refused += sum(drops.get(ring, 0) for ring in RINGS.values())
    lost, sent = (sum(getattr(t.result, name) for t in fastest) for name in ("lost", "sent"))
    assert refused > 0 or lost < sent / 2


@pytest.mark.long
def test_memory_per_connection(tmp_path: Path) -> None:
    """A BIB entry and a session of Jool, each with its place in several trees."""
    counts = ("--counts", "1000,6000", "--max-rate", "2000")
    entry = measured("degradation", tmp_path, "--error", "50%", *counts)
    of_memory = [figure for figure in entry["figures"] if figure["figure"] == MEMORY]
    (octets,) = of_memory[-1]["values"]
    assert 200 < octets < 2000
