"""`--cores`: the CPUs of the tester's workers."""

from typing import Annotated

import typer

from natxy.doctor.finding import cpu_list
from natxy.errors import ConfigurationError

CoresOption = Annotated[
    str,
    typer.Option(help="CPUs of the tester's workers, for example 2,3 or 2-5.", metavar="LIST"),
]


def cpus_of(text: str) -> tuple[int, ...]:
    """Reads `0`, `2,3` or `2-5`."""
    cpus = tuple(cpu_list(text))
    if not cpus:
        raise ConfigurationError(
            f'--cores: "{text}" is not a list of CPUs (expected for example 0 or 2,3 or 2-5)'
        )
    return cpus
