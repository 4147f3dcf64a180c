"""The end of the program that shows the engine's frames."""

from collections.abc import Iterator

import pytest

from tests.frames import tool


@pytest.fixture(autouse=True, scope="session")
def _the_program_ends_well() -> Iterator[None]:
    yield
    tool.end()
