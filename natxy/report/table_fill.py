"""The fill of the gateway's connection tracking table: connections, and places for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from natxy.model.experiment_sections import RowKind
from natxy.model.measurement import ConnectionConditions

Of = Callable[[ConnectionConditions], int | None]
PLACES: Mapping[RowKind, Of] = {
    "connections per hash bucket": lambda of: of.hash_size,
    "connections per entry": lambda of: of.table_entries,
}
COUNTED = "connections"  # the figure of a measurement that counts them, as in MP Table 23
# Options of a series over numbers of connections, which then are not those of the testbed.
SERIES = {"counts", "source_ports", "destination_ports"}


def places_of(kind: RowKind, conditions: Sequence[ConnectionConditions]) -> int | None:
    """Returns the buckets or entries; None: they are not known, or differ between the results."""
    return _the_one(map(PLACES[kind], conditions))


def connections_of(
    conditions: Sequence[ConnectionConditions],
    testbed: Mapping[str, Any],
    options: Iterable[str],
) -> int | None:
    """Returns the connections of phase 1; None: they are not known, or differ.

    A measurement that can have a series of them, such as tear-down, does not keep their number; it
    is the testbed's if no option of the measurement names a series.
    """
    if any(of.count is not None for of in conditions):
        return _the_one(of.count for of in conditions)
    count = testbed.get("connections", {}).get("count")
    known = conditions and isinstance(count, int) and not SERIES & set(options)
    return count if known else None


def _the_one(values: Iterable[int | None]) -> int | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None
