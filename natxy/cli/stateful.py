"""The commands of measurements of a stateful gateway (RFC 9693), and of its cores.

Several measure a column for each number of connections and of their ports, or another figure in
each column.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, TypeVar

from natxy.cli.options import adding, numbers_of, only, words_of
from natxy.cli.series_options import SeriesOptions, Work, measuring
from natxy.errors import ConfigurationError, unknown_value
from natxy.measure.table_size import COUNTS, DESTINATION_PORTS, SOURCE_PORTS, PortRange, Size
from natxy.measure.traffic_settings import DIRECTION, ESTABLISHMENT_RATE
from natxy.procedure.closing import BY, ClosingPlan
from natxy.procedure.defaults import FIRST_CORES, MEASURES
from natxy.procedure.degradation import ENTRIES, HASH_SIZE, Column
from natxy.procedure.establishment_search import ALPHA, DEFAULT_ALPHA, MAX_RATE, EstablishmentPlan
from natxy.procedure.scale_up import CORES
from natxy.procedure.series import Searching
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.settings import error_of
from natxy.setting import Setting, whole_number
from natxy.trial.connection_table import TIMEOUT
from natxy.trial.establishing import SEGMENTS, Closer
from natxy.trial.timing import DURATION

TABLE = "table"
ERROR = error_of("connections a second")
CLOSERS: dict[str, Closer] = {closer: closer for closer in SEGMENTS}
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
FIGURES = ("establishment", "validated", "throughput")
FigureOption = Annotated[
    str,
    Setting(
        "of",
        "Figure to measure: establishment, validated (establishment with validation) or throughput",
        "FIGURE",
        short="establishment, validated or throughput (the default)",
    ),
]
OWN = (
    error_of("frames a second", ends="End each search"),
    "max_rate_fps",
    "loss",
)


@measuring(
    "establishment",
    "max_rate_cps",
    "error",
    replace(adding(ALPHA, "; turns --validated on"), default="0.5"),
    "loss",
    "early_end",
    "loss_verifications",
)
def establishment(
    work: Work,
    validated: Annotated[
        bool,
        Setting(
            "validated",
            "Validate the connections: after phase 1 the responder sends one frame to each",
            short="Send one frame back through each connection",
        ),
    ] = False,
) -> Work:
    """Measure the maximum connection establishment rate (RFC 9693).

    Examples:
        natxy establishment nat.toml --profile quick
        natxy establishment nat.toml --max-rate 1M
        natxy establishment nat.toml --validated
    """
    return work.giving(**{"alpha": DEFAULT_ALPHA, **work.given}) if validated else work


@measuring("scale_up", *OWN)
def scale_up(
    work: Work,
    cores: Annotated[str, CORES] = ",".join(map(str, FIRST_CORES)),
    of: FigureOption = "throughput",
) -> Work:
    """Measure how a figure grows with the gateway's cores (RFC 9693).

    Examples:
        natxy scale-up lab.toml --profile quick
        natxy scale-up lab.toml --cores 1,2,4
        natxy scale-up lab.toml --of establishment --max-rate 1M
    """
    return replace(work, given={"search": searching(work, of), "cores": numbers_of(CORES, cores)})


def by_column(setting: Setting) -> Setting:
    """Returns a setting of the gateway's table, which may differ from column to column."""
    return replace(adding(setting, ", one value for each column or one for all"), metavar="LIST")


@measuring("degradation", *OWN)
def degradation(
    work: Work,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    entries: Annotated[str | None, by_column(ENTRIES)] = None,
    hash_sizes: Annotated[str | None, by_column(HASH_SIZE)] = None,
    timeouts: Annotated[str | None, by_column(TIMEOUT)] = None,
    of: FigureOption = "throughput",
) -> Work:
    """Measure a figure at several numbers of connections (RFC 9693).

    Examples:
        natxy degradation nat.toml --counts 1k,10k,100k --profile quick
        natxy degradation nat.toml --counts 1k,1M --of establishment
        natxy degradation nat.toml --source-ports 40k --destination-ports 1,10
    """
    sizes = sizes_of(counts, source_ports, destination_ports)
    listed = (
        one_each(setting, numbers_of(setting, text), len(sizes))
        for setting, text in ((ENTRIES, entries), (HASH_SIZE, hash_sizes), (TIMEOUT, timeouts))
    )
    columns = tuple(
        Column(**vars(size), entries=most, hash_size=buckets, timeout_s=timeout)
        for size, most, buckets, timeout in zip(sizes, *listed, strict=True)
    )
    return replace(work, given={"search": searching(work, of), "columns": columns})


@measuring(
    "tear_down",
    *(only("With --by fin or rst", each) for each in (MAX_RATE, ERROR)),
    plans=[ClosingPlan],
)
def tear_down(
    work: Work,
    counts: CountsOption = None,
    source_ports: SourcePortsOption = None,
    destination_ports: DestinationPortsOption = None,
    by: Annotated[
        str,
        adding(
            BY,
            ": table (the gateway deletes its whole table); or, for TCP connections, fin or rst: "
            "the highest rate of these segments is searched",
        ),
    ] = TABLE,
) -> Work:
    """Measure the connection tear-down rate (RFC 9693).

    Examples:
        natxy tear-down nat.toml --profile quick
        natxy tear-down nat.toml --counts 10k,100k,1M
        natxy tear-down nat.toml --by fin
    """
    if by in CLOSERS:
        if counts or source_ports or destination_ports:
            raise ConfigurationError(
                f"--by: {by} is not possible with --counts, --source-ports or --destination-ports "
                "(expected connections.count in the testbed)"
            )
        return replace(work, measure=MEASURES["closing"]).giving(by=CLOSERS[by])
    if by != TABLE:
        raise unknown_value("--by", by, (TABLE, *CLOSERS))
    for setting in (MAX_RATE, ERROR):
        if setting.name in work.given:
            raise ConfigurationError(
                setting,
                ": is an option of --by fin and --by rst, which search for a rate (expected none)",
            )
    return work.giving(sizes=sizes_of(counts, source_ports, destination_ports))


@measuring("churn", "load_fps", "new_cps", "max_rate_fps", "error", "loss_verifications")
def churn(work: Work) -> Work:
    """Find the highest rate of new connections while a given load runs, or the highest load at a
    given rate of new connections.

    Examples:
        natxy churn nat.toml --load 100k --profile quick
        natxy churn nat.toml --new 5k
        natxy churn nat.toml --load 100k --max-rate 50k
    """
    return work


@measuring(
    "capacity",
    *("c0", "error", "alpha", "beta", "gamma", "rate_error", "first_cps", "max_cps", "most"),
)
def capacity(work: Work) -> Work:
    """Find the connection tracking table capacity (RFC 9693).

    Examples:
        natxy capacity nat.toml --profile quick
        natxy capacity nat.toml --c0 10k --most 1M
        natxy capacity nat.toml --error 100
    """
    return work


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


def searching(work: Work, figure: str) -> Searching:
    own, defaults = dict(work.given), work.options.defaults
    if figure not in FIGURES:
        raise unknown_value("--of", figure, FIGURES)
    if figure == "throughput":
        return defaults.plan(ThroughputPlan, **own)
    _refuse_of_phase_2(work.options, figure)
    return defaults.plan(
        EstablishmentPlan,
        max_rate_cps=own.pop("max_rate_fps", None),
        alpha=DEFAULT_ALPHA if figure == "validated" else None,
        **own,
    )


def _refuse_of_phase_2(options: SeriesOptions, figure: str) -> None:
    """ConfigurationError if an option of phase 2 is given, which would change nothing."""
    for setting, given in (
        (DURATION, options.duration),
        (DIRECTION, options.direction),
        (ESTABLISHMENT_RATE, options.establishment_rate),
    ):
        if given is not None:
            raise ConfigurationError(
                setting,
                f": is not possible with --of {figure}, which measures the rate of phase 1 and has "
                "no phase 2 (expected --of throughput)",
            )
