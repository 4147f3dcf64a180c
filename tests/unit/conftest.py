"""A testbed, and the fake engine as a program."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.model.testbed import Testbed, read_testbed
from natxy.model.traffic import TrafficPlan
from tests.unit.campaigns import EXPERIMENT

ROOT = Path(__file__).parents[2]
NAT64 = """\
[tester]
cores = [0]

[tester.left]
device = "fake0"
ipv6_real = "2001:2::2"
ipv4_virtual = "198.18.0.2"
next_hop_ipv6 = "2001:2::1"

[tester.right]
device = "fake1"
ipv4_real = "198.19.0.2"
ipv6_virtual = "2001:2:0:1000::2"
next_hop_ipv4 = "198.19.0.1"

[traffic]
left_ip_version = 6
right_ip_version = 4
"""


def fake_engine(folder: Path) -> Path:
    """Writes a program that is the fake engine, for the Python of the tests; returns its path.

    Without its site, it starts five times as fast: `python3` may be a script that looks for a
    Python first.
    """
    path = folder / "fake_engine.py"
    begin = f"import sys; sys.path.append({str(ROOT)!r}); from tests.unit import fake_program"
    path.write_text(f"#!{sys.executable} -IS\n{begin}; fake_program.main()\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True, scope="session")
def _no_wait_for_the_disk() -> Iterator[None]:
    """Makes os.fsync check its file, and no more: tests about what is on the disk patch it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The fake engine's command; it is also what NATXY_ENGINE names."""
    path = fake_engine(tmp_path_factory.mktemp("engine"))
    monkeypatch.setenv("NATXY_ENGINE", str(path))
    return [sys.executable, str(path)]


@pytest.fixture
def testbed_file(tmp_path: Path) -> Path:
    path = tmp_path / "testbed.toml"
    path.write_text(NAT64)
    return path


@pytest.fixture
def nat64(testbed_file: Path) -> TrafficPlan:
    testbed, source = read_testbed(testbed_file)
    return TrafficPlan(testbed=testbed, source=source)


@pytest.fixture
def nat64_testbed(nat64: TrafficPlan) -> Testbed:
    return nat64.testbed


@pytest.fixture
def experiment(tmp_path: Path, engine: list[str]) -> Path:
    """The file of a small campaign, whose testbed is `testbed_file`'s."""
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path
