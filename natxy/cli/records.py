"""`--records`: writes a record of every frame to a Parquet file."""

from pathlib import Path
from typing import Annotated

import typer

from natxy.cli.options import OUTPUT

RecordsOption = Annotated[
    Path | None,
    typer.Option(
        help="New Parquet file for a record of every received frame, with its delay [default: "
        "none].",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
