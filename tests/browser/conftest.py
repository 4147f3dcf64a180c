"""A browser without a window, for all tests of a module."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome

from tests.browser.pages import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium() as driver:
        yield driver
