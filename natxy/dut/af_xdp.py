"""Tries AF_XDP on an interface: attaches a program and binds a socket.

`python af_xdp.py INTERFACE` exits with 0 if both work, and otherwise prints why they do not. It is
a program of its own because it must run in the interface's network namespace.
"""

import ctypes
import mmap
import os
import platform
import socket
import struct
import sys

BPF_SYSCALL = {"x86_64": 321, "aarch64": 280, "ppc64le": 361, "riscv64": 280}
BPF_PROG_LOAD, BPF_LINK_CREATE = 5, 28
PROG_TYPE_XDP, ATTACH_XDP = 6, 37
PASS_ALL = struct.pack("<BBhi", 0xB7, 0, 0, 2) + struct.pack("<BBhi", 0x95, 0, 0, 0)  # r0 = 2; exit

AF_XDP, SOL_XDP = 44, 283
XDP_RX_RING, XDP_UMEM_REG, XDP_FILL_RING, XDP_COMPLETION_RING = 2, 4, 5, 6
RING_ENTRIES, CHUNKS, CHUNK_BYTES = 64, 64, 4096


def bpf(command: int, attributes: bytes) -> int:
    number = BPF_SYSCALL.get(platform.machine())
    if number is None:
        raise OSError(f"the number of the bpf system call on {platform.machine()} is unknown")
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attributes, 128)
    result: int = libc.syscall(number, command, buffer, len(buffer))
    if result < 0:
        raise OSError(f"bpf: {os.strerror(ctypes.get_errno())}")
    return result


def load_program() -> int:
    """Loads a program that passes every frame; closing the returned descriptor removes it."""
    code = ctypes.create_string_buffer(PASS_ALL, len(PASS_ALL))
    licence = ctypes.create_string_buffer(b"GPL")
    load = struct.pack("<IIQQ", PROG_TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(licence))
    return bpf(BPF_PROG_LOAD, load)


def bind_socket(interface: int) -> None:
    """Binds a socket to the first queue, with the smallest memory that works."""
    memory = mmap.mmap(-1, CHUNKS * CHUNK_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    with socket.socket(AF_XDP, socket.SOCK_RAW) as xdp:
        region = struct.pack("<QQIIII", address, len(memory), CHUNK_BYTES, 0, 0, 0)
        xdp.setsockopt(SOL_XDP, XDP_UMEM_REG, region)
        for ring in (XDP_FILL_RING, XDP_COMPLETION_RING, XDP_RX_RING):
            xdp.setsockopt(SOL_XDP, ring, RING_ENTRIES)
        libc = ctypes.CDLL(None, use_errno=True)
        where = struct.pack("<HHIII", AF_XDP, 0, interface, 0, 0)
        if libc.bind(xdp.fileno(), where, len(where)) != 0:
            raise OSError(f"bind: {os.strerror(ctypes.get_errno())}")


def probe(interface: str) -> None:
    index = socket.if_nametoindex(interface)
    program = load_program()
    try:
        link = bpf(BPF_LINK_CREATE, struct.pack("<IIII", program, index, ATTACH_XDP, 0))
    finally:
        os.close(program)
    try:
        bind_socket(index)
    finally:
        os.close(link)


def main() -> int:
    try:
        probe(sys.argv[1])
    except OSError as error:
        print(f"AF_XDP is refused: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
