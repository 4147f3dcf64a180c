"""Latency, PDV and IPDV by their commands, through the kernel router and tayga."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.command import natxy
from tests.valid import Done, valid_run

# At RATE_FPS each queue on the way holds a direction's whole trial: no absence loses a frame.
TESTER = "[tester]\nlateness_tolerance_us = 20000\n"
ROUTER = (
    TESTER + "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'namespace'\n"
)
TAYGA = (
    TESTER + "[traffic]\navoid_zero_checksum = true\n[dut]\nkind = 'namespace'\ndriver = 'tayga'\n"
)
# Its limit is found within seconds, also in noise: the bucket takes what comes late.
LIMITED = (
    TESTER
    + "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'calibration'\n"
    + "poll_gap_limit_us = 20000\n"
    + "faults = [{kind = 'rate_limit', rate_fps = 5000, depth = 100}]\n"
)
SHORT = ("--duration", "0.2", "--drain", "0.5", "--settle", "0", "--seed", "5", "--json")
RATE_FPS = 1000


def measured(verb: str, testbed: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    path = folder / "testbed.toml"
    path.write_text(testbed)
    results = folder / "results"
    arguments = [verb, str(path), *SHORT, *options, "--output", str(results)]

    def attempt() -> Done:
        shutil.rmtree(results, ignore_errors=True)  # of an attempt that was not valid
        return natxy(*arguments)

    done = valid_run(attempt)
    assert done.returncode == 0, done.stderr
    assert (results / "journal.jsonl.gz").exists()
    entries: list[dict[str, Any]] = json.loads(done.stdout)
    assert json.loads((results / "results.json").read_text()) == entries
    return entries


def figures(entry: dict[str, Any], direction: str) -> dict[str, list[float]]:
    """Of one direction: a value each repetition, by name."""
    return {
        figure["figure"]: figure["values"]
        for figure in entry["figures"]
        if figure["direction"] == direction
    }


def lies_in_order(smaller: list[float], larger: list[float]) -> bool:
    return all(one <= other for one, other in zip(smaller, larger, strict=True))


@pytest.mark.parametrize(
    "testbed",
    [pytest.param(ROUTER, id="router", marks=pytest.mark.long), pytest.param(TAYGA, id="tayga")],
)
def test_latency(testbed: str, tmp_path: Path) -> None:
    rate = ("--rate", str(RATE_FPS), "--repetitions", "2", "--tags", "60")
    (entry,) = measured("latency", testbed, tmp_path, *rate)
    assert (entry["rate_fps"], entry["duration_s"]) == (RATE_FPS, 0.2)
    assert any(each["facts"].get("after_s") == 0.1 for each in entry["deviations"])
    assert any(each["facts"].get("clock") == "tsc" for each in entry["remarks"])
    assert any(each["code"].startswith("own_delay") for each in entry["remarks"])
    for direction in ("forward", "reverse"):
        found = figures(entry, direction)
        assert lies_in_order(found["typical latency"], found["worst-case latency"])
        assert found["lost tagged frames"] == [0, 0]
        assert all(0 < value < 1e8 for value in found["typical latency"])


def test_pdv_of_frame_sizes_and_mixes(tmp_path: Path) -> None:
    """RFC 8219's series, in small: two sizes, each with all and with half of it translated."""
    series = ("--frame-size", "84,512", "--foreground", "100,50")
    rate = ("--rate", str(RATE_FPS), "--repetitions", "1")
    entries = measured("pdv", TAYGA, tmp_path, *rate, *series)
    places = [(entry["frame_size_bytes"], entry["n"], entry["m"]) for entry in entries]
    assert places == [(84, 1, 1), (512, 1, 1), (84, 2, 1), (512, 2, 1)]
    for entry in entries:
        for direction in ("forward", "reverse"):
            found = figures(entry, direction)
            (pdv,), (lowest,) = found["PDV"], found["minimum delay"]
            assert [lowest + pdv] == pytest.approx(found["P99.9 of the delay"])
            assert lies_in_order(found["P99.9 of the delay"], found["maximum delay"])
            assert found["lost frames"] == [0]
    rows = list(csv.DictReader((tmp_path / "results" / "results.csv").read_text().splitlines()))
    assert len(rows) == 4 * 2 * 5
    assert {row["conforms"] for row in rows} == {"no"}


@pytest.mark.parametrize(
    ("verb", "testbed", "primary"),
    [
        pytest.param("pdv", ROUTER, ["PDV"], id="pdv-router", marks=pytest.mark.long),
        pytest.param(
            *("ipdv", TAYGA, ["minimum IPDV", "median IPDV", "maximum IPDV"]), id="ipdv-tayga"
        ),
    ],
)
def test_variation(verb: str, testbed: str, primary: list[str], tmp_path: Path) -> None:
    rate = ("--rate", str(RATE_FPS), "--repetitions", "2")
    (entry,) = measured(verb, testbed, tmp_path, *rate)
    for direction in ("forward", "reverse"):
        found = figures(entry, direction)
        assert list(found)[: len(primary)] == primary
        assert all(len(values) == 2 for values in found.values())
        assert all(abs(value) < 1e8 for name in primary for value in found[name])
        missing = found["lost frames" if verb == "pdv" else "undefined pairs"]
        assert missing == [0, 0]


def test_every_frames_record(tmp_path: Path) -> None:
    """Of both repetitions, through the engine's namespace: their minimum is the figure's."""
    path = tmp_path / "frames.parquet"
    options = ("--rate", str(RATE_FPS), "--repetitions", "2", "--records", str(path))
    (entry,) = measured("pdv", TAYGA, tmp_path, *options)
    table = pq.read_table(path)
    assert len(table) == 2 * 2 * RATE_FPS // 5
    smallest = table.group_by(["direction", "repetition"]).aggregate([("delay_ns", "min")])
    for direction in ("forward", "reverse"):
        rows = [row for row in smallest.to_pylist() if row["direction"] == direction]
        in_order = [row["delay_ns_min"] for row in sorted(rows, key=lambda row: row["repetition"])]
        assert figures(entry, direction)["minimum delay"] == pytest.approx(in_order)


@pytest.mark.long
def test_ipdv_at_the_throughput_that_is_found_first(tmp_path: Path) -> None:
    quick = ("--profile", "quick", "--repetitions", "1", "--direction", "forward")
    (entry,) = measured("ipdv", LIMITED, tmp_path, *quick)
    assert 2500 < entry["rate_fps"] <= 5000 + 100 / 0.2
    assert "rate_found" in [each["code"] for each in entry["remarks"]]
    found = figures(entry, "forward")
    assert lies_in_order(found["minimum IPDV"], found["median IPDV"])
    assert lies_in_order(found["median IPDV"], found["maximum IPDV"])
    assert found["minimum IPDV"][0] < 0 < found["maximum IPDV"][0]
    assert figures(entry, "reverse") == {}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--rate", "0"), "--rate: 0 is out of range"),
        (("--rate", "5000", "--tags-after", "0.2"), "is after the last frame"),
        (("--rate", "5000", "--profile", "slow"), 'unknown value "slow" (expected rfc or quick)'),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    options: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "testbed.toml"
    path.write_text(ROUTER)
    arguments = ["latency", str(path), *SHORT, *options, "--output", str(tmp_path / "results")]
    done = natxy(*arguments, timeout_s=60)
    assert done.returncode == 2
    (complaint,) = [line for line in done.stderr.splitlines() if line.startswith("natxy: ")]
    assert sentence in complaint
    assert done.stdout == ""
