"""What a command takes: its parameters, as the annotations of its function declare them.

`commands.json` has the same of all commands, so that help and completion import no command;
tools/reference.py writes it.

A number is read as a person types it: 10k, 1.5M, 2G and 10_000 are whole numbers.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import click

from natxy.errors import ConfigurationError
from natxy.setting import Argument, Setting, in_options, whole_number

IN_HELP = "A count or a rate may be written as 10k, 1.5M, 2G or 10_000, in a list too."
COMPLETE = "_NATXY_COMPLETE"  # is set where a shell asks how a line may go on
FILE = Path(__file__).with_name("commands.json")
EXAMPLES = "\n\nExamples:\n"  # of a docstring, behind what the command does
# siitperf's arguments are positional: one that begins with - is a wrong value, not an option.
CONTEXTS: Mapping[str, dict[str, Any]] = {
    "siitperf": {"ignore_unknown_options": True, "allow_interspersed_args": False}
}


def real_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class Number(click.ParamType[Any]):
    """The type of an option; `read` returns None for a text that is no such number."""

    def __init__(self, name: str, read: Callable[[str], Any], example: str) -> None:
        self.name = name
        self.read = read
        self.example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del ctx
        if not isinstance(value, str):
            return value
        if (number := self.read(value)) is None:
            where = "" if param is None else f"{param.opts[0]}: "
            raise ConfigurationError(
                f'{where}"{value}" is not a {self.name} (expected for example {self.example})'
            )
        return number


WHOLE_NUMBER = Number("whole number", whole_number, "5000, 5k or 1.5M")
REAL_NUMBER = Number("number", real_number, "0.5")
KINDS: Mapping[str, Any] = {
    "flag": None,
    "int": WHOLE_NUMBER,
    "float": REAL_NUMBER,
    "str": click.STRING,
    "Path": click.Path(path_type=Path),
}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An option or an argument of a command."""

    name: str  # of the function's parameter
    flag: str  # that of an argument is its metavar
    kind: str  # one of KINDS
    help: str
    metavar: str = ""
    short: str = ""  # the line of `-h`
    letter: str = ""  # o: the option can be given as -o, too
    panel: str = ""  # heading in --help
    default: Any = None
    argument: bool = False
    required: bool = False
    many: bool = False  # it may be given several times

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"-{self.letter}", self.flag) if self.letter else (self.flag,)


@dataclass(frozen=True, kw_only=True)
class Declared:
    name: str
    help: str  # paragraphs
    examples: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @property
    def summary(self) -> str:
        return " ".join(self.help.partition("\n\n")[0].split())

    def command(self, function: Callable[..., Any] | None = None) -> click.Command:
        """Returns the command that reads these parameters and calls the function."""
        return click.Command(
            self.name,
            callback=function,
            help=self.help,
            params=[_parameter(each) for each in self.parameters],
            context_settings=CONTEXTS.get(self.name, {}),
        )


def _parameter(of: Parameter) -> click.Parameter:
    kind = KINDS[of.kind]
    default = {} if of.required or of.many else {"default": of.default}
    if of.argument:
        return click.Argument(
            [of.name],
            type=kind,
            metavar=of.flag,
            required=of.required,
            nargs=-1 if of.many else 1,
            **default,
        )
    return click.Option(
        [of.name, *of.flags],
        type=kind,
        is_flag=of.kind == "flag" or None,  # False: its value could be omitted
        metavar=of.metavar,
        help=of.help,
        required=of.required,
        multiple=of.many,
        **default,
    )


def declared(name: str, function: Callable[..., Any]) -> Declared:
    """Returns what a function declares by its annotations and its docstring."""
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition(EXAMPLES)
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    return Declared(
        name=name,
        help=text,
        examples=tuple(line.strip() for line in examples.splitlines()),
        parameters=tuple(_declared(hints[each.name], each) for each in parameters),
    )


def _declared(annotation: Any, of: inspect.Parameter) -> Parameter:
    setting: Setting
    (setting,) = annotation.__metadata__
    wanted = annotation.__origin__
    if isinstance(wanted, UnionType):
        wanted, *_ = get_args(wanted)  # without None
    many = get_origin(wanted) is list
    if many:
        (wanted,) = get_args(wanted)
    is_required = of.default is inspect.Parameter.empty
    default = None if is_required else of.default
    return Parameter(
        name=of.name,
        flag=setting.flag,
        kind="flag" if wanted is bool else wanted.__name__,
        help=_help(setting, default),
        metavar=setting.metavar or "",
        short=setting.short,
        letter=setting.letter,
        panel=setting.panel or "",
        default=str(default) if isinstance(default, Path) else default,
        argument=isinstance(setting, Argument),
        required=is_required,
        many=many,
    )


def _help(setting: Setting, default: Any) -> str:
    """Returns the help with the default, whose words stand for a value."""
    words = in_options(setting.default)
    if not words and default not in (None, False, ""):
        words = str(default)
    end = f" [default: {words}]." if words else "."
    return f"{in_options(setting.help)}{end}" if setting.help else ""


@cache
def all_declared() -> Mapping[str, Declared]:
    """Returns what all commands take, by their names, without importing one."""
    written = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: _read(name, entry) for name, entry in written.items()}


def _read(name: str, entry: dict[str, Any]) -> Declared:
    return Declared(
        name=name,
        help=entry["help"],
        examples=tuple(entry["examples"]),
        parameters=tuple(Parameter(**each) for each in entry["parameters"]),
    )


def as_json(commands: Iterable[Declared]) -> str:
    """Returns the text of `commands.json`: what is as in most parameters is left out."""
    usual = asdict(Parameter(name="", flag="", kind="", help=""))
    entries = {
        each.name: {
            "help": each.help,
            "examples": each.examples,
            "parameters": [
                {key: value for key, value in asdict(one).items() if usual[key] != value}
                | {"help": one.help}
                for one in each.parameters
            ],
        }
        for each in commands
    }
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
