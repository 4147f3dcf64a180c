"""`natxy --version`."""

from typing import Annotated

import typer

import natxy


def _print(wanted: bool) -> None:
    if wanted:
        typer.echo(f"natxy {natxy.__version__}")
        raise typer.Exit


def print_version(
    version: Annotated[
        bool, typer.Option("--version", callback=_print, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Takes the options of `natxy` itself."""
    del version
