"""Destination networks: RFC 2544 section 12 asks for one network, and then for 256."""

from natxy.model.deviation import Deviation, Deviations
from natxy.model.testbed import Testbed
from natxy.trial.setup import ReadyTester

ASKED = (1, 256)


def networks_deviation(tester: ReadyTester) -> Deviations:
    """Returns the deviation of a measurement, or of the series that it is a part of, from the
    numbers of networks per side that the RFC asks for.

    Connections always use one network (RFC 9693).
    """
    measured = set(tester.networks or (networks_of(tester.testbed),))
    if tester.testbed.connections is not None or set(ASKED) <= measured:
        return ()
    listed = ", ".join(str(each) for each in sorted(measured))
    of = "destination network" + ("s" if measured != {1} else "")
    return (Deviation(clause="RFC 2544 section 12", has=f"{listed} {of}", asked="1 and then 256"),)


def networks_of(testbed: Testbed) -> int:
    """Returns the number of networks of the side that has more."""
    return max(testbed.traffic.left_networks, testbed.traffic.right_networks)
