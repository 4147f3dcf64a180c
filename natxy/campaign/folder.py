"""The folder of a campaign: the experiment as it was read, its testbed, and the journal."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from natxy.campaign.journal import FILE_NAME
from natxy.errors import ConfigurationError, InUse, StorageError
from natxy.model.experiment import Experiment, read_experiment
from natxy.model.source import Source
from natxy.report.whole_file import write_whole

EXPERIMENT, TESTBED, LOCK = "experiment.toml", "testbed.toml", "lock"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An experiment with the content of its testbed, as both files say it."""

    experiment: Experiment
    source: Source
    testbed: dict[str, Any]
    testbed_source: Source


def read_asked(path: Path) -> Asked:
    """Reads an experiment's file, and the testbed that it names."""
    experiment, source = read_experiment(path)
    testbed_source = Source.read(path.parent / experiment.testbed)
    return Asked(
        experiment=experiment,
        source=source,
        testbed=testbed_source.toml(),
        testbed_source=testbed_source,
    )


@dataclass(frozen=True, kw_only=True)
class CampaignFolder:
    path: Path

    @property
    def journal(self) -> Path:
        return self.path / FILE_NAME

    def create(self, asked: Asked) -> None:
        """Makes the folder and copies both files into it."""
        if self.journal.exists():
            raise ConfigurationError(
                f"{self.path}: holds a campaign already (expected a new folder, or `natxy resume`)"
            )
        write_whole(self.path / EXPERIMENT, asked.source.text)
        write_whole(self.path / TESTBED, asked.testbed_source.text)

    def asked(self) -> Asked:
        """Reads the experiment that the campaign was started with."""
        if not self.journal.exists():
            raise ConfigurationError(
                f"{self.path}: holds no campaign (expected a folder that `natxy run` wrote)"
            )
        experiment, source = read_experiment(self.path / EXPERIMENT)
        testbed_source = Source.read(self.path / TESTBED)
        return Asked(
            experiment=experiment,
            source=source,
            testbed=testbed_source.toml(),
            testbed_source=testbed_source,
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from writing to the folder; raises InUse if one does.

        The kernel releases the lock if the process is killed.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from None
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InUse(f"{self.path}: another process runs this campaign") from None
            yield
        finally:
            os.close(file)
