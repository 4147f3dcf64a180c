"""Fixtures of the calibration gateway's tests."""

from collections.abc import Iterator

import pytest

from tests.gateway.program import Town


@pytest.fixture
def town() -> Iterator[Town]:
    made = Town()
    try:
        made.build()
        yield made
    finally:
        made.tear_down()
