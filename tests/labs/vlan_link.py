"""Gives an interface VLAN tags: the kernel adds them to each frame that leaves, and removes them
from each frame that arrives. A kernel without VLAN devices can do it as well as one with them.

`python -m tests.labs.vlan_link INTERFACE TPID:ID...`, outer tag first, prints `ready`, and takes
the tags away when its standard input ends. If the kernel refuses, it exits with 1 and says why.
"""

import ctypes
import socket
import struct
import sys

from natxy.dut.af_xdp import BPF_LINK_CREATE, BPF_PROG_LOAD, bpf

PROG_TYPE_SCHED_CLS = 3
ATTACH_TCX_INGRESS, ATTACH_TCX_EGRESS = 46, 47  # Linux 6.6
SKB_VLAN_PUSH, SKB_VLAN_POP = 18, 19  # helpers
R0, R1, R2, R3, R6 = 0, 1, 2, 3, 6
MOVE, SET, CALL, EXIT = 0xBF, 0xB7, 0x85, 0x95
TPIDS = {"802.1Q": 0x8100, "802.1ad": 0x88A8}


def step(code: int, target: int = 0, source: int = 0, value: int = 0) -> bytes:
    return struct.pack("<BBhi", code, target | source << 4, 0, value)


def pushed(tpid: str, number: int) -> bytes:
    arguments = step(SET, R2, value=socket.htons(TPIDS[tpid])) + step(SET, R3, value=number)
    return step(MOVE, R1, R6) + arguments + step(CALL, value=SKB_VLAN_PUSH)


def popped() -> bytes:
    return step(MOVE, R1, R6) + step(CALL, value=SKB_VLAN_POP)


def attach(interface: int, where: int, steps: bytes) -> None:
    """Attaches a program that takes these steps with each frame, until this process ends."""
    whole = step(MOVE, R6, R1) + steps + step(SET, R0, value=0) + step(EXIT)
    code = ctypes.create_string_buffer(whole, len(whole))
    licence = ctypes.create_string_buffer(b"GPL")
    addresses = ctypes.addressof(code), ctypes.addressof(licence)
    load = struct.pack("<IIQQ", PROG_TYPE_SCHED_CLS, len(whole) // 8, *addresses)
    program = bpf(BPF_PROG_LOAD, load)
    bpf(BPF_LINK_CREATE, struct.pack("<IIII", program, interface, where, 0))


def main() -> None:
    interface = socket.if_nametoindex(sys.argv[1])
    tags = [(tpid, int(number)) for tpid, number in (word.split(":") for word in sys.argv[2:])]
    try:
        attach(interface, ATTACH_TCX_INGRESS, popped() * len(tags))
        inner_first = [pushed(*tag) for tag in reversed(tags)]
        attach(interface, ATTACH_TCX_EGRESS, b"".join(inner_first))
    except OSError as refused:
        sys.exit(f"the kernel refuses programs for VLAN tags: {refused}")
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
