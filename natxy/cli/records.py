"""`--records`: every frame's record to a Parquet file."""

from pathlib import Path
from typing import Annotated

import typer

RecordsOption = Annotated[
    Path | None,
    typer.Option("--records", help="A Parquet file for every frame's delay.", metavar="FILE"),
]
