"""Jool in a guest, measured by all procedures. The first test may build the guest."""

import json
from pathlib import Path

import pytest

from natxy.procedure.memory import MEMORY
from tests.guest.guests import NAT64, NAT64_TCP, RATE_FPS, campaign, measured

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
def test_tear_down_is_timed_in_the_guest(tmp_path: Path) -> None:
    entry = measured("tear-down", tmp_path, "--counts", "100,300")
    times = [figure["values"] for figure in entry["figures"] if "deletion time" in figure["figure"]]
    assert times
    assert all(0 < value < 10 for values in times for value in values)


def test_one_command_measures_jool_by_all_procedures(tmp_path: Path) -> None:
    cells = campaign(tmp_path / "campaign", "run", "experiments/guest/jool.toml", "--quick")
    columns = [json.loads(key)[0] for key in cells]
    assert {name: columns.count(name) for name in columns} == {
        "Jool, stateful NAT64": 9,
        "Jool, SIIT": 5,
    }
    assert [cell.end.error for cell in cells.values() if cell.end] == [""] * len(cells)
    results = [result for cell in cells.values() for result in cell.results]
    (losses,) = (result for result in results if result.procedure == "frame-loss")
    at_500 = [figure.values for figure in losses.figures if figure.at_value == RATE_FPS]
    assert at_500 == [(0,), (0,)]  # in both directions


@pytest.mark.long
def test_memory_per_connection(tmp_path: Path) -> None:
    """A BIB entry and a session of Jool, each with its place in several trees."""
    counts = ("--counts", "1000,6000", "--max-rate", "2000")
    entry = measured("degradation", tmp_path, "--error", "50%", *counts)
    of_memory = [figure for figure in entry["figures"] if figure["figure"] == MEMORY]
    (octets,) = of_memory[-1]["values"]
    assert 200 < octets < 2000
