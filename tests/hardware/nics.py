"""What the tests do with the guest's NICs, as the tutorial tells it, and their testbeds."""

from tests.hardware.tester_guest import TesterGuest

NICS = ("0000:02:00.0", "0000:02:00.1")
NODES = "/sys/devices/system/node"
BOUND = ["vfio-pci", "vfio-pci"]
KERNELS_DRIVER = {"e1000e": "", "vmxnet3": "vmxnet3", "virtio": "virtio-pci"}
DPDKS_DRIVER = {"e1000e": "net_e1000_em", "vmxnet3": "net_vmxnet3", "virtio": "net_virtio"}
SPEED_MBPS = {"e1000e": 1000, "vmxnet3": 10_000, "virtio": 0}
TESTBED = """
[tester]
cores = {cores}
rx_queues = {queues}
mtu_bytes = {mtu_bytes}
# An emulated core is away for long. How late a frame is does not matter here; where it is, does.
lateness_tolerance_us = 1000000
[tester.left]
device = "{left}"
ipv4_real = "198.18.0.2"
ipv6_real = "2001:2::2"
next_hop_ipv4 = "198.18.0.1"
next_hop_ipv6 = "2001:2::1"
[tester.right]
device = "{right}"
ipv4_real = "198.19.0.2"
ipv6_real = "2001:2:0:8000::2"
next_hop_ipv4 = "198.19.0.1"
next_hop_ipv6 = "2001:2:0:8000::1"
[traffic]
left_ip_version = {ip_version}
right_ip_version = {ip_version}
"""
# A fixed destination port, so that each connection needs one of the few external ports.
CONNECTIONS = """
[traffic.forward]
destination_port = {mode = "fixed", min = 53, max = 53}
[connections]
count = 100
rate_fps = 500
incomplete = "repeat"
[dut]
kind = "command"
count = "/tmp/ask count"
delete_all = "/tmp/ask empty"
"""


def bind(guest: TesterGuest) -> None:
    """Gives the NICs to vfio-pci, as the tutorial says."""
    if drivers(guest) == BOUND:
        return
    guest.run(f"modprobe vfio-pci\ndpdk-devbind.py --bind=vfio-pci {' '.join(NICS)}")
    assert drivers(guest) == BOUND


def unbind(guest: TesterGuest, kind: str, *nics: str) -> None:
    """Gives NICs back to the kernel; all of them if none are named."""
    driver = KERNELS_DRIVER[kind]
    guest.run("modprobe -a virtio_net vmxnet3")
    bound = f"--bind={driver}" if driver else "--unbind"
    guest.run(f"dpdk-devbind.py {bound} {' '.join(nics or NICS)}")


def drivers(guest: TesterGuest) -> list[str]:
    """Returns the driver of each NIC, empty if it has none."""
    links = (f"/sys/bus/pci/devices/{nic}/driver" for nic in NICS)
    return guest.run("; ".join(f"basename $(readlink {link}) ''" for link in links)).split("\n")[:2]


def set_free_pages(guest: TesterGuest, *, of_2_mb: int = 0, of_1_gb: bool = False) -> None:
    """Sets how many huge pages are free on each node; fails if a node does not have so many.

    A kernel hardly finds 1 GB in one piece later, so a file takes those that it had at its start.
    """
    guest.run(
        "missing=\n"
        f"for pages in {NODES}/node[01]/hugepages/hugepages-2048kB/nr_hugepages; do\n"
        f'echo {of_2_mb} >$pages; [ "$(cat $pages)" = {of_2_mb} ] || missing=$pages\ndone\n'
        "mkdir -p /tmp/large && { mountpoint -q /tmp/large || mount -t hugetlbfs -o pagesize=1G "
        "large /tmp/large; }\n"
        f"{'rm -f' if of_1_gb else 'fallocate -l 2G'} /tmp/large/taken && [ -z $missing ]"
    )


def write_testbed(
    guest: TesterGuest,
    *,
    queues: int = 1,
    cores: int = 2,
    mtu_bytes: int = 1500,
    ip_version: int = 4,
    more: str = "",
) -> str:
    """Writes a testbed with cores of the NICs' node; returns its path in the guest."""
    text = TESTBED.format(
        cores=list(range(4, 4 + cores)),
        queues=queues,
        mtu_bytes=mtu_bytes,
        ip_version=ip_version,
        left=NICS[0],
        right=NICS[1],
    )
    guest.run(f"cat >/tmp/testbed.toml <<'END'\n{text}{more}\nEND")
    return "/tmp/testbed.toml"
