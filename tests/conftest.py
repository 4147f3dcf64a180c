"""No test writes into the state folder of the person who runs it.

Nor does it lock CPUs for others: who tests on a machine that somebody measures on knows it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("state")
        patched.setenv("XDG_STATE_HOME", os.fspath(folder))
        patched.setenv("NATXY_LOCKS", os.fspath(tmp_path_factory.mktemp("locks")))
        yield folder
