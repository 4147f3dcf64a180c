"""Labs need root and real namespaces; a test that leaves a lab as it was may share it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from natxy.dut.addresses import AddressPlan
from natxy.dut.config import NamespaceConfig
from natxy.dut.namespace import NamespaceDut
from tests.labs.ssh_machine import Machine, ssh_machine
from tests.root import needs_root as needs_root

StartLab = Callable[..., NamespaceDut]


def lab_of(
    driver: str, left: int, right: int, *, networks: int = 1, **keys: object
) -> NamespaceDut:
    config = NamespaceConfig.model_validate({"kind": "namespace", "driver": driver, **keys})
    plan = AddressPlan(left_ip_version=left, right_ip_version=right, networks=networks)
    return NamespaceDut(config, plan, tester_cpus=(0,))


@pytest.fixture
def start_lab() -> Iterator[StartLab]:
    """Starts a lab by driver, IP versions and networks; stopped when the test ends."""
    started: list[NamespaceDut] = []

    def start(driver: str, left: int, right: int, **keys: Any) -> NamespaceDut:
        dut = lab_of(driver, left, right, **keys)
        started.append(dut)
        dut.start()
        return dut

    yield start
    for dut in started:
        dut.stop()


@pytest.fixture(scope="module")
def shared_lab() -> Iterator[StartLab]:
    """As start_lab, but the tests of a module have one lab of a kind; stopped after the last."""
    started: dict[tuple[object, ...], NamespaceDut] = {}

    def start(driver: str, left: int, right: int, **keys: Any) -> NamespaceDut:
        kind = (driver, left, right, *sorted(keys.items()))
        if kind not in started:
            dut = lab_of(driver, left, right, **keys)
            dut.start()
            started[kind] = dut
        return started[kind]

    yield start
    for dut in started.values():
        dut.stop()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A gateway's machine with an sshd."""
    with ssh_machine(tmp_path_factory.mktemp("ssh")) as made:
        yield made
