"""`natxy scale-up`: measures how a figure grows with the number of the gateway's cores."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import numbers_of
from natxy.cli.searching import OWN, FigureOption, searching
from natxy.cli.series_options import Work, measuring
from natxy.procedure.defaults import FIRST_CORES
from natxy.procedure.scale_up import CORES


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
