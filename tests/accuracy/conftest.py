"""The programs that tests of one file share end with it."""

from collections.abc import Iterator

import pytest

from tests.accuracy.bench import BENCH


@pytest.fixture(autouse=True, scope="module")
def _bench_is_cleared() -> Iterator[None]:
    yield
    BENCH.close()
