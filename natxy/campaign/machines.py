"""What measured the cells of a campaign: each machine, with the gateways that it measured."""

from collections.abc import Iterable
from typing import Any

from natxy.campaign.records import CellRecord

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
