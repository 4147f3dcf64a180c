"""Converts a siitperf.conf to a testbed file: `natxy init --from`."""

from collections.abc import Sequence
from pathlib import Path

from natxy.errors import DeviceError
from natxy.siitperf.configuration import read_configuration
from natxy.siitperf.entries import Warn
from natxy.siitperf.stateful import all_connections
from natxy.siitperf.testbed import testbed_of
from natxy.siitperf.testbed_toml import testbed_toml
from natxy.siitperf.whole_testbed import first_two_devices, with_devices


def imported(path: Path, warn: Warn) -> str:
    """Returns the testbed file's text.

    The cores are not checked, because the file may be for another machine.
    """
    configuration = read_configuration(path, warn)
    testbed = with_devices(testbed_of(configuration), _devices(warn))
    testbed = testbed.model_copy(update={"connections": all_connections(configuration, warn)})
    if testbed.connections is not None:
        warn(
            "Stateful: N is an argument of siitperf, so count in [connections] is the number of "
            f"combinations, {testbed.connections.count}"
        )
    return testbed_toml(testbed, path.name)


def _devices(warn: Warn) -> Sequence[str | None]:
    try:
        return first_two_devices()
    except DeviceError:
        warn("no two ports of this machine are bound to a DPDK driver: fill in `device`")
        return None, None
