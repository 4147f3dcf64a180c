"""The folder of a campaign: the experiment as it was read, its testbed, and the journal.

Its results.json has what the cells found, for programs.
"""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from natxy.campaign.journal import FILE_NAME, read_journal
from natxy.campaign.other_gateway import SECTIONS, OtherGateway
from natxy.campaign.records import CampaignState
from natxy.errors import ConfigurationError, InUse, StorageError
from natxy.model.experiment import Experiment, read_experiment
from natxy.model.published import Published, read_published
from natxy.model.remark import Remarks
from natxy.model.source import Source
from natxy.report.results_json import FILE_NAME as RESULTS
from natxy.report.results_json import cell_entry, made_by, write_entries
from natxy.whole_file import write_whole

EXPERIMENT, TESTBED, LOCK = "experiment.toml", "testbed.toml", "lock"
DUT = "dut.toml"  # of `--dut`
PUBLISHED = "published.toml"
PAGE = Path("report/report.html")  # of `natxy report`
LOOK_S = 0.1  # after which a lock that was taken is tried again


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An experiment with the content of its testbed, as both files say it."""

    experiment: Experiment
    source: Source
    testbed: dict[str, Any]
    testbed_source: Source
    published: Published | None = None
    published_text: str = ""
    # Further testbeds, equal to the first, on which cells are measured at the same time.
    further: tuple[Source, ...] = ()
    dut_source: Source | None = None  # of the gateway that replaces that of the testbed
    remarks: Remarks = ()  # on this gateway

    @property
    def testbeds(self) -> tuple[dict[str, Any], ...]:
        """The contents of all testbeds."""
        return (self.testbed, *(source.toml() for source in self.further))


def testbed_file(number: int) -> str:
    """Returns the name of the file of a further testbed, which has a number from 2."""
    return f"testbed-{number}.toml"


def read_asked(path: Path, testbeds: Sequence[Path] = (), dut: Path | None = None) -> Asked:
    """Reads an experiment's file, the testbed and the published table that it names.

    `testbeds` are equal ones that replace the experiment's; `dut` is a testbed whose gateway and
    tester replace those of the experiment's.
    """
    experiment, source = read_experiment(path)
    named = experiment.published
    return _read(
        experiment,
        source,
        testbeds=testbeds or (path.parent / experiment.testbed,),
        published=path.parent / named.file if named else None,
        dut=dut,
    )


def _read(
    experiment: Experiment,
    source: Source,
    *,
    testbeds: Sequence[Path],
    published: Path | None,
    dut: Path | None,
) -> Asked:
    testbed_source, *further = map(Source.read, testbeds)
    check_equal(testbed_source, further)
    asked = Asked(
        experiment=experiment,
        source=source,
        testbed=testbed_source.toml(),
        testbed_source=testbed_source,
        published=read_published(published) if published else None,
        published_text=Source.read(published).text if published else "",
        further=tuple(further),
    )
    _check_pairs(asked)
    return asked if dut is None else _with_gateway(asked, OtherGateway.of(Source.read(dut)))


def _with_gateway(asked: Asked, other: OtherGateway) -> Asked:
    return replace(
        asked,
        experiment=other.experiment(asked.experiment),
        testbed=other.testbed(asked.testbed),
        dut_source=other.source,
        remarks=tuple(other.remarks),
    )


def check_equal(first: Source, further: Sequence[Source]) -> None:
    """Raises ConfigurationError if testbeds differ in more than the tester and the gateway."""
    expected = first.toml()
    for number, source in enumerate(further):
        found = source.toml()
        if any(found == other.toml() for other in (first, *further[:number])):
            raise ConfigurationError(
                f"{source.name}: is the same testbed as one before it (expected other cores and "
                "ports)"
            )
        for section in sorted((expected.keys() | found.keys()) - {*SECTIONS}):
            if found.get(section) != expected.get(section):
                raise ConfigurationError(
                    f"{source.name}: [{section}] differs from that of {first.name} (expected equal "
                    "testbeds, which differ only in [tester] and [dut])"
                )


def _check_pairs(asked: Asked) -> None:
    """Raises ConfigurationError if a pair names a row or column that was not published."""
    named, published = asked.experiment.published, asked.published
    for pair in named.pair if named else ():
        where = f'{asked.source.name}: published.pair: "{pair.row}"'
        assert published is not None, "it is read where it is named"
        if pair.row not in published.rows:
            raise ConfigurationError(
                f"{where} is not published (expected one of {', '.join(published.rows)})"
            )
        highest = max(pair.columns, default=len(asked.experiment.columns))
        if highest > published.column_count:
            raise ConfigurationError(
                f"{where} has no column {highest} (expected 1 to {published.column_count})"
            )


@dataclass(frozen=True, kw_only=True)
class CampaignFolder:
    path: Path

    @property
    def journal(self) -> Path:
        return self.path / FILE_NAME

    def create(self, asked: Asked, *, replace: bool = False) -> None:
        """Copies both files into the folder; `replace` allows one of an earlier run."""
        if replace:
            self._refuse_other(asked.experiment.title)
            (self.path / PAGE).unlink(missing_ok=True)  # it would be of the earlier run
        elif self.journal.exists():
            if next(read_journal(self.journal), None) is not None:
                raise ConfigurationError(
                    f"{self.path}: holds a campaign already (expected a new folder, or `natxy "
                    "resume`)"
                )
            self.journal.unlink()  # a run was killed while it wrote the first line
            # This run may have fewer testbeds, or its own gateway.
            for path in [*self._further(), self.path / DUT]:
                path.unlink(missing_ok=True)
        write_whole(self.path / EXPERIMENT, asked.source.text)
        write_whole(self.path / TESTBED, asked.testbed_source.text)
        for number, source in enumerate(asked.further, start=2):
            write_whole(self._testbed(number), source.text)
        if asked.dut_source is not None:
            write_whole(self.path / DUT, asked.dut_source.text)
        if asked.published is not None:
            write_whole(self.path / PUBLISHED, asked.published_text)

    def _refuse_other(self, title: str) -> None:
        """Raises ConfigurationError if the folder has files that are not of this experiment."""
        experiment, testbed = self.path / EXPERIMENT, self.path / TESTBED
        if experiment.exists():
            if Source.read(experiment).toml().get("title") != title:
                raise ConfigurationError(
                    f"{experiment}: is of another campaign and is not overwritten (expected a new "
                    "folder)"
                )
        elif testbed.exists():
            raise ConfigurationError(
                f"{testbed}: already exists and is not overwritten (expected a new folder)"
            )

    def asked(self) -> Asked:
        """Reads the experiment that the campaign was started with."""
        if not (self.journal.exists() and (self.path / EXPERIMENT).exists()):
            raise ConfigurationError(
                f"{self.path}: holds no campaign (expected a folder that `natxy run` wrote)"
            )
        experiment, source = read_experiment(self.path / EXPERIMENT)
        dut = self.path / DUT
        return _read(
            experiment,
            source,
            testbeds=(self.path / TESTBED, *self._further()),
            published=self.path / PUBLISHED if experiment.published else None,
            dut=dut if dut.exists() else None,
        )

    def _testbed(self, number: int) -> Path:
        return self.path / testbed_file(number)

    def _further(self) -> Iterator[Path]:
        """Yields the files of the second testbed and those after it."""
        return takewhile(Path.exists, map(self._testbed, count(2)))

    @property
    def is_run(self) -> bool:
        """Tells whether a process runs this campaign now."""
        try:
            with open(self.path / LOCK, opener=_without_waiting) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # nobody has run it here
            return False
        return False

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from writing to the folder; raises InUse if one does.

        The kernel releases the lock if the process is killed.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from None
        try:
            try:
                _take(file)
            except BlockingIOError:
                raise InUse(f"{self.path}: another process runs this campaign") from None
            yield
        finally:
            os.close(file)


def _without_waiting(path: str, flags: int) -> int:
    """Opens a file that may be a pipe, at which `open` waits for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def _take(lock: int) -> None:
    """Takes the lock; raises BlockingIOError if another process keeps it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(LOOK_S)  # `is_run` of another process has it for a moment
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_campaign_results(folder: CampaignFolder, state: CampaignState) -> None:
    """Writes the file, in place of that of an earlier run of the same campaign."""
    write_entries(folder.path / RESULTS, list(_entries(state)))


def _entries(state: CampaignState) -> Iterator[dict[str, Any]]:
    for cell in state.cells.values():
        version = cell.begun.provenance.get("natxy_version", state.header["natxy_version"])
        own = {"started": cell.begun.started, "natxy_version": version}
        made = made_by({**state.header, **own})
        for result in cell.results:
            yield cell_entry(
                result,
                made,
                column=cell.begun.column,
                measure=cell.begun.measure,
                number=cell.begun.round,
                scaled_down=state.header["quick"],
            )
