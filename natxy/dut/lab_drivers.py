"""The drivers of labs. Each file of this room may declare some, in DRIVERS."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import natxy.dut
from natxy.dut.ip_versions import Pair
from natxy.errors import DutError

if TYPE_CHECKING:  # both use the configuration, whose check of a driver's name uses this file
    from natxy.dut.gateway import Gateway
    from natxy.dut.namespace_site import NamespaceSite

# What each lab needs: the Debian package of each program.
LAB_PACKAGES = {"ip": "iproute2", "ethtool": "ethtool", "sysctl": "procps", "taskset": "util-linux"}


@dataclass(frozen=True, kw_only=True)
class LabDriver:
    """The description that a driver gives of itself."""

    name: str
    gateway: str  # what it is, in a few words
    ip_versions: tuple[Pair, ...]
    make: Callable[["NamespaceSite"], "Gateway"]
    stateful: bool = False
    in_a_row: bool = False  # two gateways, the front one on the initiator's side
    packages: Mapping[str, str] = field(default_factory=dict)  # as LAB_PACKAGES, in addition

    def check_programs(self) -> None:
        """Raises DutError if a program that this driver runs is not installed."""
        needed = {**LAB_PACKAGES, **self.packages}
        if missing := [program for program in needed if shutil.which(program) is None]:
            packages = " ".join(sorted({needed[program] for program in missing}))
            raise DutError(
                f"dut.driver {self.name}: {', '.join(missing)}: not installed (expected the Debian "
                f"package{'s' * (' ' in packages)} {packages})."
            )


@cache
def lab_drivers() -> dict[str, LabDriver]:
    """Returns the drivers by name, in the order of their files."""
    names = sorted(found.name for found in iter_modules(natxy.dut.__path__))
    modules = (import_module(f"natxy.dut.{name}") for name in names)
    declared = (driver for module in modules for driver in getattr(module, "DRIVERS", ()))
    return {driver.name: driver for driver in declared}
