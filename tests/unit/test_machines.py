"""Tests of a report's sentences about the machines and testbeds that measured the cells."""

from typing import Any

from natxy.campaign.machines import MACHINE, machine_notes, machines_of
from natxy.campaign.records import CellRecord
from natxy.report.campaign_notes import testbed_notes as notes_of
from natxy.report.cell_figures import CellResult


def begun(
    column: str, *, testbed: int = 1, host: str = "one", dut: str = "tayga", **more: Any
) -> CellRecord:
    provenance = {
        "natxy_version": "1",
        "seed": 7,
        "started": "2026-11-24",
        "host": {"name": host},
        "dut": {"driver": dut},
        "testbed": {"tester": {"cores": [testbed]}},
    }
    known = {"key": column, "number": 1, "column": column, "measure": "pdv", "round": 1}
    known |= {"seed": 1, "started": "", "testbed": testbed, "provenance": provenance}
    return CellRecord(**{**known, **more})


def test_one_machine_has_each_of_its_gateways_once() -> None:
    machines = machines_of(
        [begun("a"), begun("a", round=2), begun("b", dut="nat44"), begun("c"), begun("d")]
    )
    (described,) = machines.values()
    assert list(machines) == [MACHINE]
    assert described["host"] == {"name": "one"}
    assert "seed" not in described
    assert [(each["dut"]["driver"], each["cells"]) for each in described["gateways"]] == [
        ("tayga", ["pdv, a", "pdv, c", "pdv, d"]),
        ("nat44", ["pdv, b"]),
    ]


def test_every_machine_is_listed() -> None:
    machines = machines_of(
        [
            begun("a", testbed=2, host="two"),
            begun("b"),
            begun("c", testbed=0, provenance={}),
        ]
    )
    assert list(machines) == [
        f"{MACHINE} of testbed 1, on one",
        f"{MACHINE} of testbed 2, on two",
    ]


def test_a_sentence_names_the_gateways_and_the_machine_that_measured_them() -> None:
    """Two testbeds on one machine are one; another machine has a sentence of its own."""

    def on(host: str, cpus: int, described: dict[str, str], *, testbed: int = 1) -> CellRecord:
        of_host = {"name": host, "cpus": cpus, "system": "Linux-6.1"}
        variant = {"variant": "x86-64-v4"} if host == "two" else {}  # older engines had none
        tester = {"cpu_model": f"CPU of {host}", **variant}
        known = {"host": of_host, "dut": described, "tester": tester}
        return begun("a", testbed=testbed, provenance=known)

    nat44 = {"driver": "nat44", "software": "Linux kernel"}
    loop = {"kind": "loop"}
    cells = [on("one", 1, nat44), on("one", 1, loop), on("one", 1, nat44)]
    first = (
        "Measured here: nat44 (Linux kernel); loop. "
        "Machine of the tester: CPU of one, 1 CPU, Linux-6.1."
    )
    assert machine_notes(machines_of(cells)) == [first]
    cells += [on("one", 1, nat44, testbed=2), on("one", 1, loop, testbed=2)]
    assert machine_notes(machines_of(cells)) == [first]
    cells.append(on("two", 8, loop, testbed=3))
    assert machine_notes(machines_of(cells))[1:] == [
        "Measured here: loop. Machine of the tester: CPU of two, 8 CPUs, Linux-6.1, "
        "engine for x86-64-v4."
    ]


def cell(column: str, number: int, testbed: int) -> CellResult:
    host = f"m{testbed}" if testbed else ""
    return CellResult(
        column=column, measure="pdv", round=number, results=(), testbed=testbed, host=host
    )


def test_each_cell_stands_with_the_testbed_that_measured_it() -> None:
    cells = [cell("a", 1, 1), cell("b", 1, 2), cell("a", 2, 2), cell("b", 2, 2), cell("c", 1, 0)]
    assert list(notes_of(cells)) == [
        "Measured by testbed 1, on m1: pdv, a (round 1).",
        "Measured by testbed 2, on m2: pdv, b (rounds 1, 2); pdv, a (round 2).",
    ]


def test_one_testbed_needs_no_note() -> None:
    assert list(notes_of([cell("a", 1, 1), cell("b", 1, 1)])) == []
