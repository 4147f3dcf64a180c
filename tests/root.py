"""The needs of a test that makes namespaces, interfaces or guests."""

import os

import pytest


@pytest.fixture(autouse=True)
def needs_root() -> None:
    """Skips the tests of a user without privileges: the kernel lets only root make a lab."""
    if os.geteuid() != 0:
        pytest.skip("a lab needs root")
