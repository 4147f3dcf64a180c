"""Cores that are taken away at random while a test runs."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOISE = Path(__file__).parents[1] / "tools" / "noise"


@contextmanager
def taken(share: str, *options: str) -> Iterator[None]:
    """Runs tools/noise with these options while the block runs."""
    command = [os.fspath(NOISE), "--share", share, "--seed", "1", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield
            assert process.poll() is None, "the noise ended before the test did"
        finally:
            process.terminate()
            _, said = process.communicate(timeout=10)
            print(said)  # pytest shows it where the test failed
