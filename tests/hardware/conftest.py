"""One guest for each kind of NIC; all tests of the kind run in it, one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from natxy.guest.image import KERNEL, image_of_this_process
from tests.hardware.bench import Bench
from tests.hardware.guest_image import initramfs
from tests.hardware.tester_guest import NICS


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests of this folder by NIC, because a guest boots for a minute."""
    own = [item for item in items if Path(__file__).parent in item.path.parents]
    items[:] = [item for item in items if item not in own]
    items += sorted(own, key=_nic_of)


def _nic_of(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    return str(item.callspec.params["nic"])


@pytest.fixture(scope="session")
def boot(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The kernel and the initramfs."""
    image = image_of_this_process()
    return image / KERNEL, initramfs(tmp_path_factory.mktemp("initramfs"), image)


@pytest.fixture(scope="session", params=list(NICS))
def nic(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def bench(
    nic: str, boot: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    running = Bench(nic, boot, lambda: tmp_path_factory.mktemp(nic))
    try:
        running.boot()
        yield running
    finally:
        running.stop()
