"""What siitperf.conf says and this tester cannot heed: a warning each."""

from natxy.model.event import Hello
from natxy.siitperf.configuration import Configuration
from natxy.siitperf.entries import Warn


def warn_of_unheeded(configuration: Configuration, warn: Warn) -> None:
    if "MEM-Channels" in configuration.entries.written:
        warn("MEM-Channels: is not used, DPDK finds the memory's layout itself")
    if not configuration.promiscuous:
        warn("Promisc: 0 is not used, ports that can are promiscuous; other frames are not counted")


def warn_of_macs(configuration: Configuration, hello: Hello, warn: Warn) -> None:
    for port in hello.ports:
        side = configuration.left if port.side == "left" else configuration.right
        if side.tester_mac is not None and side.tester_mac != port.mac.lower():
            key = f"MAC-{'L' if port.side == 'left' else 'R'}-Tester"
            warn(f"{key}: {side.tester_mac} is not used, the port {port.device} has {port.mac}")
