"""One guest for each kind of NIC; all tests of the kind run in it, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from natxy.guest.image import image_of_this_process
from tests.hardware.gateway import Gateway
from tests.hardware.guest_image import initramfs
from tests.hardware.tester_guest import NICS, Hardware, TesterGuest

MTU_BYTES = 9000
RING_FRAMES = 512  # of a virtio NIC, which DPDK's driver cannot change
QUEUES = 4  # of a virtio NIC


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The tester's guest and the gateway."""

    nic: str
    guest: TesterGuest
    gateway: Gateway


@pytest.fixture(scope="session")
def boot(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The kernel and the initramfs."""
    image = image_of_this_process()
    return image.kernel, initramfs(tmp_path_factory.mktemp("initramfs"), image)


@pytest.fixture(scope="session", params=list(NICS))
def nic(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def bench(
    nic: str, boot: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    hardware = Hardware(
        nic=nic,
        queues=QUEUES if nic == "virtio" else 1,
        mtu_bytes=MTU_BYTES,
        ring_frames=RING_FRAMES,
    )
    gateway = Gateway(queues=hardware.queues, mtu_bytes=MTU_BYTES)
    try:
        guest = TesterGuest(tmp_path_factory.mktemp(nic), hardware, boot, gateway)
        try:
            yield Bench(nic=nic, guest=guest, gateway=gateway)
        finally:
            guest.stop()
    finally:
        gateway.stop()
