"""The tester's guest with its gateway; the guest is booted again if QEMU crashes."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from natxy.guest.channel import ChannelError
from tests.hardware.gateway import Gateway
from tests.hardware.nics import set_free_pages
from tests.hardware.tester_guest import Hardware, TesterGuest

MTU_BYTES = 9000
RING_FRAMES = 512  # of a virtio NIC, which DPDK's driver cannot change
QUEUES = 4  # of a virtio NIC
PAGES = 300  # of 2 MB, on each node; the engine clears whole pages, so most tests have none of 1 GB
BOOTS = 4


class Bench:
    def __init__(self, nic: str, boot: tuple[Path, Path], folder: Callable[[], Path]) -> None:
        """Makes the gateway. `folder` makes one for each boot."""
        self.nic = nic
        self._boot, self._folder = boot, folder
        self._hardware = Hardware(
            nic=nic,
            queues=QUEUES if nic == "virtio" else 1,
            mtu_bytes=MTU_BYTES,
            ring_frames=RING_FRAMES,
        )
        self.gateway = Gateway(queues=self._hardware.queues, mtu_bytes=MTU_BYTES)
        self._guest: TesterGuest | None = None

    @property
    def guest(self) -> TesterGuest:
        assert self._guest is not None, "boot() comes first"
        return self._guest

    def boot(self) -> None:
        self._guest = TesterGuest(self._folder(), self._hardware, self._boot, self.gateway)
        set_free_pages(self.guest, of_2_mb=PAGES)

    def end_guest(self) -> None:
        if self._guest is not None:
            self._guest.stop()
            self._guest = None

    def stop(self) -> None:
        self.end_guest()
        self.gateway.stop()


def whatever_qemu_does(test: Callable[..., None]) -> Callable[..., None]:
    """Repeats a test in another guest if QEMU crashed in it.

    QEMU 7.2 sometimes does, with a segmentation fault, when one of its CPUs maps the memory of a
    device anew, as vfio-pci does at each start, while another one uses a device.
    """

    @functools.wraps(test)
    def repeated(*, bench: Bench, **others: Any) -> None:
        for _ in range(BOOTS):
            try:
                return test(bench=bench, **others)
            except ChannelError:
                if not bench.guest.crashed():
                    raise
                bench.end_guest()
                bench.boot()
        pytest.fail(f"QEMU crashed {BOOTS} times")

    return repeated
