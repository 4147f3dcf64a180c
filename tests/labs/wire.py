"""Runs in a tester's namespace: sends frames on one interface and prints what comes on another.

`wire.py SEND_ON LISTEN_ON SECONDS` reads frames as hexadecimal lines and prints arrivals likewise,
until as many have come as were sent or the time is over.
"""

import errno
import select
import socket
import sys
import time

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33


def opened(interface: str) -> socket.socket:
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 2**23)
    raw.bind((interface, ETH_P_ALL))
    return raw


def is_udp(frame: bytes) -> bool:
    """IPv4 or IPv6 with UDP behind it: not the ARP and ND that the gateway sends besides."""
    if frame[12:14] == b"\x08\x00":
        return frame[23] == 17
    return frame[12:14] == b"\x86\xdd" and frame[20] == 17


def send(sender: socket.socket, frame: bytes) -> None:
    """A veth with NAPI holds 256 frames: it is given the time to hand them on."""
    while True:
        try:
            sender.send(frame)
            return
        except OSError as full:
            if full.errno != errno.ENOBUFS:
                raise
            time.sleep(0.001)


def main() -> None:
    frames = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    with opened(sys.argv[1]) as sender, opened(sys.argv[2]) as listener:
        for frame in frames:
            send(sender, frame)
        end, came = time.monotonic() + float(sys.argv[3]), 0
        while came < len(frames) and (left_s := end - time.monotonic()) > 0:
            if select.select([listener], [], [], left_s)[0]:
                frame, (_, _, kind, *_) = listener.recvfrom(65536)
                if kind != socket.PACKET_OUTGOING and is_udp(frame):
                    print(frame.hex(), flush=True)
                    came += 1


if __name__ == "__main__":
    main()
