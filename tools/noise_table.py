#!/usr/bin/env python3
"""Measures throughputs under noise, and prints them as a table.

Each cell is the median of several runs of one search each, with the smallest and the largest. Runs
with different shares of noise alternate, so that changes on the machine affect all of them. With
--natxy, other builds are measured.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

ROOT = pathlib.Path(__file__).parents[1]
HEAD = "[tester]\ncores = [0]\n[traffic]\nleft_ip_version = {left}\nright_ip_version = {right}\n"
NAT = "[connections]\ncount = 1000\nrate_fps = 20000\n"
TESTBEDS = {
    "router": HEAD.format(left=4, right=4)
    + '[dut]\nkind = "namespace"\ndriver = "kernel-router"\n',
    "tayga": HEAD.format(left=6, right=4)
    + 'avoid_zero_checksum = true\n[dut]\nkind = "namespace"\ndriver = "tayga"\n',
    "nat44": HEAD.format(left=4, right=4) + NAT + '[dut]\nkind = "namespace"\ndriver = "nat44"\n',
    "rate limit": HEAD.format(left=4, right=4)
    + '[dut]\nkind = "calibration"\nrealtime = true\nfaults = [{kind = "rate_limit", '
    "rate_fps = 100000, depth = 100}]\n",
}


def measure(natxy: str, testbed: str, share: str, folder: pathlib.Path) -> dict[str, Any]:
    file = folder / "testbed.toml"
    file.write_text(testbed)
    output = folder / f"run-{time.monotonic_ns()}"
    command = [natxy, "throughput", str(file), "--profile", "quick", "--error", "1%"]
    command += ["--repetitions", "1", "--output", str(output)]
    noise = [] if share == "0%" else [str(ROOT / "tools" / "noise"), "--share", share, "--"]
    begin = time.monotonic()
    done = subprocess.run([*noise, *command], capture_output=True, text=True, timeout=300)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if not line.startswith("noise: ")]
        return {"fps": None, "said": said[-1] if said else "", "seconds": seconds}
    results = json.loads((output / "results.json").read_text())
    (entry,) = results if isinstance(results, list) else results["results"]
    return {**found_in(entry), "seconds": seconds}


def found_in(entry: dict[str, Any]) -> dict[str, Any]:
    return {"fps": entry["rate_fps_per_direction"], "bound": entry["bound"]}


def cell(runs: list[dict[str, Any]]) -> str:
    rates = [run["fps"] for run in runs if run["fps"] is not None]
    refused = len(runs) - len(rates)
    if not runs:
        return "not measured"
    if not rates:
        return f"{refused} refused"
    bounds = sum(run["bound"] != "exact" for run in runs if run["fps"] is not None)
    said = f"{statistics.median(rates):,.0f} ({min(rates):,.0f} ... {max(rates):,.0f})"
    said += f", {bounds} ≥" if bounds else ""
    return said + (f", {refused} refused" if refused else "")


def table(runs: Sequence[dict[str, Any]]) -> str:
    gateways, builds, shares = (
        list(dict.fromkeys(run[name] for run in runs)) for name in ("gateway", "build", "share")
    )
    shares.sort(key=lambda share: float(share.rstrip("%")))
    lines = [
        "| gateway | build | " + " | ".join(f"noise {share}" for share in shares) + " |",
        "|---|---|" + "---|" * len(shares),
    ]
    for gateway in gateways:
        for build in builds:
            of = [run for run in runs if (run["gateway"], run["build"]) == (gateway, build)]
            cells = [cell([run for run in of if run["share"] == share]) for share in shares]
            lines.append(f"| {gateway} | {build} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shares",
        default="0%,2%,5%,10%",
        help="shares of each core that the noise takes [default: 0%%,2%%,5%%,10%%]",
    )
    parser.add_argument("--runs", type=int, default=3, help="runs per cell [default: 3]")
    parser.add_argument(
        "--natxy",
        action="append",
        default=[],
        metavar="NAME=PROGRAM",
        help="a build to measure; may be given several times [default: this one]",
    )
    parser.add_argument(
        "--gateways", default=",".join(TESTBEDS), help="gateways to measure [default: all]"
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=ROOT / "build" / "noise.json",
        help="JSON file to write [default: build/noise.json]",
    )
    parser.add_argument(
        "--measured", type=pathlib.Path, nargs="+", help="print the table of these files instead"
    )
    asked = parser.parse_args()
    if asked.measured:
        print(table([run for file in asked.measured for run in json.loads(file.read_text())]))
        return 0
    programs = dict(each.split("=", 1) for each in asked.natxy)
    programs = programs or {"this": str(ROOT / ".venv" / "bin" / "natxy")}
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.runs):
            for gateway in asked.gateways.split(","):
                for share in asked.shares.split(","):
                    for name, program in programs.items():
                        found = measure(program, TESTBEDS[gateway], share, pathlib.Path(folder))
                        runs.append({"build": name, "gateway": gateway, "share": share, **found})
                        print(
                            name,
                            gateway,
                            share,
                            found.get("fps"),
                            f"{found['seconds']:.0f} s",
                            found.get("said", ""),
                            file=sys.stderr,
                            flush=True,
                        )
                        asked.output.write_text(json.dumps(runs, indent=1))
    print(table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
