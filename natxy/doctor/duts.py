"""Examines whether a lab's driver, a recipe or the guest would run from this machine."""

import ctypes
import platform
import shutil
from importlib.util import find_spec

from natxy.doctor.finding import NOTHING, Finding, costs, good, impossible
from natxy.doctor.tools import engine, privileges
from natxy.dut.config import SshConfig
from natxy.dut.execution import LAB_PACKAGES, missing_programs
from natxy.dut.recipe import Filled, Recipe
from natxy.dut.ssh import SshDut
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


def examine_driver(driver: Recipe) -> list[Finding]:
    return [privileges(), engine(), packages(driver)]


def packages(driver: Recipe) -> Finding:
    """Looks for the programs of a lab, and names the packages of those that are missing."""
    missing = missing_programs(driver.in_lab.packages)
    if not missing:
        return good("programs", ", ".join({**LAB_PACKAGES, **driver.in_lab.packages}))
    names = " ".join(sorted(set(missing.values())))
    return impossible(
        "programs",
        f"missing: {', '.join(missing)}",
        cost=NOTHING,
        remedy=f"apt-get install {names}",
    )


def examine_recipe() -> list[Finding]:
    """Examines this machine alone; the gateway's own is examined with a testbed that names it."""
    return [engine(), ssh_package()]


def ssh_package() -> Finding:
    if find_spec("asyncssh") is not None:
        return good("asyncssh", "installed")
    return impossible(
        "asyncssh",
        "not installed",
        cost="no recipe can be run",
        remedy='pip install "natxy[ssh]"',
    )


def examine_host(config: SshConfig, filled: Filled) -> list[Finding]:
    """Connects to the gateway's machine and looks for programs; changes nothing there."""
    dut = SshDut(config, filled, show=lambda *_: None)
    try:
        dut.open()
        host = good("host", f"{config.user}@{config.host} answers")
        dut.check_programs()
    except DutError as error:
        return [
            impossible(
                "gateway",
                error.in_options,
                cost=NOTHING,
                remedy="# the state above says what to do",
            )
        ]
    finally:
        dut.close()
    needed = ", ".join(filled.recipe.programs) or "none"
    return [host, good("programs there", needed)]


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
