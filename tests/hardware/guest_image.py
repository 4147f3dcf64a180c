"""The initramfs of the tester's guest: that of the gateways' guest, with further modules."""

import gzip
import shutil
import subprocess
from pathlib import Path

from natxy.dut.execution import execute
from natxy.guest.build import copy_modules, unpack
from natxy.guest.image import INITRAMFS
from natxy.guest.packages import AS_ROOT

INIT = Path(__file__).with_name("init")
FIRST_PROCESS = "hardware-init"
MODULES = (
    *("virtio_pci", "virtio_console", "virtiofs", "overlay"),
    *("vfio_pci", "vfio_iommu_type1"),
    *("virtio_net", "vmxnet3"),  # bound at first, as a NIC is when a machine has booted
    "veth",  # natxy doctor tries AF_XDP on a pair
)


def initramfs(folder: Path, image: Path) -> Path:
    """Adds the modules and the first process to the image's initramfs.

    The kernel unpacks archives that follow each other, and later files replace earlier ones.
    """
    root, system = folder / "more", folder / "system"
    release = _unpack_kernel(image, folder / "debs", system)
    copy_modules(root, system, release, MODULES)
    shutil.copy(INIT, root / FIRST_PROCESS)
    (root / FIRST_PROCESS).chmod(0o755)
    names = "\n".join(sorted(str(path.relative_to(root)) for path in root.rglob("*")))
    busybox = next(system.glob("**/bin/busybox"))
    cpio = [str(busybox), "cpio", "-o", "-H", "newc", "-R", "0:0"]
    packed = subprocess.run(cpio, input=names.encode(), capture_output=True, check=True, cwd=root)
    whole = folder / "initramfs"
    whole.write_bytes((image / INITRAMFS).read_bytes() + gzip.compress(packed.stdout, 1))
    shutil.rmtree(system)
    return whole


def _unpack_kernel(image: Path, debs: Path, system: Path) -> str:
    """Unpacks the kernel's package, in the version of the image; returns the kernel's release."""
    listed = (image / "packages.txt").read_text().split()
    (kernel,) = (name for name in listed if name.startswith("linux-image-"))
    package, version, _ = kernel.replace("%3a", ":").split("_")
    debs.mkdir()
    wanted = [f"{package}={version}", "busybox-static"]
    execute_in(debs, ["apt-get", "-q", *AS_ROOT, "download", *wanted])
    unpack(debs, system)
    release = package.removeprefix("linux-image-")
    execute(["depmod", "-b", str(system), release])
    return release


def execute_in(folder: Path, command: list[str]) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)
