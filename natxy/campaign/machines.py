"""The machines that measured the cells of a campaign, with the gateways that each one measured."""

from collections.abc import Iterable, Mapping
from typing import Any

from natxy.campaign.records import CellRecord
from natxy.dut.base import name_in

MACHINE = "Machine, tester and gateway"  # the title where there is one machine
OF_THE_MOMENT = ("started", "seed", "command")  # they differ from cell to cell


def machines_of(cells: Iterable[CellRecord]) -> dict[str, Any]:
    """Returns what each machine reported, by a title; with several, the title names the machine.

    `gateways` has an entry for each gateway and testbed, with the cells that they belong to.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for cell in cells:
        if not cell.provenance:
            continue  # it could not be set up
        known = found.setdefault((cell.testbed, cell.host), _machine(cell.provenance))
        _add_gateway(known["gateways"], cell)
    if len(found) == 1:
        return {MACHINE: next(iter(found.values()))}
    return {
        f"{MACHINE} of testbed {number}, on {host}": found[number, host]
        for number, host in sorted(found)
    }


def _machine(provenance: dict[str, Any]) -> dict[str, Any]:
    left_out = (*OF_THE_MOMENT, "dut", "testbed")
    kept = {name: value for name, value in provenance.items() if name not in left_out}
    return {**kept, "gateways": []}


def _add_gateway(gateways: list[dict[str, Any]], cell: CellRecord) -> None:
    described = {name: cell.provenance.get(name) for name in ("dut", "testbed")}
    title = ", ".join(filter(None, (cell.measure, cell.column)))
    for known in gateways:
        if all(known[name] == value for name, value in described.items()):
            if title not in known["cells"]:
                known["cells"].append(title)
            return
    gateways.append({"cells": [title], **described})


def machine_notes(machines: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each machine: the gateways, and where the tester ran."""
    return list(dict.fromkeys(map(_note, machines.values())))


def _note(machine: Mapping[str, Any]) -> str:
    gateways = dict.fromkeys(titled(each["dut"]) for each in machine["gateways"])
    host = machine["host"]
    cpus = f"{host['cpus']} CPU{'s' * (host['cpus'] > 1)}"
    tester = machine["tester"]
    engine = f"engine for {tester['variant']}" if "variant" in tester else None
    where = ", ".join(filter(None, (tester["cpu_model"], cpus, host["system"], engine)))
    return f"Measured here: {'; '.join(gateways)}. Machine of the tester: {where}."


def titled(described: Mapping[str, str]) -> str:
    """Returns a gateway's name, with its software and version if it reports them."""
    software = described.get("software")
    return f"{name_in(described)} ({software})" if software else name_in(described)
