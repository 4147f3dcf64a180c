"""A lab that is slow to start serves one cell after another, each as if it had just started."""

from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.journal import read_journal
from natxy.campaign.kept_lab import KeptLab
from natxy.campaign.records import read_campaign
from natxy.cli import campaigns
from natxy.dut.base import Dut
from natxy.dut.none import NoDut
from natxy.errors import DutError
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from tests.unit.campaigns import EXPERIMENT, run

WRITTEN = EXPERIMENT.replace('title = "', 'order = "written"\ntitle = "')


class SlowLab(NoDut):
    """A lab that notes what happens to it; those with equal `needs` serve one another."""

    happened: list[str]
    fails_at: str = ""

    def __init__(self, needs: object = None) -> None:
        self.needs = needs

    def start(self) -> None:
        self._note("start")

    def renew(self) -> None:
        self._note("renew")

    def stop(self) -> None:
        self._note("stop")

    def reset(self) -> None:
        if type(self).fails_at == "reset":
            self._note("reset")

    def serves_as(self, other: Dut) -> bool:
        return isinstance(other, SlowLab) and self.needs == other.needs

    def describe(self) -> dict[str, str]:
        return {"kind": "slow", "renewals": str(self.happened.count("renew"))}

    def _note(self, what: str) -> None:
        self.happened.append(what)
        if what == type(self).fails_at:
            type(self).fails_at = ""
            raise DutError(f"{what} has failed")


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    happened: list[str] = []
    monkeypatch.setattr(SlowLab, "happened", happened, raising=False)
    monkeypatch.setattr(SlowLab, "fails_at", "")
    return happened


def measured(experiment: Path, monkeypatch: pytest.MonkeyPatch, needs: Any = None) -> Path:
    def dut_of(testbed: Testbed, _: Source) -> Dut:
        return SlowLab(needs(testbed) if needs else None)

    monkeypatch.setattr(campaigns, "dut_of", dut_of)
    folder = experiment.parent / "campaign"
    run(experiment, folder)
    return folder / "journal.jsonl.gz"


def test_the_slow_lab_is_renewable() -> None:
    slow, none = SlowLab(), NoDut()
    assert slow.serves_as(slow)
    assert not none.serves_as(none)


def test_the_cells_of_a_column_share_a_lab_and_each_has_its_provenance(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, happened: list[str]
) -> None:
    experiment.write_text(WRITTEN)
    journal = measured(experiment, monkeypatch)
    assert happened == ["start", "renew", "stop"] * 4, "2 columns in 2 rounds"
    duts = [
        record["provenance"]["dut"]
        for record in read_journal(journal)
        if record["record"] == "cell"
    ]
    assert [dut["renewals"] for dut in duts] == ["0", "1", "1", "2", "2", "3", "3", "4"]
    assert not [cell for cell in read_campaign(journal).cells.values() if cell.failed]


def test_a_cell_that_needs_another_lab_gets_it(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, happened: list[str]
) -> None:
    experiment.write_text(WRITTEN)
    counted = iter(range(100))
    measured(experiment, monkeypatch, lambda _: next(counted))
    assert happened == ["start", "stop"] * 8


def test_an_error_ends_the_lab(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, happened: list[str]
) -> None:
    experiment.write_text(WRITTEN.replace("rounds = 2", "rounds = 1"))
    monkeypatch.setattr(SlowLab, "fails_at", "reset")
    journal = measured(experiment, monkeypatch)
    failed = [cell for cell in read_campaign(journal).cells.values() if cell.failed]
    assert len(failed) == 1
    assert [what for what in happened if what != "reset"] == [
        *("start", "stop", "start", "stop"),
        *("start", "renew", "stop"),
    ]


def test_a_lab_that_has_died_is_started_again(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, happened: list[str]
) -> None:
    experiment.write_text(WRITTEN.replace("rounds = 2", "rounds = 1"))
    monkeypatch.setattr(SlowLab, "fails_at", "renew")
    journal = measured(experiment, monkeypatch)
    assert happened == ["start", "renew", "stop", "start", "stop", "start", "renew", "stop"]
    assert not [cell for cell in read_campaign(journal).cells.values() if cell.failed]


def test_a_lab_that_does_not_start_is_stopped_and_not_kept(happened: list[str]) -> None:
    kept, lab = KeptLab(), SlowLab()
    SlowLab.fails_at = "start"
    with pytest.raises(DutError, match="start has failed"), kept.running(lab):
        raise AssertionError("it does not run")
    kept.drop()
    assert happened == ["start", "stop"]


def test_an_interruption_ends_the_lab(happened: list[str]) -> None:
    kept, lab = KeptLab(), SlowLab()
    with kept.running(lab):
        pass
    assert kept.fitting(SlowLab()) is lab
    assert happened == ["start"]
    with pytest.raises(KeyboardInterrupt), kept:
        raise KeyboardInterrupt
    assert happened == ["start", "stop"]
    assert kept.fitting(other := SlowLab()) is other


def test_another_device_is_stopped_at_once() -> None:
    kept, other = KeptLab(), NoDut()
    with kept.running(other):
        pass
    assert kept.fitting(again := NoDut()) is again
