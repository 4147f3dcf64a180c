"""The capabilities of docs/privileges.md, tried one by one on a small lab."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from natxy.dut.namespaces import OF_A_LAB, OF_OTHERS
from tests.nobody import CLONE, NOBODY, opened
from tests.valid import INVALID, valid

NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
ROUTER = CLONE / "experiments/testbeds/router.toml"
OPTIONS = ["--profile", "quick", "--repetitions", "1", "--max-rate", "2000"]
CALIBRATION = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n[dut]\nkind = 'calibration'\n"


@pytest.fixture(autouse=True)
def _namespaces_are_roots() -> None:
    """The first lab of a machine makes this folder, which would be another user's."""
    Path("/run/netns").mkdir(exist_ok=True)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that each user may write; pytest's own are in a folder of root's."""
    made = Path("/tmp") / f"natxy-privileges-{os.getpid()}"
    made.mkdir()
    made.chmod(0o777)  # also for root without CAP_DAC_OVERRIDE
    yield made
    shutil.rmtree(made)


def listed(names: Sequence[str], sign: str) -> str:
    """Returns capabilities as setpriv reads them: +net_admin,+sys_nice."""
    return ",".join(sign + name.removeprefix("CAP_").lower() for name in names)


def without(*names: str) -> list[str]:
    """Root, without some capabilities."""
    return ["setpriv", f"--bounding-set={listed(names, '-')}"]


def only(*names: str, user: int = 0) -> list[str]:
    """A user with these capabilities and no other, as a systemd unit can start one."""
    held = f"-all,{listed(names, '+')}"
    if user == 0:
        return ["setpriv", f"--bounding-set={held}"]
    identity = (f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs")
    held_by_user = (f"--inh-caps={held}", f"--ambient-caps={held}", f"--bounding-set={held}")
    return [*opened(CLONE), "setpriv", *identity, *held_by_user]


def throughput(
    folder: Path, rights: Sequence[str], testbed: Path
) -> subprocess.CompletedProcess[str]:
    output = folder / f"out-{len(list(folder.iterdir()))}"
    command = [*rights, *NATXY, "throughput", str(testbed), *OPTIONS, "--output", str(output)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)},
    )


def measured(folder: Path, rights: Sequence[str], testbed: Path) -> str:
    """Returns what the command printed, which has measured; noise may have lowered the rate."""
    done = valid(
        lambda: throughput(folder, rights, testbed),
        lambda one: INVALID.findall(one.stderr) if one.returncode else (),
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"Throughput\D+([\d,]+) fps", done.stdout)
    assert found, done.stdout
    assert 0 < int(found[1].replace(",", "")) <= 2000
    return done.stdout + done.stderr


def labs() -> set[str]:
    return {path.name for path in Path("/run/netns").glob("natxy-*")}


@pytest.mark.parametrize("name", OF_A_LAB)
def test_without_one_a_lab_is_refused_in_one_sentence(name: str, folder: Path) -> None:
    before = labs()
    done = throughput(folder, without(name), ROUTER)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"natxy: A lab needs {name}, which")
    assert labs() == before


def test_with_these_alone_root_measures_a_lab(folder: Path) -> None:
    measured(folder, only(*OF_A_LAB), ROUTER)


def test_with_these_and_one_more_another_user_measures_a_lab(folder: Path) -> None:
    before = labs()
    measured(folder, only(*OF_A_LAB, *OF_OTHERS, user=NOBODY), ROUTER)
    assert labs() == before, "it is also removed"


def test_without_that_one_another_user_is_refused(folder: Path) -> None:
    done = throughput(folder, only(*OF_A_LAB, user=NOBODY), ROUTER)
    assert done.returncode == 1
    assert done.stderr.startswith(f"natxy: A lab needs {OF_OTHERS[0]}, which")


@pytest.mark.parametrize("name", ["CAP_PERFMON", "CAP_BPF"])
def test_what_a_wider_one_contains_is_not_needed_beside_it(name: str, folder: Path) -> None:
    """CAP_SYS_ADMIN contains both: the gateway is watched, and the ports are AF_XDP's."""
    alike = measured(folder, without(name), ROUTER)
    assert "could not be watched" not in alike
    assert ("packet sockets" in alike) == ("packet sockets" in measured(folder, [], ROUTER))


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (("CAP_SYS_NICE",), "may not use a real-time priority"),
        (("CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_BPF"), ""),
    ],
)
def test_the_calibration_gateway_needs_none(
    names: tuple[str, ...], note: str, folder: Path
) -> None:
    path = folder / "calibration.toml"
    path.write_text(CALIBRATION)
    whole, lacking = (measured(folder, rights, path) for rights in ([], without(*names)))
    assert note in lacking
    assert not note or note not in whole, "it is the capability that brings the note"
