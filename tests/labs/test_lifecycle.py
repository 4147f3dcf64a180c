"""A lab leaves nothing behind: after a normal end, Ctrl-C, a failed start, and a kill -9."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.dut import namespace
from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.cpus import napi_threads
from natxy.dut.ledger import Ledger, sweep
from natxy.dut.namespace import NamespaceDut
from natxy.dut.process import within
from natxy.dut.site import NamespaceSite
from natxy.errors import DutError
from natxy.runtime_folder import SYSTEM
from tests.labs.conftest import StartLab

PROGRAM = """
import sys, time
from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.namespace import NamespaceDut
config = NamespaceConfig(kind="namespace", driver=sys.argv[1])
plan = AddressPlan(left_ip_version=int(sys.argv[2]), right_ip_version=4)
dut = NamespaceDut(config, plan, tester_cpus=(0,))
try:
    dut.start()
    print("ready", flush=True)
    time.sleep(60)
finally:
    dut.stop()
"""
DRIVERS = pytest.mark.parametrize(
    ("driver", "left", "right"),
    [
        ("kernel-router", 4, 4),
        ("kernel-router", 6, 6),
        ("tayga", 6, 4),
        ("nat44", 4, 4),
        ("464xlat", 4, 4),
    ],
)


def traces(label: str) -> list[str]:
    """Namespaces, files, folders and processes that carry the lab's label."""
    places = [Path("/run/netns"), SYSTEM]
    names = {f"natxy-{room}-{label}" for room in "tgf"}
    names |= {f"{label}.json", f"natxy-lab-{label}-0"}
    found = [str(p / name) for p in places for name in names if (p / name).exists()]
    arguments = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _mentions(path, label)]
    threads = [f"{end}-{label}" for end in ("d0", "d1") if napi_threads(f"{end}-{label}")]
    return found + [str(path) for path in arguments] + threads


def left_behind(label: str) -> list[str]:
    """The kernel takes down a namespace, and its NAPI threads, a moment after it was removed."""
    within(5, lambda: not traces(label))
    return traces(label)


def _mentions(path: Path, label: str) -> bool:
    try:
        return f"natxy-lab-{label}-" in path.read_text(errors="replace")
    except OSError:
        return False


def label_of(dut: NamespaceDut) -> str:
    assert dut.tester_namespace is not None
    return dut.tester_namespace.removeprefix("natxy-t-")


@DRIVERS
def test_normal_end_leaves_nothing(start_lab: StartLab, driver: str, left: int, right: int) -> None:
    dut = start_lab(driver, left, right)
    label = label_of(dut)
    assert traces(label)
    dut.before_trial()
    dut.reset()
    assert dut.describe()["software"]
    dut.stop()
    assert left_behind(label) == []
    dut.stop()  # may be called twice


def test_two_labs_of_one_process_do_not_meet(start_lab: StartLab) -> None:
    first, second = start_lab("kernel-router", 4, 4), start_lab("kernel-router", 4, 4)
    assert label_of(first) != label_of(second)
    first.stop()
    second.before_trial()
    assert traces(label_of(second))


def test_failed_start_leaves_nothing(start_lab: StartLab, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Broken:
        def __init__(self, site: NamespaceSite, *_: object) -> None:
            seen.append(site.links.label)

        def start(self) -> None:
            raise DutError("broken on purpose")

        def stop(self) -> None:
            pass

    monkeypatch.setattr(namespace, "Gateway", Broken)
    with pytest.raises(DutError, match="broken on purpose"):
        start_lab("kernel-router", 4, 4)
    assert len(seen) == 1
    assert left_behind(seen[0]) == []


@pytest.fixture(params=[("tayga", 6), ("464xlat", 4)], ids=["tayga", "464xlat"])
def lab_process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, request.param)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_interrupt_leaves_nothing(lab_process: subprocess.Popen[str]) -> None:
    assert traces(str(lab_process.pid))
    os.killpg(lab_process.pid, signal.SIGINT)
    lab_process.wait(10)
    assert left_behind(str(lab_process.pid)) == []


def test_next_start_removes_what_a_killed_one_left(
    lab_process: subprocess.Popen[str], start_lab: StartLab
) -> None:
    label = str(lab_process.pid)
    lab_process.kill()
    lab_process.wait()
    assert any("cmdline" in trace for trace in traces(label)), "tayga should have survived"
    start_lab("kernel-router", 4, 4)
    assert left_behind(label) == []


def test_a_living_lab_is_not_swept(lab_process: subprocess.Popen[str]) -> None:
    before = traces(str(lab_process.pid))
    assert not any(str(lab_process.pid) in sentence for sentence in sweep())
    assert traces(str(lab_process.pid)) == before


def process_lives(dut: NamespaceDut) -> bool:
    try:
        dut.before_trial()
    except DutError:
        return False
    return True


def test_tayga_that_died_is_told_in_one_sentence(start_lab: StartLab) -> None:
    dut = start_lab("tayga", 6, 4)
    pids = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _mentions(p, label_of(dut))]
    os.kill(int(pids[0].parent.name), signal.SIGKILL)
    within(5, lambda: not process_lives(dut))
    with pytest.raises(DutError, match="tayga ended"):
        dut.before_trial()


def test_settings_of_the_first_namespace_are_put_back(start_lab: StartLab) -> None:
    path = Path("/proc/sys/net/netfilter/nf_conntrack_max")
    before = path.read_text()
    dut = start_lab("nat44", 4, 4, conntrack_entries=65536)
    assert path.read_text().strip() == "65536"
    dut.stop()
    assert path.read_text() == before


def test_an_unremovable_thing_is_named(tmp_path: Path) -> None:
    book = Ledger()
    (tmp_path / "setting").write_text("1")
    book.change_setting(str(tmp_path / "setting"), "2")
    (tmp_path / "setting").unlink()
    (tmp_path / "setting").mkdir()
    with pytest.raises(DutError, match=r"not be removed completely.*setting"):
        book.undo()
    (tmp_path / "setting").rmdir()
    sweep()  # now it can
    assert not (SYSTEM / f"{book.label}.json").exists()


def test_a_plan_that_the_driver_cannot_do_is_refused() -> None:
    with pytest.raises(Exception, match="expected 4 and 4, or 6 and 6"):
        NamespaceDut(
            NamespaceConfig(kind="namespace"),
            AddressPlan(left_ip_version=6, right_ip_version=4),
            tester_cpus=(0,),
        )
