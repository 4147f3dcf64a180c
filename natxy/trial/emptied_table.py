"""A gateway's connection tracking table before a trial: it must be empty, as far as is known."""

from collections.abc import Callable

from natxy.dut.base import Dut
from natxy.dut.none import Cable, NoDut
from natxy.errors import DutError, MeasurementError

RESETS_AGAIN = 3
STRAGGLERS_S = 1.0  # in which a slow gateway forwards what it has in its queues


def check_emptied(dut: Dut, settle: Callable[[float], None]) -> None:
    """Raises MeasurementError if the table is not empty before a trial, as far as is known.

    Connections of an earlier trial would count as new ones, or would already exist in phase 1.
    A slow gateway still forwards frames of that trial after its reset, and they make connections;
    so the reset is repeated a few times.
    """
    left = count_of(dut)
    for _ in range(RESETS_AGAIN):
        if not left:
            break
        settle(STRAGGLERS_S)
        dut.reset()
        left = count_of(dut)
    if left:
        raise MeasurementError(
            f"The gateway still has {left:,} connections after it was reset for a trial (expected "
            "a reset that empties its table)."
        )
    if left is None and isinstance(dut, NoDut) and not isinstance(dut, Cable):
        raise MeasurementError(
            "Nothing empties the gateway's connection table between trials (expected [dut] with "
            'kind = "command" and a `reset` that empties it).'
        )


def count_of(dut: Dut) -> int | None:
    """Returns how many connections the table holds; None if that is not known."""
    if dut.table is None:
        return None
    try:
        return dut.table.count()
    except DutError:
        return None
