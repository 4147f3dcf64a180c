"""What was measured is shown in spite of a full disk, then comes the error."""

import errno
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import natxy.cli.demo
from natxy.campaign.journal import Journal
from natxy.campaign.records import CellEnd
from natxy.cli import run_command
from natxy.errors import StorageError
from natxy.model.base import Model
from natxy.model.measurement import Measurement
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.conftest import NAT64

Captured = pytest.CaptureFixture[str]
Full = Callable[[str], None]
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Full:
    """Makes the disk full when a file with this name is to be renamed."""

    def fill(name: str) -> None:
        rename = os.replace

        def fails(source: str, target: str) -> None:
            if Path(target).name == name:
                raise FULL
            rename(source, target)

        monkeypatch.setattr("natxy.whole_file.os.replace", fails)

    return fill


@pytest.fixture
def full_journal(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Model]], None]:
    """Makes the disk full when such a record is to be appended to a journal."""

    def fill(kind: type[Model]) -> None:
        append = Journal.append

        def fails(journal: Journal, *records: Model) -> None:
            if any(isinstance(record, kind) for record in records):
                raise StorageError("the journal: cannot be written: No space left on device")
            append(journal, *records)

        monkeypatch.setattr(Journal, "append", fails)

    return fill


def words(testbed: Path, *more: str) -> list[str]:
    asked = ["pdv", str(testbed), "--rate", "1000", "--profile", "quick", "--duration", "0.01"]
    return [*asked, "--repetitions", "1", "--output", str(testbed.parent / "made"), *more]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["results.json", "results.csv", "table.txt", "pdv.csv"])
def test_a_measurement_shows_its_table_then_the_error(
    name: str, full: Full, testbed_file: Path, capsys: Captured
) -> None:
    full(name)
    assert run_command(words(testbed_file, "--report")) == 1
    said = capsys.readouterr()
    assert said.out.startswith("PDV  ")
    assert "Journal, JSON and CSV" not in said.out, "not all of these are there"
    assert f"{name}: cannot be written: No space left on device" in said.err
    assert not list(testbed_file.parent.rglob(".natxy-*"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mounts a file system of so many KiB; the kernel rounds them up to whole pages."""
    into = tmp_path / "small"
    into.mkdir()

    def mount(kib: int) -> Path:
        options = ["-t", "tmpfs", "-o", f"size={kib}k", "small", str(into)]
        if subprocess.run(["mount", *options], check=False).returncode:
            pytest.skip("this container may not mount")
        return into

    yield mount
    if into.is_mount():
        subprocess.run(["umount", "--lazy", str(into)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mount needs root")
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("kib", [4, 8, 16, 32, 48, 64, 96])
def test_a_disk_that_is_full_sooner_or_later_is_one_sentence(
    kib: int, small_disk: Callable[[int], Path], testbed_file: Path, capsys: Captured
) -> None:
    """The first that has no room is, in turn, results.json, results.csv, and files of the report;
    more than 200 KiB would hold all."""
    disk = small_disk(kib)
    assert run_command([*words(testbed_file, "--report"), "--output", str(disk / "made")]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("PDV  ")
    (error,) = (line for line in said.err.splitlines() if line.startswith("natxy: "))
    assert error.endswith(": cannot be written: No space left on device")
    assert not list(disk.rglob(".natxy-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="mount needs root")
@pytest.mark.usefixtures("engine")
def test_a_disk_that_is_full_from_the_start_is_one_sentence(
    small_disk: Callable[[int], Path], testbed_file: Path, capsys: Captured
) -> None:
    disk = small_disk(4)
    (disk / "filler").write_bytes(bytes(4096))
    assert run_command([*words(testbed_file), "--output", str(disk / "made")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (error,) = (line for line in said.err.splitlines() if line.startswith("natxy: "))
    assert "No space left on device" in error


@pytest.mark.usefixtures("engine")
def test_a_program_gets_the_entries_as_well(
    full: Full, testbed_file: Path, capsys: Captured
) -> None:
    full("results.csv")
    assert run_command(words(testbed_file, "--json")) == 1
    assert '"procedure": "pdv"' in capsys.readouterr().out


@pytest.mark.usefixtures("engine")
def test_the_sizes_that_were_measured_are_shown(
    full_journal: Callable[[type[Model]], None], testbed_file: Path, capsys: Captured
) -> None:
    full_journal(Measurement)
    assert run_command(words(testbed_file, "--frame-size", "84,512")) == 1
    said = capsys.readouterr()
    assert "84 B" in said.out
    assert "512 B" not in said.out
    assert "the journal: cannot be written" in said.err


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("fills", ["results.json", "journal"])
def test_a_campaign_shows_what_its_cells_found(
    fills: str,
    full: Full,
    full_journal: Callable[[type[Model]], None],
    experiment: Path,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    if fills == "journal":
        full_journal(CellEnd)
    else:
        full(fills)
    made = ["run", str(experiment), "--output", str(tmp_path / "campaign")]
    assert run_command(made) == 1
    said = capsys.readouterr().err
    assert " fps per direction" in said or "PDV " in said
    assert "No space left on device" in said


def test_a_report_shows_its_table(
    full: Full, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    run(experiment, tmp_path / "campaign")
    full("table.txt")
    assert run_command(["report", str(tmp_path / "campaign"), "--no-html"]) == 1
    said = capsys.readouterr()
    assert "throughput, fps per direction" in said.out
    assert "table.txt: cannot be written: No space left on device" in said.err


@pytest.mark.usefixtures("engine")
def test_a_self_test_shows_its_table(full: Full, tmp_path: Path, capsys: Captured) -> None:
    full("own.json")
    into = tmp_path / "own.json"
    assert run_command(["self-test", "--frame-size", "84", "--output", str(into)]) == 1
    said = capsys.readouterr()
    assert "Rates that this tester reaches" in said.out
    assert "own.json: cannot be written: No space left on device" in said.err


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("into", ["/dev/null", "/dev/full", "/dev/stdout"])
def test_a_self_test_writes_into_a_device(into: str, capsys: Captured) -> None:
    status = run_command(["self-test", "--frame-size", "84", "--output", into])
    assert status == (into == "/dev/full")
    assert "Rates that this tester reaches" in capsys.readouterr().out
    assert not stat.S_ISREG(os.lstat(into).st_mode)


@pytest.fixture
def small_demo(tmp_path: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A demo of two gateways of the fake engine; returns a folder for it."""
    del engine
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "demo.toml"
    path.write_text('order = "written"\n' + EXPERIMENT.replace("rounds = 2", ""))
    monkeypatch.setattr(natxy.cli.demo, "demo_experiment", lambda: path)
    return tmp_path / "default"


@pytest.mark.parametrize("fills", ["results.json", "journal"])
def test_a_demo_shows_the_tables_of_what_it_measured(
    fills: str,
    full: Full,
    full_journal: Callable[[type[Model]], None],
    small_demo: Path,
    capsys: Captured,
) -> None:
    if fills == "journal":
        full_journal(CellEnd)
    else:
        full(fills)
    assert run_command(["demo", "--output", str(small_demo)]) == 1
    said = capsys.readouterr()
    assert "fps per direction" in said.out
    assert "No space left on device" in said.err
