"""The result of one check, and the machine that is checked."""

import shlex
from enum import StrEnum
from pathlib import Path

from natxy.model.base import Model

NOTHING = "no trial through it"  # of a gateway
ONLY_IF = "  # only if "


class Grade(StrEnum):
    GOOD = "good"
    COSTS = "costs"  # figures are lower or vary more than they could
    IMPOSSIBLE = "impossible"  # nothing can be measured


class Finding(Model):
    """One check. Its remedy is a line that a shell takes as it stands: a command, or a comment."""

    name: str
    state: str
    grade: Grade
    cost: str = ""
    remedy: str = ""


def only_if(condition: str, command: str) -> str:
    """Returns a remedy that a person decides on, because it could do harm. A script does not run
    it by itself."""
    return f"{command}{ONLY_IF}{condition}"


def at_boot(name: str, parameters: str, why: str) -> str:
    """Returns the remedy that gives the kernel parameters, as Debian and its relatives do it.

    `name` is that of their file, which is written anew each time.
    """
    line = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {parameters}"'
    folder = "/etc/default/grub.d"
    file = f"{folder}/natxy-{name}.cfg"
    write = f"mkdir -p {folder} && echo {shlex.quote(line)} > {file} && update-grub"
    return only_if(f"the machine may be booted anew, which it takes; {why}", write)


def good(name: str, state: str) -> Finding:
    return Finding(name=name, state=state, grade=Grade.GOOD)


def costs(name: str, state: str, *, cost: str, remedy: str) -> Finding:
    return Finding(name=name, state=state, grade=Grade.COSTS, cost=cost, remedy=remedy)


def impossible(name: str, state: str, *, cost: str, remedy: str) -> Finding:
    return Finding(name=name, state=state, grade=Grade.IMPOSSIBLE, cost=cost, remedy=remedy)


class Machine:
    """Reads /proc and /sys below a root, which tests set; paths may begin with it."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def text(self, path: str | Path) -> str:
        """Returns the file's text, empty if it is missing or unreadable."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""

    def status(self, name: str) -> str:
        """Returns a field of this process's /proc/self/status, empty if it is missing."""
        lines = (line.partition(":") for line in self.text("proc/self/status").splitlines())
        return next((value.strip() for key, _, value in lines if key == name), "")

    def paths(self, pattern: str) -> list[Path]:
        return sorted(self.root.glob(pattern))

    def target(self, path: Path) -> str:
        """Returns the last part of a link's target, empty if there is no link."""
        try:
            return (self.root / path).readlink().name
        except OSError:
            return ""


def cpu_list(text: str) -> list[int]:
    """Reads a set of CPUs as the kernel writes it: `0-3,8`."""
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            cpus += range(int(first), int(last or first) + 1)
    return cpus
