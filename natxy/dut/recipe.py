"""Recipes: how a gateway on a machine of its own is controlled, each in a TOML file.

A recipe has lists of commands, by key. In a command, `@{name}` stands for the value of a variable.
A value is checked by its kind and quoted for a shell. A command that names a variable without a
value is left out.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from natxy.dut.ip_versions import Pair
from natxy.model.addresses import not_of_version, version_of
from natxy.model.base import Model, refuse
from natxy.model.refusal import shown
from natxy.model.source import Source, with_home

PLACEHOLDER = re.compile(r"@\{(\w+)\}")
KINDS = {  # of variables: the values that a kind has beside addresses, and what it is called
    "interface": (r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,47}", "the name of an interface, such as eth1"),
    "number": (r"\d{1,12}", "a whole number"),
    "name": (r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", "a name of letters, digits, _ and -"),
}
# Variables that a running measurement changes, too.
TIMEOUT, ENTRIES, HASH_SIZE, CORES = "udp_timeout_s", "entries", "hash_size", "cores"
MEASURED = "measured here"
TRIED = {"never": "never run here", "by tests": "run by tests", "measured": MEASURED}
Commands = Annotated[tuple[str, ...], Field(min_length=1)]


class Variable(Model):
    kind: Literal["interface", "number", "name", "ipv4", "ipv6", "ipv4_prefix", "ipv6_prefix",
                  "ipv4_interface", "ipv6_interface"]  # fmt: skip
    meaning: Annotated[str, Field(min_length=1)]
    default: str | int | None = None
    optional: bool = False  # may be without a value
    most: int | None = None  # the highest number that the gateway takes; None: unknown

    def wrong(self, value: str | int) -> str | None:
        """Returns what is wrong with a value; None if nothing is."""
        if self.kind in KINDS:
            pattern, what = KINDS[self.kind]
            if not re.fullmatch(pattern, str(value), re.ASCII):
                return f"is not right (expected {what})"
            if self.most is not None and int(value) > self.most:
                return f"is out of range (expected at most {self.most})"
            return None
        version: Literal[4, 6] = 4 if self.kind.startswith("ipv4") else 6
        text, _, length = str(value).partition("/")
        if version_of(text) != version or (length == "") != (self.kind in ("ipv4", "ipv6")):
            example = "" if self.kind in ("ipv4", "ipv6") else ", with the length of its prefix"
            return f"{not_of_version(version)}{example}"
        read = ip_network if self.kind.endswith("_prefix") else ip_interface
        try:
            read(str(value))
        except ValueError as error:
            return f"is not a prefix: {error}"
        return None


class Keys(Model):
    """The commands. Each list is run in order, and ends at the first command that fails."""

    prepare: tuple[str, ...] = ()  # once, before `start`
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()  # all are run, whichever fails
    clean_up: tuple[str, ...] = ()  # once, after `stop`; all are run; undoes `prepare`
    reset: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    check: Commands  # fails if the gateway is gone
    describe: Commands
    telemetry: tuple[str, ...] = ()
    count: tuple[str, ...] = ()
    delete_all: tuple[str, ...] = ()
    set_timeout: tuple[str, ...] = ()
    set_entries: tuple[str, ...] = ()
    set_hash_size: tuple[str, ...] = ()
    set_cores: tuple[str, ...] = ()

    def of(self, key: str) -> tuple[str, ...]:
        commands: tuple[str, ...] = getattr(self, key)
        return commands


class Recipe(Model):
    name: str
    title: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]  # where the commands are from
    # never: nobody here has run its commands; by tests: tests run them, and send frames through the
    # gateway.
    tried: Literal["never", "by tests", "measured"]
    ip_versions: Annotated[tuple[Pair, ...], Field(min_length=1)]
    stateful: bool = False
    packages: str = ""  # what must be installed on the gateway's machine
    programs: tuple[str, ...] = ()  # that are looked for there before anything is changed
    notes: str = ""
    shell: bool = True  # a shell of POSIX runs the commands; false: the gateway's own command line
    # Of gateways whose commands do not fail: an error is a line of output that this matches.
    error_pattern: str | None = None
    # Of gateways without a shell: the number in the output of `count`.
    count_pattern: str | None = None
    variables: dict[str, Variable] = Field(default_factory=dict)
    commands: Keys

    @property
    def state(self) -> str:
        """How far this project has tried its commands, in words."""
        return TRIED[self.tried]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuses a placeholder that no variable has, and a default that is wrong."""
        for key in Keys.model_fields:
            for command in self.commands.of(key):
                for name in PLACEHOLDER.findall(command):
                    if name not in self.variables:
                        refuse(
                            f"names the variable {name} (expected one of [variables])",
                            member=f"commands.{key}",
                        )
        for name, variable in self.variables.items():
            if variable.default is not None and (wrong := variable.wrong(variable.default)):
                refuse(f"{shown(variable.default)} {wrong}", member=f"variables.{name}.default")
        return self

    def filled(self, given: Mapping[str, str | int], source: Source) -> "Filled":
        """Returns the recipe with values; ConfigurationError if one is wrong or missing."""
        at = ("dut", "variables")
        for name, value in given.items():
            if name not in self.variables:
                known = ", ".join(self.variables) or "none"
                source.refuse((*at, name), f"is no variable of this recipe (expected {known})")
            if wrong := self.variables[name].wrong(value):
                source.refuse((*at, name), f"{shown(value)} {wrong}")
        defaults = {n: v.default for n, v in self.variables.items() if v.default is not None}
        values = {name: str(value) for name, value in {**defaults, **given}.items()}
        for name, variable in self.variables.items():
            if name not in values and not variable.optional:
                source.refuse((*at, name), f"is missing (expected {variable.meaning})")
        return Filled(recipe=self, values=values)


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A recipe with the present values of its variables."""

    recipe: Recipe
    values: Mapping[str, str]

    def with_values(self, **values: str) -> "Filled":
        return Filled(recipe=self.recipe, values={**self.values, **values})

    def number(self, name: str) -> int | None:
        value = self.values.get(name)
        return None if value is None else int(value)

    def commands(self, key: str) -> list[str]:
        """Returns the commands of a key, without those that need a value that is missing."""
        return [self._filled(text) for text in self.recipe.commands.of(key) if self._has(text)]

    def _has(self, command: str) -> bool:
        return all(name in self.values for name in PLACEHOLDER.findall(command))

    def _filled(self, command: str) -> str:
        return PLACEHOLDER.sub(lambda found: shlex.quote(self.values[found[1]]), command)


def recipe_names() -> Sequence[str]:
    """Returns the names of the recipes that come with Natxy."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir()
                  if file.name.endswith(".toml"))  # fmt: skip


def read_recipe(name: str, source: Source | None = None) -> Recipe:
    """Returns the recipe of this name, or of this file; ConfigurationError if it is wrong.

    A relative path is relative to the folder of the source, which names the recipe.
    """
    source = source or Source(name="recipe")
    if name.endswith(".toml"):
        path = Path(source.name).parent / with_home(name)
        read = Source.read(path)
        name = path.stem
    elif name in recipe_names():
        read = Source(name=f"{name}.toml", text=_folder().joinpath(f"{name}.toml").read_text())
    else:
        known = ", ".join(recipe_names())
        source.refuse(
            ("dut", "recipe"),
            f'"{name}" is not a recipe (expected one of {known}, or a file that ends in .toml)',
        )
    return read.validated(Recipe, {"name": name, **read.toml()})


def _folder() -> Traversable:
    return resources.files("natxy").joinpath("recipes")
