"""Options for numbers of connections and their ports, which tear-down and degradation share."""

import re
from collections.abc import Sequence
from typing import Annotated, TypeVar

from natxy.cli.options import adding, numbers_of, words_of
from natxy.errors import ConfigurationError
from natxy.measure.table_size import COUNTS, DESTINATION_PORTS, SOURCE_PORTS, PortRange, Size
from natxy.setting import Setting, whole_number

CountsOption = Annotated[
    str | None,
    adding(
        COUNTS,
        " in each column, for example 1k,2k,4k; as many destination ports are used as these need",
    ),
]
SourcePortsOption = Annotated[
    str | None,
    adding(
        SOURCE_PORTS,
        ", one value for each column or one for all: a number of ports from the testbed's first "
        "on, such as 40000, or a range such as 10000-49999",
    ),
]
DestinationPortsOption = Annotated[
    str | None, adding(DESTINATION_PORTS, ", in the same form, for example 10,100,1000,10000")
]
T = TypeVar("T")


def sizes_of(
    counts: str | None, source_ports: str | None, destination_ports: str | None
) -> tuple[Size, ...]:
    """Returns one size a column, none where no option is given."""
    listed = {
        COUNTS: numbers_of(COUNTS, counts),
        SOURCE_PORTS: ranges_of(SOURCE_PORTS, source_ports),
        DESTINATION_PORTS: ranges_of(DESTINATION_PORTS, destination_ports),
    }
    columns = max(len(each) for each in listed.values())
    if not columns:
        return ()
    by_column = (one_each(setting, each, columns) for setting, each in listed.items())
    return tuple(
        Size(connections=count, source_ports=sources, destination_ports=destinations)
        for count, sources, destinations in zip(*by_column, strict=True)
    )


def ranges_of(setting: Setting, text: str | None) -> tuple[PortRange, ...]:
    """Reads a list of `40000` or `10000-49999`."""
    words = [] if text is None else words_of(setting, text)
    return tuple(_range_of(setting, word) for word in words)


def _range_of(setting: Setting, word: str) -> PortRange:
    if (count := whole_number(word)) and count > 0:
        return PortRange(count=count)
    if matched := re.fullmatch(r"(\d{1,5})-(\d{1,5})", word):
        first, last = map(int, matched.groups())
        if last >= first:
            return PortRange(count=last - first + 1, first=first)
    raise ConfigurationError(
        setting,
        f': "{word}" is neither a number nor a range of ports (expected for example 40000 or '
        "10000-49999)",
    )


def one_each(setting: Setting, listed: Sequence[T], columns: int) -> list[T | None]:
    """Returns one value a column: a single value is used for all of them."""
    if not listed:
        return [None] * columns
    if len(listed) == 1:
        return [listed[0]] * columns
    if len(listed) != columns:
        raise ConfigurationError(
            setting,
            f": {len(listed)} values do not fit {columns} columns (expected 1 or {columns})",
        )
    return list(listed)
