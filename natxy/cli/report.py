"""`natxy report`: writes the tables, plots and data of a campaign or a measurement."""

from pathlib import Path
from typing import Annotated

from natxy.campaign.data import read_data
from natxy.campaign.report import tables_of, write_report
from natxy.cli.campaigns import tell
from natxy.cli.options import result_console
from natxy.cli.run import FolderArgument
from natxy.cli.sentences import say_lines
from natxy.report.campaign_text import summary_text, text
from natxy.setting import Setting


def report(
    folder: FolderArgument,
    output: Annotated[
        Path | None,
        Setting(
            "output",
            "Folder for the files",
            "DIR",
            default="report in DIR",
            short="Folder for the files",
            letter="o",
        ),
    ] = None,
    records: Annotated[
        Path | None,
        Setting(
            "records",
            "Plot delays over time from this file, which a measurement wrote with --records",
            "FILE",
            short="Plot delays over time from this file of --records",
        ),
    ] = None,
    no_html: Annotated[
        bool,
        Setting(
            "no_html",
            "Write no HTML report, and no pictures of the plots",
            short="Write no HTML report, and no pictures of the plots",
        ),
    ] = False,
) -> None:
    """Write the tables, plots and data of a campaign or a measurement as files.

    Examples:
        natxy report natxy-results/monday
        natxy report natxy-results/monday --output monday-report
        natxy report natxy-results/monday --no-html
    """
    data = read_data(folder)
    tables = tables_of(data)
    say_lines(result_console, summary_text(tables["table"]))
    if "published" in tables:
        say_lines(result_console, text(tables["published"]))
    write_report(data, output or folder / "report", html=not no_html, records=records)
    tell(f"Report: {output or folder / 'report'}, with all figures in table.txt")
