"""The ports that siitperf would take: the first two that DPDK finds."""

from pathlib import Path

from natxy.errors import DeviceError

DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")  # what a port is bound to for DPDK
PCI = Path("/sys/bus/pci")
NETWORK_CLASS = "0x02"


def pci_ports(pci: Path = PCI) -> list[str]:
    """The addresses of network devices bound to a driver of DPDK, in DPDK's order."""
    bound = {
        path.name: path for driver in DRIVERS for path in (pci / "drivers" / driver).glob("*:*")
    }
    ports = [name for name, path in bound.items() if _is_network(path)]
    return sorted(ports, key=lambda name: [int(p, 16) for p in name.replace(".", ":").split(":")])


def first_two() -> tuple[str, str]:
    ports = pci_ports()
    if len(ports) < 2:
        found = ports[0] if ports else "none"
        raise DeviceError(
            f"two network ports bound to {', '.join(DRIVERS[:-1])} or {DRIVERS[-1]} are needed, "
            f"{found} is; dpdk-devbind.py binds them, or NATXY_TESTBED names a testbed's file"
        )
    return ports[0], ports[1]


def _is_network(device: Path) -> bool:
    try:
        return (device / "class").read_text().startswith(NETWORK_CLASS)
    except OSError:
        return False
