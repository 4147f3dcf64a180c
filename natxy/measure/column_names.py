"""Names of the columns of a series over the number of connections; no two columns share one."""

from collections.abc import Sequence

from natxy.trial.setup import ReadyTester

PORTS = 2  # of the sizes of ranges: source and destination ports; more are those of addresses


def named_by_size(columns: Sequence[ReadyTester]) -> list[str]:
    """Returns the number of connections of each column.

    A column with as many connections as another one, but of other ranges, has the ranges too.
    """
    counts = [column.traffic.required_connections.count for column in columns]
    ranges = [column.traffic.ranges.sizes for column in columns]
    return [
        f"{count:,} connections{_of(sizes) if _is_ambiguous(count, counts, ranges) else ''}"
        for count, sizes in zip(counts, ranges, strict=True)
    ]


def _is_ambiguous(count: int, counts: Sequence[int], ranges: Sequence[tuple[int, ...]]) -> bool:
    return len({sizes for each, sizes in zip(counts, ranges, strict=True) if each == count}) > 1


def _of(sizes: tuple[int, ...]) -> str:
    what = "ports" if len(sizes) == PORTS else "ports and addresses"
    return f", {' x '.join(f'{size:,}' for size in sizes)} {what}"


def told_apart(name: str, earlier: Sequence[str]) -> str:
    """Returns the name of the next column, with its number if an earlier one has the same name."""
    return f"{name}, column {len(earlier) + 1}" if name in earlier else name
