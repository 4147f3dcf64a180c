"""A TUN interface that gives each packet back to the kernel after a fixed time.

Usage: delay_line.py NAME SECONDS. An emulated tester polls its ports so seldom that it cannot tell
the delay of a router; the delay of this line is long enough, and known.
"""

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LONGEST_BYTES = 10_000


def opened(name: str) -> int:
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def run(tun: int, delay_s: float) -> None:
    waiting: deque[tuple[float, bytes]] = deque()
    while True:
        patience_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        if select.select([tun], [], [], patience_s)[0]:
            packet = os.read(tun, LONGEST_BYTES)
            waiting.append((time.monotonic() + delay_s, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(tun, waiting.popleft()[1])


if __name__ == "__main__":
    run(opened(sys.argv[1]), float(sys.argv[2]))
