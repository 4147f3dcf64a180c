"""Makes docs/reference/commands.md: the commands and their options, as they are declared."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from natxy.cli.declared import IN_HELP, Declared, Parameter, declared
from natxy.cli.help import GROUPS, usage_of
from natxy.cli.verbs import VERBS, function_of

SHARED = 10  # an option of so many commands is described once


def declared_now() -> dict[str, Declared]:
    """Returns what all commands declare, for which it imports them."""
    return {verb: declared(verb, function_of(verb)) for verb in VERBS}


def commands_page(generated: str, commands: Mapping[str, Declared]) -> str:
    shared = shared_rows(commands.values())
    lines = [
        "# Commands",
        "",
        generated,
        "",
        "`natxy COMMAND --help` and `natxy help COMMAND` show the same, and `natxy COMMAND -h` the "
        f"options that people use. {IN_HELP} Options that most commands have are described once, "
        "[at the end](#options-of-most-commands). `natxy completion` prints scripts for bash, zsh "
        "and fish, and `make man` writes man pages into `build/man`.",
    ]
    for group, verbs in GROUPS.items():
        lines += ["", f"## {group}"]
        for verb in verbs:
            lines += ["", f"### natxy {verb}", "", *command_lines(commands[verb], shared)]
    lines += ["", "## Options of most commands", "", "| option | what it does |", "|---|---|"]
    lines += shared.values()
    return "\n".join(lines) + "\n"


def shared_rows(commands: Iterable[Declared]) -> dict[str, str]:
    """Returns the row of each option that many commands have, by name.

    It has the help of most of them, and the default if it is the same in all of these.
    """
    rows: dict[str, Counter[str]] = {}
    whole: dict[str, set[str]] = {}
    for option in (option for command in commands for option in options_of(command)):
        text = row(option, without_default=True)
        rows.setdefault(option.flag, Counter())[text] += 1
        whole.setdefault(text, set()).add(row(option))
    most = {name: counted.most_common(1)[0] for name, counted in rows.items()}
    return {
        name: min(whole[text]) if len(whole[text]) == 1 else text
        for name, (text, count) in most.items()
        if count >= SHARED
    }


def options_of(command: Declared) -> list[Parameter]:
    return [each for each in command.parameters if not each.argument]


def command_lines(command: Declared, shared: Mapping[str, str]) -> Iterator[str]:
    yield " ".join(command.help.split())
    yield ""
    yield f"    natxy {command.name} {usage_of(command)}"
    options = options_of(command)
    own = [each for each in options if not is_shared(each, shared)]
    if own:
        yield from ("", "| option | what it does |", "|---|---|")
        yield from (row(option) for option in own)
    others = [with_default(each) for each in options if is_shared(each, shared)]
    if others:
        yield ""
        yield f"Also: {', '.join(others)}."
    yield from ("", "For example:", "", *(f"    {line}" for line in command.examples))


def is_shared(option: Parameter, shared: Mapping[str, str]) -> bool:
    """Tells whether the row of most commands is right for this option, too."""
    known = shared.get(option.flag)
    return known in (row(option), row(option, without_default=True))


def row(option: Parameter, *, without_default: bool = False) -> str:
    names = ", ".join(f"`{name}`" for name in option.flags)
    value = f" `{option.metavar}`" if option.metavar else ""
    text = re.sub(r"\s*\[default: [^\]]*\]", "", option.help) if without_default else option.help
    return f"| {names}{value} | {text} |".replace("[default", "\\[default")


def with_default(option: Parameter) -> str:
    """Returns the option's name, with the defaults that depend on the command."""
    found = re.search(r"\[default: ([^\]]*quick[^\]]*)\]", option.help)
    return f"`{option.flag}`" + (f" ({found[1]})" if found else "")
