"""Measures how often `natxy compare` is right: python3 tools/compare_pairs.py FOLDER [--pairs 20]

The calibration gateway is compared with itself, and with one that is 8 % slower. The campaigns take
turns. Those that FOLDER has already are not measured again.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

NATXY = Path(sys.executable).with_name("natxy")
RATE_FPS = 20_000
DELAY_NS = 500_000
SLOWER = 0.08
TESTBED = """\
[tester]
cores = [0]
lateness_tolerance_us = 20000
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "calibration"
realtime = true
faults = [{fault}]
"""
EXPERIMENT = """\
title = "{name}"
testbed = "{name}.testbed.toml"
options = {{ profile = "quick", repetitions = 3, settle = 0 }}
[[measure]]
command = "throughput"
options = {{ error = "1%", max_rate = 30000, duration = 0.2, drain = 0.05 }}
[[measure]]
command = "latency"
options = {{ rate = 5000 }}
[measure.testbed.dut]
faults = [{{ kind = "delay", ns = {delay_ns} }}]
"""


def experiment(folder: Path, name: str, slower: float) -> Path:
    rate_fps = round(RATE_FPS * (1 - slower))
    fault = f'{{ kind = "rate_limit", rate_fps = {rate_fps}, depth = {rate_fps // 100} }}'
    (folder / f"{name}.testbed.toml").write_text(TESTBED.format(fault=fault))
    path = folder / f"{name}.toml"
    delay_ns = round(DELAY_NS / (1 - slower))
    path.write_text(EXPERIMENT.format(name=name, delay_ns=delay_ns))
    return path


def measure(folder: Path, name: str, number: int, lock: str | None) -> Path:
    output = folder / f"{name}-{number}"
    if not (output / "results.json").exists():
        command = [str(NATXY), "run", str(folder / f"{name}.toml"), "--output", str(output)]
        subprocess.run([*(["flock", lock] if lock else []), *command], check=True)
    return output


def verdicts(before: list[Path], after: list[Path]) -> dict[str, str]:
    """Returns the verdict about each figure."""
    more = [word for each in before[1:] for word in ("--before", str(each))]
    more += [word for each in after[1:] for word in ("--after", str(each))]
    command = [str(NATXY), "compare", str(before[0]), str(after[0]), *more, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {
        f"{each['measure']}: {each['figure']}": each["verdict"]
        for each in json.loads(done.stdout)["comparisons"][0]["figures"]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--campaigns", type=int, default=1, help="of each gateway of a pair")
    parser.add_argument("--lock", help="file that is locked while a campaign measures")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name, slower in (("old", 0.0), ("equal", 0.0), ("slower", SLOWER)):
        experiment(asked.folder, name, slower)
    found: dict[str, Counter[str]] = {"equal": Counter(), "slower": Counter()}
    measured: dict[str, list[Path]] = {"old": [], "equal": [], "slower": []}
    for pair in range(asked.pairs):
        for number in range(asked.campaigns):
            for name, folders in measured.items():
                at = pair * asked.campaigns + number
                folders.append(measure(asked.folder, name, at, asked.lock))
        before = measured["old"][-asked.campaigns :]
        for name, counts in found.items():
            said = verdicts(before, measured[name][-asked.campaigns :])
            counts.update(f"{figure}: {verdict}" for figure, verdict in said.items())
            counts["pairs with a verdict of worse or better"] += bool(
                {"worse", "better"} & {*said.values()}
            )
    for name, counts in found.items():
        print(f"{name}, {asked.pairs} pairs")
        print("\n".join(f"  {count:3}  {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
