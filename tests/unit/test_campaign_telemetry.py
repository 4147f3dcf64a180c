"""Telemetry of the gateway, and times, in the data of a campaign's trials."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from natxy.campaign.data import read_data
from natxy.campaign.journal import read_journal
from natxy.campaign.report import charts_of, table_of
from natxy.dut.none import NoDut
from natxy.model.telemetry import CpuTime, Snapshot
from natxy.report.report_files import write_data
from tests.unit.campaigns import run

COLUMNS = ("busy_percent", "memory_bytes", "connections", "dropped")


def trials_of(experiment: Path, folder: Path) -> list[dict[str, str]]:
    run(experiment, folder)
    data = read_data(folder)
    write_data(charts_of(data, table_of(data)), folder / "data", scaled_down=False)
    assert set(COLUMNS) <= set(pq.read_table(folder / "data" / "trials.parquet").column_names)
    return list(csv.DictReader((folder / "data" / "trials.csv").read_text().splitlines()))


def test_each_trial_has_it_in_columns(
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = count()

    def telemetry(_: NoDut) -> Snapshot:
        """Half a second a second on CPU 1, less on CPU 0, and three drops a second."""
        now = float(next(moments))
        idle = CpuTime(cpu=0, busy_s=now / 10, softirq_s=0, irq_s=0, steal_s=0)
        busy = CpuTime(cpu=1, busy_s=now / 2, softirq_s=0, irq_s=0, steal_s=0)
        drops = {"left ring": 2 * int(now), "CPU queue": int(now)}
        return Snapshot(at_s=now, cpus=(idle, busy), memory_bytes=9, connections=7, drops=drops)

    monkeypatch.setattr(NoDut, "telemetry", telemetry)
    trials = trials_of(experiment, tmp_path / "campaign")
    assert len(trials) > 1
    for trial in trials:
        assert [trial[name] for name in COLUMNS] == ["50.0", "9", "7", "3"]


def test_what_is_not_known_is_empty(experiment: Path, tmp_path: Path) -> None:
    for trial in trials_of(experiment, tmp_path / "campaign"):
        assert not any(trial[name] for name in COLUMNS)


def test_times_count_from_the_first_trial_whichever_cell_was_written_first(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that began later can be the first in the journal if there are several testbeds."""
    noon = datetime(2026, 11, 25, 12, tzinfo=UTC)

    def backwards(path: Path) -> Iterator[dict[str, Any]]:
        for number, record in enumerate(read_journal(path)):
            yield record | {"started": (noon - timedelta(seconds=number)).isoformat()}

    run(experiment, tmp_path / "campaign")
    monkeypatch.setattr("natxy.campaign.data.read_journal", backwards)
    times_s = [trial.at_s for trial in read_data(tmp_path / "campaign").trials]
    assert min(times_s) == 0
    assert max(times_s) > len(times_s)
    assert len(set(times_s)) == len(times_s)
