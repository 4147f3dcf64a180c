"""Runs one cell in a worker of Dask, on the worker's testbed, and returns the cell's records.

The worker writes no file of the campaign: only the coordinator writes the journal.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import natxy
from natxy.campaign.journal import Records
from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.records import CampaignState
from natxy.campaign.runner import Runner, Watcher, Work
from natxy.dut.base import Dut
from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.source import Source
from natxy.model.testbed import Testbed

VARIABLE = "NATXY_TESTBED"  # the testbed's number, for the commands of the experiment


@dataclass(frozen=True, kw_only=True)
class Order:
    """A cell to measure, as each testbed would measure it."""

    number: int  # of the cell, from 1
    on: tuple[CampaignPlan, ...]  # for each testbed, a plan with this cell alone
    work_of: Callable[[Cell], Work]
    dut_of: Callable[[Testbed, Source], Dut]
    natxy_version: str = natxy.__version__


def measure(order: Order) -> list[dict[str, Any]]:
    """Returns the records of the cell, as the journal has them."""
    from distributed import get_worker

    testbed = testbed_of(str(get_worker().name), len(order.on))
    if order.natxy_version != natxy.__version__:
        raise ConfigurationError(
            f"testbed process {testbed}: has Natxy {natxy.__version__} (expected "
            f"{order.natxy_version}, as the coordinator)"
        )
    os.environ[VARIABLE] = str(testbed)
    plan = order.on[testbed - 1]
    kept = Kept()
    runner = Runner(
        plan=plan,
        work_of=order.work_of,
        dut_of=order.dut_of,
        journal=kept,
        state=CampaignState(header={}),
        watcher=Watcher(),  # nobody looks at a worker
        testbed=testbed,
    )
    (cell,) = plan.cells
    runner.run_alone(cell, order.number)
    return kept.records


def testbed_of(name: str, count: int) -> int:
    """Returns the number of a worker's testbed, which is the worker's name."""
    if name.isascii() and name.isdecimal() and 1 <= int(name) <= count:
        return int(name)
    raise ConfigurationError(
        f'the testbed process "{name}": its name is no testbed (expected 1 to {count}, for example '
        "`dask worker --name 1`)"
    )


class Kept(Records):
    """The records of a cell, kept until the cell ends."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, *records: Model) -> None:
        self.records += [record.model_dump(mode="json") for record in records]
