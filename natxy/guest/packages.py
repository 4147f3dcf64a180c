"""The Debian packages of which the guest is made, in the versions that apt would install."""

import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from natxy.errors import DutError
from natxy.program_output import OutputTooLong, run

# Packages that hold no files but depend on those of the current kernel, and how the names of those
# begin. Debian 13's headers also depend on a kernel, which is an unsigned copy.
KERNEL = {
    "linux-image-cloud-amd64": ("linux-image-",),
    "linux-headers-cloud-amd64": ("linux-headers-", "linux-kbuild-"),
}
MODULES = "jool-dkms"
PROCESSOR = "x86_64"  # Debian's amd64
PROGRAMS = (
    "bash",
    "busybox-static",
    "conntrack",
    "iproute2",
    "iptables",
    "jool-tools",
    "kmod",
    "nftables",
    "tayga",
)
LIBRARIES = ("lib", "zlib")  # a program needs no other part of what it depends on
DEPENDS = re.compile(r"^ +(?:Pre)?Depends: (\S+)$")
URI = re.compile(r"^'[^']+' (?P<file>\S+) \d+ (?P<checksum>\S*)$", re.MULTILINE)
# apt's own user cannot write to the folder, and apt would warn of it.
AS_ROOT = ("-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3")
FETCHED_WITHIN_S = 600.0
GONE = "404"  # of a server that has a newer version than the lists


class AptError(DutError):
    """apt cannot be run, or cannot reach what it knows."""


class ListsOutdated(AptError):
    """The archive no longer has a version that apt's lists name."""


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The packages to fetch. `identity` has their files, with versions and checksums."""

    names: tuple[str, ...]
    identity: str

    def fetch(self, folder: Path) -> None:
        """Downloads the packages into a folder; nothing is installed."""
        _apt(["apt-get", "-q", *AS_ROOT, "download", *self.names], folder)


def chosen_packages() -> Packages:
    """Returns the packages of the guest; AptError if apt does not know them."""
    if platform.machine() != PROCESSOR:
        raise DutError(
            f"The guest cannot be built on {platform.machine()} (expected {PROCESSOR} and Debian)."
        )
    told = _apt(["apt-cache", "depends", "--recurse", "--important", *KERNEL, MODULES, *PROGRAMS])
    depends = dependencies(told)
    kernel = (reachable(depends, (name,), parts) - {name} for name, parts in KERNEL.items())
    names = {
        *set().union(*kernel),
        MODULES,
        *reachable(depends, PROGRAMS, LIBRARIES),
    }
    ordered = tuple(sorted(names))
    uris = _apt(["apt-get", *AS_ROOT, "download", "--print-uris", *ordered])
    found = sorted(f"{each['file']} {each['checksum']}" for each in URI.finditer(uris))
    if len(found) != len(ordered):
        raise AptError(
            f"apt knows {len(found)} of the {len(ordered)} packages of the guest (expected all; "
            "run apt-get update)."
        )
    return Packages(names=ordered, identity="\n".join(found))


def update_lists() -> None:
    """Fetches apt's lists of packages again."""
    _apt(["apt-get", "-q", *AS_ROOT, "update"])


def dependencies(told: str) -> dict[str, list[str]]:
    """Reads what `apt-cache depends` prints: a package on each line, indented what it needs.

    Of alternatives, which begin with `|`, the last one counts, and of those that Debian has.
    """
    found: dict[str, list[str]] = {}
    package = ""
    for line in told.splitlines():
        if not line.startswith((" ", "|", "<")):
            package = line.strip()
            found.setdefault(package, [])
        elif depends := DEPENDS.match(line):
            found.setdefault(package, []).append(depends[1])
    return found


def reachable(
    depends: Mapping[str, Sequence[str]], first: Sequence[str], prefixes: tuple[str, ...]
) -> set[str]:
    """Returns `first` and what it needs, directly or not, as far as the names begin so."""
    found, left = set(first), list(first)
    while left:
        for name in depends.get(left.pop(), ()):
            if name.startswith(prefixes) and name not in found:
                found.add(name)
                left.append(name)
    return found


def _apt(command: Sequence[str], folder: Path | None = None) -> str:
    """Runs apt; AptError with its first complaint if it fails."""
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        done = run(command, timeout_s=FETCHED_WITHIN_S, cwd=folder, env=environment)
    except FileNotFoundError as missing:
        raise AptError(
            f"`{command[0]}` is not installed: the guest is built from Debian's packages (expected "
            "Debian)."
        ) from missing
    except subprocess.TimeoutExpired as late:
        raise AptError(
            f"The packages of the guest could not be fetched: {command[0]} did not end within "
            f"{FETCHED_WITHIN_S:g} s."
        ) from late
    except OutputTooLong as error:
        raise AptError(f"`{command[0]}` {error}.") from error
    if done.status != 0:
        outdated = re.search(rf"^E: Failed to fetch .* {GONE} ", done.errors, re.MULTILINE)
        raise (ListsOutdated if outdated else AptError)(
            f"The packages of the guest could not be fetched: {_complaint(done.errors)} (expected "
            "a reachable package archive and fresh lists; run apt-get update)."
        )
    return done.output


def _complaint(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.startswith("E:")]
    return lines[0].removeprefix("E:").strip().rstrip(".") if lines else "apt gave no reason"
