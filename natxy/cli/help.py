"""The help of a command as plain text: a section of arguments, and one of each group of options.

Typer would draw it by Rich, whose import takes as long as the rest of the start of `natxy --help`.
"""

import click
from typer.core import TyperCommand

WIDEST = 100  # columns, on a terminal that has them


class Sectioned(TyperCommand):
    """Lists the options of a group, which is their `rich_help_panel`, in a section of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (row := parameter.get_help_record(ctx)) is not None:
                name, text = row
                text = text.replace("\\[", "[")  # Typer escapes it for Rich
                sections.setdefault(_section_of(parameter), []).append((name, text))
        for section, rows in sections.items():
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)


def _section_of(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return "Arguments"
    return getattr(parameter, "rich_help_panel", None) or "Options"
