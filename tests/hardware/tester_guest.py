"""A guest that has what no machine of this project has: NICs for DPDK behind an IOMMU, eight CPUs,
two NUMA nodes, and huge pages of both sizes.

The tester runs in it, from this machine's file system. The gateway is a network namespace of this
machine. The guest is emulated and slow: no test here is about speed.

    guest (natxy, engine)                  natxy-hardware (namespace)
    0000:02:00.0, vfio-pci ──── tap ────── t0 ┐
                                              ├ the kernel: router or NAT44
    0000:02:00.1, vfio-pci ──── tap ────── t1 ┘

The NICs belong to node 1, as cards in a slot of a second processor do.
"""

import json
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from natxy.dut.execution import in_namespace
from natxy.dut.process import within
from natxy.guest.channel import Channel
from natxy.guest.machine import QEMU
from tests.hardware.gateway import NAMESPACE, TAPS, Gateway
from tests.hardware.guest_image import FIRST_PROCESS
from tests.programs import ROOT, installed

VIRTIOFSD = "/usr/lib/qemu/virtiofsd"
NODES, CPUS_OF_NODE, NODE_MB = 2, 4, 4096
NIC_NODE = 1
BOOTS_WITHIN_S, ANSWERS_WITHIN_S = 120.0, 600.0
ENGINE = installed("natxy-engine")
NATXY = Path(sys.executable).with_name("natxy")
ENVIRONMENT = (
    "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp "
    f"COLUMNS=200 NATXY_ENGINE={ENGINE}; cd {ROOT}"
)
# What the first process of other guests leaves out: the place of modprobe, and the port to the
# gateway.
SETTLE = """
echo /sbin/modprobe >/proc/sys/kernel/modprobe
ip link set lo up
for name in /sys/class/virtio-ports/*/name; do
  port=${name%/name}
  [ "$(cat "$name")" = gateway ] && ln -s "${port##*/}" /dev/gateway
done
[ -e /dev/gateway ]
mkfifo /tmp/requests /tmp/status
cat >/tmp/ask <<'END'
#!/bin/sh
exec 3<>/dev/gateway
echo "$1" >&3
read -r answer <&3 && echo "$answer"
END
chmod +x /tmp/ask
"""
SERVE = f"{sys.executable} -m tests.hardware.server /tmp/requests /tmp/status >/tmp/server 2>&1 &"
HUGE_PAGES = (
    "default_hugepagesz=2M hugepagesz=1G hugepages=0:1,1:1 hugepagesz=2M hugepages=0:300,1:300"
)
APPEND = (
    "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable no_timer_check audit=0 "
    f"net.ifnames=0 intel_iommu=on {HUGE_PAGES} rdinit=/{FIRST_PROCESS} "
    f"NATXY_INIT={ROOT}/natxy/guest/init"
)
# QEMU's device, and what it needs to be a plain NIC: no offload that changes frames.
NICS = {
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio": "virtio-net-pci,disable-legacy=on,iommu_platform=on,ats=on,csum=off,guest_csum=off,"
    "gso=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off,"
    "host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off",
}


@dataclass(frozen=True, kw_only=True)
class Hardware:
    nic: str  # of NICS
    queues: int = 1
    mtu_bytes: int = 1500
    ring_frames: int | None = None  # default: QEMU's


class TesterGuest:
    def __init__(
        self, folder: Path, hardware: Hardware, boot: tuple[Path, Path], gateway: Gateway
    ) -> None:
        """Boots kernel and initramfs, with the NICs' cables in the gateway."""
        self._folder = folder
        shared = folder / "files"
        options = "source=/,sandbox=chroot,cache=always"
        self._files = self._start([VIRTIOFSD, f"--socket-path={shared}", "-o", options], "files")
        within(10.0, shared.exists)
        pairs = [socket.socketpair() for _ in range(3)]
        (control, self._monitor, commands), others = zip(*pairs, strict=True)
        self._channel = Channel(control)
        gateway.obey(commands)
        fds = tuple(other.fileno() for other in others)
        self._qemu = self._start(
            in_namespace(NAMESPACE, qemu(folder, hardware, boot, fds)), "qemu", fds
        )
        for other in others:
            other.close()
        try:
            self._channel.wait_until_ready(BOOTS_WITHIN_S)
            self.run(SETTLE + SERVE)
        except BaseException:
            self.stop()
            raise

    def _start(
        self, command: Sequence[str], name: str, fds: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=fds,
                start_new_session=True,
            )

    def run(self, command: str, within_s: float = ANSWERS_WITHIN_S) -> str:
        return self._channel.run(f"{ENVIRONMENT}\n{command}", within_s)

    def json(self, arguments: str) -> Any:
        """Returns what `natxy` prints with --json; fails with its errors if it fails."""
        self.start(f"{arguments} --json")
        self.wait()
        return self.read_json()

    def start(self, arguments: str) -> None:
        """Starts `natxy`, which writes to /tmp/json and /tmp/errors."""
        self.run(f"echo {shlex.quote(arguments)} >/tmp/requests")

    def wait(self) -> int:
        """Waits for the end of what was started, and returns its exit status."""
        return int(self.run("cat /tmp/status"))

    def read_json(self) -> Any:
        """Returns what is in /tmp/json; fails with what is in /tmp/errors if that is no JSON."""
        said = self.run("cat /tmp/json")
        try:
            return json.loads(said)
        except ValueError:
            words = self.run("tail -n 5 /tmp/errors")
            raise AssertionError(f"no JSON: {said[-500:]}{words}") from None

    def crashed(self) -> bool:
        """Returns whether a signal has ended QEMU."""
        within(10.0, lambda: self._qemu.poll() is not None)
        return (self._qemu.returncode or 0) < 0

    def monitor(self, command: str) -> None:
        """Gives QEMU's monitor a command, such as `set_link n0 off`."""
        self._monitor.sendall(f"{command}\n".encode())

    def stop(self) -> None:
        self._channel.close()
        self._monitor.close()
        for process in (self._qemu, self._files):
            process.kill()
            process.wait()


def qemu(
    folder: Path, hardware: Hardware, boot: tuple[Path, Path], fds: tuple[int, ...]
) -> Sequence[str]:
    kernel, initramfs = boot
    control, monitor, commands = fds
    memory = f"{NODES * NODE_MB}M"
    return [
        *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max"),
        *("-smp", f"{NODES * CPUS_OF_NODE},sockets={NODES},cores={CPUS_OF_NODE}", "-m", memory),
        *("-device", "intel-iommu,intremap=on,aw-bits=48,device-iotlb=on"),
        *("-kernel", str(kernel), "-initrd", str(initramfs), "-append", APPEND),
        *("-chardev", f"file,id=console,path={folder / 'console.log'}"),
        *("-serial", "chardev:console"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=control,fd={control}"),
        *("-device", "virtserialport,chardev=control,name=natxy"),
        *("-chardev", f"socket,id=gateway,fd={commands}"),
        *("-device", "virtserialport,chardev=gateway,name=gateway"),
        *("-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor"),
        *("-chardev", f"socket,id=files,path={folder / 'files'}"),
        *("-device", "vhost-user-fs-pci,chardev=files,tag=host,vectors=0"),
        *(word for node in range(NODES) for word in _node(node)),
        # A slot of node 1; its host bridge is bus 1, the slot itself is bus 2.
        *("-device", f"pxb-pcie,id=bridge,bus_nr=1,numa_node={NIC_NODE}"),
        *("-device", "pcie-root-port,id=card,bus=bridge,chassis=1"),
        *(word for number in range(len(TAPS)) for word in _nic(hardware, number)),
    ]


def _node(node: int) -> Sequence[str]:
    first = node * CPUS_OF_NODE
    return [
        *("-object", f"memory-backend-memfd,id=memory{node},size={NODE_MB}M,share=on"),
        "-numa",
        f"node,nodeid={node},cpus={first}-{first + CPUS_OF_NODE - 1},memdev=memory{node}",
    ]


def _nic(hardware: Hardware, number: int) -> Sequence[str]:
    many = f",queues={hardware.queues}" if hardware.queues > 1 else ""
    device = (
        f"{NICS[hardware.nic]},netdev=n{number},mac=02:00:00:00:0e:{number:02x},"
        f"bus=card,addr=0.{number},multifunction=on,romfile="
    )
    if hardware.nic == "virtio":
        if hardware.queues > 1:
            device += f",mq=on,rss=on,vectors={2 * hardware.queues + 2}"
        if hardware.mtu_bytes > 1500:
            device += f",host_mtu={hardware.mtu_bytes}"
        if hardware.ring_frames is not None:
            device += f",rx_queue_size={hardware.ring_frames}"
    tap = f"tap,id=n{number},ifname={TAPS[number]},script=no,downscript=no,vhost=off{many}"
    return ["-netdev", tap, "-device", device]
