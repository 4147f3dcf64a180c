"""Converts a siitperf.conf to a testbed file: `natxy init --from`."""

from pathlib import Path

from natxy.errors import DeviceError
from natxy.model.testbed import Port, Testbed
from natxy.siitperf.configuration import Configuration, read_configuration
from natxy.siitperf.entries import Warn
from natxy.siitperf.inferred import with_inferred
from natxy.siitperf.stateful import all_connections
from natxy.siitperf.testbed import testbed_of
from natxy.siitperf.testbed_toml import testbed_toml
from natxy.siitperf.whole_testbed import SIDES, first_two_devices


def imported(path: Path, warn: Warn) -> str:
    """Returns the testbed file's text.

    The cores are not checked, because the file may be for another machine.
    """
    configuration = with_inferred(read_configuration(path, warn))
    testbed = imported_testbed(configuration, _devices(warn))
    testbed = testbed.model_copy(update={"connections": all_connections(configuration, warn)})
    if testbed.connections is not None:
        warn(
            "Stateful: N is an argument of siitperf, so count in [connections] is the number of "
            f"combinations, {testbed.connections.count}"
        )
    return testbed_toml(testbed, path.name)


def imported_testbed(
    configuration: Configuration, devices: tuple[str | None, str | None]
) -> Testbed:
    testbed = testbed_of(configuration)
    ports: dict[str, Port] = {
        side: testbed.tester.port(side).model_copy(update={"device": device})
        for (side, _), device in zip(SIDES, devices, strict=True)
    }
    return testbed.model_copy(update={"tester": testbed.tester.model_copy(update=ports)})


def _devices(warn: Warn) -> tuple[str | None, str | None]:
    try:
        left, right = first_two_devices()
    except DeviceError:
        warn("no two ports of this machine are bound to a DPDK driver: fill in `device`")
        return None, None
    return left, right
