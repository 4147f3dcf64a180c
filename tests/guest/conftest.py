"""A guest's tap interfaces need root."""

import os

import pytest


@pytest.fixture(autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("a lab needs root")
