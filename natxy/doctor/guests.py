"""Examines whether this machine can build and run the guest."""

import ctypes
import platform
import shutil

from natxy.doctor.finding import NOTHING, Finding, costs, good, impossible
from natxy.doctor.tools import engine, privileges
from natxy.errors import DutError
from natxy.guest.image import built_on, cache_folder, last_built
from natxy.guest.machine import need_qemu
from natxy.guest.packages import PROCESSOR

# What natxy/guest/build.py and packages.py execute, and the compiler that make starts.
APT = ("apt-cache", "apt-get")
BUILDS = (*APT, "depmod", "dpkg-deb", "gcc", "gzip", "make")
# Without apt, the last guest serves (natxy/guest/image.py); a build that fails is an error.
OLD = "the guest stays as it is when Debian has newer versions of its packages"
LATER = f"{NOTHING} once Debian has a newer version of one of its packages"
LIBRARY = "libelf.so.1"  # of the kernel's own programs for building modules


def examine_guest() -> list[Finding]:
    found = [privileges(), engine(), virtual_machine(), architecture()]
    return [*found, build()] if platform.machine() == PROCESSOR else found


def virtual_machine() -> Finding:
    try:
        need_qemu()
    except DutError as error:
        return impossible("QEMU", error.in_options, cost=NOTHING, remedy="tools/install guest")
    return good("QEMU", "installed")


def architecture() -> Finding:
    name, machine = "architecture", platform.machine()
    if machine == PROCESSOR:
        return good(name, machine)
    return impossible(
        name, machine, cost=NOTHING, remedy=f"# use a machine of {PROCESSOR}, Debian's amd64"
    )


def build() -> Finding:
    """Looks for a guest in the cache, and for what builds one."""
    name, missing = "guest", missing_of_build()
    remedy = "tools/install build guest  # on Debian"
    built = last_built(cache_folder())
    if built is None and missing:
        return impossible(
            name,
            f"not built; missing to build it: {', '.join(missing)}",
            cost=NOTHING,
            remedy=remedy,
        )
    if built is None:
        return good(name, f"not built; the first start builds it in {cache_folder()}")
    state = f"built on {built_on(built)}, in {built}"
    if not missing:
        return good(name, state)
    return costs(
        name,
        f"{state}; missing to build it again: {', '.join(missing)}",
        cost=OLD if set(missing) & set(APT) else LATER,
        remedy=remedy,
    )


def missing_of_build() -> list[str]:
    missing = [program for program in BUILDS if shutil.which(program) is None]
    return missing if _has_library() else [*missing, LIBRARY]


def _has_library() -> bool:
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return False
    return True
