"""What sources are compiled with: a level of x86-64 for each program, -Werror where it is asked."""

import json
import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
STRICT = ("dev", "asan-ubsan", "tsan")
PRESETS = [
    each["name"] for each in json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets"]
]


def commands(folder: Path, *options: str) -> dict[str, list[str]]:
    """Returns the compiler's commands by target."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-D", "NATXY_TESTS=ON", *options]
    subprocess.run(configure, check=True, capture_output=True)
    found: dict[str, list[str]] = {}
    for each in json.loads((folder / "compile_commands.json").read_text()):
        output = each["command"].partition(" -o ")[2]
        target = re.findall(r"CMakeFiles/([^/]+)\.dir/", output)[0]
        found.setdefault(target, []).append(each["command"])
    return found


@pytest.fixture(scope="module")
def as_installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return commands(tmp_path_factory.mktemp("install"))


def march_of(lines: list[str]) -> set[str]:
    return {flag for line in lines for flag in re.findall(r"-march=(\S+)", line)}


@X86
def test_each_target_is_compiled_for_one_level(as_installed: dict[str, list[str]]) -> None:
    """Code for a wider level in a program for a narrower one ends it on an older processor."""
    launchers = {"natxy-engine", "natxy-gateway"}
    for target, lines in as_installed.items():
        if target in launchers:
            wanted = "x86-64"
        else:
            (wanted,) = re.findall(r"-(x86-64-v\d)$", target) or ["x86-64-v3"]
        assert march_of(lines) == {wanted}, target
    assert {f"natxy_device_engine-x86-64-v{n}" for n in (3, 4)} <= set(as_installed)


@X86
def test_older_processors_can_be_built_for(tmp_path: Path) -> None:
    found = commands(tmp_path, "-D", "NATXY_LEVELS=x86-64-v2", "-D", "NATXY_DPDK=OFF")
    assert march_of([line for lines in found.values() for line in lines]) == {"x86-64-v2"}


def test_a_warning_stops_nobody_who_only_builds(as_installed: dict[str, list[str]]) -> None:
    for target, lines in as_installed.items():
        assert not any("-Werror" in line for line in lines), target
        assert all("-Wall" in line for line in lines), target


def test_warnings_are_errors_where_it_is_asked(tmp_path: Path) -> None:
    found = commands(tmp_path, "-D", "NATXY_WERROR=ON", "-D", "NATXY_DPDK=OFF")
    assert all("-Werror" in line for lines in found.values() for line in lines)


@pytest.mark.parametrize("preset", PRESETS)
def test_it_is_asked_in_the_presets_of_tests(preset: str) -> None:
    shown = subprocess.check_output(["cmake", "--preset", preset, "-N"], cwd=ROOT, text=True)
    assert ('NATXY_WERROR="ON"' in shown) is (preset in STRICT)


def test_nothing_that_is_installed_is_for_this_machine_alone(
    as_installed: dict[str, list[str]],
) -> None:
    assert not any("native" in flag for lines in as_installed.values() for flag in march_of(lines))


PROGRAM = Path(__file__).parents[2] / "tools" / "compilers"
# Makes what cmake would build, or fails at the step that BREAKS names.
CMAKE = """#!/bin/sh
case "$*" in
  *"$BREAKS"*) echo "x.cpp:1:1: error: no"; exit 1 ;;
  --build*) mkdir -p "$2/engine" "$2/gateway"
    for each in engine gateway; do
      printf '#!/bin/sh\\necho %s\\nexit %s\\n' "$each" "$STATUS" >"$2/$each/natxy-$each"
      chmod +x "$2/$each/natxy-$each"
    done ;;
esac
"""
CTEST = """#!/bin/sh
case "$*" in
  *"$BREAKS"*) echo "1 tests failed"; exit 8 ;;
esac
"""


def run(folder: Path, breaks: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs a copy of it, in which compilers and cmake are scripts."""
    (folder / "tools").mkdir()
    copy = folder / "tools" / "compilers"
    copy.write_text(PROGRAM.read_text())
    for name, script in {"cmake": CMAKE, "ctest": CTEST, "g++-98": "", "clang++-99": ""}.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "BREAKS": breaks,
        "STATUS": f"{status}",
    }
    command = ["bash", str(copy), "g++-98", "clang++-99"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_all_that_are_there_build(tmp_path: Path) -> None:
    done = run(tmp_path, breaks="nothing")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "compilers: 2 passed, 0 failed")


@pytest.mark.parametrize(
    ("breaks", "counts"),
    [
        ("COMPILER=clang++-99", "1 passed, 1 failed"),
        ("--build build/compilers/g++-98", "1 passed, 1 failed"),
        ("--build", "0 passed, 2 failed"),
        ("--test-dir build/compilers/g++-98", "1 passed, 1 failed"),
    ],
)
def test_one_that_does_not_build_is_named(breaks: str, counts: str, tmp_path: Path) -> None:
    done = run(tmp_path, breaks)
    assert done.returncode == 1
    assert "does not build the programs, or their tests fail" in done.stdout
    assert counts in done.stdout.splitlines()[-1]


def test_programs_that_do_not_start_are_not_built(tmp_path: Path) -> None:
    assert run(tmp_path, breaks="nothing", status=1).returncode == 1
