"""A measurement of several sizes and mixes against the fake engine."""

from pathlib import Path

import pytest

from natxy.cli import run_command
from tests.unit.conftest import NAT64, fake_engine

KEYS = [f"{size} B, {share} % foreground" for share in (100, 50) for size in (84, 512)]


def measured_series(path: Path) -> Path:
    """Runs `natxy pdv --frame-size 84,512 --foreground 100,50 --report`; returns its folder."""
    testbed = path / "testbed.toml"
    real = 'ipv4_real = "198.19.0.2"\n'
    of_background = 'ipv6_real = "2001:2:0:1::2"\nnext_hop_ipv6 = "2001:2:0:1::1"\n'
    testbed.write_text(NAT64.replace(real, real + of_background))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("NATXY_ENGINE", str(fake_engine(path)))
        words = ["pdv", str(testbed), "--frame-size", "84,512", "--foreground", "100,50"]
        words += ["--rate", "1000", "--profile", "quick", "--duration", "0.01"]
        words += ["--repetitions", "1", "--report", "--output", str(path / "pdv")]
        assert run_command(words) == 0
    return path / "pdv"
