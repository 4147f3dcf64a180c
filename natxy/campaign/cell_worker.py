"""Runs one cell in a worker of Dask, on the worker's testbed, and returns the cell's records.

The worker writes no file of the campaign: only the coordinator writes the journal.
"""

import os
from collections.abc import Sequence
from typing import Any

import natxy
from natxy.campaign.runner import Runner
from natxy.errors import ConfigurationError

VARIABLE = "NATXY_TESTBED"  # the testbed's number, for the commands of the experiment


def measure(number: int, on: Sequence[Runner], natxy_version: str) -> list[dict[str, Any]]:
    """Returns the records of the cell with this number, as the journal has them.

    `on` has, for each testbed, what runs a plan with this cell alone; `natxy_version` is the
    coordinator's.
    """
    from distributed import get_worker

    testbed = testbed_of(str(get_worker().name), len(on))
    if natxy_version != natxy.__version__:
        raise ConfigurationError(
            f"testbed process {testbed}: has Natxy {natxy.__version__} (expected {natxy_version}, "
            "as the coordinator)"
        )
    os.environ[VARIABLE] = str(testbed)
    runner = on[testbed - 1]
    (cell,) = runner.plan.cells
    runner.run_alone(cell, number)
    return runner.journal.records


def testbed_of(name: str, count: int) -> int:
    """Returns the number of a worker's testbed, which is the worker's name."""
    if name.isascii() and name.isdecimal() and 1 <= int(name) <= count:
        return int(name)
    raise ConfigurationError(
        f'the testbed process "{name}": its name is no testbed (expected 1 to {count}, for example '
        "`dask worker --name 1`)"
    )
