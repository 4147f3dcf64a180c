"""Labs need root and real namespaces; each test gets a lab of its own."""

import os
from collections.abc import Callable, Iterator

import pytest

from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.namespace import NamespaceDut

StartLab = Callable[..., NamespaceDut]


@pytest.fixture(autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("a lab needs root")


@pytest.fixture
def start_lab() -> Iterator[StartLab]:
    """Starts a lab by driver, IP versions and networks; stopped when the test ends."""
    started: list[NamespaceDut] = []

    def start(
        driver: str, left: int, right: int, *, networks: int = 1, **keys: object
    ) -> NamespaceDut:
        config = NamespaceConfig.model_validate({"kind": "namespace", "driver": driver, **keys})
        plan = AddressPlan(left_ip_version=left, right_ip_version=right, networks=networks)
        dut = NamespaceDut(config, plan, tester_cpus=(0,))
        started.append(dut)
        dut.start()
        return dut

    yield start
    for dut in started:
        dut.stop()
