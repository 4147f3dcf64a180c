"""`natxy bindings`: writes what the gateway must know of the subscribers."""

import sys
from pathlib import Path
from typing import Annotated

from natxy.dut.bindings import FORMATS, bindings_of
from natxy.errors import unknown_value
from natxy.model.testbed import read_testbed
from natxy.setting import Argument, Setting


def bindings(
    testbed: Annotated[Path, Argument("testbed", "Testbed with [subscribers]", "TESTBED")],
    format_: Annotated[
        str,
        Setting(
            "format",
            "Format of the bindings: csv (a table), or the commands or configuration of a gateway: "
            "jool, snabb or vpp",
            "FORMAT",
            short="csv (the default), jool, snabb or vpp",
        ),
    ] = "csv",
) -> None:
    """Write the subscribers' addresses and port sets for the gateway, to standard output.

    Examples:
        natxy bindings lab.toml
        natxy bindings lab.toml --format jool
        natxy bindings lab.toml --format vpp > bindings.vpp
    """
    if format_ not in FORMATS:
        raise unknown_value("--format", format_, tuple(FORMATS))
    read, source = read_testbed(testbed)
    if read.subscribers is None:
        source.refuse(("subscribers",), "is missing: there are no bindings without it")
    for line in bindings_of(read.subscribers, format_):
        sys.stdout.write(f"{line}\n")
