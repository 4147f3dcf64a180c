"""Records from a pipe to a Parquet file: whole or none, and each value where it belongs."""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from natxy.errors import ConfigurationError, ProtocolError, StorageError
from natxy.model.stream_result import StreamResult
from natxy.model.testbed import TrafficSection
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Verdict
from natxy.records.extra import records_to
from natxy.records.parquet_file import CHUNK_BYTES, RECORD, ROW_GROUP_RECORDS, RecordsFile

TRAFFIC = TrafficSection(left_ip_version=6, right_ip_version=4, frame_size_bytes=512, n=2, m=1)
NONCE = 77


def records(count: int, nonce: int = NONCE) -> Any:
    """Of each column values of its own."""
    made = np.zeros(count, dtype=RECORD)
    number = np.arange(count)
    made["number"] = 2**40 + number
    made["departure_ns"] = number * 1000.5
    made["delay_ns"] = number % 977 + 0.25
    made["direction"] = number % 2
    made["kind"] = number // 2 % 2
    made["status"] = number % 3
    made["nonce"] = nonce
    return made


def trial(number: int, nonce: int = NONCE) -> TrialRecord:
    """As far as a record asks for it."""
    known: dict[str, Any] = {"number": number, "repetition": number + 10, "verdict": Verdict.PASS}
    streams = (construct(StreamResult, phase="test"),)
    result = construct(TrialResult, nonce=nonce, streams=streams)
    record: TrialRecord = construct(TrialRecord, result=result, **known)
    return record


def construct(model: Any, **members: Any) -> Any:
    return model.model_construct(**members)


def send(file: RecordsFile, octets: bytes) -> None:
    """As the engine does; more than the pipe holds waits for the reader."""
    for begin in range(0, len(octets), CHUNK_BYTES):
        os.write(file.fd, octets[begin : begin + CHUNK_BYTES])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "frames.parquet"


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file of this process grows beyond 64 KiB: a full disk."""
    del monkeypatch
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, ignored)


def test_the_layout_is_the_engines() -> None:
    names = ("number", "departure_ns", "delay_ns", "phase", "direction", "kind", "status", "nonce")
    assert RECORD.itemsize == 32
    assert RECORD.names == names
    assert RECORD.fields is not None
    offsets = [RECORD.fields[name][1] for name in names]
    assert offsets == [0, 8, 16, 24, 25, 26, 27, 28]


def test_each_value_is_where_it_belongs(path: Path) -> None:
    made = records(3 * ROW_GROUP_RECORDS // 2)
    with RecordsFile(path) as file:
        send(file, made.tobytes())
        file.keep(trial(1), TRAFFIC)
        send(file, records(6, nonce=NONCE + 1).tobytes())
        file.keep(trial(2, NONCE + 1), TRAFFIC)
    table = pq.read_table(path)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert len(table) == len(made) + 6
    first = table.slice(0, len(made))
    for column in ("number", "departure_ns", "delay_ns"):
        assert np.array_equal(first[column].to_numpy(), made[column])
    assert first["direction"].slice(0, 3).to_pylist() == ["forward", "reverse", "forward"]
    assert first["kind"].slice(0, 3).to_pylist() == ["foreground", "foreground", "background"]
    assert first["status"].slice(0, 3).to_pylist() == ["received", "late", "duplicate"]
    assert first["phase"].unique().to_pylist() == ["test"]
    last = table.slice(len(made)).to_pylist()
    assert {(row["trial"], row["repetition"]) for row in last} == {(2, 12)}
    assert {(row["frame_size_bytes"], row["foreground_percent"]) for row in last} == {(512, 50.0)}
    assert os.listdir(path.parent) == [path.name]


def test_records_of_another_trial_and_of_dropped_ones_are_not_kept(path: Path) -> None:
    with RecordsFile(path) as file:
        send(file, records(50).tobytes())
        file.drop()
        send(file, records(3, nonce=1).tobytes() + records(4).tobytes())
        file.keep(trial(2), TRAFFIC)
        file.keep(trial(3), TRAFFIC)
    assert pq.read_table(path)["trial"].to_pylist() == [2] * 4


def test_a_measurement_that_fails_leaves_no_file(path: Path) -> None:
    def fail() -> None:
        with RecordsFile(path) as file:
            send(file, records(50).tobytes()[:-7])  # an engine that died in the middle
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert os.listdir(path.parent) == []


def test_half_a_record_is_the_engines_mistake(path: Path) -> None:
    def half() -> None:
        with RecordsFile(path) as file:
            send(file, records(2).tobytes()[:-1])
            file.keep(trial(1), TRAFFIC)

    with pytest.raises(ProtocolError, match="63 octets of records"):
        half()
    assert os.listdir(path.parent) == []


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("frames", [1800, 50_000])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(path: Path, frames: int) -> None:
    """Whether the spool or only the file itself finds no room; the engine is not held up."""

    def fill() -> None:
        with RecordsFile(path) as file:
            for number in range(1, 9):
                made = records(frames)
                made["delay_ns"] = np.random.default_rng(number).random(frames)
                send(file, made.tobytes())
                file.keep(trial(number), TRAFFIC)

    with pytest.raises(StorageError, match="cannot be written: File too large") as refused:
        fill()
    assert "\n" not in str(refused.value)
    assert os.listdir(path.parent) == []


def test_what_is_there_is_not_overwritten(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(ConfigurationError, match="already exists"), records_to(path):
        pass
    assert path.read_text() == "mine"


def test_a_folder_that_takes_nothing_is_one_sentence() -> None:
    with pytest.raises(ConfigurationError, match="/proc/frames: cannot be written: "):
        RecordsFile(Path("/proc/frames")).__enter__()


def test_without_the_extra_the_option_says_what_is_missing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "natxy.records.parquet_file")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(
            ConfigurationError,
            match=r"records: the Python package pyarrow is not .* installs it",
        ),
        records_to(path),
    ):
        pass
    with records_to(None) as nothing:
        assert nothing is None
