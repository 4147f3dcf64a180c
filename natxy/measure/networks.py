"""Destination networks: RFC 2544 section 12 asks for one network, and then for 256."""

from collections.abc import Iterable

from natxy.model.testbed import Testbed
from natxy.trial.setup import ReadyTester

ASKED = (1, 256)
SECTION = "RFC 2544 section 12"


def networks_deviation(tester: ReadyTester) -> tuple[str, ...]:
    """Returns the deviation of a measurement, or of the series that it is a part of, from the
    numbers of networks per side that the RFC asks for.

    Connections always use one network (RFC 9693).
    """
    measured = set(tester.networks or (networks_of(tester.testbed),))
    if tester.testbed.connections is not None or set(ASKED) <= measured:
        return ()
    listed = ", ".join(str(each) for each in sorted(measured))
    of = "destination network" + ("s" if measured != {1} else "")
    return (f"{listed} {of}, not 1 and then 256 ({SECTION})",)


def without_networks(deviations: Iterable[str]) -> tuple[str, ...]:
    """Returns the deviations that do not concern the numbers of networks.

    For a measurement that is a part of another one, which names them itself or has none.
    """
    return tuple(each for each in deviations if SECTION not in each)


def networks_of(testbed: Testbed) -> int:
    """Returns the number of networks of the side that has more."""
    return max(testbed.traffic.left_networks, testbed.traffic.right_networks)
