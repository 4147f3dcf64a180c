"""A user without privileges measures the calibration gateway, and is told what a guest needs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.valid import valid

NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
NOBODY = 65534
AS_NOBODY = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    "--bounding-set=-all",
]
TESTBED = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'calibration'\n"
GUEST = "[dut]\nkind = 'guest'\ndriver = 'jool-siit'\n"
OPTIONS = ["--profile", "quick", "--repetitions", "1", "--max-rate", "2000"]


def may_run_natxy() -> bool:
    found = subprocess.run([*AS_NOBODY, *NATXY, "--version"], capture_output=True, check=False)
    return os.geteuid() == 0 and found.returncode == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of that user; pytest's own are in a folder of root's."""
    made = Path("/tmp") / f"natxy-nobody-{os.getpid()}"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def as_nobody(folder: Path, output: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(*AS_NOBODY, *NATXY, "throughput", str(folder / "lab.toml"), *OPTIONS),
            *("--output", str(folder / output)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)},
        cwd=folder,
    )


def guests() -> set[str]:
    return {path.name for path in Path("/run/netns").glob("natxy-t-*")}


needs_root = pytest.mark.skipif(
    not may_run_natxy(), reason="needs root, and a clone that others may read"
)


@needs_root
def test_a_user_without_privileges_is_told_what_a_guest_needs(folder: Path) -> None:
    (folder / "lab.toml").write_text(GUEST)
    before = guests()
    done = as_nobody(folder, "out")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("which only root may do (expected sudo).")
    assert "Traceback" not in done.stderr
    assert guests() == before


@needs_root
def test_a_user_without_privileges_measures_without_a_realtime_priority(folder: Path) -> None:
    (folder / "lab.toml").write_text(TESTBED)
    numbers = iter(range(1000))

    def measured() -> subprocess.CompletedProcess[str]:
        return as_nobody(folder, f"out-{next(numbers)}")

    done = valid(measured, lambda one: one.stderr.splitlines()[-1:] if one.returncode else ())
    assert "may not use a real-time priority" in done.stderr
    assert "2,000" in done.stdout
    assert {each.stat().st_uid for each in folder.glob("out-*/*")} == {NOBODY}
