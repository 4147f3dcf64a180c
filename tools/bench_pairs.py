"""Measures how often the action is right: python3 tools/bench_pairs.py FOLDER [--pairs 20]

The steps of action.yml compare tayga with itself, and with a tayga that takes more time for each
frame. Comparisons and campaigns that FOLDER has already are not measured again. Needs root.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import yaml

ROOT = Path(__file__).parents[1]
ACTION = ROOT / "action.yml"
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")  # as the forge calls it
# A read of tayga gives it one frame. While it is busy, the time from read to read is the frame's.
SLOWER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static const double share = @SHARE@;
static const long longest = 20000;  /* ns; what is longer was spent on waiting */

static long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}

ssize_t read(int file, void *buffer, size_t octets) {
  static ssize_t (*real)(int, void *, size_t);
  static long last;
  if (!real) real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  const ssize_t got = real(file, buffer, octets);
  const long begin = now(), took = begin - last < longest ? begin - last : longest;
  const long until = begin + (long)(share * took);
  do { last = now(); } while (got > 0 && last < until);
  return got;
}
"""
WRAPPER = """#!/bin/sh
export LD_PRELOAD="{library} $LD_PRELOAD"
exec "{tayga}" "$@"
"""
# That of docs/how-to/ci.md.
EXPERIMENT = """\
title = "Forwarding of tayga"
testbed = "{testbed}"
options = {{ profile = "quick", duration = 0.05, repetitions = 20, retry_time = 0 }}
[[measure]]
command = "frame-loss"
options = {{ rates = "100k" }}
"""
RUN = "1"  # the forge's number of a run


def slower_tayga(folder: Path, share: float) -> Path:
    """Returns a tayga that takes this share more time for each frame."""
    folder.mkdir(parents=True, exist_ok=True)
    source, library, wrapper = (folder / name for name in ("slower.c", "slower.so", "tayga"))
    source.write_text(SLOWER.replace("@SHARE@", f"{share:.4f}"))
    cc = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
    subprocess.run(cc, check=True)
    wrapper.write_text(WRAPPER.format(library=library, tayga=shutil.which("tayga")))
    wrapper.chmod(0o755)
    return wrapper


def run_action(folder: Path, given: Mapping[str, str], path: str) -> int:
    """Runs the steps of action.yml that are scripts, as the forge would; returns the status.

    `given` are its inputs, `path` is PATH.
    """
    action = yaml.safe_load(ACTION.read_text())
    inputs = {name: given.get(name, each.get("default")) for name, each in action["inputs"].items()}
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_PATH", "GITHUB_ENV")}
    files["GITHUB_STEP_SUMMARY"].unlink(missing_ok=True)
    for file in files.values():
        file.touch()
    shared = {**os.environ, **{name: str(file) for name, file in files.items()}}
    status = 0
    for step in action["runs"]["steps"]:
        if "run" not in step or (status and step.get("if") != "always()"):
            continue
        values = {name: _filled_in(text, inputs) for name, text in step["env"].items()}
        added = files["GITHUB_PATH"].read_text().splitlines()
        environment = {**shared, **values, "RUNNER_TEMP": str(folder)}
        environment["PATH"] = ":".join([*reversed(added), path])
        command = [*BASH, step["run"]]
        done = subprocess.run(command, cwd=folder, env=environment, check=False)
        status = status or done.returncode
    return status


def _filled_in(text: str, inputs: Mapping[str, str]) -> str:
    known = {**{f"inputs.{name}": value for name, value in inputs.items()}, "github.run_id": RUN}
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known[found[1]], text)


def compared(folder: Path, slower: Path | None, rounds: int, wheel: str = "") -> int:
    """Compares tayga with itself, or with a slower one; returns the status of the job."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    testbed = ROOT / "experiments/testbeds/stateless-nat64.toml"
    (folder / "experiment.toml").write_text(EXPERIMENT.format(testbed=testbed))
    tayga = shutil.which("tayga")
    given = {
        "experiment": "experiment.toml",
        "base": f"ln -sfn {tayga} bin/tayga",
        "head": f"ln -sfn {slower or tayga} bin/tayga",
        "rounds": str(rounds),
        "wheel": wheel,
    }
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return run_action(folder, given, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.08, help="more time for each frame")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    slower = slower_tayga(folder / "slower-tayga", asked.share)
    found: dict[str, list[tuple[int, float, str]]] = {"equal": [], "slower": []}
    for pair in range(asked.pairs):
        for name, results in found.items():
            of, head = folder / f"{name}-{pair}", slower if name == "slower" else None
            known = of / "status"
            if not known.exists():
                status = compared(of, head, asked.rounds)
                known.write_text(str(status))
            written = of / "natxy-bench" / RUN / "comparison.json"
            figures = json.loads(written.read_text())["figures"] if written.exists() else []
            worst = min((each["change"] for each in figures), default=0.0)
            said = ", ".join(each["verdict"] for each in figures) or "no table"
            results.append((int(known.read_text()), worst, said))
            print(f"{of.name}: {said}", file=sys.stderr, flush=True)
    for name, results in found.items():
        failed = sum(status != 0 for status, _, _ in results)
        told = sum("worse" in said or "better" in said for _, _, said in results)
        print(f"{name}: {failed} of {len(results)} jobs failed, {told} told a change apart")
        print(f"  median change {median(change for _, change, _ in results) * 100:+.1f} %")
        for number, (status, change, said) in enumerate(results):
            print(f"  {number:3}  status {status}  {change * 100:+6.1f} %  {said}")


if __name__ == "__main__":
    main()
