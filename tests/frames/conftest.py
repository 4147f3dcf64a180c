"""The frames of all formats, and the end of the program that shows the engine's frames."""

import fcntl
import pickle
from collections.abc import Iterator

import pytest

from tests.frames import tool
from tests.frames.formats import Frame, formats, frames_of


@pytest.fixture(autouse=True, scope="session")
def _the_program_ends_well() -> Iterator[None]:
    yield
    tool.end()


@pytest.fixture(scope="session")
def frames(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> list[Frame]:
    """Those that the engine sends first, of each stream of each format.

    The first of pytest's workers that needs them makes them for all, which takes seconds.
    """
    own = tmp_path_factory.getbasetemp()
    file = (own if worker_id == "master" else own.parent) / "frames"
    with file.open("ab+") as shared:
        fcntl.flock(shared, fcntl.LOCK_EX)
        shared.seek(0)
        if octets := shared.read():
            made: list[Frame] = pickle.loads(octets)
            return made
        made = [frame for name, trial in formats() for frame in frames_of(name, trial)]
        pickle.dump(made, shared)
        return made
