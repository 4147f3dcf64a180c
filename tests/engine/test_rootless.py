"""A user without privileges measures the calibration gateway, tests the tester, and is told what a
guest needs."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.nobody import AS_NOBODY, NOBODY, NOBODYS, opened
from tests.valid import valid

NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
TESTBED = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'calibration'\n"
GUEST = "[dut]\nkind = 'guest'\ndriver = 'jool-siit'\n"
OPTIONS = ["--profile", "quick", "--repetitions", "1", "--max-rate", "2000"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of that user; pytest's own are in a folder of root's."""
    made = Path("/tmp") / f"natxy-nobody-{os.getpid()}"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def environment_of(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}


def iter_until(lines: Iterable[str], words: str) -> Iterator[str]:
    """Yields lines up to the first one with these words."""
    for line in lines:
        yield line
        if words in line:
            return


def run_as_nobody(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*AS_NOBODY, *NATXY, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment_of(folder) | environment,
        cwd=folder,
    )


def guests() -> set[str]:
    return {path.name for path in Path("/run/netns").glob("natxy-t-*")}


ROOTLESS = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")


@ROOTLESS
def test_a_clone_in_a_folder_of_roots_can_be_read(folder: Path) -> None:
    """Root may have cloned into /root, where no other user may read."""
    closed = folder / "closed"
    clone = closed / "deep" / "clone"
    clone.mkdir(parents=True)
    (clone / "file").write_text("seen")
    closed.chmod(0o700)
    read = [*NOBODYS, "cat", str(clone / "file")]
    assert subprocess.run(read, stderr=subprocess.DEVNULL, check=False).returncode != 0
    assert subprocess.check_output([*opened(clone), *read], text=True) == "seen"
    assert closed.stat().st_mode & 0o777 == 0o700
    assert list(closed.iterdir()) == [closed / "deep"]


@ROOTLESS
def test_a_user_without_privileges_is_told_what_a_guest_needs(folder: Path) -> None:
    (folder / "lab.toml").write_text(GUEST)
    before = guests()
    options = (*OPTIONS, "--output", str(folder / "out"))
    done = run_as_nobody(folder, "throughput", str(folder / "lab.toml"), *options)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "natxy: A lab needs CAP_SYS_ADMIN, CAP_NET_ADMIN, "
    )
    assert "Traceback" not in done.stderr
    assert guests() == before


@ROOTLESS
def test_a_user_without_privileges_tests_the_tester_without_a_realtime_priority(
    folder: Path,
) -> None:
    """The self-test warns, and its trials run; a whole one takes minutes on a busy machine."""
    with subprocess.Popen(
        [*AS_NOBODY, *NATXY, "self-test", "--loop", "ring", "--frame-size", "84"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment_of(folder),
        cwd=folder,
    ) as process:
        assert process.stderr is not None
        said = list(iter_until(process.stderr, " fps"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert " fps" in said[-1], said
    assert any("may not use a real-time priority" in line for line in said)


@ROOTLESS
def test_the_users_own_runtime_folder_is_used(folder: Path) -> None:
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    os.chown(runtime, NOBODY, NOBODY)
    (folder / "lab.toml").write_text(TESTBED)
    options = ("--rate", "1000", "--duration", "0.1")
    done = run_as_nobody(
        folder, "trial", str(folder / "lab.toml"), *options, XDG_RUNTIME_DIR=str(runtime)
    )
    assert "Traceback" not in done.stderr
    assert "PASS" in done.stdout or "INVALID" in done.stdout, done.stderr
    assert (runtime / "natxy").stat().st_uid == NOBODY
    assert not list(folder.glob("natxy-*")), "nothing in the temporary folder instead"


@ROOTLESS
def test_a_user_without_privileges_measures_without_a_realtime_priority(folder: Path) -> None:
    (folder / "lab.toml").write_text(TESTBED)
    numbers = iter(range(1000))

    def measured() -> subprocess.CompletedProcess[str]:
        output = str(folder / f"out-{next(numbers)}")
        return run_as_nobody(
            folder, "throughput", str(folder / "lab.toml"), *OPTIONS, "--output", output
        )

    done = valid(measured, lambda one: one.stderr.splitlines()[-1:] if one.returncode else ())
    assert "may not use a real-time priority" in done.stderr
    assert "2,000" in done.stdout
    assert {each.stat().st_uid for each in folder.glob("out-*/*")} == {NOBODY}
