"""`natxy dut list | show NAME | check NAME`: what controls gateways, and whether it would here."""

import json
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from rich.text import Text

from natxy.cli.doctor import show
from natxy.cli.options import JsonOption, result_console
from natxy.cli.sentences import quote, say
from natxy.doctor.duts import examine_driver, examine_guest, examine_host, examine_recipe
from natxy.doctor.finding import Finding
from natxy.dut.choice import dut_of, recipe_of
from natxy.dut.config import SshConfig
from natxy.dut.execution import LAB_PACKAGES
from natxy.dut.recipe import MEASURED, Recipe, drivers, read_recipe, recipe_names
from natxy.dut.recipe_keys import Keys
from natxy.errors import ConfigurationError, unknown_value
from natxy.model.testbed import read_testbed
from natxy.setting import Argument

ACTIONS = ("list", "show", "check")
LAB, GUEST, MACHINE = "lab", "guest", "machine"
CONTROLLED = {
    LAB: "a lab on this machine",
    GUEST: "a guest (virtual machine) on this machine",
    MACHINE: "on a machine of its own, over SSH",
}


def dut(
    action: Annotated[str, Argument("action", metavar="list|show|check")],
    name: Annotated[
        str,
        Argument("name", "A driver or recipe; check takes a testbed, too", "NAME"),
    ] = "",
    json_output: JsonOption = False,
) -> None:
    """Show the drivers and recipes that control gateways, and check one.

    Examples:
        natxy dut list
        natxy dut show guest/jool
        natxy dut check guest/jool
    """
    if action not in ACTIONS:
        raise unknown_value("ACTION", action, ACTIONS)
    if action == "list":
        _list(json_output)
    elif not name:
        raise ConfigurationError(f"NAME: is missing (expected one that `natxy dut list` shows, for "
                                 f"`natxy dut {action}`)")  # fmt: skip
    elif action == "show":
        _show(name, json_output)
    else:
        _check(name, json_output)


def entry_of(name: str, runs: str, recipe: Recipe) -> dict[str, Any]:
    """Returns what a recipe says of itself where it runs, for a table or as JSON."""
    shared = {
        "name": name,
        "ip_versions": recipe.versions,
        "stateful": recipe.stateful,
        "runs": runs,
        "gateway": recipe.title,
    }
    if runs == MACHINE:
        commands = [key for key in Keys.model_fields if recipe.commands.of(key)]
        own = {"state": recipe.state, "packages": recipe.packages, "commands": commands}
        return {**shared, **own}
    packages = [*dict.fromkeys(recipe.in_lab.packages.values())]
    if runs == GUEST:
        needed = ["qemu-system-x86", *packages]
    else:
        needed = sorted({*LAB_PACKAGES.values(), *packages})
    return {**shared, "state": MEASURED, "packages": ", ".join(needed)}


def named_all() -> list[tuple[str, str, Recipe]]:
    """Returns the name of each recipe, where it runs, and itself; the names of guests have a
    prefix, because labs and recipes have the same."""
    return [
        *((name, LAB, recipe) for name, recipe in drivers("namespace").items()),
        *((f"guest/{name}", GUEST, recipe) for name, recipe in drivers("guest").items()),
        *((name, MACHINE, read_recipe(name)) for name in recipe_names()),
    ]


def _named(name: str) -> tuple[str, Recipe]:
    """Returns where a recipe runs, and itself."""
    if name.endswith(".toml"):
        return MACHINE, read_recipe(name)
    known = {each: (runs, recipe) for each, runs, recipe in named_all()}
    if name not in known:
        raise unknown_value("NAME", name, list(known))
    return known[name]


def _list(json_output: bool) -> None:
    entries = [entry_of(*named) for named in named_all()]
    if json_output:
        print(json.dumps(entries, indent=2))
        return
    for runs, title in CONTROLLED.items():
        table = Table(title=f"Gateways: {title}", title_justify="left")
        for column in ("name", "gateway", "IP versions", "table", "state"):
            table.add_column(column, overflow="fold", no_wrap=column == "name")
        for entry in entries:
            if entry["runs"] == runs:
                stateful = "yes" if entry["stateful"] else "no"
                words = (entry["name"], entry["gateway"], entry["ip_versions"], stateful)
                table.add_row(*map(Text, (*words, entry["state"])))
        result_console.print(table)
    _say(
        "`natxy dut show NAME` shows one with its commands; `natxy dut check NAME` checks it here."
    )


def _show(name: str, json_output: bool) -> None:
    runs, recipe = _named(name)
    entry = entry_of(name, runs, recipe)
    if json_output:
        print(json.dumps(entry | {"recipe": recipe.model_dump(mode="json")}, indent=2))
        return
    _say(f"{entry['name']}: {entry['gateway']}")
    _say(f"  {CONTROLLED[entry['runs']]}, {entry['state']}")
    _say(f"  IP versions: {entry['ip_versions']}")
    _say(f"  connection tracking table: {'yes' if entry['stateful'] else 'no'}")
    _say(f"  needs: {entry['packages']}")
    _show_recipe(recipe)


def _show_recipe(recipe: Recipe) -> None:
    _say(f"  source: {recipe.source}")
    for line in recipe.notes.strip().splitlines():
        _say(f"  note: {line}")
    if recipe.variables:
        _say("  variables:")
    for name, variable in recipe.variables.items():
        default = "" if variable.default is None else f" [default: {variable.default}]"
        _say(f"    {name} ({variable.kind}): {variable.meaning}{default}")
    for file, text in recipe.files.items():
        _say(f"  file {file}:")
        for line in text.splitlines():
            quote(result_console, f"    {line}")
    for daemon in recipe.daemons:
        _say("  daemon:")
        quote(result_console, f"    {daemon.command}")
    for key in Keys.model_fields:
        if commands := recipe.commands.of(key):
            _say(f"  {key}:")
            for command in commands:
                quote(result_console, f"    {command}")


def _check(name: str, json_output: bool) -> None:
    show(_findings(name), json_output=json_output, verbose=True)


def _findings(name: str) -> list[Finding]:
    path = Path(name)
    if path.suffix == ".toml" and path.exists() and "commands" not in _keys(path):
        return _of_testbed(path)
    runs, recipe = _named(name)
    if runs == LAB:
        return examine_driver(recipe)
    return examine_guest() if runs == GUEST else examine_recipe()


def _keys(path: Path) -> set[str]:
    from natxy.model.source import Source

    return set(Source.read(path).toml())


def _of_testbed(path: Path) -> list[Finding]:
    testbed, source = read_testbed(path)
    dut_of(testbed, source)  # refuses what is wrong in [dut], and other IP versions
    kind = testbed.dut.get("kind")
    if kind == "namespace":
        return examine_driver(drivers("namespace")[testbed.dut.get("driver", "kernel-router")])
    if kind == "guest":
        return examine_guest()
    if kind != "ssh":
        source.refuse(
            ("dut", "kind"),
            f'"{kind}" has nothing to check (expected "namespace", "guest" or "ssh")',
        )
    config: SshConfig = source.validated(SshConfig, testbed.dut, at=("dut",))
    filled = recipe_of(config, testbed, source).filled(config.variables, source)
    return [*examine_recipe(), *examine_host(config, filled)]


def _say(line: str) -> None:
    say(result_console, line)
