"""The help of `natxy` and of its commands: plain text from what they declare.

`--help` lists all options, `-h` those that people use, with examples.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from natxy.cli.declared import IN_HELP, Declared, Parameter, all_declared

WIDEST = 100  # columns, on a terminal that has them
WHAT = "Benchmarks IPv4/IPv6 gateways: translators, NATs, routers."
GROUPS = {  # as `natxy --help` lists them
    "Set up": ("demo", "init", "doctor", "dut", "bindings", "self-test", "completion"),
    "Measure": (
        *("trial", "throughput", "latency", "pdv", "ipdv", "frame-loss", "back-to-back"),
        *("recovery", "reset", "overload", "scale-up"),
    ),
    "Stateful": ("establishment", "capacity", "tear-down", "degradation", "churn"),
    "Campaigns": ("plan", "run", "resume", "bench"),
    "Look at results": ("status", "serve", "report", "compare"),
    "siitperf": ("siitperf",),
}
EXAMPLES = (
    "natxy demo",
    "natxy init --kind namespace lab.toml",
    "natxy throughput lab.toml --profile quick",
)
OF_NATXY = (
    ("-V, --version", "Print the version."),
    ("-h", "Show a short help; after a command, its most used options."),
    ("--help", "Show this help; after a command, all of its options."),
)
OF_COMMAND = (
    ("-h", "Show a short help: the most used options, and examples."),
    ("--help", "Show this help."),
)
SHARED = ("Trials", "Traffic", "Output")  # headings of options that most commands have
Rows = Sequence[tuple[str, str]]
HYPHEN, UNBROKEN = re.compile(r"(?<=\w)-(?=\w)"), "\u2011"  # at which no line ends


def list_of_commands(*, short: bool = False) -> str:
    """Returns the help of `natxy` itself."""
    formatter = _formatter()
    formatter.write_usage("natxy", "[OPTIONS] COMMAND [ARGUMENTS]")
    _text(formatter, WHAT)
    if short:
        _section(formatter, "Commands", [(key, ", ".join(GROUPS[key])) for key in GROUPS])
    else:
        _section(formatter, "Options", OF_NATXY)
        commands = all_declared()
        for group, names in GROUPS.items():
            _section(formatter, group, [(name, commands[name].summary) for name in names])
    _examples(formatter, EXAMPLES)
    if short:
        _text(formatter, "`natxy --help` says what each command does, `natxy COMMAND -h` more.")
    else:
        _text(formatter, f"{IN_HELP} `natxy help COMMAND` is `natxy COMMAND --help`.")
    return formatter.getvalue()


def help_of(command: Declared) -> str:
    """Returns the help with all options, each group of options in a section of its own."""
    formatter = _usage(command)
    for paragraph in command.help.split("\n\n"):
        _text(formatter, paragraph)
    for title, rows in sections_of(command).items():
        _section(formatter, title, rows)
    _examples(formatter, command.examples)
    return formatter.getvalue()


def short_help_of(command: Declared) -> str:
    formatter = _usage(command)
    _text(formatter, command.summary)
    used = [each for each in command.parameters if each.short]
    used.sort(key=lambda each: each.panel in SHARED)  # those of this command first
    _section(formatter, "Most used options", [(_left(each), each.short) for each in used])
    _examples(formatter, command.examples)
    _text(formatter, f"`natxy {command.name} --help` lists all options.")
    return formatter.getvalue()


def sections_of(command: Declared) -> Mapping[str, Rows]:
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for each in command.parameters:
        title = "Arguments" if each.argument else each.panel or "Options"
        sections.setdefault(title, []).append((_left(each), each.help))
    sections["Options"] += OF_COMMAND
    return sections


def usage_of(command: Declared) -> str:
    """Returns what follows the name of the command."""
    arguments = (each for each in command.parameters if each.argument)
    return " ".join(("[OPTIONS]", *map(_in_usage, arguments)))


def _in_usage(argument: Parameter) -> str:
    name = argument.flag + ("..." if argument.many else "")
    return name if argument.required else f"[{name}]"


def _left(of: Parameter) -> str:
    flags = ", ".join(of.flags)
    return flags if of.argument or not of.metavar else f"{flags} {of.metavar}"


class _Formatter(click.HelpFormatter):
    """Breaks no name at its hyphens."""

    def write_text(self, text: str) -> None:
        super().write_text(HYPHEN.sub(UNBROKEN, text))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        whole = [(left, HYPHEN.sub(UNBROKEN, right)) for left, right in rows]
        super().write_dl(whole, col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(UNBROKEN, "-")


def _formatter() -> click.HelpFormatter:
    return _Formatter(max_width=WIDEST)


def _usage(command: Declared) -> click.HelpFormatter:
    formatter = _formatter()
    formatter.write_usage(f"natxy {command.name}", usage_of(command))
    return formatter


def _text(formatter: click.HelpFormatter, text: str) -> None:
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(" ".join(text.split()))


def _section(formatter: click.HelpFormatter, title: str, rows: Rows) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _examples(formatter: click.HelpFormatter, lines: Sequence[str]) -> None:
    """Writes lines that stay whole, so that they can be copied."""
    if lines:
        with formatter.section("Examples"):
            formatter.write("".join(_indented(lines)))


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return (f"  {line}\n" for line in lines)
