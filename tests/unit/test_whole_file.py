"""A file is written whole or not at all, and only a regular file is ever replaced."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.errors import ConfigurationError, StorageError
from natxy.whole_file import whole_file, write_whole

WRITES = "import sys; from pathlib import Path; from natxy.whole_file import write_whole; "


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file of this process grows beyond 64 KiB."""
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, ignored)


@pytest.fixture(params=[0o077, 0o022, 0o027, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path, umask: int) -> None:
    write_whole(tmp_path / "folder" / "new", "text")
    assert mode(tmp_path / "folder" / "new") == 0o666 & ~umask
    assert mode(tmp_path / "folder") == 0o777 & ~umask


@pytest.mark.parametrize("known", [0o600, 0o640, 0o664, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, umask: int, known: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(known)
    write_whole(path, "new")
    assert (path.read_text(), mode(path)) == ("new", known)


def test_a_file_is_never_more_open_than_that_which_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.touch(0o600)
    with whole_file(path) as temporary:
        assert mode(temporary) == 0o600


def test_a_link_is_kept_and_its_target_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(Path("far") / "target")
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["target"]


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "far" / "target")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "far" / "target").read_text() == "new"


def test_the_null_device_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    for path in (link, Path("/dev/null")):
        write_whole(path, "nowhere")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert link.is_symlink()
    assert os.listdir(tmp_path) == ["null"]


def test_a_full_device_is_one_sentence() -> None:
    with pytest.raises(StorageError, match=r"^/dev/full: cannot be written: No space left"):
        write_whole(Path("/dev/full"), "text")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_pipe_with_a_name_gets_the_text(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()), daemon=True)
    reader.start()
    write_whole(path, "text")
    reader.join(10)
    assert got == ["text"]
    assert path.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_goes_on_after_the_text(tmp_path: Path, name: str) -> None:
    """Also where it is a file: what was printed before stays, and what follows comes after."""
    code = f'print("before"); write_whole(Path("{name}"), "text\\n"); print("after")'
    into = tmp_path / "output"
    with into.open("wb") as file:
        subprocess.run([sys.executable, "-c", WRITES + code], stdout=file, check=True)
    assert into.read_text() == "before\ntext\nafter\n"
    piped = subprocess.run([sys.executable, "-c", WRITES + code], capture_output=True, check=True)
    assert piped.stdout == b"before\ntext\nafter\n"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written: Is a directory"):
        write_whole(tmp_path, "text")


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(StorageError, match="file: cannot be written: File too large"):
        write_whole(path, "x" * 100_000)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_is_not_made_over_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(ConfigurationError, match="already exists and is not overwritten"):
        write_whole(path, "text", new=True)
    path.unlink()

    def late() -> None:
        with whole_file(path, new=True) as temporary:
            temporary.write_text("text")
            path.write_text("mine")

    with pytest.raises(ConfigurationError, match="already exists and is not overwritten"):
        late()
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_may_be_a_device() -> None:
    write_whole(Path("/dev/null"), "text", new=True)
