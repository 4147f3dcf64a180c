"""Groups of lines in a gzip file: whole or not at all, whatever ends the writing, and where."""

import gzip
import os
import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from natxy.campaign.gzip_lines import MARK, GzipLines, groups

NOISE = Random(5).randbytes(3000)  # cannot be compressed: zlib stores it as it is
texts = some.lists(some.binary(max_size=200).map(lambda data: data + b"\n"), max_size=6)
# Several openings of a file; after each, the member is ended or left open.
openings = some.lists(some.tuples(texts, some.booleans()), min_size=1, max_size=4)
any_file = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.gz"


def read(data: bytes) -> list[bytes]:
    return [group.text for group in groups(data) if group.text]


def reopened(path: Path) -> tuple[int, GzipLines]:
    size, ending = 0, b""
    for group in groups(path.read_bytes()):
        size, ending = group.end, group.ending
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.ftruncate(file, size)
    return file, GzipLines(file, ending)


def write(path: Path, opened: list[tuple[list[bytes], bool]]) -> list[tuple[int, bytes]]:
    """Returns the size of the file after each group, and the group."""
    path.write_bytes(b"")
    written = []
    for appended, ended in opened:
        file, lines = reopened(path)
        for text in appended:
            lines.append(text)
            written.append((path.stat().st_size, text))
        if ended:
            lines.end()
        os.close(file)
    return written


@any_file
@given(openings)
@example([([b"a\n", b"b\n"], False), ([], False), ([b"c\n"], True), ([b"d\n"], False)])
@example([([NOISE + MARK + b"\n", MARK * 9 + b"\n", b"\n"], False)])
def test_every_cut_leaves_the_groups_before_it(
    path: Path, opened: list[tuple[list[bytes], bool]]
) -> None:
    written = write(path, opened)
    data = path.read_bytes()
    step = 1 if len(data) < 2000 else 17
    for size in {*range(0, len(data), step), *(end - 1 for end, _ in written), len(data)}:
        assert read(data[:size]) == [text for end, text in written if end <= size]


@any_file
@given(openings)
def test_every_program_reads_what_was_ended(
    path: Path, opened: list[tuple[list[bytes], bool]]
) -> None:
    written = write(path, [*opened, ([b"the last\n"], True)])
    assert gzip.decompress(path.read_bytes()) == b"".join(text for _, text in written)


@any_file
@given(texts, some.integers(0, 300), texts)
def test_a_torn_group_is_cut_off_when_the_file_is_opened_again(
    path: Path, before: list[bytes], lost: int, after: list[bytes]
) -> None:
    written = write(path, [(before, False)])
    size = max(0, path.stat().st_size - lost)
    os.truncate(path, size)
    file, lines = reopened(path)
    for text in after:
        lines.append(text)
    lines.end()
    os.close(file)
    whole = [text for end, text in written if end <= size]
    assert read(path.read_bytes()) == [*whole, *after]
    if path.stat().st_size:
        assert gzip.decompress(path.read_bytes()) == b"".join([*whole, *after])


def test_a_group_that_cannot_be_written_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    write(path, [([b"one\n"], False)])
    file, lines = reopened(path)
    lines.append(b"two\n")
    size = path.stat().st_size
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            lines.append(b"three\n")
    assert path.stat().st_size == size
    lines.append(b"four\n")
    lines.end()
    os.close(file)
    assert gzip.decompress(path.read_bytes()) == b"one\ntwo\nfour\n"


@pytest.mark.parametrize("interrupted", ["write", "fsync"])
def test_an_interrupt_leaves_whole_groups(
    interrupted: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a group; a group that was written before it stays."""
    written, synced = os.write, os.fsync

    def write_a_part(file: int, data: bytes) -> int:
        written(file, data[:3])
        raise KeyboardInterrupt

    def wait(file: int) -> None:
        synced(file)
        raise KeyboardInterrupt

    write(path, [([b"one\n"], True)])
    file, lines = reopened(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, interrupted, {"write": write_a_part, "fsync": wait}[interrupted])
        with pytest.raises(KeyboardInterrupt):
            lines.append(b"two\n")
    lines.append(b"three\n")
    lines.end()
    os.close(file)
    expected = {"write": b"one\nthree\n", "fsync": b"one\ntwo\nthree\n"}
    assert gzip.decompress(path.read_bytes()) == expected[interrupted]


def test_groups_help_to_compress_the_next(path: Path) -> None:
    text = NOISE + b"\n"
    ends = [end for end, _ in write(path, [([text] * 3, True)])]
    assert ends[0] > len(text)
    assert ends[2] - ends[1] < len(text) / 20


def test_a_damaged_member_ends_the_reading(path: Path) -> None:
    write(path, [([b"one\n"], True), ([b"two\n"], True), ([b"three\n"], True)])
    data = bytearray(path.read_bytes())
    ends = [group.end for group in groups(bytes(data)) if not group.ending]
    data[ends[1] - 8] ^= 1  # of the second member's checksum
    found = groups(bytes(data))
    assert [next(found).text for _ in range(3)] == [b"one\n", b"", b"two\n"]
    with pytest.raises(zlib.error, match="incorrect data check"):
        next(found)


def test_a_file_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gigabyte of zeros has a megabyte in a gzip file."""
    monkeypatch.setattr("natxy.campaign.gzip_lines.MOST_TEXT", 1_000_000)
    (whole,) = groups(gzip.compress(bytes(1_000_000)))
    assert len(whole.text) == 1_000_000
    with pytest.raises(zlib.error, match="more than 1,000,000 octets"):
        list(groups(gzip.compress(bytes(50_000_000))))
