"""Runs in a namespace: tells when the first frame of each trial and stream came on an interface.

`arrivals.py INTERFACE` prints `ready`, and then lines `TAG STREAM NANOSECONDS`, with the two marks
in hexadecimal digits that the tester writes into its UDP datagrams over IPv4 and the kernel's time
of the arrival, until standard input ends.
"""

import errno
import select
import socket
import struct
import sys

from tests.labs.wire import is_udp, opened

SO_TIMESTAMPNS = 35
UDP_DATA = 14 + 20 + 8  # octets of headers before it
TAG = slice(UDP_DATA, UDP_DATA + 4)
STREAM = slice(UDP_DATA + 4, UDP_DATA + 5)


def time_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """The kernel's, of one frame."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("@ll", data[:16])
            return int(seconds) * 10**9 + int(nanoseconds)
    raise SystemExit("arrivals: the kernel has stamped no time on a frame")


def main() -> None:
    known: set[tuple[bytes, bytes]] = set()
    with opened(sys.argv[1]) as listener:
        listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            try:
                frame, ancillary, _, (_, _, kind, *_) = listener.recvmsg(256, 256)
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # the lab is removed
                    return
                raise
            mark = frame[TAG], frame[STREAM]
            if kind == socket.PACKET_OUTGOING or not is_udp(frame) or mark in known:
                continue
            known.add(mark)
            print(mark[0].hex(), mark[1].hex(), time_ns(ancillary), flush=True)


if __name__ == "__main__":
    main()
