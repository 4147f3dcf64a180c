"""Options for numbers of connections and their ports, which tear-down and degradation share."""

import re
from collections.abc import Sequence
from typing import Annotated, TypeVar

import typer

from natxy.cli.options import numbers_of, words_of
from natxy.errors import ConfigurationError
from natxy.measure.table_size import PortRange, Size

CountsOption = Annotated[
    str | None,
    typer.Option(
        help="Number of connections in each column, for example 1000,2000,4000; as many "
        "destination ports are used as these need [default: all combinations of the given ports].",
        metavar="LIST",
    ),
]
SourcePortsOption = Annotated[
    str | None,
    typer.Option(
        help="Source ports, one value for each column or one for all: a number of ports from the "
        "testbed's first on, such as 40000, or a range such as 10000-49999 [default: the "
        "testbed's].",
        metavar="LIST",
    ),
]
DestinationPortsOption = Annotated[
    str | None,
    typer.Option(
        help="Destination ports, in the same form, for example 10,100,1000,10000 [default: as many "
        "as --counts needs].",
        metavar="LIST",
    ),
]
T = TypeVar("T")


def sizes_of(
    counts: str | None, source_ports: str | None, destination_ports: str | None
) -> tuple[Size, ...]:
    """Returns one size a column, none where no option is given."""
    listed = {
        "--counts": numbers_of("--counts", counts),
        "--source-ports": ranges_of("--source-ports", source_ports),
        "--destination-ports": ranges_of("--destination-ports", destination_ports),
    }
    columns = max(len(each) for each in listed.values())
    if not columns:
        return ()
    by_column = (one_each(option, each, columns) for option, each in listed.items())
    return tuple(
        Size(connections=count, source_ports=sources, destination_ports=destinations)
        for count, sources, destinations in zip(*by_column, strict=True)
    )


def ranges_of(option: str, text: str | None) -> tuple[PortRange, ...]:
    """Reads a list of `40000` or `10000-49999`."""
    words = [] if text is None else words_of(option, text)
    return tuple(_range_of(option, word) for word in words)


def _range_of(option: str, word: str) -> PortRange:
    matched = re.fullmatch(r"(?:(\d{1,5})-)?(\d{1,5})", word)
    if matched:
        first, last = matched.groups()
        if first is None and int(last):
            return PortRange(count=int(last))
        if first is not None and int(last) >= int(first):
            return PortRange(count=int(last) - int(first) + 1, first=int(first))
    raise ConfigurationError(
        f'{option}: "{word}" is neither a number nor a range of ports (expected for example 40000 '
        "or 10000-49999)"
    )


def one_each(option: str, listed: Sequence[T], columns: int) -> list[T | None]:
    """Returns one value a column: a single value is used for all of them."""
    if not listed:
        return [None] * columns
    if len(listed) == 1:
        return [listed[0]] * columns
    if len(listed) != columns:
        raise ConfigurationError(
            f"{option}: {len(listed)} values do not fit {columns} columns (expected 1 or {columns})"
        )
    return list(listed)
