"""Examines whether a lab's driver, or a recipe, would run from this machine."""

from importlib.util import find_spec

from natxy.doctor.finding import NOTHING, Finding, good, impossible
from natxy.doctor.tools import engine, privileges
from natxy.dut.config import SshConfig
from natxy.dut.execution import LAB_PACKAGES, missing_programs
from natxy.dut.recipe import Filled, Recipe
from natxy.dut.ssh import SshDut
from natxy.errors import DutError


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
