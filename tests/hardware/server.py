"""Runs `natxy` in the guest, in processes that have imported the package already.

Emulated, the imports take most of the time of a short measurement. Each line of the first FIFO has
the words of a command; its exit status is written to the second one.
"""

import importlib
import os
import shlex
import sys

from natxy.cli import main

IMPORTED = ("trial", "doctor", "throughput", "latency", "establishment", "capacity")
OUTPUT, ERRORS = "/tmp/json", "/tmp/errors"


def serve(requests: str, statuses: str) -> None:
    for verb in IMPORTED:
        importlib.import_module(f"natxy.cli.{verb}")
    while True:
        with open(requests) as lines:
            words = shlex.split(lines.readline())
        child = os.fork()
        if child == 0:
            run(words)
        _, status = os.waitpid(child, 0)
        with open(statuses, "w") as answer:
            answer.write(f"{os.waitstatus_to_exitcode(status)}\n")


def run(words: list[str]) -> None:
    for path, stream in ((OUTPUT, 1), (ERRORS, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["natxy", *words]
    main()
    sys.exit(0)


if __name__ == "__main__":
    serve(*sys.argv[1:])
