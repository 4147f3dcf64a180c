"""A program in the place of QEMU: it plays the guest at the end of the control channel.

fake_qemu.py SCENE QEMU-ARGUMENTS...
"""

import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

WORDS = " ".join(sys.argv[2:])
SCENE = sys.argv[1]
ASKED: list[float] = []  # times of the clock that were told


def found(pattern: str) -> str:
    match = re.search(pattern, WORDS)
    assert match, pattern
    return match[1]


def say(line: str) -> None:
    with Path(found(r"path=(\S+)")).open("a") as console:
        console.write(f"{line}\n")


def main() -> None:
    if SCENE == "refused":
        print("qemu-system-x86_64: could not configure /dev/net/tun: Busy", file=sys.stderr)
        sys.exit(1)
    channel = socket.socket(fileno=int(found(r"fd=(\d+)")))
    say("Booting")
    if SCENE == "hangs" or (SCENE == "kvm hangs" and "-accel kvm" in WORDS):
        time.sleep(60)
    channel.sendall(b"ready\n")
    while True:
        line = b""
        while not line.endswith(b"\n"):
            if not (octet := channel.recv(1)):
                return
            line += octet
        command = channel.recv(int(line), socket.MSG_WAITALL).decode()
        answer(channel, command)


def answer(channel: socket.socket, command: str) -> None:
    match command:
        case "panic":
            say("Kernel panic - not syncing: sysrq triggered crash")
            say("CPU: 0 PID: 1 Comm: init")
            say("---[ end Kernel panic - not syncing: sysrq triggered crash ]---")
            sys.exit(0)
        case "flood":
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores, and QEMU does not
            while True:
                say("x" * 2**20)
        case "hang":
            time.sleep(60)
        case "slow":
            time.sleep(0.6)
            channel.sendall(packed(0, "slow"))
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "echo $EPOCHREALTIME":
            seconds = time.time() * (2 if SCENE == "fast clock" else 1)
            if SCENE == "slow first answers" and len(ASKED) < 5:
                time.sleep(0.06)
            ASKED.append(seconds)
            channel.sendall(packed(0, f"{seconds:.6f}\n"))
        case "false":
            channel.sendall(packed(1, "one\nthe last line\n"))
        case "nonsense":
            channel.sendall(b"what?\n")
        case _:
            channel.sendall(packed(0, command))


def packed(status: int, output: str) -> bytes:
    return f"{status} {len(output)}\n{output}".encode()


main()
