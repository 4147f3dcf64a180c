"""Loss, bursts, recovery, reset and overload by their commands, through kernel router and tayga."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import natxy
from tests.valid import Done, valid_run

# A veth holds 256 frames: 50 ms at the rates here. Whoever was away for less has lost nothing.
TESTER = "[tester]\nlateness_tolerance_us = 20000\n"
ROUTER = (
    TESTER + "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'namespace'\n"
)
TAYGA = (
    TESTER + "[traffic]\navoid_zero_checksum = true\n[dut]\nkind = 'namespace'\ndriver = 'tayga'\n"
)
SHORT = ("--drain", "0.1", "--settle", "0", "--seed", "5", "--json")
# What each gateway does is tests/accuracy's subject; the verbs need one that is always there.
BOTH = pytest.mark.parametrize(
    "testbed",
    [pytest.param(ROUTER, id="router", marks=pytest.mark.long), pytest.param(TAYGA, id="tayga")],
)
DIRECTIONS = ("forward", "reverse")


def run(verb: str, testbed: str, folder: Path, *options: str) -> Done:
    path = folder / "testbed.toml"
    path.write_text(testbed)
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)  # of an attempt that was not valid
    return natxy(verb, str(path), *SHORT, *options, "--output", str(results))


def measured(verb: str, testbed: str, folder: Path, *options: str) -> dict[str, Any]:
    done = valid_run(lambda: run(verb, testbed, folder, *options))
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)
    assert json.loads((folder / "results" / "results.json").read_text()) == [entry]
    rows = list(csv.DictReader((folder / "results" / "results.csv").read_text().splitlines()))
    assert len(rows) == len(entry["figures"])
    assert entry["procedure"] == verb
    found: dict[str, Any] = entry
    return found


def _largest_error(entry: dict[str, Any], name: str, direction: str, at: str) -> float:
    (found,) = (
        figure
        for figure in entry["figures"]
        if (figure["figure"], figure["direction"], figure["at"]) == (name, direction, at)
    )
    return float(found["largest_error"] or 0)


def figures(entry: dict[str, Any], name: str, direction: str = "") -> dict[str, list[float]]:
    """A value each repetition, by where it was taken."""
    return {
        figure["at"]: figure["values"]
        for figure in entry["figures"]
        if (figure["figure"], figure["direction"]) == (name, direction)
    }


@BOTH
def test_frame_loss(testbed: str, tmp_path: Path) -> None:
    """Rates that both gateways take: the series ends at the second."""
    series = ("--max-rate", "3000", "--duration", "0.2")
    entry = measured("frame-loss", testbed, tmp_path, *series)
    for direction in DIRECTIONS:
        found = figures(entry, "frame loss rate", direction)
        assert next(iter(found)) == "100 % (3,000 fps)"
        assert [values[0] for values in found.values()][-2:] == [0.0, 0.0]


@BOTH
def test_back_to_back(testbed: str, tmp_path: Path) -> None:
    """Of what is known of their buffers the search is told too little: a bound is good enough."""
    bursts = ("--burst-rate", "20000", "--throughput", "15000", "--duration", "0.05")
    entry = measured("back-to-back", testbed, tmp_path, *bursts, "--repetitions", "2")
    (longest,) = figures(entry, "back-to-back frames").values()
    (implied_s,) = figures(entry, "implied buffer time").values()
    (corrected_s,) = figures(entry, "corrected buffer time").values()
    assert all(1 <= frames <= 1000 for frames in longest)
    assert implied_s == pytest.approx([frames / 20_000 for frames in longest])
    assert corrected_s == pytest.approx([value / 4 for value in implied_s])
    assert any(each["facts"] == {"done": 2, "asked": 50} for each in entry["deviations"])


@BOTH
def test_recovery_of_a_gateway_that_is_not_overloaded(testbed: str, tmp_path: Path) -> None:
    """Nothing is lost, so there is no recovery time; tests/labs/test_limited_router has one that is
    overloaded."""
    rates = ("--throughput", "5000", "--duration", "0.2", "--after", "0.2", "--repetitions", "1")
    entry = measured("recovery", testbed, tmp_path, *rates)
    assert entry["rate_fps"] == 5000
    overload = {"high_fps": 5500, "low_fps": 2750}
    assert any(each["facts"] == overload for each in entry["remarks"])
    for direction in DIRECTIONS:
        assert list(figures(entry, "system recovery time", direction).values()) == [[]]
        assert list(figures(entry, "lost frames", direction).values()) == [[0]]
    assert "no_overload" in [each["code"] for each in entry["remarks"]]


@pytest.mark.parametrize(
    ("testbed", "way", "shortest_s"),
    [
        pytest.param(
            *(ROUTER, "forwarding of IPv4 and IPv6", 0.0005), id="router", marks=pytest.mark.long
        ),
        pytest.param(TAYGA, "tayga killed and started", 0.001, id="tayga"),
    ],
)
def test_reset(testbed: str, way: str, shortest_s: float, tmp_path: Path) -> None:
    """Frames are lost for a time, and come again: what was reset is back within the trial."""
    rate = ("--rate", "3000", "--duration", "0.5", "--reset-after", "0.1", "--repetitions", "1")
    entry = measured("reset", testbed, tmp_path, *rate)
    assert any(way in each["text"] for each in entry["remarks"])
    for direction in DIRECTIONS:
        ((by_loss_s,),) = figures(entry, "reset time, frame-loss method", direction).values()
        ((by_time_s,),) = figures(entry, "reset time, timestamp method", direction).values()
        assert shortest_s <= by_loss_s < 0.3
        assert shortest_s <= by_time_s < 0.3
    assert "lost_to_end" not in [each["code"] for each in entry["remarks"]]


@BOTH
def test_overload_that_a_gateway_bears_is_a_bound(testbed: str, tmp_path: Path) -> None:
    """Both take 4000 frames a second of any of them: tests/accuracy has one that does not."""
    flows = ("--flows", "10,100", "--error", "20%", "--max-rate", "4000", "--repetitions", "1")
    entry = measured("overload", testbed, tmp_path, *flows, "--duration", "0.1")
    places = ["1 flow", "10 flows", "100 flows"]
    found = figures(entry, "throughput")
    assert list(found) == places
    # Less where the sender paused: that is the counted rate.
    assert all(0.8 * 4000 <= fps <= 4000 for (fps,) in found.values())
    assert {each["bound"] for each in entry["figures"]} == {"lower"}
    assert not figures(entry, "degradation of throughput")
    assert "bound_does_not_degrade" in [each["code"] for each in entry["remarks"]]


@pytest.mark.parametrize(
    ("of", "figure"),
    [
        pytest.param("latency", "typical latency", marks=pytest.mark.long),
        ("pdv", "PDV"),
        pytest.param("ipdv", "median IPDV", marks=pytest.mark.long),
    ],
)
def test_delays_degrade_with_flows_too(of: str, figure: str, tmp_path: Path) -> None:
    """Each with the rate that was given; lower is better."""
    flows = ("--flows", "10", "--of", of, "--rate", "2000", "--repetitions", "1")
    entry = measured("overload", ROUTER, tmp_path, *flows, "--duration", "0.1")
    for direction in DIRECTIONS:
        found = figures(entry, figure, direction)
        assert list(found) == ["1 flow", "10 flows"]
        (alone,), (ten,) = found.values()
        degraded = figures(entry, f"degradation of {figure}", direction)
        if alone > _largest_error(entry, figure, direction, "1 flow"):
            assert degraded == {"10 flows": pytest.approx([(ten - alone) / alone * 100])}
        else:  # of a figure that may be 0 by its error, there is no degradation
            assert degraded == {}
    assert entry["rate_fps"] == 2000


def test_networks_are_a_series(tmp_path: Path) -> None:
    """RFC 2544 section 12: one, and 256; the lab is made for 256."""
    done = valid_run(
        lambda: run(
            "frame-loss", ROUTER, tmp_path, "--rates", "1000", "--networks", "1,256",
            "--duration", "0.2",
        )
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    one, many = json.loads(done.stdout)
    assert (one["right_networks"], many["right_networks"]) == (1, 256)
    for entry in (one, many):
        assert "networks" not in [each["code"] for each in entry["deviations"]]
        losses = [each["values"][0] for each in entry["figures"] if each["unit"] == "%"]
        assert len(losses) == 2
        assert max(losses) < 50  # they come through


def test_overload_that_grows(tmp_path: Path) -> None:
    """Four groups of flows, started one after the other in each trial."""
    flows = ("--flows", "8", "--incremental", "--error", "50%", "--max-rate", "2000")
    times = ("--duration", "0.05", "--drain", "0.05", "--repetitions", "1")
    entry = measured("overload", ROUTER, tmp_path, *flows, *times)
    assert entry["reference"] == "RFC 8219 section 10.2.2"
    ((alone,), (together,)) = figures(entry, "throughput").values()
    assert min(alone, together) > 0


@pytest.mark.parametrize(
    ("verb", "options", "sentence"),
    [
        ("frame-loss", (), "--max-rate: is missing"),
        ("frame-loss", ("--rates", "many"), '--rates: "many" is not a list of numbers'),
        ("back-to-back", ("--throughput", "100"), "--burst-rate: is missing"),
        ("reset", ("--rate", "100", "--reset-after", "99"), "--reset-after: 99 is out of range"),
        ("overload", ("--flows", "0"), "--flows: 0 is out of range"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    verb: str, options: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    done = run(verb, ROUTER, tmp_path, "--duration", "0.1", *options)
    assert done.returncode == 2
    (complaint,) = [line for line in done.stderr.splitlines() if line.startswith("natxy: ")]
    assert sentence in complaint
    assert done.stdout == ""
