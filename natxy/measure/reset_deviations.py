"""Deviations of the traffic and of the kind of a reset (RFC 6201 section 4)."""

from collections.abc import Iterator

from natxy.measure.flow_deviations import flow_deviations
from natxy.measure.networks import networks_of
from natxy.measure.traffic_deviations import format_deviations, possible_sizes
from natxy.model.deviation import Deviation, Deviations
from natxy.model.trial_spec import MIN_FRAME_SIZE_BYTES
from natxy.trial.setup import ReadyTester

CLAUSE = "RFC 6201 section 4"


def reset_deviations(tester: ReadyTester) -> Deviations:
    """Returns the deviations: a reset needs the smallest frames alone, to networks that are
    connected directly, and each kind of reset."""
    return (
        # The driver of a gateway resets it in one way, which the remarks describe.
        Deviation(
            clause=CLAUSE,
            has="one kind of reset",
            asked="those of the hardware, of the software and of the power",
        ),
        *_networks(tester),
        *flow_deviations(tester, networks=False),
        *_size(tester),
        *format_deviations(tester),
    )


def _networks(tester: ReadyTester) -> Iterator[Deviation]:
    several = networks_of(tester.testbed)
    if several > 1:
        yield Deviation(
            clause="RFC 2544 section 26.6",
            has=f"{several} destination networks behind next hops",
            asked="directly connected ones",
        )


def _size(tester: ReadyTester) -> Iterator[Deviation]:
    size, smallest = (
        tester.testbed.traffic.frame_size_bytes,
        min(possible_sizes(tester), default=MIN_FRAME_SIZE_BYTES),
    )
    if size > smallest:
        yield Deviation(clause=CLAUSE, has=f"frames of {size} bytes", asked=f"of {smallest}")
