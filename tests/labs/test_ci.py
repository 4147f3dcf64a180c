"""The job of docs/how-to/ci.md: a gateway that became slower fails it, and one that did not passes.

The slower one is tayga with a library that holds each of its reads back.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documented_experiments import experiments_of

NATXY = Path(sys.executable).with_name("natxy")
TESTBED = Path(__file__).parents[2] / "experiments/testbeds/stateless-nat64.toml"
# A read of tayga gives it one frame, on which it spends about 7 us.
SLOWER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}

ssize_t read(int file, void *buffer, size_t octets) {
  static ssize_t (*real)(int, void *, size_t);
  if (!real) real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  const ssize_t got = real(file, buffer, octets);
  const long until = now() + 5000;
  while (got > 0 && now() < until) {}
  return got;
}
"""
WRAPPER = """#!/bin/sh
export LD_PRELOAD="{library} $LD_PRELOAD"
exec "{tayga}" "$@"
"""


# In an hour in which the host takes the cores away, figures are lower bounds. Two of them say
# nothing about each other, and the job must not pass then.
UNJUDGED = "No figure could be judged"
BOUND = re.compile(r"value is a lower\s+bound|≥")


def natxy(*words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"],
    }
    return subprocess.run(
        [NATXY, *words], env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def slower_tayga(folder: Path) -> str:
    """Returns a folder for PATH with a tayga that takes 5 us more for each frame."""
    (folder / "slower.c").write_text(SLOWER)
    library = folder / "slower.so"
    cc = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(folder / "slower.c"), "-ldl"]
    subprocess.run(cc, check=True)
    found = subprocess.run(["which", "tayga"], capture_output=True, text=True, check=True)
    wrapper = folder / "bin" / "tayga"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(library=library, tayga=found.stdout.strip()))
    wrapper.chmod(0o755)
    return str(wrapper.parent)


@pytest.mark.long
def test_a_slower_gateway_fails_the_job_and_an_equal_one_does_not(tmp_path: Path) -> None:
    experiment = tmp_path / "experiment.toml"
    (documented,) = experiments_of("ci.md")
    experiment.write_text(documented.replace('"testbed.toml"', f'"{TESTBED}"'))
    folders = {name: str(tmp_path / name) for name in ("before", "equal", "slower")}
    paths = {"before": "", "equal": "", "slower": slower_tayga(tmp_path)}
    for name, folder in folders.items():
        ran = natxy("run", str(experiment), "--output", folder, path=paths[name])
        assert ran.returncode == 0, ran.stderr
    condition = ("--fail-if", "worse-by=15%")
    equal = natxy("compare", folders["before"], folders["equal"], *condition)
    slower = natxy("compare", folders["before"], folders["slower"], *condition)
    for done in (equal, slower):
        if UNJUDGED in done.stdout:
            assert done.returncode == 1
            assert BOUND.search(done.stdout), "no other reason"
            pytest.skip("noise left only bounds, of which nobody can say which is worse")
    assert equal.returncode == 0, equal.stdout
    assert slower.returncode == 1, slower.stdout
    assert "Worse by more than 15 %: throughput" in slower.stdout
