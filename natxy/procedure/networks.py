"""Destination networks: RFC 2544 section 12 asks for one network, and then for 256."""

from collections.abc import Collection

from natxy.model.testbed import Testbed

ASKED = (1, 256)


def networks_deviation(testbed: Testbed, measured: Collection[int]) -> tuple[str, ...]:
    """Returns the deviation of a series that was measured with these numbers of networks per side.

    Connections always use one network (RFC 9693).
    """
    if testbed.connections is not None or set(ASKED) <= set(measured):
        return ()
    listed = ", ".join(str(each) for each in sorted(set(measured)))
    of = "destination network" + ("s" if set(measured) != {1} else "")
    return (f"{listed} {of}, not 1 and then 256 (RFC 2544 section 12)",)


def networks_of(testbed: Testbed) -> int:
    """Returns the number of networks of the side that has more."""
    return max(testbed.traffic.left_networks, testbed.traffic.right_networks)
