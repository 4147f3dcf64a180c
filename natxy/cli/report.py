"""`natxy report`: writes the tables, plots and data of a campaign or a measurement."""

from pathlib import Path
from typing import Annotated

import typer

from natxy.campaign.report import Report, write_report
from natxy.cli.campaigns import tell
from natxy.cli.options import result_console
from natxy.cli.resume import FolderArgument
from natxy.cli.sentences import say_lines
from natxy.report.campaign_text import summary_text, text


def report(
    folder: FolderArgument,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the files [default: report in DIR].", metavar="DIR"),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Plot delays over time from this file, which a measurement wrote with --records.",
            metavar="FILE",
        ),
    ] = None,
    html: Annotated[
        bool,
        typer.Option("--html/--no-html", help="Write the HTML report, and pictures of the plots."),
    ] = True,
) -> None:
    """Write the tables, plots and data of a campaign or a measurement as files."""
    made = Report.of(folder)
    say_lines(result_console, summary_text(made.table))
    if made.published is not None:
        say_lines(result_console, text(made.published))
    write_report(made, output or folder / "report", html=html, records=records)
    tell(f"Report: {output or folder / 'report'}, with all figures in table.txt")
