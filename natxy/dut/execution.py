"""Runs programs by their argument lists, never through a shell."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from natxy.errors import DutError
from natxy.program_output import OutputTooLong, run

TIMEOUT_S = 30.0
# What each lab needs: the Debian package of each program.
LAB_PACKAGES = {
    "ip": "iproute2",
    "ethtool": "ethtool",
    "sysctl": "procps",
    "taskset": "util-linux",
}


def missing_programs(packages: Mapping[str, str]) -> dict[str, str]:
    """Returns those programs of a lab that are not installed, with their Debian packages.

    `packages` has the programs that other labs do not need.
    """
    needed = {**LAB_PACKAGES, **packages}
    return {name: package for name, package in needed.items() if shutil.which(name) is None}


def how_to_install(missing: Mapping[str, str]) -> str:
    """Returns the end of a sentence: what is not installed, and the command that installs it."""
    packages = " ".join(sorted(set(missing.values())))
    them = "them" if len(missing) > 1 else "it"
    return f"{', '.join(missing)}: not installed (`apt install {packages}` installs {them})"


def in_namespace(namespace: str, arguments: Sequence[str]) -> list[str]:
    """Returns the command that runs the program in a network namespace."""
    return ["ip", "netns", "exec", namespace, *arguments]


def execute(arguments: Sequence[str], *, feed: str = "", timeout_s: float = TIMEOUT_S) -> str:
    """Runs a program and returns its output; DutError with its last line if it fails.

    It gets a session of its own, so that Ctrl-C does not end a command that cleans up.
    """
    try:
        done = run(arguments, feed=feed, timeout_s=timeout_s)
    except FileNotFoundError as missing:
        package = LAB_PACKAGES.get(arguments[0])
        expected = f"the Debian package {package}" if package else "it in PATH"
        raise DutError(f"`{arguments[0]}` is not installed (expected {expected}).") from missing
    except subprocess.TimeoutExpired as late:
        raise DutError(f"`{' '.join(arguments)}` did not end within {timeout_s:g} s.") from late
    except OutputTooLong as error:
        raise DutError(f"`{' '.join(arguments)}` {error}.") from error
    if done.status != 0:
        words = last_words(done.errors or done.output)
        raise DutError(f"`{' '.join(arguments)}` ended with status {done.status}: {words}")
    return done.output


def last_words(text: str) -> str:
    """Returns a program's last line, without that of `ip -batch`, which gives no reason."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("Command failed -")]
    return lines[-1] if lines else "it printed nothing"


def ip_batch(namespace: str | None, lines: Sequence[str]) -> None:
    """Runs many `ip` commands in one process."""
    scope = ["-n", namespace] if namespace else []
    execute(["ip", *scope, "-batch", "-"], feed="\n".join(lines) + "\n")


def set_sysctls(namespace: str, settings: Mapping[str, str | int]) -> None:
    """Sets kernel parameters of a namespace; names as in /proc/sys, with slashes."""
    assignments = [f"{name}={value}" for name, value in settings.items()]
    execute(in_namespace(namespace, ["sysctl", "-q", "-w", *assignments]))


def write_file(namespace: str, path: str, text: str) -> None:
    """Writes a file of /sys that belongs to the namespace."""
    execute(in_namespace(namespace, ["tee", path]), feed=text)
