"""The engine's variants: which one the launcher starts, and what it refuses."""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.programs import installed

ENGINE, GATEWAY = installed("natxy-engine"), installed("natxy-gateway")
BASELINE = "x86-64-v3"
OLD = ["qemu-x86_64", "-cpu"]  # emulates one

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")


def started(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name != "NATXY_VARIANT"}
    return subprocess.run(
        command, env=known | environment, capture_output=True, text=True, timeout=60, check=False
    )


def levels_of_this_processor() -> list[str]:
    """Returns the levels that glibc finds, which looks for itself."""
    said = subprocess.check_output(["/lib64/ld-linux-x86-64.so.2", "--help"], text=True)
    return re.findall(r"^\s+(x86-64-v\d) \(supported", said, re.MULTILINE)


def test_all_levels_are_installed() -> None:
    names = {path.name for path in ENGINE.parent.glob("natxy-*-x86-*")}
    assert names == {
        f"natxy-engine-{BASELINE}",
        "natxy-engine-x86-64-v4",
        f"natxy-gateway-{BASELINE}",
    }


def test_the_widest_that_the_processor_has_is_started() -> None:
    widest = max(
        level for level in ("x86-64-v3", "x86-64-v4") if level in levels_of_this_processor()
    )
    version = started(ENGINE, "--version")
    assert version.returncode == 0
    assert version.stdout.endswith(f", {widest}\n")


@pytest.mark.parametrize("level", ["x86-64-v3", "x86-64-v4"])
def test_one_is_asked_for(level: str) -> None:
    """It runs and names itself, or is refused: never an illegal instruction."""
    done = started(ENGINE, "--version", NATXY_VARIANT=level)
    if level in levels_of_this_processor():
        assert done.stdout.endswith(f", {level}\n")
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"natxy-engine: NATXY_VARIANT: this processor lacks instructions of {level} "
        f"(expected {BASELINE})\n"
    )


def test_one_that_is_unknown_is_refused() -> None:
    done = started(ENGINE, "--version", NATXY_VARIANT="native")
    assert done.returncode == 2
    assert done.stderr == (
        'natxy-engine: NATXY_VARIANT: unknown value "native" (expected x86-64-v3 or x86-64-v4)\n'
    )


def test_the_gateway_has_no_choice() -> None:
    """Whoever asks for the engine's variant wants a calibration gateway all the same."""
    assert started(GATEWAY, "--version", NATXY_VARIANT="x86-64-v4").returncode == 0


@pytest.mark.parametrize("program", [ENGINE, GATEWAY])
@pytest.mark.parametrize("cpu", ["qemu64", "Nehalem", "SandyBridge"])
def test_a_processor_without_the_baseline_is_told_so(program: Path, cpu: str) -> None:
    done = started(*OLD, cpu, program, "--version")
    assert (done.returncode, done.stdout) == (2, "")
    said = [
        line for line in done.stderr.splitlines() if not line.startswith("qemu-x86_64: warning")
    ]
    (sentence,) = said
    assert sentence.startswith(
        f"{program.name}: this processor lacks instructions of {BASELINE} (expected "
    )


@pytest.mark.parametrize("level", ["x86-64-v3", "x86-64-v4"])
def test_a_variant_without_its_launcher_is_refused_by_the_dynamic_linker(level: str) -> None:
    done = started(ENGINE.with_name(f"{ENGINE.name}-{level}"), "--version")
    if level in levels_of_this_processor():
        assert done.stdout.endswith(f", {level}\n")
        return
    assert done.returncode not in (0, -signal.SIGILL)
    assert "CPU ISA level is lower than required" in done.stderr


def test_a_launcher_without_its_variants_is_a_sentence(tmp_path: Path) -> None:
    alone = shutil.copy(ENGINE, tmp_path / "natxy-engine")
    done = started(alone, "--version")
    assert done.returncode == 2
    assert re.fullmatch(
        r"natxy-engine: \S+/natxy-engine-x86-64-v[34]: cannot be started: No such file or "
        r"directory \(expected the variant that was built with this program\)\n",
        done.stderr,
    )


def test_hello_names_the_variant_that_runs() -> None:
    """The launcher becomes it, in the same process."""
    cpu = str(min(os.sched_getaffinity(0)))
    options = ["--left", "ring", "--right", "ring", "--cores", cpu, "--huge-pages", "never"]
    environment = os.environ | {"NATXY_VARIANT": BASELINE}
    with subprocess.Popen(
        [ENGINE, *options],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as engine:
        assert engine.stdout is not None
        assert json.loads(engine.stdout.readline())["variant"] == BASELINE
        assert Path(f"/proc/{engine.pid}/exe").readlink().name == f"natxy-engine-{BASELINE}"
