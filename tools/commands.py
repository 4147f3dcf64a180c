"""Makes docs/reference/commands.md: the commands and their options, as the parsers have them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import click

from natxy.cli.verbs import GROUPS, command_of

SHARED = 10  # an option of so many commands is described once


def commands_page(generated: str) -> str:
    commands = {verb: command_of(verb) for verbs in GROUPS.values() for verb in verbs}
    shared = shared_rows(commands.values())
    lines = [
        "# Commands",
        "",
        generated,
        "",
        "`natxy COMMAND --help` shows the same. Options that most commands have are described "
        "once, [at the end](#options-of-most-commands).",
    ]
    for group, verbs in GROUPS.items():
        lines += ["", f"## {group}"]
        for verb in verbs:
            lines += ["", f"### natxy {verb}", "", *command_lines(commands[verb], shared)]
    lines += ["", "## Options of most commands", "", "| option | what it does |", "|---|---|"]
    lines += shared.values()
    return "\n".join(lines) + "\n"


def shared_rows(commands: Iterable[click.Command]) -> dict[str, str]:
    """Returns the row of each option that many commands have, by name.

    It has the help of most of them, and the default if it is the same in all of these.
    """
    rows: dict[str, Counter[str]] = {}
    whole: dict[str, set[str]] = {}
    for option in (option for command in commands for option in options_of(command)):
        text = row(option, without_default=True)
        rows.setdefault(option.opts[-1], Counter())[text] += 1
        whole.setdefault(text, set()).add(row(option))
    most = {name: counted.most_common(1)[0] for name, counted in rows.items()}
    return {
        name: min(whole[text]) if len(whole[text]) == 1 else text
        for name, (text, count) in most.items()
        if count >= SHARED
    }


def options_of(command: click.Command) -> list[click.Option]:
    return [
        each
        for each in command.params
        if isinstance(each, click.Option) and not each.hidden and "--help" not in each.opts
    ]


def command_lines(command: click.Command, shared: Mapping[str, str]) -> Iterator[str]:
    yield " ".join((command.help or "").split())
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    words = [each.human_readable_name.upper() for each in arguments]
    yield ""
    yield f"    natxy {command.name} {' '.join(['[OPTIONS]', *words])}"
    options = options_of(command)
    own = [each for each in options if not is_shared(each, shared)]
    if own:
        yield from ("", "| option | what it does |", "|---|---|")
        yield from (row(option) for option in own)
    others = [with_default(each) for each in options if is_shared(each, shared)]
    if others:
        yield ""
        yield f"Also: {', '.join(others)}."


def is_shared(option: click.Option, shared: Mapping[str, str]) -> bool:
    """Tells whether the row of most commands is right for this option, too."""
    known = shared.get(option.opts[-1])
    return known in (row(option), row(option, without_default=True))


def row(option: click.Option, *, without_default: bool = False) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = f" `{option.metavar}`" if option.metavar and not option.is_flag else ""
    text = " ".join((option.help or "").split())
    if without_default:
        text = re.sub(r"\s*\[default: [^\]]*\]", "", text)
    elif "[default" not in text and option.show_default and option.default not in (None, False):
        text = f"{text} [default: {option.default}]"
    return f"| {names}{value} | {text} |".replace("[default", "\\[default")


def with_default(option: click.Option) -> str:
    """Returns the option's name, with the defaults that depend on the command."""
    found = re.search(r"\[default: ([^\]]*quick[^\]]*)\]", " ".join((option.help or "").split()))
    return f"`{option.opts[-1]}`" + (f" ({found[1]})" if found else "")
