"""`natxy dut list | show NAME | check NAME`: what controls gateways, and whether it would here."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from natxy.cli.choices import unknown_value
from natxy.cli.doctor import show
from natxy.cli.options import JsonOption, result_console
from natxy.cli.sentences import quote, say
from natxy.doctor.duts import examine_driver, examine_host, examine_recipe
from natxy.doctor.finding import Finding
from natxy.doctor.guests import examine_guest
from natxy.dut.choice import dut_of, recipe_of
from natxy.dut.config import SshConfig
from natxy.dut.guest import GATEWAYS
from natxy.dut.guest_site import GuestGateway
from natxy.dut.ip_versions import versions_text
from natxy.dut.lab_drivers import LAB_PACKAGES, LabDriver, lab_drivers
from natxy.dut.recipe import MEASURED, Keys, Recipe, read_recipe, recipe_names
from natxy.errors import ConfigurationError
from natxy.model.testbed import read_testbed

ACTIONS = ("list", "show", "check")
LAB, GUEST, MACHINE = "lab", "guest", "machine"
CONTROLLED = {
    LAB: "a lab on this machine",
    GUEST: "a guest (virtual machine) on this machine",
    MACHINE: "on a machine of its own, over SSH",
}


Named = LabDriver | GuestGateway | Recipe


def dut(
    action: Annotated[str, typer.Argument(metavar="list|show|check")],
    name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", help="A driver or recipe; check takes a testbed, too."),
    ] = "",
    json_output: JsonOption = False,
) -> None:
    """Show the drivers and recipes that control gateways, and check one."""
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


def entry_of(named: Named) -> dict[str, Any]:
    """Returns what a driver or a recipe says of itself, for a table or as JSON."""
    shared = {
        "name": named.name,
        "ip_versions": versions_text(named.ip_versions),
        "stateful": named.stateful,
    }
    if isinstance(named, GuestGateway):
        own = {"runs": GUEST, "gateway": named.title, "state": MEASURED}
        return {**shared, **own, "packages": ", ".join(("qemu-system-x86", *named.packages))}
    if isinstance(named, LabDriver):
        packages = {*LAB_PACKAGES.values(), *named.packages.values()}
        own = {"runs": LAB, "gateway": named.gateway, "state": MEASURED}
        return {**shared, **own, "packages": ", ".join(sorted(packages))}
    return {
        **shared,
        "runs": MACHINE,
        "gateway": named.title,
        "state": named.state,
        "packages": named.packages,
        "commands": [key for key in Keys.model_fields if named.commands.of(key)],
    }


def named_all() -> list[Named]:
    recipes = (read_recipe(name) for name in recipe_names())
    return [*lab_drivers().values(), *GATEWAYS.values(), *recipes]


def _named(name: str) -> Named:
    if name.endswith(".toml"):
        return read_recipe(name)
    known = {named.name: named for named in named_all()}
    if name not in known:
        raise unknown_value("NAME", name, list(known))
    return known[name]


def _list(json_output: bool) -> None:
    entries = [entry_of(named) for named in named_all()]
    if json_output:
        print(json.dumps(entries, indent=2))
        return
    for runs, title in CONTROLLED.items():
        table = Table(title=f"Gateways: {title}", title_justify="left")
        for column in ("name", "gateway", "IP versions", "table", "state"):
            table.add_column(column, overflow="fold")
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
    named = _named(name)
    entry = entry_of(named)
    if json_output:
        recipe = {"recipe": named.model_dump(mode="json")} if isinstance(named, Recipe) else {}
        print(json.dumps(entry | recipe, indent=2))
        return
    _say(f"{entry['name']}: {entry['gateway']}")
    _say(f"  {CONTROLLED[entry['runs']]}, {entry['state']}")
    _say(f"  IP versions: {entry['ip_versions']}")
    _say(f"  connection tracking table: {'yes' if named.stateful else 'no'}")
    _say(f"  needs: {entry['packages']}")
    if isinstance(named, Recipe):
        _show_recipe(named)


def _show_recipe(recipe: Recipe) -> None:
    _say(f"  source: {recipe.source}")
    for line in recipe.notes.strip().split("\n"):
        _say(f"  note: {line}")
    _say("  variables:")
    for name, variable in recipe.variables.items():
        default = "" if variable.default is None else f" [default: {variable.default}]"
        _say(f"    {name} ({variable.kind}): {variable.meaning}{default}")
    for key in Keys.model_fields:
        if commands := recipe.commands.of(key):
            _say(f"  {key}:")
            for command in commands:
                quote(result_console, f"    {command}")


def _check(name: str, json_output: bool) -> None:
    show(_findings(name), name, json_output=json_output)


def _findings(name: str) -> list[Finding]:
    path = Path(name)
    if path.suffix == ".toml" and path.exists() and "commands" not in _keys(path):
        return _of_testbed(path)
    match _named(name):
        case LabDriver() as driver:
            return examine_driver(driver)
        case GuestGateway():
            return examine_guest()
        case _:
            return examine_recipe()


def _keys(path: Path) -> set[str]:
    from natxy.model.source import Source

    return set(Source.read(path).toml())


def _of_testbed(path: Path) -> list[Finding]:
    testbed, source = read_testbed(path)
    dut_of(testbed, source)  # refuses what is wrong in [dut], and other IP versions
    kind = testbed.dut.get("kind")
    if kind == "namespace":
        return examine_driver(lab_drivers()[testbed.dut.get("driver", "kernel-router")])
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
