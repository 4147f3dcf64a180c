"""The engine's tool serves all tests of a process, and ends with them."""

from collections.abc import Iterator

import pytest

from tests.frames.tool import end


@pytest.fixture(autouse=True, scope="session")
def _served() -> Iterator[None]:
    yield
    end()
