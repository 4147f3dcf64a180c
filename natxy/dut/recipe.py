"""Recipes: what a gateway is and how it is controlled, each in a TOML file.

A recipe has lists of commands, by key. In a command, `@{name}` stands for the value of a variable.
A value is checked by its kind and quoted for a shell. A command that names a variable without a
value is left out.

At every site (a namespace, a guest, a machine of its own), the gateway is what `files`, `set_up`
and `daemons` make. A lab makes the rest itself: links, addresses, routes, forwarding, and the table
of connections. On a machine of its own, the other commands do so.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from natxy.dut.addresses import LEFT, AddressPlan
from natxy.dut.recipe_keys import Daemon, Keys, Lab, LabKind, Variable
from natxy.errors import ConfigurationError
from natxy.model.base import Model, refuse
from natxy.model.refusal import shown
from natxy.model.source import Source, with_home

PLACEHOLDER = re.compile(r"@\{(\w+)\}")
# Variables that a running measurement changes, too.
TIMEOUT, ENTRIES, HASH_SIZE, CORES = "udp_timeout_s", "entries", "hash_size", "cores"
MEASURED = "measured here"
TRIED = {"never": "never run here", "by tests": "run by tests", "measured": MEASURED}
SITE = {"folder": "/run", "mtu_bytes": "2000"}  # of each site, here of a machine of its own
# What a lab gives beside these (natxy/dut/gateway.py); on a machine they would be variables.
OF_LABS = {
    *("inside", "outside", "inside_network", "outside_network"),
    *("inside_hosts_as_six", "outside_hosts_as_six", "clat_prefix", "nat64_prefix"),
}
ENDINGS = ("log", "pid")  # of a daemon's files on a machine of its own
Pair = tuple[int, int]  # of the initiator's side (the left one without connections), and the other


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
    lab: Lab | None = None  # None: it runs in no lab
    files: dict[str, str] = Field(default_factory=dict)  # its own, by their names
    daemons: tuple[Daemon, ...] = ()
    commands: Keys = Keys()

    @property
    def of_machines(self) -> bool:
        """Whether it controls a gateway on a machine of its own."""
        return bool(self.commands.check)

    @property
    def in_lab(self) -> Lab:
        """What a driver of labs says of itself there."""
        assert self.lab is not None, f"{self.name} runs in no lab"
        return self.lab

    @property
    def versions(self) -> str:
        """The pairs of IP versions as a person writes them: `4 and 4, or 6 and 6`."""
        (one, other), *more = self.ip_versions
        if not more and one != other:
            return f"{one} on the initiator's side and {other} on the other"
        return ", or ".join(f"{one} and {other}" for one, other in self.ip_versions)

    def check_versions(self, who: str, plan: AddressPlan) -> None:
        """Raises ConfigurationError if the gateway cannot forward the traffic's IP versions.

        `who` names it in the sentence, such as dut.driver tayga.
        """
        versions = (plan.left_ip_version, plan.right_ip_version)
        if (versions if plan.inside is LEFT else versions[::-1]) in self.ip_versions:
            return
        raise ConfigurationError(
            f"traffic: left_ip_version and right_ip_version are {versions[0]} and {versions[1]}, "
            f"which {who} cannot forward (expected {self.versions})"
        )

    @property
    def state(self) -> str:
        """How far this project has tried its commands, in words."""
        return TRIED[self.tried]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        """Refuses a placeholder that no variable has, and a default that is wrong."""
        known = {*self.variables, *SITE} | (set() if self.of_machines else OF_LABS)
        for where, text in self._texts():
            for name in PLACEHOLDER.findall(text):
                if name not in known:
                    refuse(f"names the variable {name} (expected one of [variables])", member=where)
        for name, variable in self.variables.items():
            if variable.default is None or PLACEHOLDER.search(str(variable.default)):
                continue  # the default is the value of another variable
            if wrong := variable.wrong(variable.default):
                refuse(f"{shown(variable.default)} {wrong}", member=f"variables.{name}.default")
        for key in ("check", "describe"):
            if not self.commands.of(key) and (self.lab is None or self.of_machines):
                refuse("is missing (expected a command)", member=f"commands.{key}")
        return self

    def _texts(self) -> Iterator[tuple[str, str]]:
        for key in Keys.model_fields:
            yield from ((f"commands.{key}", command) for command in self.commands.of(key))
        yield from ((f"files.{name}", text) for name, text in self.files.items())
        yield from (("daemons", daemon.command) for daemon in self.daemons)

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
        values = {name: str(value) for name, value in {**SITE, **defaults, **given}.items()}
        for name, variable in self.variables.items():
            if name not in values and not variable.optional:
                source.refuse((*at, name), f"is missing (expected {variable.meaning})")
        filled = Filled(recipe=self, values=values)
        return filled.with_values(**{name: filled.text(value) for name, value in values.items()})


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A recipe with the present values of its variables.

    In a lab, a value may be a list, of which blanks separate the members.
    """

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

    def of_a_machine(self, key: str) -> list[str]:
        """Returns the commands of a key on a machine of its own, where `start` makes the gateway,
        and `stop` removes it."""
        own = self.commands(key)
        match key:
            case "start":
                return [*own, *self._writes(), *self.commands("set_up"), *self._daemons("start")]
            case "stop":
                down = self.commands("take_down")
                return [*self._daemons("end"), *down, *own, *self._removes()]
            case "restart":
                return [*self._daemons("kill"), *own, *self._daemons("start")]
            case _:
                return own

    def _writes(self) -> list[str]:
        files = self.files().items()
        return [f"printf %s {shlex.quote(text)} > {self._path(name)}" for name, text in files]

    def _removes(self) -> list[str]:
        devices = (daemon.device for daemon in self.recipe.daemons)
        names = (*self.recipe.files, *(f"{name}.{end}" for name in devices for end in ENDINGS))
        return [f"rm -f {' '.join(map(self._path, names))}"] if names else []

    def _daemons(self, action: str) -> list[str]:
        """Returns the commands that start, end or kill the daemons, of a shell of POSIX."""
        commands = []
        for daemon in self.recipe.daemons:
            log, pid = (self._path(f"{daemon.device}.{end}") for end in ENDINGS)
            # Units of 512 octets: one that prints more than 16 MiB is ended, as in labs.
            runs = f"(ulimit -f 32768; exec {self._filled(daemon.command)})"
            starts = f"{runs} < /dev/null > {log} 2>&1 & echo $! > {pid}"
            state = f'[ "$(cat /sys/class/net/{daemon.device}/carrier)" = 1 ]'
            waits = f"for i in 1 2 3 4 5 6 7 8 9 10; do {state} && break; sleep 0.2; done; {state}"
            frees = f"i=0; while {state} && [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.05; done"
            commands += {
                "start": [starts, f"{waits} || {{ tail -n 1 {log} >&2; false; }}"],
                "end": [f"kill $(cat {pid}) || true"],
                # It may not start again before the tun device is free.
                "kill": [f"kill -9 $(cat {pid})", f"{frees}; ! {state}"],
            }[action]
        return commands

    def _path(self, name: str) -> str:
        return f"{self.values['folder']}/{name}"

    def files(self) -> dict[str, str]:
        """Returns the texts of the gateway's files; a list repeats the line that names it."""
        texts = self.recipe.files.items()
        return {name: "".join(map(self._repeated, text.splitlines(True))) for name, text in texts}

    def text(self, template: str) -> str:
        """Returns a text that no shell reads."""
        return PLACEHOLDER.sub(lambda found: self.values[found[1]], template)

    def words(self, command: str) -> list[str]:
        """Returns the words of a command."""
        return shlex.split(self._filled(command))

    def _repeated(self, line: str) -> str:
        named = {name: self.values[name].split() for name in PLACEHOLDER.findall(line)}
        times = max((len(members) for members in named.values()), default=1)
        each = ({n: m[k % len(m)] for n, m in named.items()} for k in range(times))
        return "".join(self.with_values(**members).text(line) for members in each)

    def _has(self, command: str) -> bool:
        return all(name in self.values for name in PLACEHOLDER.findall(command))

    def _filled(self, command: str) -> str:
        return PLACEHOLDER.sub(lambda found: shlex.quote(self.values[found[1]]), command)


def recipe_names() -> Sequence[str]:
    """Returns the names of the recipes of gateways on machines of their own."""
    return [name for name, recipe in _shipped().items() if recipe.of_machines]


def drivers(site: LabKind) -> dict[str, Recipe]:
    """Returns the recipes of gateways in labs of a kind, by the names that they have there."""
    found = {r.lab.driver: r for r in _shipped().values() if r.lab and site in r.lab.sites}
    return dict(sorted(found.items()))


def stateful_drivers(site: LabKind, *, conntrack: bool = False) -> tuple[str, ...]:
    """Returns the drivers with a table of connections, or only those with the kernel's."""
    return tuple(
        name
        for name, recipe in drivers(site).items()
        if recipe.stateful and (recipe.in_lab.conntrack or not conntrack)
    )


def read_recipe(name: str, source: Source | None = None) -> Recipe:
    """Returns the recipe of this name, or of this file; ConfigurationError if it is wrong.

    A relative path is relative to the folder of the source, which names the recipe.
    """
    source = source or Source(name="recipe")
    if name.endswith(".toml"):
        path = Path(str(source.name)).parent / with_home(name)
        read = Source.read(path)
        return read.validated(Recipe, {"name": path.stem, **read.toml()})
    if name not in recipe_names():
        known = ", ".join(recipe_names())
        source.refuse(
            ("dut", "recipe"),
            f'"{name}" is not a recipe (expected one of {known}, or a file that ends in .toml)',
        )
    return _shipped()[name]


@cache
def _shipped() -> dict[str, Recipe]:
    """Returns the recipes that come with Natxy, by name."""
    folder = resources.files("natxy").joinpath("recipes")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    recipes: dict[str, Recipe] = {}
    for file in files:
        read, name = Source(name=file, text=folder.joinpath(file).read_text()), file[:-5]
        recipes[name] = read.validated(Recipe, {"name": name, **read.toml()})
    return recipes
