"""`natxy completion`: prints the script with which a shell completes commands and options."""

import sys
from dataclasses import replace
from typing import Annotated

import click
from click.shell_completion import get_completion_class, shell_complete

from natxy.cli.declared import COMPLETE, Declared, all_declared
from natxy.errors import unknown_value
from natxy.setting import Argument

SHELLS = ("bash", "zsh", "fish")
ShellArgument = Annotated[str, Argument("shell", "One of bash, zsh and fish", "bash|zsh|fish")]


def completion(shell: ShellArgument) -> None:
    """Print the script with which a shell completes commands and options.

    The script calls natxy for each completion, so it fits each later version too.

    Examples:
        natxy completion bash > /etc/bash_completion.d/natxy
        natxy completion zsh > /usr/local/share/zsh/site-functions/_natxy
        natxy completion fish > ~/.config/fish/completions/natxy.fish
    """
    kind = get_completion_class(shell) if shell in SHELLS else None
    if kind is None:
        raise unknown_value("SHELL", shell, SHELLS)
    print(kind(natxy(), {}, "natxy", COMPLETE).source())


def complete(instruction: str) -> None:
    """Prints how the line of a shell may go on, which its script has put in the environment."""
    sys.exit(shell_complete(natxy(), {}, "natxy", COMPLETE, instruction))


def _with_short_help(command: Declared) -> Declared:
    """Returns the command with the help of a parameter in one line, which zsh and fish show."""
    listed = (
        replace(each, help=each.short or each.help.partition(". ")[0])
        for each in command.parameters
    )
    return replace(command, parameters=tuple(listed))


def natxy() -> click.Group:
    """Returns all commands as they are declared; none is imported."""
    commands = {name: _with_short_help(each).command() for name, each in all_declared().items()}
    commands["completion"].params[0].type = click.Choice(SHELLS)
    of_help = click.Argument(["command"], type=click.Choice(list(commands)), required=False)
    commands["help"] = click.Command("help", params=[of_help], help="Show the help of a command.")
    version = click.Option(["-V", "--version"], is_flag=True, help="Print the version.")
    settings = {"help_option_names": ["-h", "--help"]}
    return click.Group("natxy", commands=commands, params=[version], context_settings=settings)
